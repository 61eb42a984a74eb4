"""The state of services, and operations on them."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

import mailkeep
from mailkeep.app import App
from mailkeep.core.errors import Conflict, Forbidden, NotFound, OrchestratorBusy, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.operations.orchestrator import rules, store
from mailkeep.features.operations.orchestrator.model import (
    AdoptionResult,
    ApplyRefusal,
    ApplyRequest,
    ConfigurationPlan,
    DriftedFile,
    Generation,
    ManagedService,
    NewListener,
    Operation,
    OperationState,
    Overview,
    ServiceAction,
    Step,
    StepState,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert, SystemDrift
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.settings_revisions import rules as revision_rules, service as revisions
from mailkeep.features.record.settings_revisions.model import SettingsChange, StoredSettings, UndoneApply, Values
from mailkeep.settings import SettingsError

_PLAN_SECONDS, _OVERVIEW_SECONDS = 60.0, 30.0
_ABANDONED = timedelta(minutes=5)
_Edit = Callable[[StoredSettings], Values]
_Revising = tuple[Callable[[Conn], Awaitable[int]] | None, Callable[[Conn, int], Awaitable[None]] | None]
"""Adds a revision of the settings and returns its number; takes it back if the operation does not begin."""
_SYSTEM = Principal(None, "an apply that did not succeed", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def read_overview(app: App) -> Overview:
    """All services. UNAVAILABLE if the process `node` does not answer."""
    if not app.settings.is_full_profile:
        return Overview([ManagedService(rules.OWN_PROCESS, "running", os.getpid(), None, mailkeep.__version__)])
    result = await node_tasks.run(app, "orchestrator.services", {}, _OVERVIEW_SECONDS)
    services = msgspec.convert(result["services"], list[ManagedService])
    async with app.db.autocommit() as conn:
        database = ManagedService(rules.DATABASE, "running", None, None, str(conn.info.server_version // 10000))
    generation = msgspec.convert(result["generation"], Generation | None)
    return Overview([database, *services], generation, msgspec.convert(result["generations"], list[Generation]))


async def list_drift(app: App) -> list[DriftedFile]:
    """The files of the daemons' configuration that were edited by hand. UNAVAILABLE."""
    if not app.settings.is_full_profile:
        return []
    return msgspec.convert((await node_tasks.run(app, "orchestrator.drift", {}))["files"], list[DriftedFile])


async def report_drift(app: App, files: list[str]) -> None:
    """Emit `system.drift` with all files that were edited by hand."""
    async with app.db.tx() as conn:
        await events.emit(conn, app.clock(), Event(None, None, SystemDrift(files=files)))


async def make_plan(app: App, proposed: Values | None = None, seconds: float = _PLAN_SECONDS) -> ConfigurationPlan:
    """What would change with the newest settings, or with `proposed` stored values. UNAVAILABLE, after `seconds` if the
    process `node` does not answer.
    """
    if app.settings.is_full_profile:
        # Sealed, because the arguments of tasks stay in the database.
        argument = {} if proposed is None else {"stored": revisions.seal(app.vault, proposed).hex()}
        result = await node_tasks.run(app, "orchestrator.plan", argument, seconds)
        return msgspec.convert(result["plan"], ConfigurationPlan)
    async with app.db.autocommit() as conn:
        stored = revision_rules.propose(await revisions.read(conn, app.vault, is_full_profile=False), proposed)
    pending = revision_rules.list_pending(stored)
    digest = hashlib.sha256(f"{stored.applied_n} {stored.n}".encode()).hexdigest()
    until, actions = app.clock() + rules.PLAN_LIFETIME, rules.plan_embedded(pending)
    plan_id = rules.identify_plan(digest, until)
    return ConfigurationPlan(plan_id, stored.applied_n, stored.n, until, actions=actions, settings=pending)


async def page(app: App, page_request: PageRequest) -> Page[Operation]:
    """A page of the operations."""
    async with app.db.autocommit() as conn:
        return await store.page(conn, page_request)


async def find(app: App, operation_id: UUID) -> Operation:
    """An operation; NOT_FOUND."""
    operation = await find_or_none(app, operation_id)
    if operation is None:
        raise NotFound
    return operation


async def find_or_none(app: App, operation_id: UUID) -> Operation | None:
    """An operation, if it is recorded."""
    async with app.db.autocommit() as conn:
        return await store.find(conn, operation_id)


