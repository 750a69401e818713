"""No password is left in what is told, however it was spelled and wherever it stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fints.tracking.redaction import public, redacted, traced, without_passwords

SECRET = "hunter2"
SIGNS = ["a", "7", "/", "@", "?", "#", ":", "&", "=", ";", "'", "%", ",", "+", "!", "$", "(", "é"]
SCHEMES = st.sampled_from(["http", "https", "postgresql", "postgresql+psycopg2", "mysql", "mssql+pyodbc"])
PLACES = st.sampled_from(["db", "db:5432/mlflow", "127.0.0.1:9/api/2.0", "[::1]:5000", "host/x?sslmode=require"])
CONTEXTS = [
    "{}",
    "API request to {} failed with exception Max retries",
    "(Caused by '{}')",
    'url="{}", retries=1',
    "uri: {}\nnext: line",
    "[{}]: refused",
]


@st.composite
def passwords(draw):
    """Return a password with odd signs around and between what may not be seen."""
    signs = st.lists(st.sampled_from(SIGNS), max_size=4).map("".join)
    return f"{draw(signs)}{SECRET}{draw(signs)}{SECRET}{draw(signs)}"


@st.composite
def addresses(draw):
    user = draw(st.sampled_from(["me:", "", ":", "a.b%40c:"]))
    return f"{draw(SCHEMES)}://{user}{draw(passwords())}@{draw(PLACES)}"


@given(addresses(), st.sampled_from(CONTEXTS))
def test_nothing_of_a_user_or_a_password_is_left(address, context):
    told = without_passwords(context.format(address))
    assert SECRET not in told
    assert told.startswith(context.split("{}")[0])
    assert SECRET not in public(address)


@given(addresses())
def test_nothing_is_left_in_json_and_it_stays_json(address):
    value = {"uri": address, "quoted": f'see "{address}"', "h": 20}
    for text in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, separators=(",", ":"))):
        told = without_passwords(text)
        assert SECRET not in told
        assert json.loads(told)["h"] == 20


@given(addresses(), st.sampled_from(CONTEXTS))
def test_what_was_taken_out_once_stays_as_it_is(address, context):
    told = without_passwords(context.format(address))
    assert without_passwords(told) == told


@given(passwords().filter(lambda one: not set(one) & set("'&;")), st.sampled_from(["token", "password", "apikey", "q"]))
def test_no_value_of_a_query_is_left(value, key):
    for address in (f"https://host/x?{key}={value}", f"https://host/x?a=1&{key}={value}&b=2", f"/api?{key}={value}"):
        told = without_passwords(f"see {address} and go on")
        assert SECRET not in told
        assert told.endswith(" and go on")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("postgresql://me:p@ss@db/x", "postgresql://…@db/x"),
        ("postgresql://me:se/cret@db/x", "postgresql://…@db/x"),
        ("http://me:p?ss@db/x", "http://…"),
        ("https://token@host/x", "https://…@host/x"),
        ("https://host/x?token=abc", "https://host/x?token=…"),
        ("https://host/x?password=hunter2&h=1", "https://host/x?password=…&h=…"),
        ("https://host/x?abc", "https://host/x?…"),
        ("https://host/#access_token=abc", "https://host/#access_token=…"),
        ("Max retries exceeded with url: /x?token=abc (Caused", "Max retries exceeded with url: /x?token=… (Caused"),
        ("host=db password=hunter2 user=me", "host=db password=… user=me"),
        ("host=db password='hun ter2' user=me", "host=db password=… user=me"),
        ("DRIVER=x;UID=me;PWD=hunter2;", "DRIVER=x;UID=…;PWD=…;"),
    ],
)
def test_addresses_and_connection_strings_as_libraries_tell_them(text, told):
    assert without_passwords(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "https://host:5000/x, a@b.c",
        "is it http://host/x?",
        "sqlite:////home/me/mlflow.db",
        "file:///home/a@b/mlruns",
        "http://127.0.0.1:5000/#/experiments/1",
        "h=20, level=0.05: see FINTS_HOME=/srv/x",
        '{"token_env": "X", "uri": null}',
    ],
)
def test_what_holds_no_secret_is_told_as_it_is(text):
    assert without_passwords(text) == text


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:p@ss/wd@host:5000/x", "https://host:5000/x"),
        ("postgresql://me:x@db/x?sslmode=require&password=y", "postgresql://db/x?sslmode=require"),
        ("http://host/x?token=a@b", "http://…"),
        ("sqlite:////srv/a@b.db", "sqlite:////srv/a@b.db"),
        ("databricks", "databricks"),
    ],
)
def test_an_address_without_its_user_can_still_be_opened(address, shown):
    assert public(address) == shown


def test_an_error_and_its_traceback_are_told_without_passwords():
    def away():
        raise OSError(f"http://me:{SECRET}@host is away")

    def asked():
        try:
            away()
        except OSError as cause:
            raise RuntimeError(f"no https://host?token={SECRET}") from cause

    with pytest.raises(RuntimeError) as caught:
        asked()
    assert redacted(caught.value) == "no https://host?token=…"
    trace = traced(caught.value)
    assert SECRET not in trace
    assert "in asked" in trace
    assert "OSError: http://…@host is away" in trace
