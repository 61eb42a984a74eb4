"""Looks up the records of a domain or of the server, and judges them."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from mailkeep.features.directory.blocklists import service as blocklists
from mailkeep.features.directory.dns import rules as dns_rules
from mailkeep.features.directory.dns.model import Address, DnsRecord, ServerIdentity
from mailkeep.features.directory.dns.rules import relay_term
from mailkeep.features.directory.dns_checks import rules
from mailkeep.features.directory.dns_checks.model import CheckOutcome, RecordFinding
from mailkeep.features.directory.mta_sts.model import PolicyCheck
from mailkeep.net.dns_lookups import Lookups
from mailkeep.net.dns_query import DnsAnswer
from mailkeep.net.mail_records import check_dmarc, is_dmarc
from mailkeep.net.spf import MAX_LOOKUPS, Ask, SpfClient, SpfResult, SpfTemporaryError, evaluate
from mailkeep.net.spf_record import is_spf

_RECORD_SECONDS = 30.0  # all look-ups of a record
_NOBODY = ipaddress.ip_address("0.0.0.0")  # noqa: S104 - an address that no sender has
_KEEP_OTHERS = "If other servers send mail of the domain too, keep their terms and add what is missing before `all`."
_TOO_SLOW = RecordFinding(
    "dns_error", f"The name servers did not answer within {_RECORD_SECONDS:.0f} seconds.", "The next check tries again."
)


@dataclass(frozen=True, slots=True)
class Context:
    """A check: its look-ups, the server with those addresses that are known now, the relay through which the domain's
    mail leaves, and what fetches its MTA-STS policy.
    """

    lookups: Lookups
    server: ServerIdentity
    relay: str | None = None
    fetch_policy: Callable[[], Awaitable[PolicyCheck]] | None = None


Examine = Callable[[Context, DnsRecord], Awaitable[RecordFinding]]


async def find_addresses(lookups: Lookups, server: ServerIdentity) -> ServerIdentity:
    """The server with the addresses of its name in DNS, if the settings name none."""
    if server.addresses or server.hostname is None:
        return server
    answers = await asyncio.gather(*(lookups.ask(server.hostname, kind) for kind in ("A", "AAAA")))
    texts = dict.fromkeys(value for each in answers for answer in each for value in answer.values)
    return ServerIdentity(server.hostname, dns_rules.public_addresses(texts))


async def examine_domain(context: Context, records: Sequence[DnsRecord]) -> CheckOutcome:
    """Check the records of a domain; nothing is looked up without the server's name."""
    return CheckOutcome(await _examine_all(context, records), context.lookups.count)


async def examine_server(context: Context, records: Sequence[DnsRecord], zones: Sequence[str]) -> CheckOutcome:
    """Check the records of the server, and its addresses in the blocklists `zones`."""
    addresses = context.server.addresses
    findings, listed = await asyncio.gather(
        _examine_all(context, records), blocklists.examine(context.lookups, zones, addresses)
    )
    return CheckOutcome(findings, context.lookups.count, [str(each) for each in addresses], listed)


async def _examine_all(context: Context, records: Sequence[DnsRecord]) -> list[tuple[DnsRecord, RecordFinding]]:
    if context.server.hostname is None:
        return [(record, RecordFinding("not_checked", rules.NO_HOSTNAME, rules.SET_HOSTNAME)) for record in records]
    findings = await asyncio.gather(*(_examine_one(context, record) for record in records))
    return list(zip(records, findings, strict=True))


async def _examine_one(context: Context, record: DnsRecord) -> RecordFinding:
    try:
        async with asyncio.timeout(_RECORD_SECONDS):
            return rules.make_presentable(await _EXAMINERS[record.purpose](context, record))
    except TimeoutError:
        return _TOO_SLOW


async def _simple(make_judge: Callable[[DnsRecord], rules.Judge], context: Context, record: DnsRecord) -> RecordFinding:
    return rules.judge_answers(await context.lookups.ask(record.name, record.type), make_judge(record))


async def _examine_mx(context: Context, record: DnsRecord) -> RecordFinding:
    return await _simple(partial(rules.judge_mx, server=context.server), context, record)


async def _examine_spf(context: Context, record: DnsRecord) -> RecordFinding:
    """SPF is evaluated for the server's addresses with the answers of each name server, as receivers do."""
    lookups = context.lookups
    answers = await lookups.ask(record.name, "TXT")
    errors = [f"{answer.server} {answer.error}".strip() for answer in answers if answer.error]
    findings: list[RecordFinding | None] = []
    for index, answer in enumerate(answers):
        if answer.outcome == "error":
            findings.append(None)
            continue
        try:
            ask = partial(_ask_at, lookups, index)
            findings.append(await _examine_spf_at(ask, record, context.server, context.relay))
        except SpfTemporaryError as error:
            errors.append(str(error))
            findings.append(None)
    return rules.combine(findings, errors)