async def request_action(app: App, who: Principal, service: str, action: ServiceAction) -> Operation:
    """Let the process `node` do something with a service. NOT_FOUND, CONFLICT, ORCHESTRATOR_BUSY, UNAVAILABLE."""
    if app.settings.is_full_profile:
        running: Mapping[str, bool] = app.running_services() if app.running_services else {}
        rules.require_possible(service, action, [rules.DATABASE, *(name for name in running if name != "supervisor")])
    elif service == rules.OWN_PROCESS:
        rules.require_possible(service, action, [rules.OWN_PROCESS])
    else:
        raise Unavailable("Only the full profile has services.", reason="needs_full_profile")
    at = app.clock()
    operation = Operation(uuid7(at), action, service, "running", who.admin_id, who.label, at)
    async with app.db.tx() as conn:
        await _insert(conn, operation)
        await audit.record(conn, who, at, AuditAction(f"orchestrator.{action}", AuditTarget("service", service)))
        await node_tasks.submit(conn, app, "orchestrator.perform", {"operation_id": str(operation.id)})
    return operation


async def request_apply(app: App, who: Principal, request: ApplyRequest) -> Operation | ApplyRefusal:
    """Apply a plan: the operation, which runs in the background, or why it did not begin. Edits that are adopted become
    a revision of the settings. ORCHESTRATOR_BUSY, UNAVAILABLE.
    """
    at = app.clock()
    operation = Operation(uuid7(at), "apply", None, "running", who.admin_id, who.label, at)
    action = AuditAction("orchestrator.apply", AuditTarget("config", None), details={"plan_id": request.plan_id})
    if not app.settings.is_full_profile:
        if refusal := rules.refuse_embedded(await make_plan(app), request, at):
            return refusal
        async with app.db.tx() as conn:
            await _insert(conn, operation)
            await audit.record(conn, who, at, action)
            await store.save_end(conn, operation.id, "succeeded", None, at, ())
        return operation
    if not request.adopt_drift:
        return await _prepare(app, who, operation, action, {"request": request})
    argument = {"request": msgspec.to_builtins(request)}
    found = await node_tasks.run(app, "orchestrator.adopt", argument, _PLAN_SECONDS)
    adopted = msgspec.convert(found, AdoptionResult)
    if adopted.refusal:
        return adopted.refusal
    argument = {"request": replace(request, plan_id=adopted.plan_id)}
    comment = f"Adopted edits by hand: {', '.join(request.adopt_drift)}"

    def adopt(conn: Conn) -> Awaitable[int]:  # if there is another revision meanwhile, the plan is another one too
        return _add_revision(conn, app, who, lambda now: revision_rules.merge(now.values, adopted.changes), comment)

    undo = partial(_undo_adoption, app=app, who=who) if adopted.changes else None
    return await _prepare(app, who, operation, action, argument, (adopt, undo))


async def request_rollback(app: App, who: Principal, generation: int, watch_seconds: int) -> Operation | ApplyRefusal:
    """Apply the settings of an earlier generation, which become the newest revision (only those that need an apply),
    and are taken back if that does not succeed. NOT_FOUND, ORCHESTRATOR_BUSY, UNAVAILABLE.
    """
    if not app.settings.is_full_profile:
        raise Unavailable("Only the full profile has generations.", reason="needs_full_profile")
    overview = await read_overview(app)
    found = next((each for each in overview.generations if each.n == generation), None)
    if found is None:
        kept = ", ".join(str(each.n) for each in overview.generations)
        raise NotFound(f"There is no generation {generation}. Kept: {kept or 'none'}.")
    at = app.clock()
    operation = Operation(uuid7(at), "rollback", None, "running", who.admin_id, who.label, at)
    action = AuditAction("orchestrator.rollback", AuditTarget("config", None), details={"generation": generation})
    argument = {"request": ApplyRequest("", watch_seconds)}
    change = partial(_restore_settings, app=app, who=who, generation=found)
    return await _prepare(app, who, operation, action, argument, (change, partial(_take_back, app=app)))


