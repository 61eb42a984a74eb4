"""The checks of `mailkeep doctor`, with advice. Nothing is changed.

*Wrong*: Mailkeep does not start, or is not safe. *Warning*: it works, but the operator should act or know.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import os
import pwd
import socket
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.instance import lock_holder
from mailkeep.db.postgres_binaries import choose_binaries, cluster_major, find_installed
from mailkeep.db.postgres_cluster import FALLBACK_DIR
from mailkeep.features.access.admins.model import INITIAL_ADMIN_FILE
from mailkeep.features.access.oidc.rules import callback_url
from mailkeep.features.operations.machine import service as machine
from mailkeep.features.operations.machine.model import Assessment
from mailkeep.net.client import OutboundClient
from mailkeep.net.openid import OpenIdClient, OutboundAccess, ProviderError
from mailkeep.run.cli import doctor_mail, install
from mailkeep.run.runtime import ports, state
from mailkeep.run.runtime.context import SECRET, load_with_copy
from mailkeep.run.runtime.finding import Finding, Level
from mailkeep.run.runtime.schema import list_pending
from mailkeep.settings import (
    LoadedSettings,
    Settings,
    SettingsError,
    load_settings,
    parse_dns_servers,
    parse_endpoint,
    parse_networks,
)

_MIN_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """The data directory to check and its settings, None if these are invalid."""

    data_dir: Path
    loaded: LoadedSettings | None

    @property
    def has_private_database(self) -> bool:
        """Whether the database is the private one in the data directory."""
        return not (self.loaded and self.loaded.settings.database.url)


async def run_checks(data_dir: Path) -> list[Finding]:
    """The findings of all checks, in the order in which a start would fail."""
    settings_finding, loaded = _check_settings(data_dir)
    context = DoctorContext(data_dir, loaded)
    findings = [check(context) for check in (_check_python, _check_data_directory, _check_disk, _check_clock)]
    findings += [settings_finding, *_check_secret(context), *_check_postgresql(context), *_check_ports(context)]
    findings += [await _check_schema(context), _check_initial_admin(context), *await _check_providers(context)]
    if context.loaded and not install.make_plan().steps:
        findings += await doctor_mail.run_checks(data_dir, context.loaded.settings, utc_now())
    return findings


def _check_python(_: DoctorContext) -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= _MIN_PYTHON:
        return Finding("python", Level.OK, f"Python {version}.")
    return Finding("python", Level.WRONG, f"Python {version} is too old.", "Install Python 3.11 or newer.")


def _check_data_directory(context: DoctorContext) -> Finding:
    name, path = "data directory", context.data_dir
    if not path.exists():
        parent = next(folder for folder in path.parents if folder.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            advice = "The first `mailkeep up` creates it. If Mailkeep uses another folder, name it with --data-dir."
            return Finding(name, Level.WARNING, f"{path} is missing: there is nothing to check yet.", advice)
        message = f"{path} is missing, and this account can't create it in {parent}."
        return Finding(name, Level.WRONG, message, "Create it with this account as its owner.")
    status = path.stat()
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding(name, Level.WRONG, f"This account can't write to {path}.", _owner_advice(status.st_uid))
    if status.st_uid != os.geteuid():
        return Finding(name, Level.WARNING, f"{path} belongs to another account.", _owner_advice(status.st_uid))
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding(name, Level.WRONG, f"Other accounts can write to {path}.", f"chmod go-w {path}")
    return Finding(name, Level.OK, f"{path}, mode {stat.S_IMODE(status.st_mode):04o}.")


def _owner_advice(uid: int) -> str:
    try:
        return f"Run Mailkeep as {pwd.getpwuid(uid).pw_name}, the owner."
    except KeyError:
        return f"Its owner is user ID {uid}, which has no account: change the owner with chown."


def _check_disk(context: DoctorContext) -> Finding:
    path = next(folder for folder in (context.data_dir, *context.data_dir.parents) if folder.exists())
    found = machine.judge_disk(path)
    free = found.details.get("free_bytes")
    return _to_finding("disk", "It can't be read." if free is None else f"{free / 2**30:.1f} GiB free.", found)


def _check_clock(context: DoctorContext) -> Finding:
    now = utc_now()
    return _to_finding("clock", f"The system clock says {iso(now)}.", machine.judge_own_clock(context.data_dir, now))


def _to_finding(name: str, message: str, found: Assessment) -> Finding:
    level = {"down": Level.WRONG, "degraded": Level.WARNING, "ok": Level.OK}[found.status]
    return Finding(name, level, message, found.advice)


def _check_settings(data_dir: Path) -> tuple[Finding, LoadedSettings | None]:
    try:
        loaded = load_settings(data_dir)
        with contextlib.suppress(Failure):  # the check of the master secret says what is wrong
            loaded = load_with_copy(data_dir)
    except SettingsError as error:
        advice = "See docs/reference/settings.md for the valid values."
        return Finding("settings", Level.WRONG, "; ".join(error.faults), advice), None
    count = sum(source != "default" for source in loaded.sources.values())
    return Finding("settings", Level.OK, f"Valid; not default: {count}."), loaded


def _check_secret(context: DoctorContext) -> list[Finding]:
    name = "master secret"
    external = context.loaded.first_start.secret_file if context.loaded else None
    path = Path(external) if external else context.data_dir / SECRET
    mode = 0
    try:
        mode = path.stat().st_mode
        long_enough = len(base64.b64decode(path.read_text("ascii").strip(), validate=True)) >= 32
    except FileNotFoundError:
        if external or _find_cluster(context.data_dir):
            advice = "Restore it from a backup: without it stored keys and second factors can't be decrypted."
            return [Finding(name, Level.WRONG, f"{path} is missing.", advice)]
        return [Finding(name, Level.OK, f"{path} does not exist yet; the first `mailkeep up` creates it.")]
    except OSError as error:
        return [Finding(name, Level.WRONG, f"{path}: {error.strerror}.", "Run Mailkeep as the owner of the file.")]
    except ValueError:
        long_enough = False
    if not long_enough:
        advice = "Restore it from a backup. Only if there is no data yet, create one: `openssl rand -base64 32`."
        return [Finding(name, Level.WRONG, f"{path} does not hold 32 bytes in base64.", advice)]
    if mode & 0o077:
        level = Level.WARNING if external else Level.WRONG  # MAILKEEP_SECRET_FILE may be readable by design
        message = f"{path} has mode {stat.S_IMODE(mode):04o}: other accounts can read it."
        return [Finding(name, level, message, f"chmod 0600 {path}")]
    return [Finding(name, Level.OK, f"{path}, mode {stat.S_IMODE(mode):04o}.")]


def _check_postgresql(context: DoctorContext) -> list[Finding]:
    name = "postgresql"
    if not context.has_private_database:
        return [Finding(name, Level.OK, "Not needed: database.url is set.")]
    try:
        cluster = _find_cluster(context.data_dir)
        major = cluster_major(cluster) if cluster else None
        chosen = choose_binaries(find_installed(), major)
    except Failure as failure:
        return [Finding(name, Level.WRONG, str(failure), None)]
    except PermissionError as error:
        return [Finding(name, Level.WRONG, f"{error.filename} can't be read.", "Run the command as root or its owner.")]
    reason = f", the version of the database in {cluster}" if major else ""
    return [Finding(name, Level.OK, f"PostgreSQL {chosen.major} in {chosen.bin_dir}{reason}.")]


def _find_cluster(data_dir: Path) -> Path | None:
    """The data folder of the private database server (PostgreSQL: cluster); None if it does not exist yet."""
    candidates = [data_dir / "pg"]
    try:
        candidates.append(FALLBACK_DIR / (data_dir / "instance-id").read_text("ascii").strip())
    except (OSError, ValueError):
        pass
    return next((path for path in candidates if path != FALLBACK_DIR and path.is_dir()), None)


def _check_ports(context: DoctorContext) -> list[Finding]:
    if context.loaded is None:
        return []
    if state.read(context.data_dir):
        return [Finding("ports", Level.OK, "In use by this instance, which is running.")]
    settings = context.loaded.settings
    listeners = {
        "http.listen": settings.http.listen,
        "http.internal": settings.http.internal,
        "smtp.listen": settings.smtp.listen,
    }
    movable = "http.internal" if context.loaded.sources["http.internal"] == "default" else None
    return [_check_port(key, text, key == movable) for key, text in listeners.items()] + _check_mail_ports(settings)


def _check_mail_ports(settings: Settings) -> list[Finding]:
    """The ports of the full profile, if this machine can run it."""
    name = "mail ports"
    if install.make_plan().steps:
        return []
    if not (unavailable := ports.find_unavailable(settings)):
        return [Finding(name, Level.OK, "The ports of the full profile are free.")]
    advice = f"The full profile does not start. {ports.advise(unavailable)}"
    return [Finding(name, Level.WRONG, f"{'; '.join(map(str, unavailable))}.", advice)]


def _check_port(key: str, text: str, may_move: bool) -> Finding:
    """`may_move`: `mailkeep up` uses a free port instead if this one is in use (`http.bind_internal`)."""
    host, port = parse_endpoint(text)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(1)
        except OSError as error:
            holder = ports.find_holder(port) if error.errno == errno.EADDRINUSE else None
            message = f"{text}: {error.strerror}{f', by {holder}' if holder else ''}."
            if may_move and error.errno == errno.EADDRINUSE:
                return Finding(key, Level.OK, f"{message} `mailkeep up` uses a free port instead.")
            return Finding(key, Level.WRONG, message, f"Set {key} to a free address of this machine.")
    return Finding(key, Level.OK, f"{text} is free.")


async def _check_schema(context: DoctorContext) -> Finding:
    name = "schema"
    if context.loaded is None:
        return Finding(name, Level.WARNING, "Not checked: the settings are invalid.")
    if context.has_private_database and not _find_cluster(context.data_dir):
        return Finding(name, Level.OK, "There is no database yet; the first `mailkeep up` creates it.")
    starting = lock_holder(context.data_dir) and not state.read(context.data_dir)
    if context.has_private_database and starting:
        return Finding(name, Level.WARNING, "Not checked: Mailkeep is starting, or a command is running.")
    try:
        pending = await list_pending(context.data_dir)
    except Failure as failure:
        cause = "log/postgresql.log in the data directory" if context.has_private_database else "database.url"
        return Finding(name, Level.WRONG, str(failure), f"Check {cause}.")
    except OSError as error:
        return Finding(name, Level.WRONG, f"{error.filename}: {error.strerror}.", "Run it as the owner of the file.")
    if pending:
        message = f"Migrations to apply: {', '.join(step.file for step in pending)}."
        return Finding(name, Level.WARNING, message, "`mailkeep migrate` or the next `mailkeep up` applies them.")
    return Finding(name, Level.OK, "The database answers, and its schema is up to date.")


def _check_initial_admin(context: DoctorContext) -> Finding:
    path = context.data_dir / INITIAL_ADMIN_FILE
    if not os.path.lexists(path):
        return Finding("first administrator", Level.OK, "There is no file with an initial password.")
    return Finding(
        "first administrator",
        Level.WARNING,
        f"The first administrator's password is in {path}.",
        "Sign in with it, which removes the file; or run `mailkeep admin password EMAIL`, and remove the file.",
    )


async def _check_providers(context: DoctorContext) -> list[Finding]:
    """Whether each identity provider publishes its configuration and keys."""
    if context.loaded is None:
        return []
    settings = context.loaded.settings
    oidc, outbound = settings.oidc, OutboundClient(parse_dns_servers(settings.dns.servers))
    openid = OpenIdClient(outbound)
    access = OutboundAccess(
        parse_networks(oidc.allowed_networks), Path(oidc.extra_ca_file) if oidc.extra_ca_file else None
    )
    findings: list[Finding] = []
    try:
        for provider in oidc.providers:
            name = f"provider {provider.id}"
            try:
                keys = await openid.get_keys(provider, access, utc_now())
            except ProviderError as error:
                findings.append(Finding(name, Level.WRONG, error.detail, _provider_advice(error.reason)))
            else:
                message = f"{provider.issuer} answers; published keys: {len(keys)}."
                callback = callback_url(settings.http.public_url, provider)
                findings.append(Finding(name, Level.OK, message, f"Register this redirect URI there: {callback}."))
    finally:
        await outbound.close()
    return findings


def _provider_advice(reason: str) -> str:
    match reason:
        case "address_refused":
            return "If the provider is in a private network, add that network to oidc.allowed_networks."
        case "tls":
            return "If a private CA issued its certificate, set oidc.extra_ca_file."
        case "issuer":
            return "Set the provider's issuer exactly as the provider publishes it, including a final slash."
        case _:
            return "Logins with this provider fail; passwords and passkeys still work. See docs/howto/oidc.md."
