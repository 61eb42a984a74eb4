"""What Mailkeep needs, examined one thing after the other, with advice. Nothing is changed.

A *warning* is worth knowing and stops nothing; *wrong* is what keeps Mailkeep from starting, or from being safe.
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
    """What is examined; `loaded` is None where the settings are refused."""

    data_dir: Path
    loaded: LoadedSettings | None

    @property
    def has_private_database(self) -> bool:
        """Whether the database is the private one in the data directory."""
        return not (self.loaded and self.loaded.settings.database.url)


async def run_checks(data_dir: Path) -> list[Finding]:
    """All checks, in the order in which a start would stumble."""
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
            advice = "The first `mailkeep up` makes it. If Mailkeep runs elsewhere, name that folder with --data-dir."
            return Finding(name, Level.WARNING, f"{path} is absent: there is nothing to examine yet.", advice)
        return Finding(name, Level.WRONG, f"{path} is absent.", f"Make it: this account may not write in {parent}.")
    found = path.stat()
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding(name, Level.WRONG, f"{path} is not writable for this account.", _owner_advice(found.st_uid))
    if found.st_uid != os.geteuid():
        return Finding(name, Level.WARNING, f"{path} belongs to another account.", _owner_advice(found.st_uid))
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding(name, Level.WRONG, f"Other accounts may write in {path}.", f"chmod go-w {path}")
    return Finding(name, Level.OK, f"{path}, mode {stat.S_IMODE(found.st_mode):04o}.")


def _owner_advice(uid: int) -> str:
    try:
        return f"Run Mailkeep as {pwd.getpwuid(uid).pw_name}, to whom it belongs."
    except KeyError:
        return f"It belongs to user id {uid}, which has no name; chown it."


def _disk(subject: DoctorContext) -> Finding:
    path = next(folder for folder in (subject.data_dir, *subject.data_dir.parents) if folder.exists())
    free = shutil.disk_usage(path).free
    told = os.statvfs(path)
    message = f"{free / 2**30:.1f} GiB free."
    if told.f_files and told.f_favail < told.f_files * _FILES_WARNING:
        message += f" {told.f_favail} files can still be made there."
        return Finding("disk", Level.WARNING, message, "Remove small files, or make a file system with more inodes.")
    if free >= _DISK_WARNING:
        return Finding("disk", Level.OK, message)
    level = Level.WARNING if free >= _DISK_WRONG else Level.WRONG
    return Finding("disk", level, message, "Make room: on a full disk nothing is accepted, and mail is deferred.")


def _clock(subject: DoctorContext) -> Finding:
    """Nothing that was written before may lie in the future: files of the data directory, and the program's own."""
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
        f"It is {iso(now)} by the system's clock, but files were written at {written}.",
        "Set the clock and keep it (apt install systemd-timesyncd): sessions, keys and one-time codes live by it.",
    )


def _settings(data_dir: Path) -> tuple[Finding, LoadedSettings | None]:
    try:
        loaded = load_settings(data_dir)
    except SettingsError as error:
        finding = Finding(
            "settings", Level.WRONG, "; ".join(error.faults), "docs/reference/settings.md tells what each one takes."
        )
        return finding, None
    count = sum(source != "default" for source in loaded.sources.values())
    return Finding("settings", Level.OK, f"Valid, {count} set."), loaded


def _secret(subject: DoctorContext) -> list[Finding]:
    name = "master secret"
    given = subject.loaded.first_start.secret_file if subject.loaded else None
    path = Path(given) if given else subject.data_dir / SECRET
    mode = 0
    try:
        mode = path.stat().st_mode
        long_enough = len(base64.b64decode(path.read_text("ascii").strip(), validate=True)) >= 32
    except FileNotFoundError:
        if given or _cluster(subject.data_dir):
            advice = "Restore it from a backup: without it keys and second factors can't be read."
            return [Finding(name, Level.WRONG, f"{path} is absent.", advice)]
        return [Finding(name, Level.OK, f"{path} is absent; the first `mailkeep up` makes it.")]
    except OSError as error:
        return [Finding(name, Level.WRONG, f"{path}: {error.strerror}.", "Run Mailkeep as the account it belongs to.")]
    except ValueError:
        long_enough = False
    if not long_enough:
        advice = "Restore it from a backup; a new one is made by `openssl rand -base64 32`."
        return [Finding(name, Level.WRONG, f"{path} does not hold 32 bytes in base64.", advice)]
    if mode & 0o077:
        level = Level.WARNING if given else Level.WRONG  # one that is handed in may be readable by design
        shown = f"{path} has mode {stat.S_IMODE(mode):04o}: others may read it."
        return [Finding(name, level, shown, f"chmod 0600 {path}")]
    return [Finding(name, Level.OK, f"{path}, mode {stat.S_IMODE(mode):04o}.")]


