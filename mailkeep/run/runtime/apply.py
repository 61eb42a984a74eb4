"""Puts a plan in place: switches the daemons to its generation, watches them, and restores the earlier one otherwise.

A journal (`generations/operation.json`) says, from before the first change to the end, what to restore. If the process
or the whole instance is killed, the next one restores it: `recover_at_start` before an instance installs its
configuration, `Applier.recover` in the process `node`.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import monotonic
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.instance import write_atomically
from mailkeep.features.operations.orchestrator import service as operations
from mailkeep.features.operations.orchestrator.model import Operation, OperationState, Step, StepState
from mailkeep.mail.daemons import tool
from mailkeep.mail.daemons.actions import Action
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime import certificate, checks, control, generations, watch
from mailkeep.run.runtime.plan import Draft, Target
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.apply")

CONFIRM_SECONDS = 120.0
INTERRUPTED = "Mailkeep stopped during the operation; the earlier configuration was restored."
_JOURNAL = "operation.json"
_READY_SECONDS = 30.0
_VERIFY_SECONDS = 15.0
_WORKERS_SECONDS = 15.0
_POLL_SECONDS = 0.25
_RETRY_SECONDS = 1.0


class Outcome(msgspec.Struct, frozen=True):
    """How an operation ended."""

    state: OperationState
    error: str | None = None


class ApplyJournal(msgspec.Struct, frozen=True):
    """What to restore: the generation of each switched service and the revision of the settings before. `actions` says
    what each service must do, in order. `outcome`: the operation has ended, and only its record may be missing.
    """

    operation_id: UUID
    n: int
    base: int
    target: int
    links: Mapping[str, int]
    actions: Mapping[str, Action]
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Application:
    """A plan to put in place, with the settings before, and the files (service, path) that do not keep their edits by
    hand: those that are dropped, and all (`replaced`), also those that became settings.
    """

    draft: Draft
    target: Target
    before: Settings
    watch_seconds: float
    overwritten: frozenset[tuple[str, str]] = frozenset()
    replaced: frozenset[tuple[str, str]] = frozenset()


def read_journal(paths: InstancePaths) -> ApplyJournal | None:
    """The journal of an unfinished operation."""
    try:
        return msgspec.json.decode((paths.generations / _JOURNAL).read_bytes(), type=ApplyJournal)
    except FileNotFoundError:
        return None


def write_journal(paths: InstancePaths, journal: ApplyJournal) -> None:
    """Write the journal, durably."""
    write_atomically(paths.generations / _JOURNAL, msgspec.json.encode(journal).decode(), 0o600)


def remove_journal(paths: InstancePaths) -> None:
    """Remove the journal, after the end of the operation was recorded."""
    (paths.generations / _JOURNAL).unlink(missing_ok=True)


def restore_links(paths: InstancePaths, journal: ApplyJournal) -> None:
    """Let the services use their earlier generations again."""
    for service, n in journal.links.items():
        if generations.find_linked(paths, service) != n:
            generations.switch(paths, service, n)


async def recover_at_start(app: App, paths: InstancePaths) -> None:
    """At the start of an instance, before daemons run: restore what an unfinished operation changed."""
    journal = read_journal(paths)
    if journal is None:
        return
    outcome = journal.outcome
    if outcome is None:
        log.warning("an apply was interrupted: restoring the earlier configuration", generation=journal.n)
        restore_links(paths, journal)
        if journal.base != journal.target:
            await operations.restore(app, journal.base)
        outcome = Outcome("rolled_back", INTERRUPTED)
    await operations.finish(app, journal.operation_id, outcome.error, outcome.state)
    remove_journal(paths)


class Recorder:
    """Records the steps of an operation."""

    def __init__(self, app: App, operation: Operation) -> None:
        self._app, self._id = app, operation.id
        self._steps = list(operation.steps)

    async def run(self, name: str, work: Awaitable[None]) -> None:
        """Run a step. Raises what it raises."""
        self._steps.append(Step(name, "running", self._app.clock()))
        await self._save()
        try:
            await work
        except Exception as error:
            await self._end("failed", str(error))
            raise
        await self._end("succeeded", "")

    async def _end(self, state: StepState, output: str) -> None:
        step = self._steps[-1]
        self._steps[-1] = Step(step.name, state, step.started_at, self._app.clock(), output)
        await self._save()

    async def _save(self) -> None:
        await persist(lambda: operations.save_steps(self._app, self._id, self._steps))


async def persist(write: Callable[[], Awaitable[None]]) -> None:
    """Write to the database or the disk, again and again until it works."""
    while True:
        try:
            await write()
            return
        except (Unavailable, OSError) as error:
            log.warning("an operation could not be recorded; trying again", reason=str(error))
            await asyncio.sleep(_RETRY_SECONDS)


class Applier:
    """Puts plans in place, one at a time."""

    def __init__(self, app: App, paths: InstancePaths, confirm_seconds: float = CONFIRM_SECONDS) -> None:
        self._app, self._paths = app, paths
        self._confirm_seconds = confirm_seconds

    def publish(self, application: Application) -> None:
        """Write the generation of a plan, completely, and check it; nothing if no file changes. Blocks. Failure if a
        check fails.
        """
        draft = application.draft
        if not self._find_changed(application):
            return
        edited = [each for each in draft.drift if (each.service, each.path) not in application.replaced]
        folder = generations.stage(
            self._paths, draft.manifest, draft.rendered, generations.read_files(self._paths, edited)
        )
        addresses = application.target.settings.server.addresses
        checks.require_valid(checks.check_all(folder, draft.config, addresses))
        checks.compile_tables(folder)
        generations.publish(self._paths, draft.manifest.n)

    def _find_changed(self, application: Application) -> dict[str, int]:
        """The generation in use of each service whose files change."""
        current = generations.find_current(self._paths)
        rendered = application.draft.manifest.services
        replaced = {service for service, _ in application.replaced}
        return {
            service: n
            for service in rendered
            if (n := generations.find_linked(self._paths, service)) is not None
            and (current is None or service in replaced or current.services.get(service) != rendered[service])
        }

    def make_journal(self, operation: Operation, application: Application) -> ApplyJournal:
        """What to restore if the operation does not succeed."""
        draft, target = application.draft, application.target
        actions: dict[str, Action] = {each.service: each.action for each in draft.plan.actions}
        links = self._find_changed(application)
        for service in links:
            if {path for name, path in application.overwritten if name == service}:
                actions[service] = "restart"
            elif actions.setdefault(service, "none") == "none" and service == "postfix":
                actions[service] = "reload"  # its processes hold the compiled tables of the earlier generation
        return ApplyJournal(operation.id, draft.manifest.n, target.base, target.revision, links, actions)

    async def perform(self, operation: Operation, application: Application) -> Outcome:
        """Put a published plan in place, and watch; otherwise restore what was before."""
        journal = self.make_journal(operation, application)
        recorder = Recorder(self._app, operation)
        if error := await _attempt(asyncio.to_thread(write_journal, self._paths, journal)):
            outcome = Outcome("failed", error)  # nothing has changed
            await persist(lambda: operations.finish(self._app, operation.id, outcome.error, outcome.state))
            return outcome
        failpoint.reach("apply.journal_written")
        error = await _attempt(self._put_in_place(journal, application, recorder))
        outcome = await self.restore(journal, application.before, recorder, error) if error else Outcome("succeeded")
        await self._end(journal, outcome)
        return outcome

    async def _put_in_place(self, journal: ApplyJournal, application: Application, recorder: Recorder) -> None:
        settings = application.target.settings
        if journal.target != journal.base:
            await recorder.run("use the settings", self._use_settings(journal, settings))
        failpoint.reach("apply.settings_used")
        for service in _order(journal.actions):
            await recorder.run(_name_step(journal, service), self._change(journal, service, journal.n))
            failpoint.reach("apply.service_changed")
        baseline = await watch.take_baseline(self._app, self._paths)
        watching = watch.watch(self._app, self._paths, settings, baseline, application.watch_seconds)
        await recorder.run("watch", watching)
        failpoint.reach("apply.watched")
        if _needs_confirmation(application):
            await recorder.run("wait for the confirmation", self._wait_for_confirmation(journal.operation_id))

    async def recover(self, journal: ApplyJournal, operation: Operation, before: Settings) -> None:
        """Restore what an operation changed that a killed process left."""
        outcome = journal.outcome
        if outcome is None:
            outcome = await self.restore(journal, before, Recorder(self._app, operation), INTERRUPTED)
        await self._end(journal, outcome)

    async def _end(self, journal: ApplyJournal, outcome: Outcome) -> None:
        ended = msgspec.structs.replace(journal, outcome=outcome)
        await persist(lambda: asyncio.to_thread(write_journal, self._paths, ended))
        failpoint.reach("apply.ended")
        await persist(lambda: operations.finish(self._app, journal.operation_id, outcome.error, outcome.state))
        remove_journal(self._paths)
        await asyncio.to_thread(generations.prune, self._paths)

    async def restore(self, journal: ApplyJournal, before: Settings, recorder: Recorder, reason: str) -> Outcome:
        """Restore the earlier configuration and settings, and check that the services work."""
        log.error("an apply failed: restoring the earlier configuration", reason=reason, generation=journal.n)
        problems: list[str] = []
        if journal.target != journal.base:
            await persist(lambda: operations.restore(self._app, journal.base))
            if problem := await _attempt(asyncio.to_thread(self._install_certificate, before)):
                problems.append(problem)
        for service in _order(journal.actions):
            change = self._change(journal, service, journal.links.get(service), is_restore=True)
            if problem := await _attempt(recorder.run(f"restore {service}", change)):
                problems.append(problem)
            failpoint.reach("apply.service_restored")
        if problem := await _attempt(recorder.run("check the services", self._verify(before))):
            problems.append(problem)
        if not problems:
            return Outcome("rolled_back", reason)
        log.critical("the earlier configuration could not be restored", problems=problems)
        return Outcome("failed", f"{reason} Restoring the earlier configuration failed: {'; '.join(problems)}")

    async def _verify(self, settings: Settings) -> None:
        deadline = monotonic() + _VERIFY_SECONDS
        while problems := await watch.check_greetings(settings):
            if monotonic() > deadline:
                raise Failure("; ".join(problems))
            await asyncio.sleep(_POLL_SECONDS)

    async def _use_settings(self, journal: ApplyJournal, settings: Settings) -> None:
        if not await operations.take_effect(self._app, journal.target):
            raise Failure("The settings were changed meanwhile.")
        await asyncio.to_thread(self._install_certificate, settings)

    def _install_certificate(self, settings: Settings) -> None:
        certificate.install(settings, self._paths.tls, settings.server.name, self._app.clock())

    async def _change(self, journal: ApplyJournal, service: str, n: int | None, *, is_restore: bool = False) -> None:
        """Let a service use a generation (None: as it is), and wait until it is ready."""
        if service in journal.links and n is not None:
            await asyncio.to_thread(generations.switch, self._paths, service, n)
            failpoint.reach("apply.link_switched")
        if service == "dovecot" and service in journal.links:
            await asyncio.to_thread(checks.compile_scripts, self._paths.dovecot_conf)
        state = {each.name: each for each in await control.ask(self._paths.control_socket, "status")}[service]
        action = journal.actions[service]
        if state.state == "stopped" or action == "none":
            return
        if action == "restart" or state.state != "running" or (is_restore and not await self._is_ready(service)):
            async with asyncio.timeout(_READY_SECONDS):
                await control.ask(self._paths.control_socket, "restart", service)
        else:
            await reload(self._paths, service, state.pid)
        deadline = monotonic() + _READY_SECONDS
        while not await self._is_ready(service):
            if monotonic() > deadline:
                await control.ask(self._paths.control_socket, "ready", service)
            await asyncio.sleep(_POLL_SECONDS)

    async def _is_ready(self, service: str) -> bool:
        try:
            await control.ask(self._paths.control_socket, "ready", service)
        except Failure:
            return False
        return True

    async def _wait_for_confirmation(self, operation_id: UUID) -> None:
        until = self._app.clock() + timedelta(seconds=self._confirm_seconds)
        await persist(lambda: operations.await_confirmation(self._app, operation_id, until))
        while self._app.clock() < until:
            if await self._is_confirmed(operation_id):
                return
            await asyncio.sleep(_POLL_SECONDS)
        await persist(lambda: operations.await_confirmation(self._app, operation_id, None))
        if not await self._is_confirmed(operation_id):
            raise Failure(f"The change was not confirmed within {self._confirm_seconds:.0f} seconds.")

    async def _is_confirmed(self, operation_id: UUID) -> bool:
        try:
            return (await operations.find(self._app, operation_id)).confirmed_at is not None
        except Unavailable:
            return False


async def reload(paths: InstancePaths, service: str, pid: int | None) -> None:
    """Let a daemon read its configuration again. Failure."""
    match service:
        case "postfix":
            await postfix_queue.reload(paths.postfix_conf)
        case "dovecot":
            await tool.run("doveadm", "-c", str(paths.dovecot_conf / "dovecot.conf"), "reload")
        case "rspamd" if pid:
            await _reload_rspamd(pid)
        case "rspamd":
            raise Failure("rspamd is not running.")
        case _:
            raise Failure(f"{service} can't be reloaded.")


async def _attempt(work: Awaitable[None]) -> str | None:
    """The error that the work ends with, as text."""
    try:
        await work
    except (Failure, Unavailable) as failure:
        return str(failure)
    except TimeoutError:
        return "A daemon was not ready in time."
    except Exception:
        log.exception("a step of an operation failed")
        return "The operation failed; see log/node.log."
    return None


async def _reload_rspamd(pid: int) -> None:
    """Send SIGHUP, and wait until the workers of before have ended: until then sessions with them may fail."""
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    os.kill(pid, signal.SIGHUP)
    deadline = monotonic() + _WORKERS_SECONDS
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        if monotonic() > deadline:
            log.warning("workers of Rspamd from before the reload still run")
            return
        await asyncio.sleep(_POLL_SECONDS)


def _needs_confirmation(application: Application) -> bool:
    """Whether ports of mail change: their users must find them."""
    before, after = application.before, application.target.settings
    return (before.ports, before.server.addresses) != (after.ports, after.server.addresses)


def _order(actions: Mapping[str, Action]) -> Sequence[str]:
    """The services in the order of changes: what Postfix needs first, the API last, so that it answers meanwhile."""
    last = ("postfix", "worker", "sendmail", "api")
    return sorted(actions, key=lambda name: last.index(name) if name in last else -1)


def _name_step(journal: ApplyJournal, service: str) -> str:
    return f"{'switch and ' if service in journal.links else ''}{journal.actions[service]} {service}"
