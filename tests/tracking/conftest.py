import shutil

import pytest

from fints.tracking import Tracking


@pytest.fixture
def tracking(tmp_path, prepared_database):
    """Runs in a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(prepared_database, home / "mlflow.db")
    return Tracking(home)


@pytest.fixture
def read(tracking):
    return lambda run_id: tracking._client().get_run(run_id)
