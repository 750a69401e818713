from __future__ import annotations

import socket
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fints.backtest import Workers
from fints.backtest import clusters as module
from fints.backtest import workers as workers_module
from fints.backtest.clusters import connected, lost
from fints.errors import ConfigError, FintsError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd


@pytest.fixture
def silent_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("cluster", "form"),
    [
        ("ray", "127.0.0.1:{}"),
        ("ray", "ray://localhost:{}"),
        ("dask", "tcp://127.0.0.1:{}"),
        ("spark", "spark://[::1]:{}"),
    ],
)
def test_an_address_at_which_nothing_listens_is_refused_at_once(cluster: str, form: str, silent_port: int) -> None:
    address = form.format(silent_port)
    with (
        pytest.raises(ConfigError, match=f"no {cluster} cluster answers at .*correct workers.address"),
        connected(cluster, 2, address),
    ):
        pytest.fail("nothing is there")


@pytest.mark.parametrize("address", ["auto", "local[2]", "yarn", "k8s://https://cluster.example:443"])
def test_an_address_that_is_no_host_with_a_port_is_left_to_its_cluster(address: str) -> None:
    module._require_answer("ray", address)


def test_a_spark_that_does_not_start_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Builder:
        def config(self, *_: str) -> Builder:
            return self

        def appName(self, _: str) -> Builder:  # noqa: N802
            return self

        def getOrCreate(self) -> None:  # noqa: N802
            raise RuntimeError("the gateway exited\n  before sending its port")

    session = SimpleNamespace(getActiveSession=lambda: None, builder=Builder())
    monkeypatch.setattr(module, "_require", lambda *_: SimpleNamespace(SparkSession=session))
    told = r"RuntimeError: the gateway exited before sending its port; Spark needs a Java runtime: install one, or set"
    with pytest.raises(ConfigError, match=told), connected("spark", 2, None):
        pytest.fail("it did not start")


def test_the_error_of_a_cluster_is_the_first_of_its_chain_and_short() -> None:
    error = AttributeError("while it cleared up")
    error.__context__ = ConnectionError("the head\nis gone " + "x" * 10_000)
    said = str(lost("ray", error))
    assert said.startswith("the ray cluster did not run the jobs: ConnectionError: the head is gone xx")
    assert "workers.backend=loky" in said
    assert len(said) < 700


@contextmanager
def _nothing(*_: object) -> Iterator[None]:
    yield


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Workers:
    """Workers on a cluster that is only said to be there."""
    monkeypatch.setattr(workers_module, "require_packages", lambda _: None)
    monkeypatch.setattr(workers_module, "connected", _nothing)
    return Workers(2, "ray")


@pytest.mark.parametrize(
    ("raised", "expected", "told"),
    [
        (RuntimeError("node lost"), FintsError, "the ray cluster did not run the jobs: RuntimeError: node lost"),
        (StoreError("no room"), StoreError, "^no room$"),
    ],
)
def test_a_cluster_that_breaks_down_is_told_from_an_outcome_that_cannot_be_kept(
    ray: Workers, panel: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, raised: Exception, expected: type, told: str
) -> None:
    def breaks(*_: object) -> None:
        raise raised

    monkeypatch.setattr(workers_module, "_parallel", breaks)
    with pytest.raises(expected, match=told):
        list(ray.run([object()], panel))


def test_without_jobs_no_cluster_is_started(ray: Workers, panel: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> None:
        pytest.fail("a cluster was started for nothing")

    monkeypatch.setattr(workers_module, "connected", started)
    assert list(ray.run([], panel)) == []
