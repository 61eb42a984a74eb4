"""The state of services, and operations on them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import msgspec

import mailkeep
from mailkeep.app import App
from mailkeep.core.errors import NotFound, OrchestratorBusy, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.operations.orchestrator import rules, store
from mailkeep.features.operations.orchestrator.model import (
    ConfigurationPlan,
    DriftedFile,
    Generation,
    ManagedService,
    Operation,
    Overview,
    ServiceAction,
    Step,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemDrift
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.settings_revisions import rules as revision_rules, service as revisions

_PLAN_SECONDS = 60.0
_LIFETIME = timedelta(minutes=15)


async def read_overview(app: App) -> Overview:
    """All services. UNAVAILABLE if the process `node` does not answer."""
    if not app.settings.is_full_profile:
        return Overview([ManagedService(rules.OWN_PROCESS, "running", os.getpid(), None, mailkeep.__version__)])
    result = await node_tasks.run(app, "orchestrator.services", {})
    services = msgspec.convert(result["services"], list[ManagedService])
    async with app.db.autocommit() as conn:
        database = ManagedService(rules.DATABASE, "running", None, None, str(conn.info.server_version // 10000))
    return Overview([database, *services], msgspec.convert(result["generation"], Generation | None))


async def list_drift(app: App) -> list[DriftedFile]:
    """The files of the daemons' configuration that were edited by hand. UNAVAILABLE."""
    if not app.settings.is_full_profile:
        return []
    return msgspec.convert((await node_tasks.run(app, "orchestrator.drift", {}))["files"], list[DriftedFile])


async def report_drift(app: App, files: list[str]) -> None:
    """Emit `system.drift` with all files that were edited by hand."""
    async with app.db.tx() as conn:
        await events.emit(conn, app.clock(), Event(None, None, SystemDrift(files=files)))


async def make_plan(app: App) -> ConfigurationPlan:
    """What would change with the newest settings. UNAVAILABLE."""
    if app.settings.is_full_profile:
        return msgspec.convert(
            (await node_tasks.run(app, "orchestrator.plan", {}, _PLAN_SECONDS))["plan"], ConfigurationPlan
        )
    async with app.db.autocommit() as conn:
        stored = await revisions.read(conn, app.vault)
    pending = revision_rules.list_pending(stored)
    plan_id = hashlib.sha256(f"{stored.applied_n} {stored.n}".encode()).hexdigest()
    return ConfigurationPlan(plan_id, stored.applied_n, stored.n, app.clock() + _LIFETIME, settings=pending)


async def page(app: App, page_request: PageRequest) -> Page[Operation]:
    """A page of the operations."""
    async with app.db.autocommit() as conn:
        return await store.page(conn, page_request)


async def find(app: App, operation_id: UUID) -> Operation:
    """An operation; NOT_FOUND."""
    async with app.db.autocommit() as conn:
        operation = await store.find(conn, operation_id)
    if operation is None:
        raise NotFound
    return operation


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


async def _insert(conn: Conn, operation: Operation) -> None:
    while not await store.insert(conn, operation):
        running = await store.find_running(conn)
        if running:
            raise OrchestratorBusy(operation_id=str(running.id))


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
        step = Step(f"{operation.kind} {operation.service}", "running", at)
        if not await store.save_begin(conn, operation_id, at, [step]):
            return None
    return replace(operation, steps=[step], started_at=at)


async def finish(app: App, operation_id: UUID, error: str | None) -> None:
    """Record the end of an operation, with its error if it failed."""
    at = app.clock()
    async with app.db.tx() as conn:
        operation = await store.find(conn, operation_id)
        if operation is None:
            return
        state = "failed" if error else "succeeded"
        steps = [
            replace(step, state=state, finished_at=at, output=error or "") if step.state == "running" else step
            for step in operation.steps
        ]
        await store.save_end(conn, operation_id, state, error, at, steps)
