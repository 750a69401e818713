import socket

import pytest

from fints.errors import ConfigError
from fints.tracking import Links, answers, require_free, server_command


def test_the_server_listens_on_this_machine_only(tmp_path):
    command = server_command(tmp_path, 5000)
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert command[command.index("--workers") + 1] == "1"


def test_a_port_on_which_something_listens_is_refused():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        port = busy.getsockname()[1]
        require_free(port)
        busy.listen()
        assert answers(port)
        with pytest.raises(ConfigError, match=f"port {port}"):
            require_free(port)


def test_links_lead_to_the_server_or_stay_within_it():
    assert Links.on(5050).run("1", "abc").startswith("http://127.0.0.1:5050/#/experiments/1/runs/abc")
    assert (
        Links()
        .view("1", "a b")
        .startswith("#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=a%20b")
    )
    assert "compareRunsMode" not in Links().view("1", "a", chart=False)
    assert "fints.target%60%20%3D%20%27x%27" in Links().curves("1", "tags.`fints.target` = 'x'")