async def _ask_at(lookups: Lookups, index: int, name: str, record_type: str) -> Sequence[str]:
    answers = await lookups.ask(name, record_type)
    answer = answers[min(index, len(answers) - 1)]
    if answer.outcome == "error":
        raise SpfTemporaryError(f"{answer.server} {answer.error} (for {name} {record_type})")
    return answer.values


async def _examine_spf_at(ask: Ask, record: DnsRecord, server: ServerIdentity, relay: str | None) -> RecordFinding:
    texts = tuple(text for text in await ask(record.name, "TXT") if is_spf(text))
    if not texts:
        return rules.missing(record, "SPF record")
    if len(texts) > 1:
        return RecordFinding(
            "multiple", f"There are {len(texts)} SPF records, so receivers find SPF invalid.",
            "Keep one, with the terms of all.", found=texts,
        )  # fmt: skip
    senders = server.addresses if relay is None else await _relay_addresses(ask, relay)
    results = {address: await _evaluate(ask, record, server, address) for address in (*senders, _NOBODY)}
    nobody = results.pop(_NOBODY)
    if broken := next((each for each in (*results.values(), nobody) if each.outcome == "permerror"), None):
        return _judge_broken(record, texts, results, broken)
    if relay is not None:
        return _judge_relay(record, texts, relay, results)
    if refused := [address for address, result in results.items() if result.outcome != "pass"]:
        names = ", ".join(map(str, refused))
        reason = results[refused[0]].reason
        problem = f"Mail from {names} does not pass: SPF says {results[refused[0]].outcome} ({reason})."
        return RecordFinding("mismatch", problem, f"Use {record.value}. {_KEEP_OTHERS}", found=texts)
    return RecordFinding("ok", None, _note(nobody), found=texts)


async def _evaluate(ask: Ask, record: DnsRecord, server: ServerIdentity, address: Address) -> SpfResult:
    client = SpfClient(address, f"postmaster@{record.name}", server.hostname or record.name)
    result = await evaluate(client, record.name, ask)
    if result.outcome == "temperror":
        raise SpfTemporaryError(result.reason)
    return result


async def _relay_addresses(ask: Ask, relay: str) -> tuple[Address, ...]:
    try:
        return (ipaddress.ip_address(relay),)
    except ValueError:
        texts = [*await ask(relay, "A"), *await ask(relay, "AAAA")]
        return tuple(ipaddress.ip_address(text) for text in texts[:4])


def _judge_broken(
    record: DnsRecord, texts: tuple[str, ...], results: dict[Address, SpfResult], broken: SpfResult
) -> RecordFinding:
    """The record is invalid for some senders; if ours match before the error, their mail passes nevertheless."""
    if results and all(result.outcome == "pass" for result in results.values()):
        advice = f"Mail from this server passes, but for other senders {broken.reason}. Remove terms."
        return RecordFinding("ok", None, advice, found=texts)
    return RecordFinding(
        "mismatch", f"SPF is invalid: {broken.reason}.", f"Use {record.value}. {_KEEP_OTHERS}", found=texts
    )


def _judge_relay(
    record: DnsRecord, texts: tuple[str, ...], relay: str, results: dict[Address, SpfResult]
) -> RecordFinding:
    """A relay may send from other addresses than its name has: only its provider knows the right term."""
    term, is_documented = relay_term(relay)
    if is_documented:
        if term in texts[0].lower().split():
            return RecordFinding("ok", found=texts)
        problem = f"Mail leaves through {relay}, but the record has no `{term}`."
        return RecordFinding("mismatch", problem, f"Add {term} before `all`.", found=texts)
    if results and all(result.outcome == "pass" for result in results.values()):
        return RecordFinding("ok", found=texts)
    advice = (
        f"Mail leaves through {relay}. Ask its provider for the SPF term of its servers, and check that it is there."
    )
    return RecordFinding("ok", None, advice, found=texts)


def _note(nobody: SpfResult) -> str | None:
    if nobody.outcome == "pass":
        return "The record allows every server to send mail of the domain: end it with -all."
    if nobody.lookups >= MAX_LOOKUPS - 1:
        return (
            f"The record needs {nobody.lookups} of at most {MAX_LOOKUPS} DNS look-ups: remove terms before you add any."
        )
    return None


async def _examine_dkim(context: Context, record: DnsRecord) -> RecordFinding:
    """Verifiers ask for TXT, also where the name is a CNAME (a delegated key)."""
    return rules.judge_answers(await context.lookups.ask(record.name, "TXT"), rules.judge_dkim(record))


async def _examine_dmarc(context: Context, record: DnsRecord) -> RecordFinding:
    """A subdomain without a policy of its own has that of the nearest domain above."""
    finding = await _simple(rules.judge_dmarc, context, record)
    parent = record.name.removeprefix("_dmarc.").partition(".")[2]
    while finding.status == "missing" and "." in parent:
        for answer in await context.lookups.ask(f"_dmarc.{parent}", "TXT"):
            policies = [value for value in answer.values if is_dmarc(value)]
            if len(policies) == 1 and check_dmarc(policies[0]) is None:
                return RecordFinding("ok", None, f"The policy of {parent} applies.", found=tuple(policies))
        parent = parent.partition(".")[2]
    return finding


