"""An instance with a public name, and the name servers that it asks.

`Names.publish` publishes the records that the API lists for a domain or the server, at all name servers or only some.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.scene import EXAMPLE, PASSWORD, Caller, log_in
from tests.support import instance as instances
from tests.support.dns_server import DnsServer

HOST, ADDRESS = "mx.mailkeep.test", "192.0.2.25"
_REVERSE = "25.2.0.192.in-addr.arpa"
_ADMIN = "admin@localhost"


@dataclass
class Names:
    """The instance. `domain_id`: of example.test, of which nothing is published at first."""

    http: str
    servers: Sequence[DnsServer]
    callers: dict[str, Caller]
    domain_id: str

    def caller(self, role: str) -> Caller:
        return self.callers[role]

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API as the super administrator."""
        return await self.callers["super_admin"].call(method, path, body)

    async def publish(self, path: str, servers: Sequence[DnsServer] | None = None) -> None:
        """Publish what GET `path` lists: `/domains/{id}/dns` or `/dns/server`."""
        for record in (await self.call("GET", path))["records"]:
            if record["value"] is not None:
                self.publish_record(record, servers)

    def publish_record(self, record: dict[str, Any], servers: Sequence[DnsServer] | None = None) -> None:
        """Publish a record with `name`, `type` and `value` of the API."""
        value = record["value"]
        if record["type"] in ("MX", "CNAME", "SRV", "PTR"):
            value += "."
        for server in self.servers if servers is None else servers:
            server.publish(record["name"], record["type"], value)

    def list_address(self, zone: str) -> None:
        """List the server's address in a blocklist, at all name servers."""
        name = ".".join(reversed(ADDRESS.split(".")))
        for server in self.servers:
            server.publish(f"2.0.0.127.{zone}", "A", "127.0.0.2")  # the test entry (RFC 5782 §5)
            server.publish(f"{name}.{zone}", "A", "127.0.0.2")
            server.publish(f"{name}.{zone}", "TXT", "Listed for sending to a trap")


@asynccontextmanager
async def run_names(folder: Path, **environ: str) -> AsyncIterator[Names]:
    """Start the instance with two name servers; stop it at the end of the block."""
    with ExitStack() as stack:
        servers = [stack.enter_context(DnsServer()) for _ in range(2)]
        for server in servers:
            server.publish(HOST, "A", ADDRESS)
            server.publish(_REVERSE, "PTR", f"{HOST}.")
        settings = {
            "MAILKEEP_ADMIN_EMAIL": _ADMIN,
            "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
            "MAILKEEP_SERVER__HOSTNAME": HOST,
            "MAILKEEP_SERVER__ADDRESSES": json.dumps([ADDRESS]),
            "MAILKEEP_DNS__SERVERS": json.dumps([server.address for server in servers]),
            "MAILKEEP_DNS__CHECK_MINUTES": "60",
            "MAILKEEP_DNS__BLOCKLISTS": '["bl.mailkeep.test"]',
        }
        running = await asyncio.to_thread(instances.start, folder / "data", settings | environ, 90)
        try:
            first = await log_in(running.http, _ADMIN, PASSWORD)
            domain = await first.call("POST", "/domains", {"name": EXAMPLE})
            dora = {"email": f"dora@{EXAMPLE}", "password": PASSWORD, "role": "domain_admin"}
            await first.call("POST", "/admins", dora | {"domain_ids": [domain["id"]]})
            callers = {"super_admin": first, "domain_admin": await log_in(running.http, dora["email"], PASSWORD)}
            yield Names(running.http, servers, callers, domain["id"])
        finally:
            code = await asyncio.to_thread(running.stop, seconds=60)
            assert code == 0, running.log
