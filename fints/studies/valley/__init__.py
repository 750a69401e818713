"""Whether tuning finds a period that gradient descent and blind search do not."""

from fints.studies.valley.study import Valley

__all__ = ["Valley"]
