"""Look for what is unusual, and report it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.anomalies import rules, store
from mailkeep.features.mailflow.anomalies.model import KINDS, ComparedDomain, HourHistory, MailboxSignIns, TimeSpan
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertProblem
from mailkeep.features.record.analytics import service as analytics
from mailkeep.features.record.analytics.model import ALL_DOMAINS


async def look(app: App) -> None:
    """Compare the last hours with those before, and report what is unusual. Run it every few minutes."""
    await analytics.count(app)
    at = app.clock()
    async with app.db.tx() as conn:
        domains = await store.list_domains(conn)
        found = await _spikes(conn, at, domains)
        found += await _silences(conn, at, domains)
        found += rules.many_networks(await store.list_sign_ins(conn, at - rules.HOUR), at)
        found += await _after_pauses(conn, at)
        await alerts.report(conn, at, "abuse", found, kinds=KINDS)


async def _spikes(conn: Conn, at: datetime, domains: Mapping[UUID, str]) -> list[AlertProblem]:
    hour = rules.last_hour(at)
    now = {
        domain_id: recipients
        for domain_id, (recipients,) in (await _recipients(conn, [hour], None)).items()
        if recipients >= rules.LEAST and domain_id in domains
    }
    if not now:
        return []
    first = await analytics.first_slots(conn, list(now))
    spans = rules.weeks_before(hour)
    shifts = [await _recipients(conn, rules.weeks_before(hour, n * rules.HOUR), list(now)) for n in (-1, 0, 1)]
    hours = rules.hours_before(hour)
    recent = await _recipients(conn, hours, list(now))
    elapsed = (at - hour.since) / (hour.until - hour.since)
    found: list[AlertProblem] = []
    for domain_id, recipients in sorted(now.items()):
        begin = first.get(domain_id, at)
        of_weeks = [
            max(of_shift[domain_id][number] for of_shift in shifts) if span.since >= begin else None
            for number, span in enumerate(spans)
        ]
        known = [number for span, number in zip(hours, recent[domain_id], strict=True) if span.since >= begin]
        mail = ComparedDomain(domain_id, domains[domain_id])
        if problem := rules.spike(mail, recipients, HourHistory(of_weeks, known), elapsed):
            found.append(problem)
    return found


async def _recipients(conn: Conn, spans: Sequence[TimeSpan], domains: Sequence[UUID] | None) -> dict[UUID, list[int]]:
    """The recipients to which domains sent and forwarded, in each span."""
    times = [(each.since, each.until) for each in spans]
    sent = await analytics.sum_spans(conn, "accepted", times, domains)
    forwarded = await store.sum_forwards(conn, times, domains)
    sums: dict[UUID, list[int]] = {each: [0] * len(spans) for each in domains or ()}
    for domain_id, number, recipients in (*sent, *forwarded):
        sums.setdefault(domain_id, [0] * len(spans))[number] += recipients
    return sums


async def _silences(conn: Conn, at: datetime, domains: Mapping[UUID, str]) -> list[AlertProblem]:
    end = rules.last_hour(at).until
    now = TimeSpan(end - rules.QUARTER - rules.SILENCE, end)
    spans = [now, *rules.weeks_before(TimeSpan(now.since, now.since + rules.SILENCE))]
    sums: dict[UUID, list[int]] = {}
    for domain_id, number, delivered in await analytics.sum_spans(
        conn, "delivered", [(each.since, each.until) for each in spans], None
    ):
        sums.setdefault(domain_id, [0] * len(spans))[number] = delivered
    quiet = [domain_id for domain_id, (delivered, *before) in sums.items() if not delivered and any(before)]
    first = await analytics.first_slots(conn, quiet) if quiet else {}
    found: list[AlertProblem] = []
    for domain_id in sorted(quiet):
        if domain_id != ALL_DOMAINS and domain_id not in domains:
            continue
        begin = first.get(domain_id, at)
        weeks = [
            number if span.since >= begin else None for span, number in zip(spans[1:], sums[domain_id][1:], strict=True)
        ]
        mail = ComparedDomain(None, None) if domain_id == ALL_DOMAINS else ComparedDomain(domain_id, domains[domain_id])
        if problem := rules.silence(mail, 0, weeks):
            found.append(problem)
    if all(each.domain_id for each in found):
        return found
    # Nothing is delivered at all: one new alert. Those about domains have not ended.
    unresolved = await alerts.list_subjects(conn, "abuse", ["silence"])
    return [each for each in found if each.domain_id is None or each.subject in unresolved]


async def _after_pauses(conn: Conn, at: datetime) -> list[AlertProblem]:
    by_mailbox: dict[str, list[MailboxSignIns]] = {}
    for each in await store.list_sign_ins_after_pause(conn, at, rules.PAUSE):
        by_mailbox.setdefault(each.mailbox, []).append(each)
    problems = [rules.after_pause(sign_ins, at) for sign_ins in by_mailbox.values()]
    return [each for each in problems if each]
