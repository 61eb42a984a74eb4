"""Whether the daemons work after their configuration was changed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.mail.daemons import nginx
from mailkeep.mail.daemons.node_report import ProbeResult
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.log_failures import ProcessFailures
from mailkeep.run.runtime import control, probe, recovery
from mailkeep.run.runtime.supervisor import ServiceState
from mailkeep.settings import Settings

_STATE_SECONDS = 1.0
_GREETINGS_SECONDS = 5.0
_PROBE_SECONDS = 10.0
_GRACE_SECONDS = 1.0
_TIMEOUT_SECONDS = 10.0
_STABLE_SECONDS = 60.0
_GREETINGS: Mapping[str, tuple[bytes, bool]] = {
    "smtp": (b"220 ", False),
    "submission": (b"220 ", False),
    "submissions": (b"220 ", True),
    "imap": (b"* OK", False),
    "imaps": (b"* OK", True),
    "pop3": (b"+OK", False),
    "pop3s": (b"+OK", True),
    "sieve": (b'"IMPLEMENTATION"', False),
}
"""By the name of the port: how the greeting begins, and whether TLS is implicit."""


@dataclass(frozen=True, slots=True)
class Ill:
    """What did not work before a change, and is no reason to undo it: services that do not run or were restarted within
    the last minute, ports (by name) without a greeting, and messages (by queue ID) that waited for our own services.
    """

    services: frozenset[str] = frozenset()
    ports: frozenset[str] = frozenset()
    deferred: frozenset[str] = frozenset()

    def without(self, changed: Collection[str]) -> Ill:
        """The same without services that the change concerns."""
        return Ill(self.services - set(changed), self.ports, self.deferred)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The state of the services when all were ready after a change, at the Unix time `ready_at`; the messages (by queue
    ID) that were retried then; Postfix's failures since before the change.
    """

    states: Mapping[str, ServiceState]
    ready_at: float
    retried: frozenset[str]
    ill: Ill
    failures: ProcessFailures


async def find_ill(app: App, paths: InstancePaths, settings: Settings) -> Ill:
    """What does not work before a change."""
    states = await control.ask(paths.control_socket, "status")
    recently = utc_now().timestamp() - _STABLE_SECONDS
    services = {
        each.name
        for each in states
        if each.state != "running" or (each.restarts and each.since and each.since > recently)
    }
    deferred = frozenset(await _list_deferred(app, paths))
    return Ill(frozenset(services), frozenset(await _find_silent(settings)), deferred)


async def take_baseline(app: App, paths: InstancePaths, ill: Ill, failures: ProcessFailures) -> Baseline:
    """What `watch` compares with, once all services are ready: mail that was deferred until now is retried. `failures`:
    Postfix's log from before the change.
    """
    ready_at = utc_now().timestamp()
    retried = frozenset(await recovery.retry_deferred(app, paths))
    states = await control.ask(paths.control_socket, "status")
    return Baseline({each.name: each for each in states}, ready_at, retried, ill, failures)


async def watch(
    app: App, paths: InstancePaths, settings: Settings, baseline: Baseline, seconds: float, probed: ProbeResult
) -> str:
    """Failure as soon as a service stops working; returns what was not checked. `settings` name the ports. `probed`:
    the result of the probe before the change; if it failed then, its failure is no result of the change.
    """
    deadline = monotonic() + seconds
    greetings_due = probe_due = monotonic()
    note = ""
    while True:
        await _check_log(baseline)
        await _check_states(paths, baseline)
        await _check_deferred(app, paths, baseline)
        if monotonic() >= greetings_due:
            if problems := await check_greetings(settings, baseline.ill.ports):
                raise Failure("; ".join(problems))
            greetings_due = monotonic() + _GREETINGS_SECONDS
        if monotonic() >= probe_due:
            note = await _check_probe(app, paths, settings, baseline, probed)
            probe_due = monotonic() + _PROBE_SECONDS
        if monotonic() >= deadline:
            return note
        await asyncio.sleep(_STATE_SECONDS)


