"""`mailkeep doctor --ports`: what each kind of answer says of a port."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from mailkeep.core.errors import Failure
from mailkeep.run.cli import doctor_ports
from mailkeep.run.cli.doctor_ports import PortReport, examine, list_ports
from mailkeep.settings.edge import EdgeSettings
from mailkeep.settings.tree import HttpSettings, Settings
from tests.support.ports import free_port

ADDRESS = "127.0.0.1"


class Listeners:
    """Servers that greet with a text; None: they say nothing."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.waiting = asyncio.Event()

    async def add(self, greeting: bytes | None, context: ssl.SSLContext | None = None) -> int:
        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if greeting is None:
                await self.waiting.wait()
            else:
                writer.write(greeting)
            writer.close()

        server = await asyncio.start_server(greet, ADDRESS, 0, ssl=context)
        self._stack.push_async_callback(server.wait_closed)
        self._stack.callback(server.close)
        return server.sockets[0].getsockname()[1]


@pytest.fixture
async def listeners() -> AsyncIterator[Listeners]:
    async with AsyncExitStack() as stack:
        found = Listeners(stack)
        yield found
        found.waiting.set()


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """No service is enabled; what is added here is set in the environment by `run`."""
    for name in [name for name in os.environ if name.startswith("MAILKEEP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MAILKEEP_SERVER__ADDRESSES", json.dumps([ADDRESS]))
    return dict.fromkeys(("SMTP", "SUBMISSION", "SUBMISSIONS", "IMAP", "IMAPS", "POP3", "POP3S", "SIEVE"), 0)


async def run(
    ports: dict[str, int], data: Path, patch: pytest.MonkeyPatch, source: str | None = None
) -> tuple[PortReport, dict[str, str]]:
    for name, port in ports.items():
        patch.setenv(f"MAILKEEP_PORTS__{name}", str(port))
    (data / "postfix").mkdir(exist_ok=True)  # of the full profile
    report = await examine(data, None, source)
    return report, {each.service: each.status for each in report.results}


async def test_what_answers_decides(
    listeners: Listeners, ports: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(doctor_ports, "SECONDS", 2.0)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("mx.example.test").configure_cert(context)
    ports |= {
        "SMTP": await listeners.add(b"220 mx.example.test ESMTP\r\n"),
        "SUBMISSIONS": await listeners.add(b"220 mx.example.test ESMTP\r\n", context),
        "SUBMISSION": free_port(),
        "IMAPS": await listeners.add(b"* OK ready\r\n"),  # without TLS
        "IMAP": await listeners.add(None),
        "POP3S": await listeners.add(b"\x1b[31mhello\r\n", context),
        "SIEVE": await listeners.add(b"x" * 200_000),
    }
    report, found = await run(ports, tmp_path, monkeypatch)
    assert found == {
        "smtp": "open",
        "submissions": "open",
        "submission": "refused",
        "imaps": "other_service",
        "imap": "no_answer",
        "pop3s": "other_service",
        "sieve": "other_service",
    }
    assert [each.service for each in report.list_closed()] == ["submission", "imaps"]  # the others are optional
    assert all(each.detail.isprintable() for each in report.results)


async def test_another_address_of_the_machine_is_outside(
    listeners: Listeners, ports: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ports["SMTP"] = await listeners.add(b"220 mx.example.test ESMTP\r\n")
    report, _ = await run(ports, tmp_path, monkeypatch, "127.0.0.2")
    assert [(each.seen_from, each.status) for each in report.results] == [("inside", "open"), ("outside", "open")]
    report, _ = await run(ports, tmp_path, monkeypatch, "192.0.2.1")  # not of this machine
    assert [each.status for each in report.results] == ["open", "unreachable"]
    with pytest.raises(Failure, match="IP address"):
        await examine(tmp_path, None, "mx.example.test")


async def test_another_host_needs_no_instance(
    listeners: Listeners, ports: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ports:
        monkeypatch.setenv(f"MAILKEEP_PORTS__{name}", "0")
    monkeypatch.setenv("MAILKEEP_PORTS__SMTP", str(await listeners.add(b"220 mx.example.test ESMTP\r\n")))
    report = await examine(tmp_path / "absent", "localhost", None)
    assert {each.status for each in report.results if each.service == "smtp" and each.address == ADDRESS} == {"open"}
    assert {each.service for each in report.ports} == {"smtp", "https", "http"}
    with pytest.raises(Failure, match="has no address"):
        await examine(tmp_path, "no-such-host.invalid", None)


def test_the_web_is_where_the_public_url_leads():
    def web(url: str) -> list[tuple[str, int, str]]:
        ports, _ = list_ports(Settings(http=HttpSettings(public_url=url)), None, is_full=True)
        return [(each.service, each.port, each.need) for each in ports if each.asks]

    assert web("https://mail.example.test") == [("https", 443, "required"), ("http", 80, "recommended")]
    assert web("https://mail.example.test:8443")[0] == ("https", 8443, "required")
    assert web("http://mail.example.test:8080") == [("http", 8080, "required")]
    for url in ("http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"):
        assert web(url) == []


async def test_the_web_is_where_nginx_listens(
    listeners: Listeners, ports: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("mx.example.test").configure_cert(context)
    monkeypatch.setenv("MAILKEEP_SERVER__HOSTNAME", "mx.example.test")
    monkeypatch.setenv("MAILKEEP_EDGE__ENABLED", "true")
    monkeypatch.setenv("MAILKEEP_EDGE__HTTPS_PORT", str(await listeners.add(b"HTTP/1.1 200 OK\r\n", context)))
    monkeypatch.setenv("MAILKEEP_EDGE__HTTP_PORT", str(await listeners.add(b"HTTP/1.1 301 Moved\r\n")))
    report, found = await run(ports, tmp_path, monkeypatch)
    assert found == {"https": "open", "http": "open"}
    assert all(b"Host: mx.example.test\r\n" in each.asks for each in report.ports)
    monkeypatch.setenv("MAILKEEP_EDGE__LISTEN", '["127.0.0.3"]')
    report, found = await run(ports, tmp_path, monkeypatch, "127.0.0.2")
    assert {each.address for each in report.results} == {"127.0.0.3"}
    assert found == {"https": "refused", "http": "refused"}


def test_nginx_expects_the_proxy_protocol_where_it_is_set():
    edge = EdgeSettings(enabled=True, http_port=0, proxy_networks=("192.0.2.0/24",))
    found, _ = list_ports(Settings(edge=edge), None, is_full=True)
    assert [(each.service, each.before_tls) for each in found if each.asks] == [("https", b"PROXY UNKNOWN\r\n")]


def test_disabled_ports_are_not_listed():
    settings = Settings()
    ports, _ = list_ports(replace(settings, ports=replace(settings.ports, pop3=0, pop3s=0)), None, is_full=True)
    assert not {"pop3", "pop3s"} & {each.service for each in ports}
