"""Looks up the server's addresses in DNS blocklists (RFC 5782)."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence

import msgspec

from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.net.dns_lookups import Lookups
from mailkeep.net.guard import Address

_MAX_REASON = 500
_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
_REFUSALS = ipaddress.ip_network("127.255.255.0/24")  # of Spamhaus and lists that follow it
_REMOVAL = {
    "zen.spamhaus.org": "https://check.spamhaus.org/results/?query={address}",
    "bl.spamcop.net": "https://www.spamcop.net/bl.shtml?{address}",
    "b.barracudacentral.org": "https://www.barracudacentral.org/rbl/removal-request",
    "psbl.surriel.com": "https://psbl.org/listing?ip={address}",
    "dnsbl.dronebl.org": "https://dronebl.org/lookup?ip={address}",
    "bl.mailspike.net": "https://mailspike.org/iplookup.html",
    "ix.dnsbl.manitu.net": "https://www.dnsbl.manitu.net/lookup.php?value={address}",
}
# Entries with which a list shows that it works (§5): the first is listed, the second is not.
_TEST_ENTRIES: dict[int, tuple[Address, Address]] = {
    4: (ipaddress.ip_address("127.0.0.2"), ipaddress.ip_address("127.0.0.1")),
    6: (ipaddress.ip_address("::ffff:7f00:2"), ipaddress.ip_address("::ffff:7f00:1")),
}


class _Unavailable(Exception):
    """A list gives no useful answers; the arguments are the problem and the advice."""


async def examine(lookups: Lookups, zones: Sequence[str], addresses: Sequence[Address]) -> list[BlocklistResult]:
    """What each list says about each address, in the order of the lists."""
    return list(await asyncio.gather(*(_examine(lookups, zone, each) for zone in zones for each in addresses)))


async def find_problem(lookups: Lookups, zone: str) -> str | None:
    """Why a list is not to be relied on, by its test entries for IPv4 (§5); None if it works."""
    try:
        await _require_working(lookups, zone, 4)
    except _Unavailable as error:
        return str(error.args[0])
    return None


async def _examine(lookups: Lookups, zone: str, address: Address) -> BlocklistResult:
    result = BlocklistResult(zone, str(address), "not_listed")
    try:
        await _require_working(lookups, zone, address.version)
        if not await _is_listed(lookups, zone, address):
            return result
    except _Unavailable as error:
        problem, advice = error.args
        return msgspec.structs.replace(result, status="unavailable", problem=problem, advice=advice)
    texts = await lookups.ask(query_name(address, zone), "TXT")
    reason = next((text for answer in texts for text in answer.values if text.isprintable()), None)
    link = _REMOVAL.get(zone)
    return msgspec.structs.replace(
        result,
        status="listed",
        reason=reason and reason[:_MAX_REASON],
        problem=f"The address {address} is on the list {zone}. Servers that use it refuse mail from here.",
        advice="Find and stop the cause first (a hacked account, a form that sends spam), then ask for removal.",
        removal_url=link and link.format(address=address),
    )


def query_name(address: Address, zone: str) -> str:
    """The name of an address in a list: its parts in reverse order (§2.1, §2.4)."""
    return f"{address.reverse_pointer.removesuffix('.in-addr.arpa').removesuffix('.ip6.arpa')}.{zone}"


async def _require_working(lookups: Lookups, zone: str, version: int) -> None:
    listed, not_listed = _TEST_ENTRIES[version]
    if not await _is_listed(lookups, zone, listed):
        family = "" if version == 4 else "for IPv6 addresses "
        raise _Unavailable(
            f"The list {family}does not contain its test entry: it is out of service, or refuses these name servers.",
            "Remove it from dns.blocklists if this lasts." if version == 4 else "It may only list IPv4 addresses.",
        )
    if await _is_listed(lookups, zone, not_listed):
        raise _Unavailable("The list contains every address: it is out of service.", "Remove it from dns.blocklists.")


async def _is_listed(lookups: Lookups, zone: str, address: Address) -> bool:
    answers = await lookups.ask(query_name(address, zone), "A")
    known = [answer for answer in answers if answer.outcome != "error"]
    if not known:
        reasons = "; ".join(dict.fromkeys(answer.error for answer in answers))
        raise _Unavailable(f"No name server answered: {reasons}.", "The next check tries again.")
    codes = [{ipaddress.ip_address(value) for value in answer.values} for answer in known]
    useful = [each for each in codes if not any(code in _REFUSALS for code in each)]
    if not useful:
        raise _Unavailable(
            "The list refuses queries through these name servers.",
            "Lists refuse large public name servers. Set dns.servers to a resolver of your own, such as unbound, or "
            "remove the list from dns.blocklists.",
        )
    if any(code not in _LOOPBACK for each in useful for code in each):
        raise _Unavailable(
            "The answer is not from a blocklist: the zone has expired, or the name server changes answers.",
            "Remove the list from dns.blocklists, or use another name server.",
        )
    return any(useful)
