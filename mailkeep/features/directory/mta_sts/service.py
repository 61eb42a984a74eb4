"""Serving a domain's policy, and checking that others can fetch it."""

from __future__ import annotations

from pathlib import Path

from mailkeep.app import App
from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mta_sts import rules, store
from mailkeep.features.directory.mta_sts.model import PolicyCheck
from mailkeep.net import mta_sts
from mailkeep.net.mta_sts import MtaStsPolicy, PolicyError
from mailkeep.settings import parse_networks

_PREFIX = mta_sts.host_of("")


async def find_policy(app: App, host: str) -> str | None:
    """The policy for a request with this Host field; None if the host is not `mta-sts.` and a managed domain with a
    policy.
    """
    name = host.partition(":")[0].removesuffix(".").lower()
    if not name.startswith(_PREFIX):
        return None
    try:
        name = normalize_domain(name.removeprefix(_PREFIX), min_labels=2)
    except AddressError:
        return None
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, name)
    return domain and rules.policy(domain, _hostname(app), app.clock())


async def check(app: App, domain: Domain) -> PolicyCheck:
    """Fetch the domain's policy as other servers do, and store whether it is served, which `enforce` needs."""
    hostname, at = _hostname(app), app.clock()
    if not hostname:
        return PolicyCheck(
            "not_checked", (), "This server has no name yet.", "Set server.hostname: the policy names it."
        )
    if rules.make_policy(domain, hostname, at) is None:
        return PolicyCheck("not_checked")
    found = await _fetch(app, domain.name)
    if isinstance(found, PolicyError) and found.fault == "dns" and (failed := await _find_dns_error(app, domain.name)):
        return failed
    result = rules.judge(domain, hostname, at, found)
    async with app.db.autocommit() as conn:
        await store.set_served_at(conn, domain, at if result.status == "ok" else None)
    return result


def _hostname(app: App) -> str:
    server = app.settings.server
    return server.mail_domain if server.hostname else ""


async def _fetch(app: App, name: str) -> MtaStsPolicy | PolicyError:
    outbound = app.settings.outbound
    extra_ca_file = Path(outbound.extra_ca_file) if outbound.extra_ca_file else None
    try:
        return await mta_sts.fetch_policy(
            app.outbound, name, tuple(parse_networks(outbound.mta_sts_networks)), extra_ca_file
        )
    except PolicyError as error:
        return error


async def _find_dns_error(app: App, name: str) -> PolicyCheck | None:
    """Whether a name server could not say if the host exists, which proves nothing."""
    host = mta_sts.host_of(name)
    try:
        answers = await app.dns_query.ask(host, "A")
    except ValueError:  # the host of a long domain has no name that DNS can express
        return None
    for answer in answers:
        if answer.outcome == "error":
            problem = f"The name server {answer.server} could not look up {host}: {answer.error}."
            return PolicyCheck("dns_error", (), problem, "Check again later, and check the name servers of the domain.")
    return None
