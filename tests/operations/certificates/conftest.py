"""An application with ACME on, the authority Pebble, DNS, and port 80 of a loopback address that leads to the API."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509

from mailkeep.core.clock import utc_now
from mailkeep.features.operations.certificates import store
from mailkeep.features.operations.certificates.jobs import CertificateWorker
from mailkeep.features.operations.certificates.model import TlsCertificate
from mailkeep.net.client import OutboundClient
from mailkeep.settings.dns import DnsSettings
from mailkeep.settings.external import AcmeSettings
from mailkeep.settings.server import ServerSettings
from mailkeep.settings.tree import MtaSettings
from tests.support.caller import Caller
from tests.support.client import Api
from tests.support.dns_server import DnsServer
from tests.support.pebble import Pebble

HOST = "mx.host.test"


@dataclass
class Scene:
    """What a test needs. `address`: the server's; names that lead here resolve to it."""

    api: Api
    pebble: Pebble
    dns: DnsServer
    address: str
    asked: list[str]

    def lead_here(self, *names: str) -> None:
        for name in names:
            self.dns.publish(name, "A", self.address)

    def configure(self, **more: Any) -> None:
        settings = self.api.app.settings
        self.api.app.settings = replace(settings, acme=replace(settings.acme, **more))

    async def work(self) -> int:
        """Run what is due."""
        return await CertificateWorker(self.api.app).drain()

    async def find(self, name: str = "server") -> TlsCertificate:
        async with self.api.app.db.autocommit() as conn:
            found = await store.find_by_name(conn, name)
        assert found is not None
        return found

    async def issued(self, name: str = "server") -> x509.Certificate:
        found = await self.find(name)
        assert found.chain, found.problem
        return x509.load_pem_x509_certificates(found.chain.encode())[0]

    async def alerts(self) -> list[str]:
        rows = await self.api.sql("SELECT data->>'alert' AS alert FROM events WHERE kind = 'system.alert' ORDER BY id")
        return [row["alert"] for row in rows]


@contextlib.asynccontextmanager
async def serve(api: Api, address: str, asked: list[str]) -> AsyncIterator[None]:
    """Port 80: the API; a name that begins with `mta-sts` and `broken` answers something else."""

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.host)
        if "broken" in request.host:
            return web.Response(status=404)
        response = await Caller(api.pipeline, "192.0.2.1")("GET", request.path, {}, [])
        return web.Response(status=response.status, body=response.body)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, address, 80).start()
    try:
        yield
    finally:
        await runner.cleanup()


def free_loopback() -> str:
    """A loopback address on which port 80 is free."""
    for _ in range(50):
        address = f"127.{random.randint(20, 250)}.{random.randint(1, 250)}.{random.randint(1, 250)}"
        with socket.socket() as probe:
            try:
                probe.bind((address, 80))
            except OSError:
                continue
        return address
    raise AssertionError("port 80 is taken on every address")


@pytest.fixture
def dns_server() -> Iterator[DnsServer]:
    with DnsServer() as server:
        yield server


@pytest.fixture
def pebble_options() -> dict[str, Any]:
    return {}


@pytest.fixture
def pebble(tmp_path: Path, dns_server: DnsServer, pebble_options: dict[str, Any]) -> Iterator[Pebble]:
    with Pebble(tmp_path / "pebble", dns_server.address, **pebble_options) as server:
        yield server


@pytest.fixture
async def scene(api: Api, pebble: Pebble, dns_server: DnsServer) -> AsyncIterator[Scene]:
    address = free_loopback()
    api.clock.now = utc_now()
    host, _, port = dns_server.address.rpartition(":")
    api.app.outbound = OutboundClient([(host, int(port))])
    api.app.settings = replace(
        api.app.settings,
        mta=MtaSettings(mode="postfix"),
        server=ServerSettings(hostname=HOST),
        dns=DnsSettings(servers=(dns_server.address,)),
        acme=AcmeSettings(
            enabled=True,
            agree_terms=True,
            email="postmaster@host.test",
            directory=pebble.directory,
            extra_ca_file=str(pebble.ca_file),
            allowed_networks=("127.0.0.0/8",),
        ),
    )
    asked: list[str] = []
    scene = Scene(api, pebble, dns_server, address, asked)
    scene.lead_here(HOST)
    async with serve(api, address, asked):
        yield scene
    await api.app.outbound.close()
