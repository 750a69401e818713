import shutil
import sqlite3

import pytest

from fints.errors import ConfigError
from fints.tracking import Database, require_schema
from fints.tracking.schema import known_schemas

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves


def test_what_the_text_of_the_migrations_says_is_what_mlflow_makes(tmp_path, prepared_database):
    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    known, wanted = known_schemas()
    assert require_schema(Database(tmp_path), 1.0) == wanted
    assert wanted in known
    assert len(known) > 1


def test_where_the_migrations_lie_elsewhere_any_schema_is_let_be(tmp_path, prepared_database, monkeypatch):
    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute("UPDATE alembic_version SET version_num = 'deadbeef0000'")
    monkeypatch.setattr("fints.tracking.schema.find_spec", lambda _: None)
    assert require_schema(Database(tmp_path), 1.0) == "deadbeef0000"


def test_a_database_of_another_schema_is_refused(tmp_path, prepared_database):
    shutil.copy(prepared_database, tmp_path / "mlflow.db")
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute("UPDATE alembic_version SET version_num = 'deadbeef0000'")
    with pytest.raises(ConfigError, match="another one made it"):
        require_schema(Database(tmp_path), 1.0)