async def _check_probe(
    app: App, paths: InstancePaths, settings: Settings, baseline: Baseline, probed: ProbeResult
) -> str:
    """Failure if the probe fails, unless it failed before the change already; returns what was not checked."""
    found = await probe.probe(app, paths, settings)
    if found.status != "failed":
        return found.problem or ""
    if probed.status == "failed":
        return f"The probe message failed before the change too. Before: {probed.problem} Now: {found.problem}"
    await _check_log(baseline)  # these say more
    await _check_deferred(app, paths, baseline)
    raise Failure(f"The probe message failed. {found.problem}")


async def _check_states(paths: InstancePaths, baseline: Baseline) -> None:
    for state in await control.ask(paths.control_socket, "status"):
        before = baseline.states.get(state.name)
        if state.name in baseline.ill.services:
            continue
        if before and before.state == "running" and (state.state, state.pid) != ("running", before.pid):
            raise Failure(f"{state.name} has exited.")


async def _check_log(baseline: Baseline) -> None:
    """The daemon's own check does not read all values: a process of Postfix may fail when it first has work."""
    if line := await asyncio.to_thread(baseline.failures.read):
        raise Failure(f"Postfix can't work with the new configuration: {line}")


async def _check_deferred(app: App, paths: InstancePaths, baseline: Baseline) -> None:
    now = utc_now().timestamp()
    found = await asyncio.to_thread(postfix_queue.find_deferred_since, paths.postfix_queue, baseline.ready_at, now)
    # An attempt that ended in the first second may have begun before, unless the message was retried then.
    late = {key for key, at in found.items() if key in baseline.retried or at > baseline.ready_at + _GRACE_SECONDS}
    if not (late := late - baseline.ill.deferred):
        return
    if deferred := late.intersection(await _list_deferred(app, paths)):
        raise Failure(f"Mail was deferred because of this server: {', '.join(sorted(deferred)[:10])}.")


async def _list_deferred(app: App, paths: InstancePaths) -> Sequence[str]:
    if not await asyncio.to_thread(postfix_queue.list_deferred, paths.postfix_queue):
        return ()
    listing = await postfix_queue.list_queue(paths.postfix_conf)
    try:
        return await queue.list_local_deferrals(app, listing, paths.lmtp_socket, paths.relay_socket)
    except Unavailable:
        return ()  # the database's outage is no result of the change


async def check_greetings(settings: Settings, silent: Collection[str] = ()) -> list[str]:
    """The ports without a greeting, with the reason; `silent` ports (by name) are not checked."""
    return [problem for name, problem in (await _find_silent(settings)).items() if name not in silent]


async def _find_silent(settings: Settings) -> Mapping[str, str]:
    """The ports without a greeting by name, with the reason."""
    address = (settings.server.addresses or ("127.0.0.1",))[0]
    found = await asyncio.gather(
        *(_check_greeting(name, address, getattr(settings.ports, name), *how) for name, how in _GREETINGS.items())
    )
    problems = {name: problem for name, problem in zip(_GREETINGS, found, strict=True) if problem}
    if settings.edge.enabled and (problem := await _check_https(settings)):
        problems["https"] = problem
    return problems


async def _check_https(settings: Settings) -> str | None:
    """The problem of nginx's HTTPS listener: no TLS for the server's name, or no answer."""
    edge, name = settings.edge, nginx.list_server_names(settings)[0]
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_connection((edge.listen or ("127.0.0.1",))[0], edge.https_port)
            try:
                if edge.proxy_networks:
                    writer.write(b"PROXY UNKNOWN\r\n")
                await writer.start_tls(context, server_hostname=name)
                writer.write(f"HEAD / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
                line = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return f"No answer from port {edge.https_port} (https): {str(error) or 'timeout'}."
    return None if line.startswith(b"HTTP/1.1 ") else f"Port {edge.https_port} (https) answers {line[:100]!r}."


async def _check_greeting(name: str, address: str, port: int, beginning: bytes, is_tls: bool) -> str | None:
    if not port:
        return None
    context = ssl.create_default_context() if is_tls else None
    if context:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_connection(address, port, ssl=context)
            line = await reader.readline()
            writer.close()
    except (OSError, TimeoutError) as error:
        return f"No greeting from port {port} ({name}): {str(error) or 'timeout'}."
    return None if line.startswith(beginning) else f"Port {port} ({name}) greets with {line[:100]!r}."
