"""The process `node`'s part of the orchestrator: the state of services, drift, and operations, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.instance import write_atomically
from mailkeep.features.operations.orchestrator import rules, service as operations
from mailkeep.features.operations.orchestrator.model import (
    Adoption,
    AdoptionResult,
    ApplyRefusal,
    ApplyRequest,
    DriftedFile,
    Generation,
    ManagedService,
    Operation,
)
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.features.record.settings_revisions import rules as revision_rules, service as revisions
from mailkeep.features.record.settings_revisions.model import StoredSettings, Values
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import (
    adoption,
    apply,
    configuration,
    control,
    generations,
    journal,
    plan,
    recovery,
    service_status,
)
from mailkeep.run.runtime.generations import Drift
from mailkeep.run.runtime.operation_record import end_damaged, persist
from mailkeep.settings import LoadedSettings

log = structlog.get_logger("mailkeep.orchestrator")

_RETRY_SECONDS = 1.0
_GIVE_UP_AFTER = 3
_CHECK_SECONDS = 5.0
_REPORTED = "reported-drift"


class Orchestrator:
    """Performs operations in the background, so that other tasks of the process don't wait for them."""

    def __init__(self, app: App, paths: InstancePaths) -> None:
        self._app = app
        self._paths = paths
        self._applier = apply.Applier(app, paths)
        self._performing: dict[UUID, asyncio.Task[None]] = {}
        self._has_recovered = False

    def task_handlers(self) -> Mapping[str, TaskHandler]:
        """The handlers of this feature's node tasks."""
        return {
            "orchestrator.services": self._list_services,
            "orchestrator.drift": self._list_drift,
            "orchestrator.plan": self._plan,
            "orchestrator.perform": self._perform,
            "orchestrator.prepare": self._prepare,
            "orchestrator.adopt": self._adopt,
        }

    async def run(self) -> None:
        """End operations that an earlier process left, then wait until cancelled; ends running operations then."""
        async with journal.lock(self._paths):
            try:
                await self._recover(None)
                self._has_recovered = True
                await repeat(_CHECK_SECONDS, "looking for drift", self._check)
            finally:
                await cancel_all(*self._performing.values())

    async def _recover(self, own: UUID | None) -> None:
        """End what an earlier process left, or an operation (`own`) of this one that failed unexpectedly. Tries again
        until database and supervisor answer; what fails for other reasons is given up, with an alert.
        """
        failures = 0
        while True:
            try:
                await self._applier.recover()
                await self._end_interrupted(own)
                return
            except (Unavailable, control.Away) as error:
                log.warning("an interrupted operation can't be ended yet", reason=str(error))
            except Exception as error:
                log.exception("an interrupted operation could not be ended")
                failures += 1
                if failures == _GIVE_UP_AFTER:
                    await end_damaged(self._app, self._paths, f"{type(error).__name__}: {error}.")
                    return
            await asyncio.sleep(_RETRY_SECONDS)

    async def _end_interrupted(self, own: UUID | None) -> None:
        """End operations without a journal. A restart of this process itself ends here: it has succeeded."""
        operation = await operations.find_running(self._app)
        if operation is None or operation.started_at is None:
            return
        if operation.id in self._performing and operation.id != own:
            return
        if operation.service is None:
            text = "The operation was interrupted before anything was changed."
            await operations.finish(self._app, operation.id, text, "rolled_back")
            return
        is_own_restart = operation.kind == "restart" and operation.service in ("node", "prefork")
        error = None if is_own_restart else "The process `node` stopped during the operation."
        await operations.finish(self._app, operation.id, error)

    async def _check(self) -> None:
        await operations.end_abandoned(self._app)
        await self._report_drift()

    async def _prepare(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        """Begin an apply, unless it is refused: then nothing has changed."""
        if not self._has_recovered:
            raise Failure("An interrupted apply is being ended; try again in a moment.")
        operation = await operations.begin(self._app, UUID(argument["operation_id"]))
        if operation is None:
            raise Failure("The operation is not running any more.")
        request = msgspec.convert(argument["request"], ApplyRequest)
        refusal: ApplyRefusal | None = None
        is_published = False
        try:
            target = await self.read_target()
            draft = await self._draft(target, request.drift_to_replace)
            if operation.kind == "rollback":
                request = replace(request, plan_id=draft.plan.id)
            refusal = rules.refuse(draft.plan, request, self._app.clock())
            overwritten = replace(request, adopt_drift=()).drift_to_replace
            application = apply.Application(
                draft, target, target.before, request.watch_seconds, overwritten, request.drift_to_replace
            )
            if refusal is None:
                await asyncio.to_thread(self._applier.publish, application)
                is_published = True
        finally:
            if not is_published:
                await self._discard(operation.id)
        if refusal:
            return {"refusal": msgspec.to_builtins(refusal)}
        self._run_in_background(operation.id, self._apply(operation, application))
        return {"refusal": None}

    async def _discard(self, operation_id: UUID) -> None:
        try:
            await operations.discard(self._app, operation_id, has_begun=True)
        except Unavailable:
            again = persist(lambda: operations.discard(self._app, operation_id, has_begun=True))
            self._run_in_background(operation_id, again)

    async def _adopt(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        """What adopting edits by hand changes in the settings, and the plan with these changes. Changes nothing."""
        request = msgspec.convert(argument["request"], ApplyRequest)
        async with self._app.db.autocommit() as conn:
            stored = await revisions.read(conn, self._app.vault, is_full_profile=True)
        draft = await self._draft(self._make_target(stored))
        if refusal := rules.refuse_stale(draft.plan, request, self._app.clock()):
            return msgspec.to_builtins(AdoptionResult(refusal))
        newest = self._app.loaded.with_stored(stored.values)
        n = draft.current_n
        adopted = [
            (each, await asyncio.to_thread(self._propose, each, n, newest))
            for each in draft.drift
            if f"{each.service}/{each.path}" in request.adopt_drift
        ]
        if refusal := rules.refuse_adoption({f"{each.service}/{each.path}": how for each, how in adopted}):
            return msgspec.to_builtins(AdoptionResult(refusal))
        changes = adoption.change_settings(adopted, newest)
        after = stored
        if changes:
            after = replace(stored, n=stored.n + 1, values=revision_rules.merge(stored.values, changes))
        new_draft = await self._draft(self._make_target(after), request.drift_to_replace)
        refusal = rules.refuse(new_draft.plan, replace(request, plan_id=new_draft.plan.id), self._app.clock())
        return msgspec.to_builtins(AdoptionResult(refusal, changes, new_draft.plan.id))

    async def _draft(self, target: plan.Target, replaced: frozenset[tuple[str, str]] = frozenset()) -> plan.Draft:
        return await asyncio.to_thread(
            plan.draft_plan, self._paths, self._app.vault, target, self._app.clock(), replaced
        )

    async def _apply(self, operation: Operation, application: apply.Application) -> None:
        try:
            outcome = await self._applier.perform(operation, application)
            log.info("an apply has ended", state=outcome.state, error=outcome.error)
        except Exception:
            log.exception("an apply was interrupted")
            await self._recover(operation.id)

    def _run_in_background(self, operation_id: UUID, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._performing[operation_id] = task
        task.add_done_callback(lambda _: self._performing.pop(operation_id, None))

    async def _perform(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        operation = await operations.begin(self._app, UUID(argument["operation_id"]))
        if operation:
            self._run_in_background(operation.id, self._act(operation))
        return {}

    async def _act(self, operation: Operation) -> None:
        error = None
        service = operation.service or ""
        try:
            match operation.kind:
                case "reload":
                    await self._reload(service)
                case "start" | "stop" | "restart":
                    await control.ask(self._paths.control_socket, operation.kind, service)
                case "apply" | "rollback":
                    raise Failure("The operation was interrupted.")
        except Failure as failure:
            error = str(failure)
        except Exception:
            log.exception("an operation failed", kind=operation.kind, service=operation.service)
            error = "The operation failed; see log/node.log."
        await recovery.retry_deferred(self._app, self._paths)
        await persist(lambda: operations.finish(self._app, operation.id, error))

    async def _reload(self, service: str) -> None:
        states = {each.name: each for each in await control.ask(self._paths.control_socket, "status")}
        await apply.reload(self._paths, service, states[service].pid)

    async def _list_services(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        states = await control.ask(self._paths.control_socket, "status")
        manifest = generations.find_current(self._paths)
        processes = await asyncio.to_thread(service_status.list_services, self._paths.run)
        drift = await asyncio.to_thread(generations.find_drift, self._paths, manifest) if manifest else []
        details = {each.name: each for each in processes}
        rows: list[ManagedService] = []
        for state in states:
            if state.state == "stopped" and not generations.is_on(self._paths, state.name):
                continue
            files = manifest.services.get(state.name) if manifest else None
            detail = details.get(state.name) if state.pid else None
            rows.append(
                ManagedService(
                    name=state.name,
                    state=state.state,
                    pid=state.pid,
                    since=datetime.fromtimestamp(state.since, UTC) if state.since else None,
                    version=service_status.find_version(state.name),
                    restarts=state.restarts,
                    memory_bytes=detail.memory_bytes if detail else None,
                    config_hash=generations.hash_manifest(files) if files else None,
                    drift=any(each.service == state.name for each in drift) if files else None,
                )
            )
        kept = await asyncio.to_thread(generations.list_manifests, self._paths)
        return {
            "services": rows,
            "generation": _describe(manifest) if manifest else None,
            "generations": [_describe(each) for each in reversed(kept)],
        }

    async def _list_drift(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        async with self._app.db.autocommit() as conn:
            stored = await revisions.read(conn, self._app.vault, is_full_profile=True)
        newest = self._app.loaded.with_stored(stored.values)
        return {"files": await asyncio.to_thread(self._read_drift, newest)}

    def _read_drift(self, newest: LoadedSettings) -> list[DriftedFile]:
        manifest = generations.find_current(self._paths)
        found = generations.find_drift(self._paths, manifest) if manifest else []
        return [self._compare(each, manifest.n, newest) for each in found] if manifest else []

    def _propose(self, drift: Drift, n: int, newest: LoadedSettings) -> Adoption:
        secrets = configuration.list_secrets(self._app.vault)
        proposed = adoption.propose(self._paths, n, drift, newest)
        return replace(proposed, refused=[plan.mask(reason, secrets) for reason in proposed.refused])

    def _compare(self, drift: Drift, n: int, newest: LoadedSettings) -> DriftedFile:
        before = generations.read_original(self._paths, n, drift.service, drift.path) or ""
        after = generations.show_file(self._paths, drift.service, drift.path)
        secrets = configuration.list_secrets(self._app.vault)
        diff = plan.diff_texts(f"{drift.service}/{drift.path}", before, after, secrets)
        proposed = self._propose(drift, n, newest)
        return DriftedFile(drift.service, drift.path, drift.kind, drift.changed_at, drift.owner, diff, proposed)

    async def _report_drift(self) -> None:
        """Emit an event if files were edited since the last time. What was reported is kept in a file, so that a
        restart does not report it again.
        """
        found = await asyncio.to_thread(self._hash_drift)
        reported_file = self._paths.generations / _REPORTED
        try:
            reported = msgspec.json.decode(reported_file.read_bytes(), type=dict[str, str | None])
        except (OSError, msgspec.MsgspecError):
            reported = dict[str, str | None]()
        if found == reported:
            return
        if found.items() - reported.items():
            log.warning("the daemons' configuration was edited by hand", files=sorted(found))
            await operations.report_drift(self._app, sorted(found))
        await asyncio.to_thread(write_atomically, reported_file, msgspec.json.encode(found).decode(), 0o600)

    def _hash_drift(self) -> dict[str, str | None]:
        """The SHA-256 of each drifted file, None if it was deleted."""
        manifest = generations.find_current(self._paths)
        drift = generations.find_drift(self._paths, manifest) if manifest else []
        return {f"{each.service}/{each.path}": each.sha256 for each in drift}

    async def _plan(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        sealed = argument.get("stored")
        proposed = revisions.unseal(self._app.vault, bytes.fromhex(sealed)) if sealed else None
        return {"plan": (await self._draft(await self.read_target(proposed))).plan}

    async def read_target(self, proposed: Values | None = None) -> plan.Target:
        """The newest settings, or those with `proposed` stored values."""
        async with self._app.db.autocommit() as conn:
            stored = await revisions.read(conn, self._app.vault, is_full_profile=True)
        return self._make_target(revision_rules.propose(stored, proposed))

    def _make_target(self, stored: StoredSettings) -> plan.Target:
        settings = self._app.loaded.with_stored(stored.values).settings
        before = self._app.loaded.with_stored(revision_rules.select_effective(stored)).settings
        pending = revision_rules.list_pending(stored)
        is_rejected = bool(pending) and not stored.use_at_start
        return plan.Target(settings, before, stored.applied_n, stored.n, pending, is_rejected)


def _describe(manifest: generations.GenerationManifest) -> Generation:
    return Generation(manifest.n, manifest.created_at, manifest.revision)
