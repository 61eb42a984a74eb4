"""Periodic tasks of an instance."""

from __future__ import annotations

from datetime import timedelta

from mailkeep.app import App
from mailkeep.db.partitions import confirm_prune_time, ensure_partitions
from mailkeep.db.pool import Conn
from mailkeep.features.access.sign_in_protection import service as sign_ins
from mailkeep.features.directory.bulk import service as bulk
from mailkeep.features.directory.dkim_rotation import service as dkim_rotation
from mailkeep.features.directory.login_history import service as login_history
from mailkeep.features.directory.mailbox_sessions import service as mailbox_sessions
from mailkeep.features.directory.mailbox_usage import service as mailbox_usage
from mailkeep.features.directory.mailboxes import jobs as mailboxes
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.anomalies import service as anomalies
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.junk import jobs as junk
from mailkeep.features.mailflow.receiving import jobs as receiving
from mailkeep.features.mailflow.reports import jobs as reports
from mailkeep.features.mailflow.sandbox import service as sandbox
from mailkeep.features.mailflow.scheduling import jobs as scheduling, service as scheduling_service
from mailkeep.features.mailflow.sender_checks import service as sender_checks
from mailkeep.features.mailflow.sending import jobs as sending
from mailkeep.features.mailflow.webhooks import jobs as webhooks
from mailkeep.features.operations.backup_alerts import service as backup_alerts
from mailkeep.features.operations.backups import service as backups
from mailkeep.features.operations.health_alerts import service as health_alerts
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.analytics import service as analytics
from mailkeep.features.record.audit import jobs as audit
from mailkeep.features.record.audit.service import record_summaries
from mailkeep.features.record.job_runs import service as job_runs
from mailkeep.features.record.messages import jobs as messages
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.jobs.repeat import repeat
from mailkeep.web.idempotency import delete_expired_keys

_HOUSEKEEPING_SECONDS = 600.0
_IDLE_SECONDS = 1.0
_SEAL_SECONDS = 5.0
_WARN_SECONDS = 2.0
_DIGEST_SECONDS = 60.0
_ALERT_SECONDS = 60.0
_ALERT_MAIL_SECONDS = 5.0
_COUNT_SECONDS = 5.0
_HEALTH_SECONDS = 30.0
_CHECK_SECONDS = 2.0
_LOOK_SECONDS = 300.0
_REPORT_SECONDS = 2.0
_NAME_SECONDS = 10.0
_SETTLE_SECONDS = 10.0


async def prepare(app: App, conn: Conn) -> None:
    """What an instance does in its database when it starts, before anything else."""
    await ensure_partitions(conn, app.clock())
    await job_runs.begin(conn)
    await routing.apply_settings(conn, app.settings, app.clock())
    await filtering.apply_settings(conn, app.settings, app.clock())


async def housekeeping(app: App) -> None:
    """Create partitions in advance, reconcile interrupted sends, empty the trash, and delete old records."""
    async with app.db.tx() as conn:
        await ensure_partitions(conn, app.clock())
    async with app.db.autocommit() as conn:
        await abuse.delete_old_counts(conn, app.clock())
        await sign_ins.prune(conn, app.clock())
        await mailbox_sessions.prune(conn, app.clock())
        await login_history.prune(app, conn)
        await system_mail.prune(conn, app.clock())
        await dkim_rotation.prune(conn, app.clock())
        await alerts.prune(conn, app.clock())
    await delete_expired_keys(app.db, app.clock)
    await sending.reconcile(app, app.clock() - sending.ABANDONED)
    await mailboxes.purge_trash(app)
    await bulk.prune(app)
    await messages.prune(app)
    await receiving.prune(app)
    await webhooks.prune(app)
    await reports.prune(app)
    await analytics.prune(app)
    await sender_checks.prune(app)
    async with app.db.tx() as conn:
        confirmed = await confirm_prune_time(conn, "messages", app.clock())
        if confirmed:
            await backups.prune(conn, confirmed)
    if confirmed:
        await sandbox.prune(app, confirmed - timedelta(days=app.settings.retention.content_days))


