"""The checks of `mailkeep doctor`, with advice. Nothing is changed.

*Wrong*: Mailkeep does not start, or is not safe. *Warning*: it works, but the operator should know.
"""

from __future__ import annotations

import base64
import errno
import os
import pwd
import shutil
import socket
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import mailkeep
from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.instance import lock_holder
from mailkeep.db.postgres_binaries import choose_binaries, cluster_major, find_installed
from mailkeep.db.postgres_cluster import FALLBACK_DIR
from mailkeep.features.access.admins.model import INITIAL_ADMIN_FILE
from mailkeep.features.access.oidc.rules import callback_url
from mailkeep.net.client import OutboundClient
from mailkeep.net.openid import OpenIdClient, OutboundAccess, ProviderError
from mailkeep.run.cli import doctor_mail, install
from mailkeep.run.runtime import ports, state
from mailkeep.run.runtime.context import SECRET
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

_OLDEST_PYTHON = (3, 11)
_DISK_WARNING, _DISK_WRONG = 1 << 30, 256 << 20
_FILES_WARNING = 0.02
_CLOCK_TOLERANCE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """What is checked; `loaded` is None if the settings are invalid."""

    data_dir: Path
    loaded: LoadedSettings | None

    @property
    def has_private_database(self) -> bool:
        """Whether the database is the private one in the data directory."""
        return not (self.loaded and self.loaded.settings.database.url)


async def run_checks(data_dir: Path) -> list[Finding]:
    """The findings of all checks, in the order in which a start would fail."""
    settings, loaded = _settings(data_dir)
    subject = DoctorContext(data_dir, loaded)
    before: list[Callable[[DoctorContext], Finding]] = [_python, _data_directory, _disk, _clock]
    after: list[Callable[[DoctorContext], list[Finding]]] = [_secret, _postgresql, _ports]
    findings = [check(subject) for check in before] + [settings]
    for check in after:
        findings += check(subject)
    findings += [await _schema(subject), _initial_admin(subject), *await _providers(subject)]
    if subject.loaded and not install.make_plan().steps:
        findings += await doctor_mail.run_checks(data_dir, subject.loaded.settings, utc_now())
    return findings


def _python(_: DoctorContext) -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= _OLDEST_PYTHON:
        return Finding("python", Level.OK, f"Python {found}.")
    return Finding("python", Level.WRONG, f"Python {found} is too old.", "Install Python 3.11 or newer.")


