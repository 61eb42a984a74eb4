"""The plan: what would change in the daemons' configuration with given settings, and what each daemon must do then."""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.core.secret import Vault
from mailkeep.features.operations.orchestrator import rules
from mailkeep.features.operations.orchestrator.model import (
    ConfigurationPlan,
    NewListener,
    PlannedAction,
    PlannedCheck,
    PlannedFile,
)
from mailkeep.mail.daemons import actions, nginx, render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig, Files
from mailkeep.run.cli import install
from mailkeep.run.runtime import checks, configuration, dane, generations, ports, process, service_status
from mailkeep.run.runtime.generations import Drift, GenerationManifest
from mailkeep.settings import MASK, SETTING_FIELDS, Settings

_DIFF_BYTES = 64 << 10
CONFIRM_SECONDS = 120.0
"""How long an apply that changes ports waits for its confirmation."""
_INTERRUPTS = {
    ("dovecot", "restart"): "IMAP, POP3 and ManageSieve sessions end; mail waits in the queue meanwhile.",
    ("postfix", "restart"): "SMTP sessions end; other servers and mail programs try again.",
    ("postfix", "reload"): "Deliveries that are under way are tried again.",
    ("rspamd", "restart"): "Mail waits at the sender until the filter answers again.",
    ("unbound", "restart"): "Deliveries that need DNS in this moment are tried again.",
    ("php-fpm", "restart"): "The webmail does not answer for about a second.",
    ("clamd", "restart"): "Mail can't be scanned for viruses for up to a minute (filter.antivirus_on_failure).",
    ("nginx", "restart"): "Requests and event streams over HTTPS end.",
    ("redis", "restart"): "The filter works without statistics for a moment.",
    ("api", "restart"): "Requests wait for about a second.",
}


@dataclass(frozen=True, slots=True)
class Target:
    """The settings that a plan leads to and those before, with their revisions (`base`: before), and the settings that
    wait for an apply. `is_rejected`: an apply of them was rolled back.
    """

    settings: Settings
    before: Settings
    base: int
    revision: int
    changed_keys: Sequence[str] = ()
    is_rejected: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan with what is needed to apply it; `current_n` is the generation in use."""

    plan: ConfigurationPlan
    rendered: Mapping[str, Files]
    manifest: GenerationManifest
    config: DaemonConfig
    drift: Sequence[Drift]
    current_n: int


def draft_plan(
    paths: InstancePaths,
    vault: Vault,
    target: Target,
    at: datetime,
    replaced: frozenset[tuple[str, str]] = frozenset(),
) -> Draft:
    """Render, compare with the generation in use, and check; `replaced` are files (service, path) that do not keep
    their edits by hand. Blocks for seconds. Failure if there is no generation in use.
    """
    current = generations.find_current(paths)
    if current is None:
        raise Failure("The daemons use different generations of their configuration: restart Mailkeep.")
    config = configuration.make_config(paths, target.settings, vault, read_logins_port(paths))
    rendered = render.render_all(target.settings, config)
    drift = generations.find_drift(paths, current)
    versions = {service: service_status.find_version(service) for service in rendered}
    manifest = GenerationManifest(
        max(generations.list_generations(paths)) + 1, at, target.revision, versions, generations.hash_files(rendered)
    )
    secrets = configuration.list_secrets(vault)
    files = _compare(paths, current, manifest, rendered, drift, secrets)
    has_changes = bool(replaced) or any(file.change != "drifted" for file in files)
    kept = [each for each in drift if (each.service, each.path) not in replaced]
    expires_at = at + rules.PLAN_LIFETIME
    plan = ConfigurationPlan(
        id=rules.identify_plan(_digest(current, manifest, drift, target), expires_at),
        base=target.base,
        target=target.revision,
        expires_at=expires_at,
        files=files,
        actions=decide_actions(paths, current, rendered, target.changed_keys),
        checks=[
            *(_check(paths, manifest, rendered, kept, config, target.settings.server.addresses) if has_changes else ()),
            *_check_listeners(target),
            *_check_dane(target),
            *_check_antivirus(target),
            *_check_webmail(target),
        ],
        settings=target.changed_keys,
        warnings=_warn(files, target),
    )
    return Draft(plan, rendered, manifest, config, drift, current.n)


def read_logins_port(paths: InstancePaths) -> int:
    """The port for Dovecot's reports of logins."""
    return int((paths.data / configuration.LOGINS_PORT).read_text("ascii"))


