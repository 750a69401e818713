import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fints.errors import StoreError
from fints.studies.ledger import Ledger, settings_key

PLAIN = st.dictionaries(
    st.text(min_size=1, max_size=4),
    st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    max_size=4,
)


def fill(ledger, n):
    for i in range(n):
        ledger.append({"seed": i}, {"rmse": i / 7})


def test_what_was_appended_is_read_back_exactly(tmp_path):
    ledger = Ledger(tmp_path / "trials.jsonl")
    assert ledger.read() == {}
    fill(ledger, 3)
    assert ledger.read() == {settings_key({"seed": i}): {"rmse": i / 7} for i in range(3)}


@given(cut=st.integers(0, 10_000))
@settings(max_examples=60)
def test_wherever_a_kill_cuts_the_file_whole_lines_stay_and_the_next_result_is_kept(tmp_path_factory, cut):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "trials.jsonl")
    fill(ledger, 3)
    whole = ledger.path.read_bytes()
    kept = whole[: cut % (len(whole) + 1)]
    ledger.path.write_bytes(kept)
    done = ledger.read()
    full_lines = kept.count(b"\n")
    assert set(done) >= {settings_key({"seed": i}) for i in range(full_lines)}
    assert len(done) <= full_lines + 1
    ledger.append({"seed": 99}, {"rmse": 0.5})
    assert ledger.read() == {**done, settings_key({"seed": 99}): {"rmse": 0.5}}


@pytest.mark.parametrize("rubbish", [b"\x00\x00\x00", b"{}\n", b"[1]\n", b'{"key": 3, "result": {}}\n', b"\xff\xfe\n"])
def test_a_line_that_is_no_result_is_passed_over(tmp_path, rubbish):
    ledger = Ledger(tmp_path / "trials.jsonl")
    fill(ledger, 1)
    with ledger.path.open("ab") as file:
        file.write(rubbish)
    fill(ledger, 2)
    assert ledger.read() == {settings_key({"seed": i}): {"rmse": i / 7} for i in range(2)}


def test_of_equal_settings_the_later_result_counts(tmp_path):
    ledger = Ledger(tmp_path / "trials.jsonl")
    ledger.append({"seed": 1}, {"rmse": 1.0})
    ledger.append({"seed": 1}, {"rmse": 2.0})
    assert ledger.read() == {settings_key({"seed": 1}): {"rmse": 2.0}}


def test_the_settings_stand_in_the_file_for_people(tmp_path):
    ledger = Ledger(tmp_path / "trials.jsonl")
    ledger.append({"encoding": "cycle"}, {"rmse": 1.0})
    assert json.loads(ledger.path.read_text())["settings"] == {"encoding": "cycle"}


def test_a_result_that_json_cannot_hold_is_refused_before_the_file_is_touched(tmp_path):
    ledger = Ledger(tmp_path / "trials.jsonl")
    with pytest.raises(ValueError, match="JSON"):
        ledger.append({"seed": 1}, {"rmse": float("nan")})
    assert not ledger.path.exists()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match="missing"):
        Ledger(tmp_path / "missing" / "trials.jsonl").append({}, {})


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(StoreError, match="cannot be read"):
        Ledger(tmp_path).read()


@given(PLAIN, st.randoms())
def test_the_order_of_settings_does_not_change_their_key(values, random):
    items = list(values.items())
    random.shuffle(items)
    assert settings_key(dict(items)) == settings_key(values)


@given(PLAIN, PLAIN)
def test_different_settings_have_different_keys(one, other):
    assert (settings_key(one) == settings_key(other)) == (
        json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    )
