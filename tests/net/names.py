"""A DNS server for tests, on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset


@dataclass
class Names(asyncio.DatagramProtocol):
    """`answers` by (name, type): a list of addresses for each query, the last for all further ones; NXDOMAIN for other
    names. SERVFAIL for `broken` ones, no answer for `silent` names.
    """

    answers: dict[tuple[str, str], list[list[str]]] = field(default_factory=dict)
    broken: set[tuple[str, str]] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0
    transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        question = dns.message.from_wire(data)
        name = question.question[0].name.to_text(omit_final_dot=True).lower()
        kind = dns.rdatatype.to_text(question.question[0].rdtype)
        self.asked.append((name, kind))
        if name in self.silent:
            return
        answer = dns.message.make_response(question)
        answer.flags |= dns.flags.RA
        if (name, kind) in self.broken:
            answer.set_rcode(dns.rcode.SERVFAIL)
        known = self.answers.get((name, kind))
        if known is None and not any(other == name for other, _ in self.answers):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        for address in (known.pop(0) if len(known) > 1 else known[0]) if known else ():
            answer.answer.append(dns.rrset.from_text(f"{name}.", 0, "IN", kind, address))
        assert self.transport is not None
        self.transport.sendto(answer.to_wire(), addr)


@asynccontextmanager
async def names(**known: list[list[str]]) -> AsyncIterator[Names]:
    """A running server; `known` are A records of names of one label below `.example`."""
    loop = asyncio.get_running_loop()
    server = Names({(f"{name}.example", "A"): lists for name, lists in known.items()})
    transport, _ = await loop.create_datagram_endpoint(lambda: server, ("127.0.0.1", 0))
    try:
        yield server
    finally:
        transport.close()
