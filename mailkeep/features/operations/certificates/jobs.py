"""The worker that orders, renews and revokes certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import structlog
from cryptography import x509

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.operations.certificates import rules, service, store
from mailkeep.features.operations.certificates.model import SERVER, NameCheck, OrderOutcome, TlsCertificate
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.jobs.run import ClaimLimits, JobQueue, QueueWorker
from mailkeep.net.acme import jws
from mailkeep.net.acme.answers import AcmeError
from mailkeep.net.acme.client import AcmeClient, OrderRequest, Window, ari_identifier

log = structlog.get_logger("mailkeep.certificates")

_LEASE = timedelta(minutes=20)  # longer than an order may take
_CONCURRENCY = 4
_ADD_EVERY = timedelta(seconds=5)
_SYSTEM = Principal(None, "certificates", Role.SUPER_ADMIN, ActorType.SYSTEM)


class CertificateWorker(QueueWorker[TlsCertificate]):
    """The certificates that are due."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._added: object = None  # settings and time when missing certificates were added last
        self._settings: object = None
        queue = JobQueue("certificates", self._claim, _key, self._work, self._release)
        super().__init__(app.db, queue, slots=_CONCURRENCY)

    async def _claim(self, limits: ClaimLimits) -> Sequence[TlsCertificate]:
        at, settings = self._app.clock(), self._app.settings
        if not settings.is_full_profile:
            return ()
        # Time in steps, so that a clock that was set back does not delay it.
        wanted = (settings.acme, settings.tls, service.list_wanted(settings, SERVER))
        step = (wanted, at.timestamp() // _ADD_EVERY.total_seconds())
        async with self._app.db.autocommit() as conn:
            if step != self._added:
                await service.add_missing(self._app, conn)
                self._added = step
            if wanted != self._settings:
                if self._settings is not None:
                    await store.request_all(conn, at)
                self._settings = wanted
            return await store.claim(conn, at, at + _LEASE, limits.total)

    async def _work(self, job: TlsCertificate) -> bool:
        try:
            if job.revoking is not None and self._app.settings.acme.enabled:
                await self._revoke(job)
                return True
            if not service.is_managed(self._app.settings, job.name):
                await self._finish(job, OrderOutcome(self._app.clock() + rules.LOOK_AGAIN, ()), is_renewed=False)
                return True
            await self._attempt(job)
        except Failure as error:
            retry_after = error.retry_after if isinstance(error, AcmeError) else None
            await self._fail(job, str(error), retry_after)
            return False
        return True

    async def _release(self, job: TlsCertificate) -> None:
        async with self._app.db.autocommit() as conn:
            await store.release(conn, job, self._app.clock())

    async def _revoke(self, job: TlsCertificate) -> None:
        assert job.revoking is not None
        session = await service.open_session(self._app)
        await session.revoke(job.revoking, job.revoke_reason or 0)
        failpoint.reach("certificates.revoked")
        log.info("a certificate was revoked", name=job.name)
        async with self._app.db.tx() as conn:
            await store.end_revocation(conn, job)
            await store.release(conn, job, self._app.clock())

    async def _attempt(self, job: TlsCertificate) -> None:
        """Look at the names, and order a certificate if it is time to."""
        app = self._app
        checks = await service.check_names(app, service.list_wanted(app.settings, job.name))
        ready = [each.name for each in checks if each.status == "ok"]
        if job.chain is None and not ready:
            await self._explain_missing(job, checks)
            return
        session, window = await self._ask_window(job)
        at = app.clock()
        renew_at = rules.renewal_time(job, window, at)
        if not rules.needs_order(job, ready, renew_at, at):
            next_at = rules.next_look(checks, renew_at, window, at)
            await self._finish(job, OrderOutcome(next_at, checks, renew_at=renew_at))
            return
        await self._order(job, session or await service.open_session(app), checks)

    async def _explain_missing(self, job: TlsCertificate, checks: tuple[NameCheck, ...]) -> None:
        """None of the names leads here: that of a domain may be meant so, the server's is not."""
        first = next((each for each in checks if each.status == "failed"), checks[0] if checks else None)
        problem = first.problem if first else "No host name is set (server.hostname)."
        if job.domain_id is None:
            await self._fail(job, problem, None, checks)
        else:
            next_at = self._app.clock() + rules.LOOK_AGAIN
            await self._finish(
                job, OrderOutcome(next_at, checks, problem if first and first.status == "failed" else "")
            )

    async def _ask_window(self, job: TlsCertificate) -> tuple[AcmeClient | None, Window | None]:
        """When the authority suggests to renew. Without an answer the end of the certificate decides."""
        if job.chain is None:
            return None, None
        try:
            session = await service.open_session(self._app)
            return session, await session.find_window(x509.load_pem_x509_certificates(job.chain.encode())[0])
        except AcmeError as error:
            log.info("the authority does not say when to renew", name=job.name, reason=str(error))
            return None, None

    async def _order(self, job: TlsCertificate, session: AcmeClient, checks: tuple[NameCheck, ...]) -> None:
        app, key = self._app, jws.new_key()
        acme = app.settings.acme
        request = OrderRequest(
            names=rules.select_names(job, checks, app.clock()),
            challenge="dns-01" if acme.challenge == "dns" else "http-01",
            profile=acme.profile,
            replaces=_identify(job),
        )
        publisher = service.make_publisher(app)
        try:
            chain = await session.obtain(request, key, publisher)
        except AcmeError as error:
            if error.kind != "accountDoesNotExist":
                raise
            session = await service.open_session(app, again=True)
            chain = await session.obtain(request, key, publisher)
        failpoint.reach("certificates.issued")
        async with app.db.tx() as conn:
            if await service.save_issued(conn, app, job, (chain, jws.to_pem(key)), checks):
                await self._report_recovery(conn, job)
        log.info("a certificate was issued", name=job.name, names=list(request.names))

    async def _fail(
        self, job: TlsCertificate, problem: str, retry_after: float | None, checks: tuple[NameCheck, ...] | None = None
    ) -> None:
        failures = job.failures + 1
        log.warning("a certificate was not issued", name=job.name, reason=problem, failures=failures)
        next_at = self._app.clock() + rules.pause_after(failures, retry_after)
        found = job.checks if checks is None else checks
        await self._finish(job, OrderOutcome(next_at, found, problem, failures, renew_at=job.renew_at))

    async def _finish(self, job: TlsCertificate, outcome: OrderOutcome, *, is_renewed: bool = True) -> None:
        """Store the outcome, and report when something begins or ends to be wrong."""
        at = self._app.clock()
        alert = rules.find_alert(job, outcome.problem, outcome.failures, at, is_renewed=is_renewed)
        async with self._app.db.tx() as conn:
            if not await store.finish(conn, job, replace(outcome, alerted=alert is not None)):
                return
            if alert is None:
                await self._report_recovery(conn, job)
            elif not job.alerted:
                await self._report(conn, job, "certificate_failed", alert)

    async def _report_recovery(self, conn: Conn, job: TlsCertificate) -> None:
        if job.alerted:
            text = f"The certificate {rules.describe_name(job)} is valid again."
            await self._report(conn, job, "certificate_recovered", text)

    async def _report(self, conn: Conn, job: TlsCertificate, alert: str, reason: str) -> None:
        domain = None if job.domain_id is None else job.name
        event = Event(None, None, SystemAlert(alert=alert, domain=domain, reason=reason))
        await events.emit(conn, self._app.clock(), event)


def _identify(job: TlsCertificate) -> str:
    """The ARI identifier of the certificate that is replaced; empty if there is none."""
    return "" if job.chain is None else ari_identifier(x509.load_pem_x509_certificates(job.chain.encode())[0])


def _key(job: TlsCertificate) -> UUID:
    return job.id