async def _prepare(
    app: App,
    who: Principal,
    operation: Operation,
    action: AuditAction,
    argument: Mapping[str, Any],
    revising: _Revising = (None, None),
) -> Operation | ApplyRefusal:
    change, undo = revising
    async with app.db.tx() as conn:
        await _insert(conn, operation)
        await audit.record(conn, who, operation.created_at, action)
        revision = await change(conn) if change else 0
        argument = {"operation_id": str(operation.id), **argument}
        task = await node_tasks.submit(conn, app, "orchestrator.prepare", msgspec.to_builtins(argument))
    refusal: ApplyRefusal | None = None
    try:
        result = await node_tasks.wait_for_result(app, task, _PLAN_SECONDS)
        refusal = msgspec.convert(result["refusal"], ApplyRefusal | None)
    except Unavailable as error:
        # Otherwise the process `node` may still be running it, or the database is away.
        if (error.details or {}).get("reason") in ("node_agent_away", "operation_failed"):
            await discard(app, operation.id)
        raise
    finally:
        if undo and (refusal or await find_or_none(app, operation.id) is None):
            async with app.db.tx() as conn:
                await undo(conn, revision)
    return refusal or operation


async def _add_revision(conn: Conn, app: App, who: Principal, edit: _Edit, comment: str) -> int:
    """The number of the new revision, 0 if nothing changes."""
    change, is_full = SettingsChange(edit, comment), app.settings.is_full_profile
    return await revisions.add_if_changed(conn, app.vault, who, app.clock(), change, is_full_profile=is_full)


async def _undo_adoption(conn: Conn, n: int, app: App, who: Principal) -> None:
    """Add a revision with the settings before the adoption, if its revision `n` (0: none) is the newest."""
    old = await revisions.read_values(conn, app.vault, n - 1) if n > 1 else dict[str, Any]()
    why = "Edits by hand were not adopted: the apply did not begin"
    await _add_revision(conn, app, who, lambda current: old if current.n == n else current.values, why)


async def _restore_settings(conn: Conn, app: App, who: Principal, generation: Generation) -> int:
    """Add a revision in which the settings that need an apply have the values of a generation; 0 if nothing changes."""
    old = await revisions.read_values(conn, app.vault, generation.revision) if generation.revision else dict[str, Any]()

    def edit(current: StoredSettings) -> Values:
        values = revision_rules.select_effective(replace(current, applied=old))
        changed = revision_rules.describe_changes(current.values, values)
        if revision_rules.needs_recent_sign_in(changed) and (who.session_id or who.key_id):
            raise Forbidden(
                "This generation has other values of settings that need a recent sign-in. Roll the settings back with "
                f"POST /config/revisions/{generation.revision}/rollback and `current_password`, then apply the plan.",
                reason="recent_sign_in_required",
            )
        try:
            app.loaded.with_stored(values)
        except SettingsError as error:
            text = f"The settings of generation {generation.n} are not valid any more: {'; '.join(error.faults)}"
            raise Conflict(text, reason="invalid_settings") from None
        return values

    return await _add_revision(conn, app, who, edit, f"Rollback to generation {generation.n}")


async def _take_back(conn: Conn, n: int, app: App) -> None:
    """Add a revision with the settings in use after a rollback did not succeed, if its revision `n` is the newest."""

    def edit(current: StoredSettings) -> Values:
        return revision_rules.select_effective(current) if current.n == n else current.values

    await _add_revision(conn, app, _SYSTEM, edit, "The rollback to a generation did not succeed")


async def _insert(conn: Conn, operation: Operation) -> None:
    while not await store.insert(conn, operation):
        running = await store.find_running(conn)
        if running:
            text = f"Another operation is running: {running.title}, ID {running.id}. "
            text += "It waits for a confirmation." if running.awaited_until else "Wait until it has finished."
            raise OrchestratorBusy(text, operation_id=str(running.id))


async def confirm(app: App, who: Principal, listener: str | None = None) -> UUID:
    """Confirm the running apply, over this HTTPS listener; its ID. CONFLICT `nothing_to_confirm`, `other_listener`."""
    at = app.clock()
    async with app.db.tx() as conn:
        operation_id = await store.save_confirmation(conn, at, listener)
        if operation_id is None:
            raise rules.refuse_confirmation(await store.find_running(conn))
        await audit.record(conn, who, at, AuditAction("orchestrator.confirm", AuditTarget("config", None)))
    return operation_id


async def discard(app: App, operation_id: UUID, *, has_begun: bool = False) -> None:
    """Delete an operation that has changed nothing. `has_begun`: also if the process `node` has begun it."""
    async with app.db.autocommit() as conn:
        await store.delete(conn, operation_id, has_begun=has_begun)