def mask(text: str, secrets: Sequence[str]) -> str:
    """The text with secrets masked."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def diff_texts(name: str, before: str, after: str, secrets: Sequence[str]) -> str:
    """A unified diff, secrets masked, of at most 64 KiB."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return mask("\n".join(lines), secrets)[:_DIFF_BYTES]


def _compare(
    paths: InstancePaths,
    current: GenerationManifest,
    manifest: GenerationManifest,
    rendered: Mapping[str, Files],
    drift: Sequence[Drift],
    secrets: Sequence[str],
) -> list[PlannedFile]:
    """The files that change, and those that were edited by hand, which stay as they are."""
    files: list[PlannedFile] = []
    edited = {(each.service, each.path) for each in drift}
    for service, texts in rendered.items():
        before, after = current.services.get(service, {}), manifest.services[service]
        for path in sorted(before.keys() | after.keys() | {path for name, path in edited if name == service}):
            is_edited = (service, path) in edited
            if before.get(path) == after.get(path) and not is_edited:
                continue
            old = generations.show_file(paths, service, path)
            new = texts.get(path, "")
            change = (
                "drifted"
                if is_edited
                else "create"
                if path not in before
                else "delete"
                if path not in after
                else "update"
            )
            diff = diff_texts(f"{service}/{path}", old, new, secrets)
            is_undecided = is_edited and before.get(path) != after.get(path)
            files.append(PlannedFile(service, path, change, diff, after.get(path), is_undecided))
    return files


def decide_actions(
    paths: InstancePaths, current: GenerationManifest, rendered: Mapping[str, Files], changed_keys: Sequence[str]
) -> list[PlannedAction]:
    """What the daemons and our own processes must do when these files and settings change."""
    return [*_decide(paths, current, rendered), *_decide_processes(changed_keys)]


def _decide(paths: InstancePaths, current: GenerationManifest, rendered: Mapping[str, Files]) -> list[PlannedAction]:
    planned: list[PlannedAction] = []
    for service, texts in rendered.items():
        changes: dict[str, actions.Action] = {}
        for path in sorted(texts.keys() | current.services.get(service, {}).keys()):
            before = generations.read_original(paths, current.n, service, path)
            changes |= actions.list_changes(service, path, before, texts.get(path))
        action = actions.strongest(changes.values())
        because = [name for name, each in changes.items() if each == action]
        if changes:
            planned.append(PlannedAction(service, action, because, _INTERRUPTS.get((service, action))))
    return planned


def _decide_processes(changed_keys: Sequence[str]) -> list[PlannedAction]:
    """Our own processes that read one of the settings only at their start."""
    reasons = {
        name: [key for key in changed_keys if name in SETTING_FIELDS[key].read_at_start]
        for name in process.list_names()
    }
    return [
        PlannedAction(name, "restart", because, _INTERRUPTS.get((name, "restart")))
        for name, because in reasons.items()
        if because
    ]


def _check_listeners(target: Target) -> list[PlannedCheck]:
    """Whether the addresses exist, and new ports are free."""
    before, after = target.before, target.settings
    if not needs_confirmation(before, after) and before.edge == after.edge:
        return []
    try:
        configuration.require_addresses(after)
    except Failure as failure:
        return [PlannedCheck("ports", False, str(failure))]
    used = set(dataclasses.asdict(before.ports).values())
    used |= {before.edge.http_port, before.edge.https_port} if before.edge.enabled else set()
    taken = [each for each in ports.find_unavailable(after) if each.port not in used]
    return [PlannedCheck("ports", not taken, "; ".join(map(str, taken)))]