async def settle_scheduled(app: App) -> None:
    """Finish the scheduled messages of workers that have ended."""
    if await scheduling.end_processes(app, app.clock() - scheduling.LONGEST_SUBMISSION):
        await sending.reconcile(app, app.clock() - sending.ABANDONED)
    await scheduling_service.settle(app)


async def run_scheduled_settling(app: App) -> None:
    """`settle_scheduled` every few seconds, until cancelled."""
    await repeat(_SETTLE_SECONDS, "scheduled messages", lambda: settle_scheduled(app))


async def run_forwards(app: App) -> None:
    """Forward mail of aliases with external destinations, until cancelled."""
    await repeat(_IDLE_SECONDS, "forwards", lambda: receiving.forward_due(app))


async def run_quota_warnings(app: App) -> None:
    """Warn the owners of mailboxes that are almost full, until cancelled."""
    await repeat(_WARN_SECONDS, "quota warnings", lambda: mailbox_usage.warn_owners(app))


async def run_junk_digests(app: App) -> None:
    """Send digests of Junk, until cancelled."""
    await repeat(_DIGEST_SECONDS, "digests of Junk", lambda: junk.send_digests(app))


async def run_backup_alerts(app: App) -> None:
    """Report what is wrong with backups, until cancelled."""
    await repeat(_ALERT_SECONDS, "alerts about backups", lambda: backup_alerts.report(app))


async def run_health(app: App) -> None:
    """Store the health and the use of the disk, and report what is not in order, until cancelled."""
    await repeat(_HEALTH_SECONDS, "the health", lambda: health_alerts.report(app))


async def run_alert_mail(app: App) -> None:
    """Mail alerts, until cancelled."""
    await repeat(_ALERT_MAIL_SECONDS, "mail about alerts", lambda: alerts.mail(app))


async def run_counting(app: App) -> None:
    """Count mail for the analytics, until cancelled."""
    await repeat(_COUNT_SECONDS, "analytics", lambda: analytics.count(app))


async def run_sender_checks(app: App) -> None:
    """Check senders by the outcomes of their mail, until cancelled."""
    await repeat(_CHECK_SECONDS, "checks of senders", lambda: sender_checks.check(app))


async def look_for_abuse(app: App) -> None:
    """Look for what is unusual, and whether what was reported is over."""
    await sender_checks.check_again(app)
    await anomalies.look(app)


async def run_abuse_checks(app: App) -> None:
    """`look_for_abuse` every five minutes, until cancelled."""
    await repeat(_LOOK_SECONDS, "checks for abuse", lambda: look_for_abuse(app))


async def run_reports(app: App) -> None:
    """Read mail to the report addresses, until cancelled."""
    await repeat(_REPORT_SECONDS, "reports", lambda: reports.read_due(app))


async def run_source_names(app: App) -> None:
    """Look up the reverse names of sources in reports, until cancelled."""
    await repeat(_NAME_SECONDS, "reverse names", lambda: reports.look_up_names(app))


async def run_sealing(app: App) -> None:
    """Seal the audit log, until cancelled."""
    await repeat(_SEAL_SECONDS, "sealing", lambda: audit.seal(app))


async def run_refusal_summaries(app: App) -> None:
    """Write audit entries with the number of refused API calls that have no entry of their own, until cancelled."""
    await repeat(_SEAL_SECONDS, "summaries of refused calls", lambda: record_summaries(app, app.clock()))


async def run_audit_pruning(app: App) -> None:
    """Prune the audit log, until cancelled."""
    await repeat(_HOUSEKEEPING_SECONDS, "pruning the audit log", lambda: audit.prune(app))


async def run_housekeeping(app: App) -> None:
    """Run `housekeeping` every ten minutes, until cancelled."""
    await repeat(_HOUSEKEEPING_SECONDS, "housekeeping", lambda: housekeeping(app))