def _postgresql(subject: DoctorContext) -> list[Finding]:
    name = "postgresql"
    if not subject.has_private_database:
        return [Finding(name, Level.OK, "Not needed here: database.url is set.")]
    try:
        cluster = _cluster(subject.data_dir)
        major = cluster_major(cluster) if cluster else None
        chosen = choose_binaries(find_installed(), major)
    except Failure as failure:
        return [Finding(name, Level.WRONG, str(failure), None)]
    except PermissionError as error:
        return [Finding(name, Level.WRONG, f"{error.filename} can't be read.", "Run as root or as who owns it.")]
    fits = f", which made the database in {cluster}" if major else ""
    return [Finding(name, Level.OK, f"PostgreSQL {chosen.major} in {chosen.bin_dir}{fits}.")]


def _cluster(data_dir: Path) -> Path | None:
    """Where the private server's cluster lies, None while there is none."""
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
        return [Finding("ports", Level.OK, "Taken by this Mailkeep, which runs.")]
    settings = subject.loaded.settings
    listeners = {
        "http.listen": settings.http.listen,
        "http.internal": settings.http.internal,
        "smtp.listen": settings.smtp.listen,
    }
    defaults = {key for key in ("http.internal",) if subject.loaded.sources[key] == "default"}
    return [_port(key, text, key in defaults) for key, text in listeners.items()] + _mail_ports(settings)


def _mail_ports(settings: Settings) -> list[Finding]:
    """The ports of the full profile, where it could run."""
    name = "mail ports"
    if install.make_plan().steps:
        return []
    if not (taken := ports.find_unavailable(settings)):
        return [Finding(name, Level.OK, "Those of the full profile are free.")]
    advice = f"The full profile does not start. {ports.advice(taken)}"
    return [Finding(name, Level.WRONG, f"{'; '.join(map(str, taken))}.", advice)]


def _port(key: str, text: str, may_move: bool) -> Finding:
    """`may_move`: `up` takes a free port where this one is taken (`http.bind_internal`)."""
    host, port = parse_endpoint(text)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
            tried.listen(1)
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
        return Finding(name, Level.WARNING, "Not examined: the settings are refused.")
    if subject.has_private_database and not _cluster(subject.data_dir):
        return Finding(name, Level.OK, "There is no database yet; the first `mailkeep up` makes it.")
    starting = lock_holder(subject.data_dir) and not state.read(subject.data_dir)
    if subject.has_private_database and starting:
        return Finding(name, Level.WARNING, "Not examined: Mailkeep is starting, or a command is at work.")
    try:
        pending = await list_pending(subject.data_dir)
    except Failure as failure:
        return Finding(name, Level.WRONG, str(failure), "See log/postgresql.log in the data directory.")
    except OSError as error:
        return Finding(name, Level.WRONG, f"{error.filename}: {error.strerror}.", "Run as the account it belongs to.")
    if pending:
        files = ", ".join(step.file for step in pending)
        return Finding(
            name, Level.WARNING, f"To be applied: {files}.", "`mailkeep migrate`, or the next `mailkeep up`."
        )
    return Finding(name, Level.OK, "The database answers, and its schema is this version's.")


def _initial_admin(subject: DoctorContext) -> Finding:
    path = subject.data_dir / INITIAL_ADMIN_FILE
    if not os.path.lexists(path):
        return Finding("first administrator", Level.OK, "No password lies about.")
    return Finding(
        "first administrator",
        Level.WARNING,
        f"The first administrator's password lies in {path}.",
        "Log in with it, and the file goes; or change it by `mailkeep admin password EMAIL`, and remove the file.",
    )


async def _providers(subject: DoctorContext) -> list[Finding]:
    """Whether each identity provider publishes what logins need."""
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
                findings.append(Finding(name, Level.OK, message, f"It has to know {callback} as redirect URI."))
    finally:
        await outbound.close()
    return findings


def _provider_advice(reason: str) -> str:
    match reason:
        case "address_refused":
            return "A provider within your own network needs that network in oidc.allowed_networks."
        case "tls":
            return "A provider with a certificate of your own authority needs it in oidc.extra_ca_file."
        case "issuer":
            return "Write the issuer as the provider does, to the last slash."
        case _:
            return "Nobody can log in by it; the password and passkeys work. docs/howto/oidc.md tells what is needed."