def _data_directory(subject: DoctorContext) -> Finding:
    name, path = "data directory", subject.data_dir
    if not path.exists():
        parent = next(folder for folder in path.parents if folder.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            advice = "The first `mailkeep up` creates it. If Mailkeep runs on another folder, name it with --data-dir."
            return Finding(name, Level.WARNING, f"{path} is missing: there is nothing to check yet.", advice)
        advice = f"Create it: this account can't write to {parent}."
        return Finding(name, Level.WRONG, f"{path} is missing.", advice)
    found = path.stat()
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding(name, Level.WRONG, f"This account can't write to {path}.", _owner_advice(found.st_uid))
    if found.st_uid != os.geteuid():
        return Finding(name, Level.WARNING, f"{path} belongs to another account.", _owner_advice(found.st_uid))
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding(name, Level.WRONG, f"Other accounts can write to {path}.", f"chmod go-w {path}")
    return Finding(name, Level.OK, f"{path}, mode {stat.S_IMODE(found.st_mode):04o}.")


def _owner_advice(uid: int) -> str:
    try:
        return f"Run Mailkeep as {pwd.getpwuid(uid).pw_name}, the owner."
    except KeyError:
        return f"Its owner is user ID {uid}, which has no account: change the owner with chown."


def _disk(subject: DoctorContext) -> Finding:
    path = next(folder for folder in (subject.data_dir, *subject.data_dir.parents) if folder.exists())
    free = shutil.disk_usage(path).free
    usage = os.statvfs(path)
    message = f"{free / 2**30:.1f} GiB free."
    if usage.f_files and usage.f_favail < usage.f_files * _FILES_WARNING:
        message += f" {usage.f_favail} inodes free."
        return Finding("disk", Level.WARNING, message, "Remove small files, or use a file system with more inodes.")
    if free >= _DISK_WARNING:
        return Finding("disk", Level.OK, message)
    level = Level.WARNING if free >= _DISK_WRONG else Level.WRONG
    return Finding("disk", level, message, "Free space: on a full disk nothing is accepted, and mail is deferred.")


def _clock(subject: DoctorContext) -> Finding:
    """The clock must not be before the newest file of the data directory or the program."""
    now = utc_now()
    known = [Path(mailkeep.__file__)]
    if os.access(subject.data_dir, os.R_OK | os.X_OK):
        known += subject.data_dir.iterdir()
    newest = max(path.lstat().st_mtime for path in known)
    if newest <= now.timestamp() + _CLOCK_TOLERANCE_SECONDS:
        return Finding("clock", Level.OK, f"{iso(now)}.")
    written = iso(datetime.fromtimestamp(newest, UTC))
    return Finding(
        "clock",
        Level.WRONG,
        f"The system clock says {iso(now)}, but files were written at {written}.",
        "Set and synchronize the clock (apt install systemd-timesyncd): sessions, keys and one-time codes need it.",
    )


def _settings(data_dir: Path) -> tuple[Finding, LoadedSettings | None]:
    try:
        loaded = load_settings(data_dir)
    except SettingsError as error:
        advice = "docs/reference/settings.md has the valid values."
        return Finding("settings", Level.WRONG, "; ".join(error.faults), advice), None
    count = sum(source != "default" for source in loaded.sources.values())
    return Finding("settings", Level.OK, f"Valid, {count} set."), loaded


def _secret(subject: DoctorContext) -> list[Finding]:
    name = "master secret"
    external = subject.loaded.first_start.secret_file if subject.loaded else None
    path = Path(external) if external else subject.data_dir / SECRET
    mode = 0
    try:
        mode = path.stat().st_mode
        long_enough = len(base64.b64decode(path.read_text("ascii").strip(), validate=True)) >= 32
    except FileNotFoundError:
        if external or _cluster(subject.data_dir):
            advice = "Restore it from a backup: without it keys and second factors can't be read."
            return [Finding(name, Level.WRONG, f"{path} is missing.", advice)]
        return [Finding(name, Level.OK, f"{path} does not exist yet; the first `mailkeep up` creates it.")]
    except OSError as error:
        return [Finding(name, Level.WRONG, f"{path}: {error.strerror}.", "Run Mailkeep as the owner of the file.")]
    except ValueError:
        long_enough = False
    if not long_enough:
        advice = "Restore it from a backup; `openssl rand -base64 32` creates a new one."
        return [Finding(name, Level.WRONG, f"{path} does not hold 32 bytes in base64.", advice)]
    if mode & 0o077:
        level = Level.WARNING if external else Level.WRONG  # MAILKEEP_SECRET_FILE may be readable by design
        message = f"{path} has mode {stat.S_IMODE(mode):04o}: other accounts can read it."
        return [Finding(name, level, message, f"chmod 0600 {path}")]
    return [Finding(name, Level.OK, f"{path}, mode {stat.S_IMODE(mode):04o}.")]


def _postgresql(subject: DoctorContext) -> list[Finding]:
    name = "postgresql"
    if not subject.has_private_database:
        return [Finding(name, Level.OK, "Not needed: database.url is set.")]
    try:
        cluster = _cluster(subject.data_dir)
        major = cluster_major(cluster) if cluster else None
        chosen = choose_binaries(find_installed(), major)
    except Failure as failure:
        return [Finding(name, Level.WRONG, str(failure), None)]
    except PermissionError as error:
        return [Finding(name, Level.WRONG, f"{error.filename} can't be read.", "Run as root or as its owner.")]
    used = f", the version of the database in {cluster}" if major else ""
    return [Finding(name, Level.OK, f"PostgreSQL {chosen.major} in {chosen.bin_dir}{used}.")]


def _cluster(data_dir: Path) -> Path | None:
    """The folder of the private server's cluster, None without one."""
    candidates = [data_dir / "pg"]
    try:
        candidates.append(FALLBACK_DIR / (data_dir / "instance-id").read_text("ascii").strip())
    except (OSError, ValueError):
        pass
    return next((path for path in candidates if path != FALLBACK_DIR and path.is_dir()), None)


def _ports(subject: DoctorContext) -> list[Finding]:
    if subject.loaded is None:
        return []
    if state.read(subject.data_dir):
        return [Finding("ports", Level.OK, "In use by this Mailkeep.")]
    settings = subject.loaded.settings
    listeners = {
        "http.listen": settings.http.listen,
        "http.internal": settings.http.internal,
        "smtp.listen": settings.smtp.listen,
    }
    defaults = {key for key in ("http.internal",) if subject.loaded.sources[key] == "default"}
    return [_port(key, text, key in defaults) for key, text in listeners.items()] + _mail_ports(settings)


def _mail_ports(settings: Settings) -> list[Finding]:
    """The ports of the full profile, if this machine can run it."""
    name = "mail ports"
    if install.make_plan().steps:
        return []
    if not (unavailable := ports.find_unavailable(settings)):
        return [Finding(name, Level.OK, "The ports of the full profile are free.")]
    advice = f"The full profile does not start. {ports.advice(unavailable)}"
    return [Finding(name, Level.WRONG, f"{'; '.join(map(str, unavailable))}.", advice)]


def _port(key: str, text: str, may_move: bool) -> Finding:
    """`may_move`: `up` uses a free port if this one is in use (`http.bind_internal`)."""
    host, port = parse_endpoint(text)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(1)
        except OSError as error:
            holder = ports.find_holder(port) if error.errno == errno.EADDRINUSE else None
            why = f"{text}: {error.strerror}{f', by {holder}' if holder else ''}."
            if may_move and error.errno == errno.EADDRINUSE:
                return Finding(key, Level.OK, f"{why} `mailkeep up` uses a free port.")
            return Finding(key, Level.WRONG, why, f"Set {key} to a free address of this machine.")
    return Finding(key, Level.OK, f"{text} is free.")


async def _schema(subject: DoctorContext) -> Finding:
    name = "schema"
    if subject.loaded is None:
        return Finding(name, Level.WARNING, "Not checked: the settings are invalid.")
    if subject.has_private_database and not _cluster(subject.data_dir):
        return Finding(name, Level.OK, "There is no database yet; the first `mailkeep up` creates it.")
    starting = lock_holder(subject.data_dir) and not state.read(subject.data_dir)
    if subject.has_private_database and starting:
        return Finding(name, Level.WARNING, "Not checked: Mailkeep is starting, or a command is running.")
    try:
        pending = await list_pending(subject.data_dir)
    except Failure as failure:
        return Finding(name, Level.WRONG, str(failure), "See log/postgresql.log in the data directory.")
    except OSError as error:
        return Finding(name, Level.WRONG, f"{error.filename}: {error.strerror}.", "Run as the owner of the file.")
    if pending:
        message = f"To be applied: {', '.join(step.file for step in pending)}."
        return Finding(name, Level.WARNING, message, "`mailkeep migrate` or the next `mailkeep up` applies it.")
    return Finding(name, Level.OK, "The database answers, and its schema is this version's.")


def _initial_admin(subject: DoctorContext) -> Finding:
    path = subject.data_dir / INITIAL_ADMIN_FILE
    if not os.path.lexists(path):
        return Finding("first administrator", Level.OK, "There is no file with the first password.")
    return Finding(
        "first administrator",
        Level.WARNING,
        f"The first administrator's password is in {path}.",
        "Logging in with it removes the file. Or set another with `mailkeep admin password EMAIL` and remove it.",
    )


async def _providers(subject: DoctorContext) -> list[Finding]:
    """Whether each identity provider publishes its configuration and keys."""
    if subject.loaded is None:
        return []
    settings = subject.loaded.settings
    oidc, outbound = settings.oidc, OutboundClient(parse_dns_servers(settings.dns.servers))
    openid = OpenIdClient(outbound)
    reach = OutboundAccess(
        parse_networks(oidc.allowed_networks), Path(oidc.extra_ca_file) if oidc.extra_ca_file else None
    )
    findings: list[Finding] = []
    try:
        for provider in oidc.providers:
            name = f"provider {provider.id}"
            try:
                keys = await openid.get_keys(provider, reach, utc_now())
            except ProviderError as failed:
                findings.append(Finding(name, Level.WRONG, failed.detail, _provider_advice(failed.reason)))
            else:
                message = f"{provider.issuer} answers; keys: {len(keys)}."
                callback = callback_url(settings.http.public_url, provider)
                findings.append(Finding(name, Level.OK, message, f"Its redirect URI must be {callback}."))
    finally:
        await outbound.close()
    return findings


def _provider_advice(reason: str) -> str:
    match reason:
        case "address_refused":
            return "For a provider in a private network, add that network to oidc.allowed_networks."
        case "tls":
            return "For a certificate of a private CA, set oidc.extra_ca_file."
        case "issuer":
            return "Set the issuer exactly as the provider writes it, including a final slash."
        case _:
            return "Logins with it fail; passwords and passkeys work. See docs/howto/oidc.md."
