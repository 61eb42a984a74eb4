"""Read and change thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import FieldError, InvalidField, invalid_field
from mailkeep.core.principal import Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.mailflow.thresholds import rules, store
from mailkeep.features.mailflow.thresholds.model import (
    EffectiveThreshold,
    HourlyUsage,
    ThresholdBounds,
    ThresholdSource,
    ThresholdSubject,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.settings import SETTING_FIELDS


async def find_subject(
    conn: Conn, who: Principal, scope: ThresholdSource, subject_id: UUID | None, action: str
) -> ThresholdSubject | None:
    """The domain or mailbox of a scope; None for the settings. DOMAIN_NOT_FOUND, NOT_FOUND, API_KEY_DOMAIN_SCOPE; to
    change those of a mailbox that a higher-ranked administrator owns: FORBIDDEN.
    """
    if scope == "global" or subject_id is None:
        return None
    if scope == "domain":
        domain = await domains.get(conn, who, action, subject_id)
        return ThresholdSubject(domain.id, domain.name)
    if action == "threshold.write":
        mailbox = await mailboxes.get_for_state_change(conn, who, subject_id, action)
    else:
        mailbox = await mailboxes.get(conn, who, subject_id, action)
    return ThresholdSubject(mailbox.domain_id, mailbox.domain_name, mailbox.id, mailbox.address)


async def effective(
    app: App, conn: Conn, sender: str | None, domain: str, subject: ThresholdSubject | None = None
) -> dict[str, EffectiveThreshold]:
    """The thresholds of a sender (its address key) or, for None, of the domain: those that `subject` has."""
    return await store.effective(conn, sender, domain, _settings(app, subject))


async def of_sender(app: App, conn: Conn, sender: str) -> dict[str, float]:
    """The thresholds of a sender (its address key)."""
    found = await effective(app, conn, sender, sender.rpartition("@")[2])
    return {name: each.value for name, each in found.items()}


async def of_domain(app: App, conn: Conn, domain: str) -> dict[str, float]:
    """The thresholds of a domain (its name)."""
    return {name: each.value for name, each in (await effective(app, conn, None, domain)).items()}


async def read(
    app: App, conn: Conn, subject: ThresholdSubject | None
) -> tuple[dict[str, EffectiveThreshold], dict[str, EffectiveThreshold], HourlyUsage | None]:
    """The thresholds in force, those that would be without the subject's own, and the usage of a domain."""
    if subject is None:
        of_all = await effective(app, conn, None, "")
        return of_all, of_all, None
    if subject.mailbox is not None:
        own = await effective(app, conn, subject.mailbox.key, subject.domain_name, subject)
        return own, await effective(app, conn, None, subject.domain_name, subject), None
    own = await effective(app, conn, None, subject.domain_name, subject)
    return own, await effective(app, conn, None, "", subject), await store.usage(conn, app.clock(), subject.domain_name)


async def change(
    app: App, conn: Conn, who: Principal, subject: ThresholdSubject, changes: Mapping[str, float | None]
) -> None:
    """Set thresholds of a domain or mailbox; None unsets. INVALID_FIELD with all faults."""
    is_admin = who.rank >= Role.ADMIN.rank
    stored = await store.lock_and_find(conn, subject)
    allowed = await effective(app, conn, subject.mailbox.key if subject.mailbox else None, subject.domain_name)
    faults: list[FieldError] = []
    for name, value in changes.items():
        field = SETTING_FIELDS[f"abuse.{name}"]
        bounds = ThresholdBounds(field.low or 0, field.high or 0, None if is_admin else allowed[name].highest)
        if value is not None and (fault := rules.fault(name, value, subject, bounds)):
            faults.append({"field": f"values.{name}", "reason": fault})
    if faults:
        raise InvalidField(faults)
    values = {name: rules.store_value(value, stored.get(name), is_admin=is_admin) for name, value in changes.items()}
    await store.replace(conn, subject, values)
    before = {name: each.value if (each := stored.get(name)) else None for name in changes}
    after = {name: each.value if each else None for name, each in values.items()}
    if before != after:
        await audit.record(conn, who, app.clock(), AuditAction("threshold.update", _target(subject), before, after))


def require_subject(subject: ThresholdSubject | None) -> ThresholdSubject:
    """The subject. INVALID_FIELD for the settings, which have an endpoint of their own."""
    if subject is None:
        raise invalid_field("scope", "the global values are the settings abuse.*: change them with PATCH /config")
    return subject


def _settings(app: App, subject: ThresholdSubject | None) -> dict[str, float]:
    return {name: float(getattr(app.settings.abuse, name)) for name in rules.names(subject)}


def _target(subject: ThresholdSubject) -> AuditTarget:
    if subject.mailbox_id:
        return AuditTarget("mailbox", subject.mailbox_id, subject.domain_id, subject.domain_name)
    return AuditTarget("domain", subject.domain_id, subject.domain_id, subject.domain_name)
