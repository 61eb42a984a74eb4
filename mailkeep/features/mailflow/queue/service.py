"""Queue requests as node tasks, and the handlers of these tasks in the process `node`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.queue import rules
from mailkeep.features.mailflow.queue.model import (
    Action,
    Affected,
    Held,
    QueueEntry,
    QueueFilter,
    QueueSelection,
    QueueSlice,
    SenderQueue,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.holds import service as holds
from mailkeep.features.record.holds.model import HeldRows
from mailkeep.features.record.messages import service as messages_history
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.features.record.restrictions import service as restrictions
from mailkeep.mail.daemons import held_mail
from mailkeep.mail.daemons.held_mail import HeldMail
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.message import bounce_address, srs
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.queue import PostqueueEntry

_IDS_IN_AUDIT = 50
_ListQueue = Callable[[], Awaitable[list[PostqueueEntry]]]


def expect_full_profile(app: App) -> None:
    """UNAVAILABLE if Postfix does not run here."""
    if not app.settings.is_full_profile:
        raise Unavailable("The queue is available in the full profile only.", reason="needs_full_profile")


async def page(app: App, filters: QueueFilter, page_request: PageRequest) -> Page[QueueEntry]:
    """A page of the queue. UNAVAILABLE."""
    expect_full_profile(app)
    after = (page_request.after[0], str(page_request.after[1])) if page_request.after else None
    queue_slice = QueueSlice(page_request.limit, page_request.order == "desc", after)
    result = await node_tasks.run(app, "queue.list", {"filter": asdict(filters), "slice": asdict(queue_slice)})
    rows = msgspec.convert(result["messages"], list[QueueEntry])
    if len(rows) <= page_request.limit:
        return Page(rows, None)
    rows = rows[: page_request.limit]
    return Page(rows, (rows[-1].arrived_at, rows[-1].queue_id))


async def act(app: App, who: Principal, action: Action, selection: QueueSelection, *, dry_run: bool) -> Affected:
    """Apply an action to messages of the queue; the numbers. `dry_run`: only count them. UNAVAILABLE. What incidents
    hold is not released.

    The release of all messages also releases what is held outside the queue, and works in both profiles. Rows are
    released after the mail: if the process `node` is away, all stays on hold.
    """
    releases_rows = action == "release" and selection.is_all
    if not releases_rows:
        expect_full_profile(app)
    argument: dict[str, Any] = {"action": action, "selection": asdict(selection), "dry_run": dry_run}
    task, rows = None, HeldRows()
    async with app.db.tx() as conn:
        if action == "release":
            argument["except_ids"] = sorted(await restrictions.filter_restricted(conn, "queued_message", None))
        if app.settings.is_full_profile:
            task = await node_tasks.submit(conn, app, "queue.act", argument)
        if releases_rows:
            rows = await (holds.count(conn) if dry_run or task else holds.release(conn, app.clock()))
        if not dry_run:
            await audit.record(conn, who, app.clock(), _audit_action(action, selection, rows))
    if task is None:
        return Affected(0, rows)
    result = await node_tasks.wait_for_result(app, task)
    if releases_rows and not dry_run:
        async with app.db.tx() as conn:
            rows = await holds.release(conn, app.clock())
    return Affected(int(result["affected"]), rows, msgspec.convert(result["stored_apart"], HeldMail))


async def find_held(app: App) -> Held:
    """What is held since a full restore. UNAVAILABLE."""
    async with app.db.autocommit() as conn:
        restored, rows = await holds.find_restored(conn), await holds.count(conn)
    if restored is None or restored.released_at:
        return Held()
    if not app.settings.is_full_profile:
        return Held(restored, Affected(0, rows))
    argument = {"action": "release", "selection": asdict(QueueSelection(filter=QueueFilter())), "dry_run": True}
    result = await node_tasks.run(app, "queue.act", argument)
    return Held(restored, Affected(int(result["affected"]), rows, msgspec.convert(result["stored_apart"], HeldMail)))


async def flush(app: App, queue_ids: Sequence[str]) -> int:
    """Attempt the delivery of these messages now; returns how many are in the queue. The caller checks permissions and
    records the action. UNAVAILABLE.
    """
    return await apply(app, "flush", queue_ids)


async def apply(app: App, action: Action, queue_ids: Sequence[str]) -> int:
    """Apply an action to these messages; returns to how many. It also releases what incidents hold. The caller checks
    permissions and records the action. UNAVAILABLE.
    """
    expect_full_profile(app)
    argument = {"action": action, "selection": asdict(QueueSelection(ids=tuple(queue_ids))), "dry_run": False}
    return int((await node_tasks.run(app, "queue.act", argument))["affected"])


async def list_by_sender(app: App) -> list[SenderQueue]:
    """The queue IDs of all messages, by sender. UNAVAILABLE."""
    expect_full_profile(app)
    result = await node_tasks.run(app, "queue.list_by_sender", {})
    return msgspec.convert(result["senders"], list[SenderQueue])


def _audit_action(action: Action, selection: QueueSelection, rows: HeldRows) -> AuditAction:
    details: dict[str, Any] = {"messages": len(selection.ids), "queue_ids": list(selection.ids[:_IDS_IN_AUDIT])}
    if selection.filter is not None:
        details = {"filter": {name: value for name, value in msgspec.to_builtins(selection.filter).items() if value}}
    details |= {name: value for name, value in asdict(rows).items() if value}
    return AuditAction(f"queue.{action}", AuditTarget("queue", None), details=details)


async def list_local_deferrals(app: App, messages: Sequence[PostqueueEntry], lmtp: Path, relay: Path) -> list[str]:
    """The queue IDs of messages that were deferred because of services of this server, oldest first. UNAVAILABLE.

    `lmtp` and `relay`: the sockets of these processes.
    """
    deferred = sorted((each for each in messages if each.queue_name == "deferred"), key=lambda each: each.arrival_time)
    names = {to.address.rpartition("@")[2].lower() for each in deferred for to in each.recipients}
    async with app.db.autocommit() as conn:
        managed = await domains.filter_managed(conn, sorted(names))
    return [each.queue_id for each in deferred if rules.is_local_deferral(each, managed, str(lmtp), str(relay))]


def task_handlers(app: App, paths: InstancePaths) -> Mapping[str, TaskHandler]:
    """The handlers of this feature's node tasks. Instead of a rewritten sender or a bounce address they show the
    address that the sender chose.
    """
    conf = paths.postfix_conf

    async def list_queue() -> list[PostqueueEntry]:
        messages = [each for each in await postfix_queue.list_queue(conf) if not each.is_probe]
        originals = await _find_originals(app, {each.sender for each in messages})
        return [msgspec.structs.replace(each, sender=originals.get(each.sender, each.sender)) for each in messages]

    return {
        "queue.list": partial(_list, list_queue, paths.postfix_queue),
        "queue.act": partial(_act, list_queue, paths),
        "queue.list_by_sender": partial(_list_by_sender, list_queue),
    }


async def _find_originals(app: App, senders: Collection[str]) -> dict[str, str]:
    """The addresses that the senders of mail chose, by the envelope senders that Mailkeep wrote instead."""
    rewriter = srs.rewriter(app.vault, app.settings)
    originals = {sender: original for sender in senders if (original := rewriter.restore(sender))}
    if ids := [message_id for sender in senders if (message_id := bounce_address.message_of(sender))]:
        async with app.db.autocommit() as conn:
            originals |= await messages_history.find_from_addresses(conn, ids)
    return originals


async def _list(list_queue: _ListQueue, queue: Path, argument: Mapping[str, Any]) -> Mapping[str, Any]:
    filters, page = msgspec.convert(argument["filter"], QueueFilter), msgspec.convert(argument["slice"], QueueSlice)
    messages = rules.select(await list_queue(), QueueSelection(filter=filters))
    entries = [rules.queue_entry(each) for each in rules.sort_and_slice(messages, page)]
    deferred = [each.queue_id for each in entries if each.state == "deferred"]
    next_attempts = await asyncio.to_thread(postfix_queue.next_attempts, queue, deferred)
    return {"messages": [replace(each, next_attempt_at=next_attempts.get(each.queue_id)) for each in entries]}


async def _list_by_sender(list_queue: _ListQueue, argument: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"senders": [asdict(each) for each in rules.group_by_sender(await list_queue())]}


async def _act(list_queue: _ListQueue, paths: InstancePaths, argument: Mapping[str, Any]) -> Mapping[str, Any]:
    action: Action = msgspec.convert(argument["action"], Action)
    selection = msgspec.convert(argument["selection"], QueueSelection)
    ids = postfix_queue.select_ids(action, rules.select(await list_queue(), selection))
    except_ids = set[str](argument.get("except_ids", ()))
    ids = [each for each in ids if each not in except_ids]
    is_dry, stored_apart = bool(argument["dry_run"]), HeldMail()
    if not is_dry:
        await postfix_queue.apply_action(paths.postfix_conf, action, ids)
    if action == "release" and selection.is_all:
        stored_apart = await asyncio.to_thread(_count_mail if is_dry else _release_mail, paths)
    if stored_apart.local_submissions and not is_dry:
        await postfix_queue.wake_service(paths.postfix_conf, "pickup", "I")
    return {"affected": len(ids), "stored_apart": asdict(stored_apart)}


def _count_mail(paths: InstancePaths) -> HeldMail:
    return held_mail.count(paths.data)


def _release_mail(paths: InstancePaths) -> HeldMail:
    return held_mail.release(paths.data, paths.sieve_spool / "new", paths.postfix_queue / "maildrop")
