"""``python -m pipelines`` is ``fints``."""

from pipelines.cli import main

if __name__ == "__main__":
    main()
