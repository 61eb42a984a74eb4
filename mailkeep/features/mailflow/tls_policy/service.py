"""Postfix's table of TLS policies."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.tls_policy import rules, store
from mailkeep.features.mailflow.tls_policy.model import DaneCoverage, StoredPolicy
from mailkeep.mail.postfix.socketmap import LookupFailed, Table
from mailkeep.net import mta_sts
from mailkeep.net.dns_query import DnsAnswer, DnsQuery
from mailkeep.net.mta_sts import PolicyError
from mailkeep.settings import parse_networks

log = structlog.get_logger("mailkeep.tls_policy")

_KEPT = timedelta(minutes=5)
_MAX_KEPT = 10_000
_MAX_SERVERS = 20
_FETCHES = 32
_BATCH = 100


class TlsPolicies:
    """Answers for deliveries. `get_resolver` returns the resolver that Postfix uses too."""

    def __init__(self, app: App, get_resolver: Callable[[], DnsQuery]) -> None:
        self._app = app
        self._get_resolver = get_resolver
        self._settings = app.settings  # those of the answers
        self._answers: OrderedDict[str, tuple[str | None, datetime]] = OrderedDict()
        self._running: dict[str, asyncio.Task[str | None]] = {}
        self._fetches = asyncio.Semaphore(_FETCHES)

    def tables(self) -> Mapping[str, Table]:
        """The table `tls`, for `smtp_tls_policy_maps`."""
        return {"tls": self.find}

    async def find(self, key: str) -> str | None:
        """The TLS policy for a delivery to this destination (postconf(5), smtp_tls_policy_maps); None: the default.
        LookupFailed if it is not known now.
        """
        domain = rules.parse_destination(key)
        if domain is None:
            return None
        if self._settings is not self._app.settings:
            self._settings = self._app.settings
            self._answers.clear()
        kept = self._answers.get(domain)
        if kept and self._app.clock() < kept[1]:
            return kept[0]
        if domain not in self._running:
            task = asyncio.create_task(self._decide(domain))
            self._running[domain] = task
            task.add_done_callback(lambda _: self._running.pop(domain, None))
        return await asyncio.shield(self._running[domain])

    async def _decide(self, domain: str) -> str | None:
        settings = self._app.settings.outbound
        try:
            coverage = await self._find_coverage(domain) if settings.dane else "none"
            # A policy is not looked at if DANE decides.
            policy = await self._find_policy(domain) if settings.mta_sts and coverage != "all" else None
        except LookupFailed as error:
            log.warning("mail is deferred: its TLS policy is not known", domain=domain, reason=str(error))
            raise
        except Unavailable:
            log.warning("mail is deferred: the database is not available", domain=domain)
            raise LookupFailed("the database is not available") from None
        except Exception:
            log.exception("mail is deferred: the look-up of its TLS policy failed", domain=domain)
            raise LookupFailed("internal error") from None
        requires_tls = settings.dane and settings.tls == "encrypt"
        answer = rules.decide(policy and policy.policy, coverage, requires_tls=requires_tls)
        self._answers[domain] = (answer, self._app.clock() + _KEPT)
        self._answers.move_to_end(domain)
        if len(self._answers) > _MAX_KEPT:
            self._answers.popitem(last=False)
        return answer

    async def _find_coverage(self, domain: str) -> DaneCoverage:
        mx = await self._ask(domain, "MX")
        if mx.outcome == "error":
            raise LookupFailed(f"MX records of {domain}: {mx.error}")
        if not mx.authenticated:
            return "none"
        servers = rules.list_servers(mx, domain)[:_MAX_SERVERS]
        return rules.count_coverage(await asyncio.gather(*map(self._has_dane, servers)))

    async def _has_dane(self, server: str) -> bool:
        questions = ((server, "A"), (server, "AAAA"), (f"_25._tcp.{server}", "TLSA"))
        *addresses, tlsa = await asyncio.gather(*(self._ask(name, kind) for name, kind in questions))
        return rules.has_dane(addresses, tlsa)

    async def _ask(self, name: str, kind: str) -> DnsAnswer:
        """The first answer that is one."""
        try:
            answers = await self._get_resolver().ask(name, kind)
        except ValueError as error:
            return DnsAnswer("", "error", error=str(error))
        return next((each for each in answers if each.outcome != "error"), answers[0])

    async def _find_policy(self, domain: str) -> StoredPolicy | None:
        app, at = self._app, self._app.clock()
        async with app.db.autocommit() as conn:
            stored = await store.find(conn, domain, at)
        record = await self._ask(f"_mta-sts.{domain}", "TXT")
        record_id = mta_sts.find_id(record.values) if record.outcome == "found" else None
        if record_id is not None and (stored is None or stored.policy_id != record_id):
            return await self._fetch(domain, record_id, at) or stored
        if stored and stored.used_at.date() != at.date():
            async with app.db.autocommit() as conn:
                await store.mark_used(conn, domain, at)
        return stored

    async def _fetch(self, domain: str, record_id: str, used_at: datetime) -> StoredPolicy | None:
        """Fetch and store a policy; None if it can't be fetched."""
        app, outbound = self._app, self._app.settings.outbound
        extra_ca_file = Path(outbound.extra_ca_file) if outbound.extra_ca_file else None
        networks = tuple(parse_networks(outbound.mta_sts_networks))
        try:
            async with self._fetches:
                policy = await mta_sts.fetch_policy(app.outbound, domain, networks, extra_ca_file)
        except PolicyError as error:
            log.warning("an MTA-STS policy could not be fetched", domain=domain, reason=error.detail)
            return None
        stored = StoredPolicy(domain, record_id, policy, app.clock(), used_at)
        async with app.db.autocommit() as conn:
            await store.save(conn, stored)
        log.info("an MTA-STS policy was fetched", domain=domain, mode=policy.mode, mx=policy.mx)
        return stored

    async def refresh(self) -> None:
        """Fetch policies that are a day old and in use again, so that they don't expire, and delete expired ones."""
        app, at = self._app, self._app.clock()
        async with app.db.autocommit() as conn:
            await store.delete_expired(conn, at)
            due = await store.claim_old(conn, at, _BATCH) if app.settings.outbound.mta_sts else ()
        await asyncio.gather(*map(self._refresh, due))

    async def _refresh(self, old: StoredPolicy) -> None:
        record = await self._ask(f"_mta-sts.{old.domain}", "TXT")
        record_id = mta_sts.find_id(record.values) if record.outcome == "found" else None
        if record_id is not None:
            await self._fetch(old.domain, record_id, old.used_at)