async def _examine_host(context: Context, record: DnsRecord) -> RecordFinding:
    """A name that leads to this server."""
    addresses = context.server.addresses
    kind = "AAAA" if addresses and all(each.version == 6 for each in addresses) else "A"
    answers = await context.lookups.ask(record.name, kind)
    return rules.judge_answers(answers, rules.judge_host(record, context.server, addresses))


async def _examine_policy_host(context: Context, _record: DnsRecord) -> RecordFinding:
    """Other servers must get the policy there, whichever proxy the name leads to."""
    assert context.fetch_policy is not None
    check = await context.fetch_policy()
    found = tuple("; ".join(text.splitlines()) for text in check.found)
    return RecordFinding(check.status, check.problem or None, check.advice or None, found=found)


async def _examine_address(context: Context, record: DnsRecord) -> RecordFinding:
    answers = await context.lookups.ask(record.name, record.type)
    return rules.judge_answers(answers, rules.judge_address(record, context.server.addresses))


async def _examine_ptr(context: Context, record: DnsRecord) -> RecordFinding:
    address = _address_of(context.server, record)
    hostname = context.server.hostname or ""
    forward = await context.lookups.ask(hostname, "A" if address.version == 4 else "AAAA")
    known = [answer for answer in forward if answer.outcome != "error"]
    confirmed = any(str(address) in answer.values for answer in known) if known else None
    answers = await context.lookups.ask(record.name, "PTR")
    return rules.judge_answers(answers, rules.judge_ptr(record, confirmed))


def _address_of(server: ServerIdentity, record: DnsRecord) -> Address:
    return next(each for each in server.addresses if each.reverse_pointer == record.name)


async def _examine_authorization(context: Context, record: DnsRecord) -> RecordFinding:
    """Any name below stands for the `*`."""
    name = record.name.replace("*", "example.com", 1)
    return rules.judge_answers(await context.lookups.ask(name, "TXT"), rules.judge_authorization(record))


async def _examine_caa(context: Context, record: DnsRecord) -> RecordFinding:
    """The records of the name, or else of the nearest name above (RFC 8659 §3)."""
    name = record.name
    while "." in name:
        answers = await context.lookups.ask(name, "CAA")
        finding = rules.judge_answers(answers, lambda answer: RecordFinding("ok", found=answer.values))
        if finding.found or finding.status != "ok":
            return finding
        name = name.partition(".")[2]
    return RecordFinding("ok", None, None)


async def _examine_dnssec(context: Context, record: DnsRecord) -> RecordFinding:
    answers = await context.lookups.ask(record.name, "A")
    if any(answer.authenticated for answer in answers):
        return RecordFinding("ok", found=("signed and verified",))

    def judge(answer: DnsAnswer) -> RecordFinding:
        if answer.values:
            return RecordFinding(
                "mismatch", "The zone is signed, but the name servers did not verify that.",
                "Use a validating name server (dns.servers), and check that the zone above has the DS record.",
                found=answer.values,
            )  # fmt: skip
        return RecordFinding(
            "missing", "The zone is not signed.", "Optional: sign it at the DNS provider. DANE needs it."
        )

    name = record.name
    while True:
        finding = rules.judge_answers(await context.lookups.ask(name, "DNSKEY"), judge)
        name = name.partition(".")[2]
        if finding.status != "missing" or "." not in name:
            return finding


async def _examine_tlsa(context: Context, record: DnsRecord) -> RecordFinding:
    def judge(answer: DnsAnswer) -> RecordFinding:
        if not answer.values:
            text = "Optional in a signed zone: it protects delivery to this server."
            return RecordFinding("missing", "There is no TLSA record.", text if answer.authenticated else None)
        if not answer.authenticated:
            return RecordFinding(
                "mismatch", "The record is not signed, so senders ignore it.", "Sign the zone, or remove the record.",
                found=answer.values,
            )  # fmt: skip
        return RecordFinding("ok", found=answer.values)

    return rules.judge_answers(await context.lookups.ask(record.name, "TLSA"), judge)


_EXAMINERS: dict[str, Examine] = {
    "mx": _examine_mx,
    "spf": _examine_spf,
    "dkim": _examine_dkim,
    "dmarc": _examine_dmarc,
    "mta_sts": partial(_simple, rules.judge_sts),
    "mta_sts_host": _examine_policy_host,
    "tls_rpt": partial(_simple, rules.judge_tls_rpt),
    "autoconfig": _examine_host,
    "autodiscover": _examine_host,
    "srv": partial(_simple, rules.judge_srv),
    "address": _examine_address,
    "ptr": _examine_ptr,
    "report_authorization": _examine_authorization,
    "caa": _examine_caa,
    "dnssec": _examine_dnssec,
    "tlsa": _examine_tlsa,
}
