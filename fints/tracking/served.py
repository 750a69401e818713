"""The code of a logged model: MLflow keeps a copy of this file beside the weights, and runs it when it loads them."""

from typing import Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel

from fints.transformer import CycleTransformer

BUNDLE = "model"


class ServedTransformer(PythonModel):  # type: ignore[misc]  # mlflow has no types
    """Forecasts from a panel the bars that the model was fitted for."""

    def load_context(self, context: Any) -> None:  # noqa: ANN401
        """Read the weights."""
        self.model = CycleTransformer.load(context.artifacts[BUNDLE])

    def predict(
        self,
        context: Any,  # noqa: ANN401, ARG002
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> pd.DataFrame:
        """Forecast.

        Parameters
        ----------
        context : PythonModelContext
        model_input : pandas.DataFrame
            A panel with the covariates of the model: `fints.make_panel` makes one.
        params : dict, optional
            None is read.

        Returns
        -------
        pandas.DataFrame
            ``unique_id, ds, step, mean`` and the quantiles ``q025`` … ``q975``.
        """
        return self.model.forecast(model_input).to_long()


set_model(ServedTransformer())