def _check_dane(target: Target) -> list[PlannedCheck]:
    """Whether DANE would protect deliveries, if that changes. Blocks for up to 3 seconds."""
    before, after = target.before, target.settings
    if (before.outbound.dane, before.dns.resolver) == (after.outbound.dane, after.dns.resolver):
        return []
    if not after.outbound.dane:
        return []
    problem = asyncio.run(dane.find_problem(after))
    return [PlannedCheck("dane", problem is None, problem or "")]


def _check_antivirus(target: Target) -> list[PlannedCheck]:
    """Whether the virus scanner is installed, if it is switched on."""
    if not target.settings.filter.antivirus or target.before.filter.antivirus:
        return []
    missing = install.make_plan(antivirus=True).steps
    return [PlannedCheck("antivirus", not missing, "Run `mailkeep install --antivirus` first." if missing else "")]


def _check_webmail(target: Target) -> list[PlannedCheck]:
    """Whether the webmail is installed, if it is switched on."""
    if not target.settings.webmail.enabled or target.before.webmail.enabled:
        return []
    missing = install.make_plan(webmail=True).steps
    return [PlannedCheck("webmail", not missing, "Run `mailkeep install --webmail` first." if missing else "")]


def _check(
    paths: InstancePaths,
    manifest: GenerationManifest,
    rendered: Mapping[str, Files],
    drift: Sequence[Drift],
    config: DaemonConfig,
    addresses: Sequence[str],
) -> list[PlannedCheck]:
    """Check the new files, with the edits by hand, in a temporary folder."""
    draft = generations.stage(paths, manifest, rendered, generations.read_files(paths, drift))
    try:
        return [PlannedCheck(each.service, each.ok, each.output) for each in checks.check_all(draft, config, addresses)]
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def needs_confirmation(before: Settings, after: Settings) -> bool:
    """Whether ports or addresses of mail, or the HTTPS listener, change: their users must find them."""
    if (before.ports, before.server.addresses) != (after.ports, after.server.addresses):
        return True
    return before.edge.enabled and nginx.identify_listener(before) != nginx.identify_listener(after)


def find_new_listener(before: Settings, after: Settings) -> NewListener | None:
    """The HTTPS listener that must be shown to work by a confirmation over it: if there was another one."""
    old, new = nginx.identify_listener(before), nginx.identify_listener(after)
    return NewListener(new, nginx.make_public_url(after)) if old and new and old != new else None


def _warn(files: Sequence[PlannedFile], target: Target) -> list[str]:
    warnings: list[str] = []
    if needs_confirmation(target.before, target.settings):
        listener = find_new_listener(target.before, target.settings)
        where = f" at {listener.url}, where you must be able to sign in," if listener else ","
        warnings.append(
            f"{'The HTTPS listener changes' if listener else 'Ports or addresses change'}: an apply waits up to "
            f"{CONFIRM_SECONDS:.0f} seconds for your confirmation{where} and is rolled back without it."
        )
    drifted = [file for file in files if file.change == "drifted"]
    if kept := [f"{file.service}/{file.path}" for file in drifted if not file.is_edited_and_changed]:
        warnings.append(f"Edited by hand, and kept as they are: {', '.join(kept)}.")
    if undecided := [f"{file.service}/{file.path}" for file in drifted if file.is_edited_and_changed]:
        warnings.append(f"Edited by hand, and changed by the plan: {', '.join(undecided)}. Decide which to keep.")
    if target.is_rejected:
        warnings.append("An apply of these settings was rolled back. The next start does not use them either.")
    return warnings


def _digest(current: GenerationManifest, manifest: GenerationManifest, drift: Sequence[Drift], target: Target) -> str:
    parts: list[Any] = [
        current.n, target.base, target.revision, current.services, manifest.services, manifest.versions,
        [(each.service, each.path, each.kind, each.sha256) for each in drift],
    ]  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()
