"""The listeners of an instance: with a second instance, and with ports in use."""

from __future__ import annotations

import contextlib
import os
import pty
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.runtime import http
from mailkeep.settings import load_settings
from tests.support import instance as instances
from tests.support.instance import Launch
from tests.support.ports import free_port

DEFAULT = ("127.0.0.1", 8081)


@contextlib.contextmanager
def held(address: tuple[str, int]) -> Iterator[None]:
    """The address is in use, by this test or another program."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(socket.create_server(address))
        yield


def test_a_second_instance_gets_a_free_internal_port(tmp_path: Path):
    """Issue 17, number 26."""
    with held(DEFAULT), http.bind_internal(load_settings(tmp_path, {})) as listener:
        host, port = listener.getsockname()
    assert host == "127.0.0.1"
    assert port not in (0, 8081)


def test_an_internal_port_that_was_set_is_not_replaced(tmp_path: Path):
    with held(DEFAULT):
        for sources in (
            {"environ": {"MAILKEEP_HTTP__INTERNAL": "127.0.0.1:8081"}},
            {"options": {"http.internal": "127.0.0.1:8081"}},
        ):
            loaded = load_settings(tmp_path, **({"environ": {}} | sources))
            with pytest.raises(Failure, match=r"option --internal HOST:PORT or setting http\.internal"):
                http.bind_internal(loaded)


@pytest.mark.parametrize(
    "option, setting", [("--http", "http.listen"), ("--smtp", "smtp.listen"), ("--internal", "http.internal")]
)
def test_the_error_of_a_used_port_names_setting_and_option(tmp_path: Path, option: str, setting: str):
    with socket.create_server(("127.0.0.1", free_port())) as other:
        command = Launch().command(tmp_path / "data")
        command[command.index(option) + 1] = taken = f"127.0.0.1:{other.getsockname()[1]}"
        ended = subprocess.run(
            command, env=Launch().environment, capture_output=True, text=True, timeout=120, check=False
        )
    assert ended.returncode == 1, ended.stderr
    assert taken in ended.stderr
    assert "Address already in use" in ended.stderr
    assert f"option {option} HOST:PORT or setting {setting}" in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[instances.Instance]:
    running = instances.start(tmp_path_factory.mktemp("first") / "data")
    yield running
    running.stop()


def test_the_first_password_is_not_written_to_a_log(started: instances.Instance):
    """Issue 17, number 13: systemd keeps what is printed in its journal, which others read."""
    file = started.data_dir / "initial-admin"
    password = file.read_text().strip()
    assert started.stop() == 0
    assert password not in started.log
    assert started.log.count("First administrator: admin@localhost") == 1
    assert str(file) in started.log
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_first_password_is_printed_to_a_terminal(tmp_path: Path):
    """As README says of `make up`."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        Launch().command(tmp_path / "data"),
        env=Launch().environment,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    output = ""
    with contextlib.suppress(OSError):
        while "until the first login" not in output and (piece := os.read(ours, 4096)):
            output += piece.decode()
    os.close(ours)
    process.terminate()
    process.communicate(timeout=60)
    assert (tmp_path / "data" / "initial-admin").read_text().strip() in output
