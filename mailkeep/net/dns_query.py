"""DNS queries to every configured name server, for checks that must know what each of them sees.

Connections to other servers use `resolver`, which asks until one answers. Here /etc/hosts does not count, there is no
cache and no search list, and a query that gets no answer by UDP or a truncated one is repeated by TCP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import dns.asyncquery
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.resolver
from dns.rdtypes.ANY.CNAME import CNAME
from dns.rdtypes.ANY.TXT import TXT

QUERY_SECONDS = 3.0
_UDP_SECONDS = 1.0  # then the query is sent once more
_MAX_VALUES = 64
_MAX_CNAMES = 8
_MAX_TEXT = 2000

Outcome = Literal["found", "no_data", "no_name", "error"]


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """What one name server answered.

    `no_data`: the name exists without such a record; `no_name`: NXDOMAIN. `values` are sorted, in presentation format;
    TXT as one piece, undecodable bytes replaced; names in lower case without the trailing dot. `aliases` are the
    targets of CNAME records on the way. `authenticated`: the server has verified the answer with DNSSEC (AD).
    """

    server: str
    outcome: Outcome
    values: tuple[str, ...] = ()
    error: str = ""
    aliases: tuple[str, ...] = ()
    authenticated: bool = False


class DnsQuery:
    """Queries to `servers`, pairs of address and port; if there are none, to those of /etc/resolv.conf."""

    def __init__(self, servers: Sequence[tuple[str, int]] = ()) -> None:
        self._servers = tuple(servers)

    def servers(self) -> tuple[tuple[str, int], ...]:
        """The name servers that are asked; empty if the system has none."""
        if self._servers:
            return self._servers
        try:
            system = dns.resolver.Resolver(configure=True)
        except (dns.resolver.NoResolverConfiguration, OSError):
            return ()
        return tuple((str(server), 53) for server in system.nameservers)

    async def ask(self, name: str, record_type: str) -> list[DnsAnswer]:
        """One answer per name server, in their order, within about 3 seconds; one `error` if there is no server.

        Raises ValueError for a name that DNS can't express.
        """
        try:
            asked = dns.name.from_text(name).canonicalize()
        except dns.exception.DNSException as error:
            raise ValueError(f"{name!r} is not a domain name: {error}") from error
        servers = self.servers()
        if not servers:
            return [DnsAnswer("", "error", error="no name server is configured")]
        kind = dns.rdatatype.from_text(record_type)
        return list(await asyncio.gather(*(_ask(address, port, asked, kind) for address, port in servers)))


async def _ask(address: str, port: int, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> DnsAnswer:
    server = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    try:
        async with asyncio.timeout(QUERY_SECONDS):
            response = await _exchange(address, port, name, kind)
    except (TimeoutError, dns.exception.Timeout):
        return DnsAnswer(server, "error", error="no answer in time")
    except dns.exception.DNSException as error:
        return DnsAnswer(server, "error", error=f"an answer that is not valid DNS ({type(error).__name__})")
    except OSError as error:
        return DnsAnswer(server, "error", error=error.strerror or "the server can't be reached")
    except EOFError:
        return DnsAnswer(server, "error", error="the server closed the connection")
    code = response.rcode()
    if code not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
        return DnsAnswer(server, "error", error=f"the server answered {dns.rcode.to_text(code)}")
    return _read(server, response, name, kind)


async def _exchange(address: str, port: int, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> dns.message.Message:
    query = dns.message.make_query(name, kind, use_edns=0, payload=1232)
    query.flags |= dns.flags.AD  # asks for the result of a validation (RFC 6840 §5.7)
    try:
        response, _ = await dns.asyncquery.udp_with_fallback(
            query, address, port=port, timeout=_UDP_SECONDS, ignore_unexpected=True
        )
    except dns.exception.Timeout:
        query.id ^= 1
        response, _ = await dns.asyncquery.udp_with_fallback(
            query, address, port=port, timeout=QUERY_SECONDS - _UDP_SECONDS, ignore_unexpected=True
        )
    if response.rcode() in (dns.rcode.FORMERR, dns.rcode.NOTIMP):  # a server without EDNS (RFC 6891 §7)
        query = dns.message.make_query(name, kind, use_edns=False)
        response, _ = await dns.asyncquery.udp_with_fallback(query, address, port=port, timeout=_UDP_SECONDS)
    return response


def _read(server: str, response: dns.message.Message, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> DnsAnswer:
    authenticated = bool(response.flags & dns.flags.AD)
    aliases: list[str] = []
    for _ in range(_MAX_CNAMES + 1):
        found = response.get_rrset(response.answer, name, dns.rdataclass.IN, kind)
        if found is not None:
            rows = cast(Sequence[dns.rdata.Rdata], list(found)[:_MAX_VALUES])
            values = tuple(sorted({_text(row) for row in rows}))
            return DnsAnswer(server, "found", values, "", tuple(aliases), authenticated)
        alias = response.get_rrset(response.answer, name, dns.rdataclass.IN, dns.rdatatype.CNAME)
        if alias is None:
            outcome: Outcome = "no_name" if response.rcode() == dns.rcode.NXDOMAIN else "no_data"
            if outcome == "no_data" and not aliases and not response.flags & dns.flags.RA and _is_referral(response):
                return DnsAnswer(server, "error", error="the server does not know the zone and does not resolve it")
            return DnsAnswer(server, outcome, (), "", tuple(aliases), authenticated)
        name = cast(Sequence[CNAME], list(alias))[0].target.canonicalize()
        aliases.append(_name(name))
    return DnsAnswer(server, "error", error="the CNAME records form a loop or a long chain")


def _is_referral(response: dns.message.Message) -> bool:
    """Whether the answer only names other servers (RFC 1034 §4.3.1): a lame or not recursive server."""
    return not response.flags & dns.flags.AA and any(rrset.rdtype == dns.rdatatype.NS for rrset in response.authority)


def presentable(text: str) -> str:
    """A text with values from DNS, which anybody may have written: without control characters, and not too long."""
    if text.isprintable() and len(text) <= _MAX_TEXT:
        return text
    return "".join(each if each.isprintable() else "\ufffd" for each in text[:_MAX_TEXT])


def read_texts(rows: Iterable[dns.rdata.Rdata]) -> list[str]:
    """The values of records as in `DnsAnswer`, sorted."""
    return sorted({_text(row) for row in rows})


def _text(row: dns.rdata.Rdata) -> str:
    if isinstance(row, TXT):
        return b"".join(row.strings).decode("utf-8", "replace")
    if row.rdtype in (dns.rdatatype.MX, dns.rdatatype.PTR, dns.rdatatype.CNAME, dns.rdatatype.NS, dns.rdatatype.SRV):
        text = row.to_text().lower()
        return text[:-1] if text.endswith(".") and not text.endswith(" .") else text
    return row.to_text()


def _name(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True).lower()
