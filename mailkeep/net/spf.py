"""Evaluates SPF (RFC 7208): may this address send mail of this domain?

Bounded as §4.6.4 says: at most 10 terms that need look-ups, 10 names of an `mx` or `ptr`, and 2 look-ups without an
answer. Explanations (`exp=`) are checked for syntax but not fetched: they are texts for refused senders.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mailkeep.net.spf_record import Address, MacroValues, Mechanism, SpfRecord, SpfSyntaxError, is_spf, parse_record

MAX_LOOKUPS = 10
MAX_VOID_LOOKUPS = 2
_MAX_NAMES = 10

SpfOutcome = Literal["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"]
Ask = Callable[[str, str], Awaitable[Sequence[str]]]
"""The records of a name and a type (A, AAAA, MX, PTR, TXT) as text, empty if there are none; or SpfTemporaryError."""

_OUTCOMES: dict[str, SpfOutcome] = {"+": "pass", "-": "fail", "~": "softfail", "?": "neutral"}


class SpfTemporaryError(Exception):
    """A look-up got no answer; the message says why."""


class _PermanentError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class SpfClient:
    """The client of an SMTP session; `sender`: MAIL FROM, or postmaster at the HELO name for a bounce."""

    address: Address
    sender: str
    helo: str


@dataclass(frozen=True, slots=True)
class SpfResult:
    """The outcome, its reason in words (the term that matched, or what is wrong), and the number of terms that needed
    look-ups and of look-ups without an answer.
    """

    outcome: SpfOutcome
    reason: str
    lookups: int
    void_lookups: int


async def evaluate(client: SpfClient, domain: str, ask: Ask) -> SpfResult:
    """Evaluate the SPF record of `domain` for a client (`check_host`, §4)."""
    address = getattr(client.address, "ipv4_mapped", None) or client.address
    evaluation = _Evaluation(MacroValues(address, client.sender, client.helo), ask)
    try:
        outcome, reason = await evaluation.check(domain)
    except (_PermanentError, SpfSyntaxError) as error:
        outcome, reason = "permerror", str(error)
    except SpfTemporaryError as error:
        outcome, reason = "temperror", str(error)
    return SpfResult(outcome, reason, evaluation.lookups, evaluation.void_lookups)


@dataclass(slots=True)
class _Evaluation:
    values: MacroValues
    ask: Ask
    lookups: int = 0
    void_lookups: int = 0
    domains: list[str] = field(default_factory=list[str])  # being checked, the outermost first

    async def check(self, domain: str) -> tuple[SpfOutcome, str]:
        if not _is_domain(domain):
            return "none", f"{domain or 'an empty name'} is not a domain name"
        if domain.lower() in self.domains:
            raise _PermanentError(f"the record of {domain} includes itself")
        records = [text for text in await self.ask(domain, "TXT") if is_spf(text)]
        if not records:
            return "none", f"{domain} has no SPF record"
        if len(records) > 1:
            raise _PermanentError(f"{domain} has {len(records)} SPF records; only one is allowed")
        try:
            record = parse_record(records[0])
        except SpfSyntaxError as error:
            raise _PermanentError(f"the record of {domain} is not valid: {error}") from None
        self.domains.append(domain.lower())
        result = await self._follow(record, domain)
        self.domains.pop()
        return result

    async def _follow(self, record: SpfRecord, domain: str) -> tuple[SpfOutcome, str]:
        for mechanism in record.mechanisms:
            if await self._matches(mechanism, domain):
                return _OUTCOMES[mechanism.qualifier], f"`{mechanism.text}` in the record of {domain} matches"
        if record.redirect is None:
            return "neutral", f"no term in the record of {domain} matches"
        self._count_lookup()
        target = self.values.expand(record.redirect, domain)
        outcome, reason = await self.check(target)
        if outcome == "none":
            raise _PermanentError(f"`redirect={record.redirect}` leads to a domain without an SPF record")
        return outcome, reason

    async def _matches(self, mechanism: Mechanism, domain: str) -> bool:
        if mechanism.name == "all":
            return True
        if mechanism.network is not None:
            return self.values.address in mechanism.network
        self._count_lookup()
        target = domain if mechanism.domain is None else self.values.expand(mechanism.domain, domain)
        match mechanism.name:
            case "include":
                return await self._matches_include(mechanism, target)
            case "exists":
                return bool(await self._ask_counted(target, "A"))
            case "ptr":
                return await self._matches_ptr(target)
            case "mx":
                return await self._matches_mx(mechanism, target)
            case _:
                return self._contains(mechanism, await self._ask_counted(target, self._address_type))

    async def _matches_include(self, mechanism: Mechanism, target: str) -> bool:
        outcome, _ = await self.check(target)
        if outcome == "none":
            raise _PermanentError(f"`{mechanism.text}` names a domain without an SPF record")
        return outcome == "pass"

    async def _matches_mx(self, mechanism: Mechanism, target: str) -> bool:
        hosts = [value.split()[-1].rstrip(".") for value in await self._ask_counted(target, "MX")]
        if len(hosts) > _MAX_NAMES:
            raise _PermanentError(f"`{mechanism.text}`: {target} has more than {_MAX_NAMES} MX records")
        for host in hosts:
            if host and self._contains(mechanism, await self._ask_counted(host, self._address_type)):
                return True
        return False

    async def _matches_ptr(self, target: str) -> bool:
        """Names of the address that lead back to it, and are in the target; errors count as no match (§5.5)."""
        try:
            names = await self._ask_counted(self.values.address.reverse_pointer, "PTR")
        except SpfTemporaryError:
            return False
        wanted = target.lower()
        for name in (name.rstrip(".").lower() for name in names[:_MAX_NAMES]):
            if name != wanted and not name.endswith(f".{wanted}"):
                continue
            try:
                addresses = await self._ask_counted(name, self._address_type)
            except SpfTemporaryError:
                continue
            if any(ipaddress.ip_address(text) == self.values.address for text in addresses):
                return True
        return False

    def _contains(self, mechanism: Mechanism, addresses: Sequence[str]) -> bool:
        bits = mechanism.bits4 if self.values.address.version == 4 else mechanism.bits6
        return any(self.values.address in ipaddress.ip_network(f"{text}/{bits}", strict=False) for text in addresses)

    async def _ask_counted(self, name: str, record_type: str) -> Sequence[str]:
        found = await self.ask(name, record_type) if _is_domain(name) else ()
        if not found:
            self.void_lookups += 1
            if self.void_lookups > MAX_VOID_LOOKUPS:
                raise _PermanentError(f"more than {MAX_VOID_LOOKUPS} names in the record do not exist")
        return found

    def _count_lookup(self) -> None:
        self.lookups += 1
        if self.lookups > MAX_LOOKUPS:
            raise _PermanentError(f"the record and what it includes need more than {MAX_LOOKUPS} DNS look-ups")

    @property
    def _address_type(self) -> str:
        return "A" if self.values.address.version == 4 else "AAAA"


def _is_domain(name: str) -> bool:
    """Whether a name can be looked up as a domain of mail (§4.3): at least two labels, each of 1 to 63 characters."""
    labels = name.rstrip(".").split(".")
    return len(labels) > 1 and len(name) <= 254 and all(1 <= len(label) <= 63 for label in labels) and "\0" not in name
