"""Ports of the mail that another program has."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.runtime import ports
from mailkeep.settings import Settings
from mailkeep.settings.tree import PortsSettings, ServerSettings
from tests.support.ports import free_port


@pytest.fixture
def other() -> Iterator[socket.socket]:
    """A program that listens, which is this one."""
    with socket.create_server(("127.0.0.1", free_port())) as listening:
        yield listening


def settings(*addresses: str, **changed: int) -> Settings:
    names = ("smtp", "submission", "submissions", "imap", "imaps", "pop3", "pop3s", "sieve")
    return Settings(
        server=ServerSettings(addresses=addresses),
        ports=PortsSettings(**{name: free_port() for name in names} | changed),
    )


def test_free_ports_are_free_on_one_address_and_on_all():
    assert ports.find_unavailable(settings("127.0.0.1")) == []
    assert ports.find_unavailable(settings()) == []
    assert ports.find_unavailable(settings("127.0.0.1", "127.0.0.2", pop3=0, pop3s=0)) == []


@pytest.mark.parametrize("addresses", [(), ("127.0.0.1",), ("127.0.0.9", "127.0.0.1")])
def test_a_port_that_is_taken_is_told_with_who_has_it(other: socket.socket, addresses: tuple[str, ...]):
    port = other.getsockname()[1]
    (found,) = ports.find_unavailable(settings(*addresses, smtp=port))
    where = addresses[-1] if addresses else "0.0.0.0"
    assert str(found).startswith(f"ports.smtp: {where}:{port}: taken by ")
    assert str(found).endswith(f"(pid {os.getpid()})")


def test_another_address_is_another_port(other: socket.socket):
    port = other.getsockname()[1]
    assert ports.find_unavailable(settings("127.0.0.9", smtp=port)) == []


def test_an_address_of_nobody_is_told_in_the_systems_words():
    found = ports.find_unavailable(replace(settings("192.0.2.1"), ports=PortsSettings(smtp=free_port())))
    assert str(found[0]).endswith(": Cannot assign requested address")
    assert "server.addresses" in ports.advice(found)
    assert "program" not in ports.advice(found)


def test_a_program_is_found_whichever_address_it_has():
    port = free_port("127.0.0.77")  # which nobody else has, on whichever address
    program = f"import socket; s = socket.create_server(('127.0.0.77', {port})); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.readline()
        assert str(ports.find_holder(port)).endswith(f"(pid {child.pid})")
        child.stdin.close()
    assert ports.find_holder(port) is None


async def test_who_is_just_ending_is_waited_for(other: socket.socket, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ports, "_LOOKS", 600)  # the thread may come late
    closing = threading.Timer(0.5, other.close)
    closing.start()
    await ports.require_free(settings(smtp=other.getsockname()[1]))
    closing.join(60)


async def test_whoever_stays_is_told(other: socket.socket, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ports, "_LOOKS", 2)
    with pytest.raises(
        Failure, match=rf"^ports\.imaps: 127\.0\.0\.1:\d+: taken by .* \(pid {os.getpid()}\)\. Stop and"
    ):
        await ports.require_free(settings("127.0.0.1", imaps=other.getsockname()[1]))