async def end_abandoned(app: App) -> None:
    """End operations whose task was lost."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        await store.end_abandoned(conn, at - _ABANDONED, at, "The process `node` did not begin the operation.")


async def take_effect(app: App, n: int) -> bool:
    """Let all processes use the values of the desired revision `n`; False if it is not desired any more."""
    async with app.db.tx() as conn:
        if not await revisions.mark_applied(conn, n):
            return False
        await _apply_to_routing(conn, app)
    return True


async def restore(app: App, base: int, target: int, operation_id: UUID | None = None) -> None:
    """Let all processes use the values of the revision `base` again, after an apply of `target`. If the operation is a
    rollback, they become the newest too.
    """
    if base == target:
        return
    async with app.db.tx() as conn:
        undone, is_full = UndoneApply(base, target), app.settings.is_full_profile
        await revisions.restore_applied(conn, app.vault, _SYSTEM, app.clock(), undone, is_full_profile=is_full)
        operation = await store.find(conn, operation_id) if operation_id else None
        if operation and operation.kind == "rollback":
            await _take_back(conn, target, app)
        # If the values don't fit file and environment any more, the next start says so.
        with contextlib.suppress(SettingsError):
            await _apply_to_routing(conn, app)


async def _apply_to_routing(conn: Conn, app: App) -> None:
    stored = await revisions.read(conn, app.vault, is_full_profile=app.settings.is_full_profile)
    settings = app.loaded.with_stored(revision_rules.select_effective(stored)).settings
    await routing.apply_settings(conn, settings, app.clock())
    await filtering.apply_settings(conn, settings, app.clock())


async def find_running(app: App) -> Operation | None:
    """The running operation."""
    async with app.db.autocommit() as conn:
        return await store.find_running(conn)


async def begin(app: App, operation_id: UUID) -> Operation | None:
    """Record that an operation begins; None if it has begun already, or is not running any more."""
    at = app.clock()
    async with app.db.tx() as conn:
        operation = await store.find(conn, operation_id)
        if operation is None:
            return None
        steps = [Step(f"{operation.kind} {operation.service}", "running", at)] if operation.service else []
        if not await store.save_begin(conn, operation_id, at, steps):
            return None
    return replace(operation, steps=steps, started_at=at)


async def save_steps(app: App, operation_id: UUID, steps: Sequence[Step]) -> None:
    """Record the steps of a running operation."""
    async with app.db.autocommit() as conn:
        await store.save_steps(conn, operation_id, steps)


async def await_confirmation(
    app: App, operation_id: UUID, until: datetime | None, listener: NewListener | None = None
) -> None:
    """Let an operation be confirmed until a time (None: not any more); if `listener` is given, only over that."""
    async with app.db.autocommit() as conn:
        await store.save_confirm_until(conn, operation_id, until, listener)


async def finish(app: App, operation_id: UUID, error: str | None, state: OperationState | None = None) -> None:
    """Record the end of an operation, with its error if it failed; `state` None: as the error says. Emits an alert if
    an apply did not succeed. Nothing if it has ended already.
    """
    at = app.clock()
    state = state or ("failed" if error else "succeeded")
    async with app.db.tx() as conn:
        operation = await store.find(conn, operation_id)
        if operation is None:
            return
        ended: StepState = "succeeded" if state == "succeeded" else "failed"
        steps = [
            replace(step, state=ended, finished_at=at, output=error or "") if step.state == "running" else step
            for step in operation.steps
        ]
        has_ended = await store.save_end(conn, operation_id, state, error, at, steps)
        if has_ended and state != "succeeded" and operation.service is None:
            await _alert(conn, app, state, operation_id, error or "")


async def finish_damaged(app: App, error: str) -> None:
    """Record that the running apply, whose journal is damaged, has failed. Emits an alert also if there is none."""
    operation = await find_running(app)
    if operation and operation.service is None:
        await finish(app, operation.id, error)
        return
    async with app.db.tx() as conn:
        await _alert(conn, app, "failed", None, error)


async def _alert(conn: Conn, app: App, state: OperationState, operation_id: UUID | None, reason: str) -> None:
    name = "apply_rolled_back" if state == "rolled_back" else "apply_failed"
    alert = SystemAlert(alert=name, operation_id=str(operation_id) if operation_id else None, reason=reason)
    await events.emit(conn, app.clock(), Event(None, None, alert))
