"""The DNS server of the tests: authoritative for the zones in a folder, NXDOMAIN for everything else.

`NAME.zone` is a master file (RFC 1035 §5) of the origin NAME; it may come, change and go while the server runs, and
holds for the next question. Whoever asks takes it for a resolver: CNAMEs are followed over all zones.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import cast

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dns.zone
from dns.rdtypes.ANY.CNAME import CNAME

_SOA = "$TTL 1\n@ SOA @ hostmaster 1 60 60 60 1\n@ NS @\n"
_MOST_CNAMES = 8


def publish(folder: Path, origin: str, *records: str) -> None:
    """Write or replace a zone: lines such as `@ MX 10 mx`, names relative to the origin."""
    zone = folder / f"{origin.lower()}.zone"
    draft = zone.with_suffix(".part")
    draft.write_text(_SOA + "".join(f"{record}\n" for record in records), "utf-8")
    dns.zone.from_text(draft.read_text("utf-8"), origin, relativize=False)  # raises if it is invalid
    draft.rename(zone)


class Zones:
    """The zones of a folder, read again after a file has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[tuple[int, int], dns.zone.Zone]] = {}

    def of(self, name: dns.name.Name) -> dns.zone.Zone | None:
        """The most specific zone that contains a name."""
        while name != dns.name.root:
            if zone := self._zone(self._folder / f"{name.to_text(omit_final_dot=True).lower()}.zone", name):
                return zone
            name = name.parent()
        return None

    def _zone(self, path: Path, origin: dns.name.Name) -> dns.zone.Zone | None:
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_ino)
            known = self._read.get(path)
            if known is None or known[0] != stamp:
                known = stamp, dns.zone.from_text(path.read_text("utf-8"), origin, relativize=False)
                self._read[path] = known
        except (OSError, UnicodeError):  # no such zone, or not a file name
            return None
        return known[1]


def answer(zones: Zones, query: dns.message.Message) -> dns.message.Message:
    """The response to a query."""
    response = dns.message.make_response(query, recursion_available=True)
    response.flags |= dns.flags.AA
    if len(query.question) != 1 or query.question[0].rdclass != dns.rdataclass.IN:
        response.set_rcode(dns.rcode.REFUSED)
        return response
    name, kind = query.question[0].name, query.question[0].rdtype
    for _ in range(_MOST_CNAMES):
        zone = zones.of(name)
        node = zone.get_node(name) if zone else None
        if zone is None or node is None:
            below = zone is not None and any(each.is_subdomain(name) for each in zone.nodes)
            response.set_rcode(dns.rcode.NOERROR if below else dns.rcode.NXDOMAIN)
            break
        found = node.get_rdataset(dns.rdataclass.IN, kind)
        found = found or node.get_rdataset(dns.rdataclass.IN, dns.rdatatype.CNAME)
        if found is None:
            break
        rrset = dns.rrset.RRset(name, dns.rdataclass.IN, found.rdtype)
        rrset.update(found)
        response.answer.append(rrset)
        (target, *_) = found
        if kind == dns.rdatatype.CNAME or not isinstance(target, CNAME):
            return response
        name = target.target
    if zone := zones.of(name):
        soa = zone.find_rrset(zone.origin or name, dns.rdatatype.SOA)
        response.authority.append(soa)
    return response


def reply(zones: Zones, wire: bytes, most: int | None = None) -> bytes | None:
    """The encoded response, truncated (TC) if it is too large for UDP; None without a question."""
    try:
        query = dns.message.from_wire(wire)
    except dns.exception.DNSException:
        return None
    if query.flags & dns.flags.QR:
        return None
    response = answer(zones, query)
    if most is not None:
        most = max(most, query.payload)
    try:
        return response.to_wire(max_size=most or 65_535)
    except dns.exception.TooBig:
        response.answer.clear()
        response.authority.clear()
        response.flags |= dns.flags.TC
        return response.to_wire()


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, zones: Zones) -> None:
        self._zones = zones
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)  # asyncio's class does not inherit from it

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        if response := reply(self._zones, data, 512):
            self._transport.sendto(response, addr)


async def serve(host: str, port: int, folder: Path) -> None:
    """Answer on UDP and TCP until killed."""
    zones = Zones(folder)

    async def by_tcp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while response := reply(zones, await reader.readexactly(int.from_bytes(await reader.readexactly(2)))):
                writer.write(len(response).to_bytes(2) + response)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    by_udp, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: _Udp(zones), (host, port))
    try:
        async with await asyncio.start_server(by_tcp, host, port) as server:
            await server.serve_forever()
    finally:
        by_udp.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
