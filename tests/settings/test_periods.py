import pytest
import yaml

from fints.errors import ConfigError
from fints.plan import Cycle, FrequencyPlan
from fints.settings import BacktestSettings, CycleSettings, load_settings, read_settings

WEEK = "periods={cycles: [{period: 7.0, clock: calendar, harmonics: [2, 1], origin: tuned, reason: found so}, 20]}"


def test_configured_cycles_are_the_plan_as_it_stands():
    settings = load_settings(None, [WEEK])
    assert not settings.periods.detect
    week, month = Cycle(7.0, "calendar", (1, 2), origin="tuned"), Cycle(20.0)
    plan = settings.periods.stated_plan()
    assert set(plan) == {week, month}
    assert [cycle.reason for cycle in plan] == ["set in periods.cycles", "found so"]


def test_without_cycles_the_priors_are_what_is_stated():
    settings = load_settings(None, ["periods.detect=false", "periods.priors=[5, 20]"])
    assert settings.periods.stated_plan() == FrequencyPlan.from_periods([5, 20])
    assert not settings.periods.told()


def test_it_is_said_where_cycles_come_from():
    assert "periods.cycles), 1 of them tuned; none was looked for" in load_settings(None, [WEEK]).periods.told()
    tuned = load_settings(None, ["periods.cycles=[{period: 9, origin: tuned}]"]).periods.told()
    assert "all of them tuned" in tuned
    assert "periods.cycles); none" in load_settings(None, ["periods.cycles=[9]"]).periods.told()


@pytest.mark.parametrize("read", [load_settings, lambda *a: read_settings(BacktestSettings, *a)])
def test_a_cycle_survives_being_written_down(read, tmp_path):
    cycle = Cycle(91.31, "calendar", (1, 2, 6), 2.4, 3.5, origin="tuned", reason="0.3 % above what was detected")
    path = tmp_path / "best.yaml"
    path.write_text(yaml.safe_dump({"periods": {"cycles": [CycleSettings.of(cycle).model_dump(mode="json")]}}))
    (kept,) = read(path).periods.stated_plan()
    assert kept == cycle
    assert kept.reason == cycle.reason
    again = type(read(path)).model_validate(read(path).model_dump(mode="json"))
    assert again == read(path)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("periods.cycles=[]", "periods.cycles: "),
        ("periods.cycles=[-5]", "periods.cycles.0: a cycle needs a positive period; got -5.0 session units"),
        ("periods.cycles=[{period: .nan}]", "a cycle needs a positive period"),
        ("periods.cycles=[{clock: calendar}]", "periods.cycles.0.period: Field required"),
        ("periods.cycles=[{perid: 5}]", "unknown key 'periods.cycles.0.perid', did you mean 'period'"),
        ("periods.cycles=[{period: 5, clock: lunar}]", "periods.cycles.0.clock: Input should be 'session' or 'cal"),
        ("periods.cycles=[{period: 5, harmonics: []}]", "harmonics are whole multiples"),
        ("periods.cycles=[{period: 5, harmonics: [0]}]", "harmonics are whole multiples"),
        ("periods.cycles=[{period: 5, width: 6}]", "a kernel of width 6.0 does not fit"),
        ("periods.cycles=[{period: 5, strength: 0}]", "a cycle's strength is a positive number"),
        ("periods.cycles=[5, {period: 5, strength: 2}]", "a cycle stands twice in the plan: 5 on the session clock"),
        ("periods.cycles=[true]", "periods.cycles.0"),
        ("periods={cycles: [5], detect: true}", "drop one of the two"),
        ("periods.cycles=[1.5]", "1.5 sessions is shorter than the 2 that daily bars resolve"),
    ],
)
@pytest.mark.parametrize("read", [load_settings, lambda *a: read_settings(BacktestSettings, *a)])
def test_what_does_not_fit_is_named(override, said, read):
    with pytest.raises(ConfigError) as error:
        read(None, [override])
    assert said in str(error.value)


def test_intraday_bars_resolve_less_than_two_sessions():
    settings = load_settings(None, ["interval=1h", "periods.cycles=[1]"])
    assert settings.periods.stated_plan().cycles[0].period == 1
    assert settings.digest != load_settings(None, ["interval=1h", "periods.cycles=[2]"]).digest
