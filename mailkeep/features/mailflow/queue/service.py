"""Asking the node's agent about the queue, and what the agent does then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from mailkeep.features.mailflow.queue.model import Action, QueueEntry, QueueFilter, QueueSelection, QueueSlice
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.node_tasks import service as operations
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.mail.postfix import queue as postfix_queue

_IDS_IN_AUDIT = 50
_Listing = Callable[[], Awaitable[list[postfix_queue.PostqueueEntry]]]


def expect_full_profile(app: App) -> None:
    """UNAVAILABLE where there is no Postfix to ask."""
    if app.settings.mta.mode != "postfix":
        raise Unavailable("The queue is the full profile's.", reason="needs_full_profile")


async def page(app: App, wanted: QueueFilter, asked: PageRequest) -> Page[QueueEntry]:
    """A page of the queue. UNAVAILABLE."""
    expect_full_profile(app)
    after = (asked.after[0], str(asked.after[1])) if asked.after else None
    part = QueueSlice(asked.limit, asked.order == "desc", after)
    result = await operations.run(app, "queue.list", {"filter": asdict(wanted), "cut": asdict(part)})
    rows = msgspec.convert(result["messages"], list[QueueEntry])
    if len(rows) <= asked.limit:
        return Page(rows, None)
    rows = rows[: asked.limit]
    return Page(rows, (rows[-1].arrived_at, rows[-1].queue_id))


async def act(app: App, who: Principal, action: Action, wanted: QueueSelection, *, dry_run: bool) -> int:
    """Do something to messages of the queue; how many it could be done to. UNAVAILABLE."""
    expect_full_profile(app)
    argument = {"action": action, "selection": asdict(wanted), "dry_run": dry_run}
    async with app.db.tx() as conn:
        operation = await operations.submit(conn, app, "queue.act", argument)
        if not dry_run:
            await audit.record(conn, who, app.clock(), _audit_action(action, wanted))
    return int((await operations.wait_for_result(app, operation))["affected"])


def _audit_action(action: Action, wanted: QueueSelection) -> AuditAction:
    more: dict[str, Any] = {"messages": len(wanted.ids), "queue_ids": list(wanted.ids[:_IDS_IN_AUDIT])}
    if wanted.filter is not None:
        more = {"filter": {name: value for name, value in msgspec.to_builtins(wanted.filter).items() if value}}
    return AuditAction(f"queue.{action}", AuditTarget("queue", None), more=more)


async def list_local_deferrals(app: App, listing: Sequence[postfix_queue.PostqueueEntry], agent: str) -> list[str]:
    """The queue IDs of messages that were deferred because of our own services, oldest first. Raises `Unavailable`.

    `agent` is the path of the LMTP agent's socket.
    """
    deferred = sorted((each for each in listing if each.queue_name == "deferred"), key=lambda each: each.arrival_time)
    names = {to.address.rpartition("@")[2].lower() for each in deferred for to in each.recipients}
    async with app.db.autocommit() as conn:
        managed = await domains.filter_managed(conn, sorted(names))
    return [each.queue_id for each in deferred if rules.is_local_deferral(each, managed, agent)]


def task_handlers(conf: Path, queue: Path, original: Callable[[str], str | None]) -> Mapping[str, TaskHandler]:
    """What the node's agent does for this feature, with Postfix's configuration and queue folders.

    `original`: who wrote, for a sender that was rewritten (`mail/message/srs`).
    """

    async def listing() -> list[postfix_queue.PostqueueEntry]:
        found = await postfix_queue.list_queue(conf)
        return [msgspec.structs.replace(each, sender=original(each.sender) or each.sender) for each in found]

    return {"queue.list": partial(_list, listing, queue), "queue.act": partial(_act, listing, conf)}


async def _list(listing: _Listing, queue: Path, argument: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted, part = msgspec.convert(argument["filter"], QueueFilter), msgspec.convert(argument["cut"], QueueSlice)
    found = rules.select(await listing(), QueueSelection(filter=wanted))
    shown = [rules.queue_entry(each) for each in rules.take_slice(found, part)]
    deferred = [each.queue_id for each in shown if each.state == "deferred"]
    due = await asyncio.to_thread(postfix_queue.next_attempts, queue, deferred)
    return {"messages": [replace(each, next_attempt_at=due.get(each.queue_id)) for each in shown]}


async def _act(listing: _Listing, conf: Path, argument: Mapping[str, Any]) -> Mapping[str, Any]:
    action: Action = msgspec.convert(argument["action"], Action)
    wanted = msgspec.convert(argument["selection"], QueueSelection)
    ids = postfix_queue.select_ids(action, rules.select(await listing(), wanted))
    if not argument["dry_run"]:
        await postfix_queue.apply_action(conf, action, ids)
    return {"affected": len(ids)}
