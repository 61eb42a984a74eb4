"""Puts a plan in place: switches the daemons to its generation, watches them, and restores the earlier one otherwise.

A journal says, from before the first change to the end, what to restore. If the process or the whole instance is
killed, the next one restores it: `recover_at_start` before an instance installs its configuration, `Applier.recover` in
the process `node`. The operation's record in the database decides whether it had ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure, NotFound, Unavailable
from mailkeep.features.operations.orchestrator import service as operations
from mailkeep.features.operations.orchestrator.model import NewListener, Operation
from mailkeep.features.record.settings_revisions import service as revisions
from mailkeep.mail.daemons import tool
from mailkeep.mail.daemons.actions import Action
from mailkeep.mail.daemons.node_report import ProbeResult
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.log_failures import ProcessFailures
from mailkeep.run.runtime import (
    certificate,
    checks,
    control,
    edge_sites,
    generations,
    journal,
    probe,
    recovery,
    rspamd_reload,
    stored_settings,
    watch,
)
from mailkeep.run.runtime.journal import ApplyJournal, DamagedJournal
from mailkeep.run.runtime.operation_record import INTERRUPTED, Outcome, Recorder, end_damaged, find_outcome, persist
from mailkeep.run.runtime.plan import CONFIRM_SECONDS, Draft, Target, find_new_listener, needs_confirmation
from mailkeep.settings import Settings, SettingsError

log = structlog.get_logger("mailkeep.apply")

_READY_SECONDS = 30.0
_VERIFY_SECONDS = 15.0
_POLL_SECONDS = 0.25


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


async def recover_at_start(app: App, paths: InstancePaths) -> None:
    """At the start of an instance, before daemons run: restore what an unfinished operation changed."""
    async with journal.lock(paths):
        try:
            entry = journal.read(paths)
        except DamagedJournal as damaged:
            await end_damaged(app, paths, str(damaged))
            return
        if entry is None:
            return
        outcome = await find_outcome(app, entry)
        if outcome is None:
            log.warning("an apply was interrupted: restoring the earlier configuration", generation=entry.n)
            if missing := journal.restore_links(paths, entry):
                log.error("earlier generations are missing; a new one is installed", services=missing)
            await operations.restore(app, entry.base, entry.target, entry.operation_id)
            outcome = Outcome("rolled_back", INTERRUPTED)
        await operations.finish(app, entry.operation_id, outcome.error, outcome.state)
        journal.remove(paths)


class Applier:
    """Puts plans in place, one at a time."""

    def __init__(self, app: App, paths: InstancePaths, confirm_seconds: float = CONFIRM_SECONDS) -> None:
        self._app, self._paths = app, paths
        self._confirm_seconds = confirm_seconds

    def publish(self, application: Application) -> None:
        """Write the generation of a plan, completely, and check it; nothing if no file changes. Blocks. Failure if a
        check fails, or if it can't be written.
        """
        draft = application.draft
        if not self._find_changed(application):
            return
        edited = [each for each in draft.drift if (each.service, each.path) not in application.replaced]
        addresses = application.target.settings.server.addresses
        try:
            folder = generations.stage(
                self._paths, draft.manifest, draft.rendered, generations.read_files(self._paths, edited)
            )
            checks.require_valid(checks.check_all(folder, draft.config, addresses))
            checks.compile_tables(folder)
            failpoint.reach("apply.staged")
            generations.publish(self._paths, draft.manifest.n)
            failpoint.reach("apply.published")
        except OSError as error:
            text = f"The new configuration could not be written: {error.strerror}. Nothing was changed."
            raise Failure(text) from error
        finally:
            generations.remove_draft(self._paths, draft.manifest.n)

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

    def make_journal(
        self, operation: Operation, application: Application, silent: Sequence[str], probed: ProbeResult
    ) -> ApplyJournal:
        """What to restore if the operation does not succeed, and what did not work before."""
        draft, target = application.draft, application.target
        actions: dict[str, Action] = {each.service: each.action for each in draft.plan.actions}
        links = self._find_changed(application)
        for service in links:
            if {path for name, path in application.overwritten if name == service}:
                actions[service] = "restart"
            elif actions.setdefault(service, "none") == "none" and service == "postfix":
                actions[service] = "reload"  # its processes hold the compiled tables of the earlier generation
        probe_failed = probed.problem if probed.status == "failed" else None
        return ApplyJournal(
            operation.id, draft.manifest.n, target.base, target.revision, links, actions, silent, probe_failed
        )

    async def perform(self, operation: Operation, application: Application) -> Outcome:
        """Put a published plan in place, and watch; otherwise restore what was before. control.Away, with the journal
        in place, if the supervisor does not answer: then `recover` must restore.
        """
        ill = await watch.find_ill(self._app, self._paths, application.before)
        probed = await probe.probe(self._app, self._paths, application.before)
        entry = self.make_journal(operation, application, sorted(ill.ports), probed)
        recorder = Recorder(self._app, operation.id, operation.steps)
        if error := await _attempt(asyncio.to_thread(journal.write, self._paths, entry)):
            await persist(lambda: operations.finish(self._app, operation.id, error, "failed"))
            return Outcome("failed", error)
        failpoint.reach("apply.journal_written")
        error = await _attempt(self._put_in_place(entry, application, recorder, ill, probed))
        outcome = await self.restore(entry, application.before, recorder, error) if error else Outcome("succeeded")
        await self._end(entry, outcome)
        return outcome

    async def _put_in_place(
        self,
        entry: ApplyJournal,
        application: Application,
        recorder: Recorder,
        ill: watch.Ill,
        probed: ProbeResult,
    ) -> None:
        settings = application.target.settings
        if entry.target != entry.base:
            await recorder.run("use the settings", self._use_settings(entry, settings))
        failpoint.reach("apply.settings_used")
        failures = await asyncio.to_thread(ProcessFailures, self._paths.mail_log)
        for service in _order(entry.actions):
            await recorder.run(_name_step(entry, service), self._change(entry, service, entry.n))
            failpoint.reach("apply.service_changed")
        await self._stop_unneeded()
        baseline = await watch.take_baseline(self._app, self._paths, ill.without(entry.actions), failures)
        watching = watch.watch(self._app, self._paths, settings, baseline, application.watch_seconds, probed)
        await recorder.run("watch", watching)
        failpoint.reach("apply.watched")
        if needs_confirmation(application.before, settings):
            listener = find_new_listener(application.before, settings)
            await recorder.run("wait for the confirmation", self._wait_for_confirmation(entry.operation_id, listener))

    async def recover(self) -> None:
        """End what a killed process left, unless another process is at it."""
        try:
            entry = await asyncio.to_thread(journal.read, self._paths)
        except DamagedJournal as damaged:
            await end_damaged(self._app, self._paths, str(damaged))
            return
        if entry is None:
            return
        await operations.await_confirmation(self._app, entry.operation_id, None)
        outcome = await find_outcome(self._app, entry)
        if outcome is None:
            operation = await operations.find_or_none(self._app, entry.operation_id)
            recorder = Recorder(self._app, entry.operation_id, operation.steps if operation else ())
            outcome = await self.restore(entry, await self._read_before(entry.base), recorder, INTERRUPTED)
        await self._end(entry, outcome)

    async def _read_before(self, base: int) -> Settings:
        """The settings in a revision; the current ones if it can't be used any more."""
        try:
            async with self._app.db.autocommit() as conn:
                values = await revisions.read_values(conn, self._app.vault, base) if base else dict[str, Any]()
            return self._app.loaded.with_stored(values).settings
        except (NotFound, Failure, SettingsError) as error:
            log.error("the earlier settings can't be read", revision=base, reason=str(error))
            return self._app.settings

    async def _end(self, entry: ApplyJournal, outcome: Outcome) -> None:
        await persist(lambda: operations.finish(self._app, entry.operation_id, outcome.error, outcome.state))
        failpoint.reach("apply.ended")
        await asyncio.to_thread(journal.remove, self._paths)
        await asyncio.to_thread(generations.prune, self._paths)

    async def restore(self, entry: ApplyJournal, before: Settings, recorder: Recorder, reason: str) -> Outcome:
        """Restore the earlier configuration and settings, and check that the services work."""
        log.error("an apply failed: restoring the earlier configuration", reason=reason, generation=entry.n)
        problems: list[str] = []
        if entry.target != entry.base:
            await persist(lambda: self._restore_settings(entry))
            failpoint.reach("apply.settings_restored")
            if problem := await _attempt(asyncio.to_thread(self._install_certificate, before)):
                problems.append(problem)
        for service in _order(entry.actions):
            change = self._change(entry, service, entry.links.get(service), is_restore=True)
            if problem := await _attempt(recorder.run(f"restore {service}", change)):
                problems.append(problem)
            failpoint.reach("apply.service_restored")
        if problem := await _attempt(self._stop_unneeded()):
            problems.append(problem)
        if problem := await _attempt(recorder.run("check the services", self._verify(before, entry))):
            problems.append(problem)
        await recovery.retry_deferred(self._app, self._paths)
        if not problems:
            return Outcome("rolled_back", reason)
        log.critical("the earlier configuration could not be restored", problems=problems)
        return Outcome("failed", f"{reason} Restoring the earlier configuration failed: {'; '.join(problems)}")

    async def _verify(self, settings: Settings, entry: ApplyJournal) -> str:
        """Wait until all ports greet and the probe works again; returns what was not checked. Failure."""
        deadline = monotonic() + _VERIFY_SECONDS
        while problems := await watch.check_greetings(settings, entry.silent):
            if monotonic() > deadline:
                raise Failure("; ".join(problems))
            await asyncio.sleep(_POLL_SECONDS)
        deadline = monotonic() + _VERIFY_SECONDS
        while (found := await probe.probe(self._app, self._paths, settings)).status == "failed":
            if entry.probe_failed:
                return f"The probe message failed before the change too. {found.problem}"
            if monotonic() > deadline:
                raise Failure(f"The probe message fails. {found.problem}")
        return found.problem or ""

    async def _use_settings(self, entry: ApplyJournal, settings: Settings) -> None:
        if not await operations.take_effect(self._app, entry.target):
            raise Failure("The settings were changed meanwhile.")
        failpoint.reach("apply.settings_committed")
        await self._save_copy()
        await asyncio.to_thread(self._install_certificate, settings)

    async def _restore_settings(self, entry: ApplyJournal) -> None:
        await operations.restore(self._app, entry.base, entry.target, entry.operation_id)
        await self._save_copy()

    async def _save_copy(self) -> None:
        """Save the values in effect for processes that start, before any is restarted."""
        async with self._app.db.autocommit() as conn:
            await stored_settings.take_over(self._app, conn, saves_copy=True)

    def _install_certificate(self, settings: Settings) -> None:
        certificate.install(settings, self._paths.tls, settings.server.name, self._app.clock())

    async def _change(self, entry: ApplyJournal, service: str, n: int | None, *, is_restore: bool = False) -> None:
        """Let a service use a generation (None: as it is), and wait until it is ready."""
        was_on = generations.is_on(self._paths, service)
        if service in entry.links and n is not None and generations.find_linked(self._paths, service) != n:
            if not generations.is_complete(self._paths, n, service):
                raise Failure(f"The configuration of {service} in generation {n} is missing.")
            await asyncio.to_thread(generations.switch, self._paths, service, n)
            failpoint.reach("apply.link_switched")
        if service == "dovecot" and service in entry.links:
            await asyncio.to_thread(checks.compile_scripts, self._paths.dovecot_conf)
        state = {each.name: each for each in await control.ask(self._paths.control_socket, "status")}[service]
        action = entry.actions[service]
        if not generations.is_on(self._paths, service):
            return  # it is stopped when nothing uses it any more
        if not was_on:
            async with asyncio.timeout(_READY_SECONDS):
                await control.ask(self._paths.control_socket, "start", service)
            return
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

    async def _stop_unneeded(self) -> None:
        """Stop services that are off in the configuration in use."""
        for service in generations.SERVICES:
            if not generations.is_on(self._paths, service):
                await control.ask(self._paths.control_socket, "stop", service)

    async def _is_ready(self, service: str) -> bool:
        try:
            await control.ask(self._paths.control_socket, "ready", service)
        except Failure:
            return False
        return True

    async def _wait_for_confirmation(self, operation_id: UUID, listener: NewListener | None) -> None:
        until = self._app.clock() + timedelta(seconds=self._confirm_seconds)
        await persist(lambda: operations.await_confirmation(self._app, operation_id, until, listener))
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
            await rspamd_reload.reload(paths, pid)
        case "rspamd":
            raise Failure("rspamd is not running.")
        case "nginx":
            edge_sites.reload(paths)
        case _:
            raise Failure(f"{service} can't be reloaded.")


async def _attempt(work: Awaitable[object]) -> str | None:
    """The error that the work ends with, as text. control.Away if the supervisor does not answer."""
    try:
        await work
    except control.Away:
        raise
    except (Failure, Unavailable) as failure:
        return str(failure)
    except TimeoutError:
        return "A daemon was not ready in time."
    except Exception:
        log.exception("a step of an operation failed")
        return "The operation failed; see log/node.log."
    return None


def _order(actions: Mapping[str, Action]) -> Sequence[str]:
    """The services in the order of changes: what Postfix needs first, the API last, so that it answers meanwhile."""
    last = ("postfix", "worker", "sendmail", "api", "nginx")
    return sorted(actions, key=lambda name: last.index(name) if name in last else -1)


def _name_step(entry: ApplyJournal, service: str) -> str:
    return f"{'switch and ' if service in entry.links else ''}{entry.actions[service]} {service}"
