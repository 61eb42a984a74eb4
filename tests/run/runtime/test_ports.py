"""Ports of the mail that another program has."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.runtime import ports
from mailkeep.settings import Settings
from mailkeep.settings.tree import PortsSettings, ServerSettings
from tests.support.ports import free_port


@pytest.fixture
def other() -> Iterator[socket.socket]:
    """A listening socket of this process."""
    with socket.create_server(("127.0.0.1", free_port())) as listening:
        yield listening


def settings(*addresses: str, **ports_by_name: int) -> Settings:
    names = ("smtp", "submission", "submissions", "imap", "imaps", "pop3", "pop3s", "sieve")
    return Settings(
        server=ServerSettings(addresses=addresses),
        ports=PortsSettings(**{name: free_port() for name in names} | ports_by_name),
    )


def test_free_ports_are_free_on_one_address_and_on_all():
    assert ports.find_unavailable(settings("127.0.0.1")) == []
    assert ports.find_unavailable(settings()) == []
    assert ports.find_unavailable(settings("127.0.0.1", "127.0.0.2", pop3=0, pop3s=0)) == []


@pytest.mark.parametrize("addresses", [(), ("127.0.0.1",), ("127.0.0.9", "127.0.0.1")])
def test_the_report_of_a_used_port_names_its_program(other: socket.socket, addresses: tuple[str, ...]):
    port = other.getsockname()[1]
    (found,) = ports.find_unavailable(settings(*addresses, smtp=port))
    where = addresses[-1] if addresses else "0.0.0.0"
    assert str(found).startswith(f"ports.smtp: {where}:{port}: used by ")
    assert str(found).endswith(f"(pid {os.getpid()})")


def test_another_address_is_another_port(other: socket.socket):
    port = other.getsockname()[1]
    assert ports.find_unavailable(settings("127.0.0.9", smtp=port)) == []


def test_an_address_that_no_interface_has_is_reported():
    found = ports.find_unavailable(replace(settings("192.0.2.1"), ports=PortsSettings(smtp=free_port())))
    assert str(found[0]).endswith(": Cannot assign requested address")
    assert "server.addresses" in ports.advise(found)
    assert "program" not in ports.advise(found)


def test_a_program_is_found_by_its_port_on_any_address():
    port = free_port("127.0.0.77")
    program = f"import socket; s = socket.create_server(('127.0.0.77', {port})); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline()
        assert str(ports.find_holder(port)).endswith(f"(pid {child.pid})")
        child.stdin.close()
    assert ports.find_holder(port) is None


def test_the_program_of_a_port_is_the_parent_not_a_forked_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also when the child has the lower process ID, after process IDs have wrapped around."""
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text("head\n0: 0100007F:0019 00000000:0000 0A 0:0 0:0 0 0 0 77 1\n")
    for pid, name, parent in ((40, "smtpd", 32700), (32700, "master (x)", 1), (32701, "smtpd", 32700)):
        (tmp_path / str(pid) / "fd").mkdir(parents=True)
        (tmp_path / str(pid) / "fd" / "6").symlink_to("socket:[77]")
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} 1 1")
    monkeypatch.setattr(ports, "_PROC", tmp_path)
    assert ports.find_holder(25) == "master (x) (pid 32700)"
    assert ports.find_holder(26) is None


async def test_a_start_waits_for_a_program_that_is_exiting(other: socket.socket, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ports, "_CHECKS", 600)  # the thread may come late
    closing = threading.Timer(0.5, other.close)
    closing.start()
    await ports.require_free(settings(smtp=other.getsockname()[1]))
    closing.join(60)


async def test_a_start_fails_if_a_port_stays_in_use(other: socket.socket, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ports, "_CHECKS", 2)
    with pytest.raises(Failure, match=rf"^ports\.imaps: 127\.0\.0\.1:\d+: used by .* \(pid {os.getpid()}\)\. Stop and"):
        await ports.require_free(settings("127.0.0.1", imaps=other.getsockname()[1]))
