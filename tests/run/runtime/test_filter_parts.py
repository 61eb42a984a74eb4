"""Which parts of the filter do not answer: none listens, or one listens and is silent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import filter_parts
from mailkeep.settings import no_sources
from tests.support.dns_server import DnsServer

_Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def _answering(request: bytes, response: bytes) -> _Converse:
    """A server that answers exactly this request."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not request:
            await reader.read()
        elif await reader.readexactly(len(request)) == request:
            writer.write(response)
        writer.close()

    return converse


async def _be_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    await asyncio.sleep(60)
    writer.close()


_OPTIONS = b"\0\0\0\rO\0\0\0\x06\0\0\1\xff\0\x1f\xff\xff"
_SERVERS = {
    "keys": ("keys_socket", _answering(b"/ping/\n", b"200 {}\n")),
    "rspamd": ("scan_socket", _answering(_OPTIONS, _OPTIONS)),
    "policy": (
        "policy_socket",
        _answering(b"request=smtpd_access_policy\nprotocol_state=CONNECT\n\n", b"action=DUNNO\n\n"),
    ),
    "learner": ("learn_socket", _answering(b"", b"")),
}


@pytest.fixture
def paths(tmp_path: Path) -> InstancePaths:
    found = InstancePaths(tmp_path, tmp_path / "run")
    for name, _ in _SERVERS.values():
        getattr(found, name).parent.mkdir(exist_ok=True, parents=True)
    return found


async def test_silent_parts_are_found(paths: InstancePaths, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(filter_parts, "_ANSWER_SECONDS", 1.0)
    with DnsServer() as dns:
        settings = no_sources().with_stored({"filter.dns_servers": [dns.address]}).settings
        assert await filter_parts.find_silent(settings, paths) == {*_SERVERS}
        assert [await filter_parts.does_not_hang(paths, part) for part in _SERVERS] == [True] * 4
        servers = {
            part: await asyncio.start_unix_server(converse, getattr(paths, name))
            for part, (name, converse) in _SERVERS.items()
        }
        assert await filter_parts.find_silent(settings, paths) == set()
        dns.fail("localhost", "refused")
        assert await filter_parts.find_silent(settings, paths) == set()
        dns.fail("localhost", "silent")
        for part, (name, _) in _SERVERS.items():
            servers[part].close()
            getattr(paths, name).unlink()
            servers[part] = await asyncio.start_unix_server(_be_silent, getattr(paths, name))
        assert await filter_parts.find_silent(settings, paths) == {*_SERVERS, "dns"}
        assert [await filter_parts.does_not_hang(paths, part) for part in _SERVERS] == [False] * 4
        without_dns = no_sources().with_stored({"filter.network_checks": False}).settings
        assert await filter_parts.find_silent(without_dns, paths) == {*_SERVERS}
        for server in servers.values():
            server.close()
