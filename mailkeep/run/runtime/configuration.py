"""The daemons' configuration: rendered, checked by the daemons' own tools, and installed as a new generation."""

from __future__ import annotations

import contextlib
import grp
import hashlib
import ipaddress
import os
import pwd
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog

from mailkeep.core.errors import Failure
from mailkeep.core.secret import Vault
from mailkeep.db.postgres_cluster import DATABASE
from mailkeep.mail.daemons import render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig, Files
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.cli import install as program
from mailkeep.run.runtime import certificate, generations, overlay_files, process, service_status
from mailkeep.run.runtime.child import ENVIRONMENT
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.configuration")

LOGINS_PORT = "logins-port"
"""The file in the data directory with the port for Dovecot's reports of logins."""
RSPAMD = "/etc/rspamd/rspamd.conf"
_TIMEOUT = 60
_SENDERS_MARK, _DOUBLE_BOUNCE = "senders in the filter", "double bounce"


def make_config(paths: InstancePaths, settings: Settings, vault: Vault, logins_port: int) -> DaemonConfig:
    """The values for the daemons' configuration besides settings. The secrets are derived from the master secret."""
    present_processes = process.list_names()
    return DaemonConfig(
        paths=paths,
        database_folder=paths.run / "pg",
        database=DATABASE,
        hostname=settings.server.name,
        account=program.ACCOUNT,
        mail_account=program.MAIL_ACCOUNT,
        mail_uid=pwd.getpwnam(program.MAIL_ACCOUNT).pw_uid,
        logins_port=logins_port,
        logins_token=make_logins_token(vault),
        senders_mark=_derive_name(vault, _SENDERS_MARK),
        double_bounce=_derive_name(vault, _DOUBLE_BOUNCE),
        probe_hash=_hash_probe_password(vault),
        certificate_file=certificate.find_served_file(paths.tls),
        lmtp_socket=paths.lmtp_socket if "lmtp" in present_processes else paths.dovecot_lmtp,
        policy_socket=paths.policy_socket if "policy" in present_processes else None,
        overlays=overlay_files.read(paths),
    )


def make_logins_token(vault: Vault) -> str:
    """The token with which Dovecot reports logins."""
    return vault.sign("reports of logins", b"token")


def make_probe_password(vault: Vault) -> str:
    """The password of the probe's mailbox."""
    return vault.sign("login of the probe", b"password")


def _hash_probe_password(vault: Vault) -> str:
    # A fast hash is enough for a password with 256 random bits, and is the same at each start.
    return hashlib.sha256(make_probe_password(vault).encode()).hexdigest()


def list_secrets(vault: Vault) -> list[str]:
    """The secrets in the daemons' files, which must not be shown."""
    names = [_derive_name(vault, purpose) for purpose in (_SENDERS_MARK, _DOUBLE_BOUNCE)]
    return [make_logins_token(vault), *names, _hash_probe_password(vault)]


def _derive_name(vault: Vault, purpose: str) -> str:
    return hashlib.sha256(vault.sign(purpose, b"name").encode()).hexdigest()[:16]


def install(settings: Settings, config: DaemonConfig, revision: int, at: datetime) -> None:
    """At the start of an instance: use a generation with these settings (revision `revision`), checked by the daemons'
    own tools; the current one if its files are the same. After a Failure none is changed.

    Files that were edited by hand keep their edits, unless the daemon's check rejects them.
    """
    require_addresses(settings.server.addresses)
    generations.remove_drafts(config.paths)
    paths, rendered = config.paths, render.render_all(settings, config)
    versions = {service: service_status.find_version(service) for service in rendered}
    current = generations.find_current(paths)
    drift = generations.find_drift(paths, current) if current else []
    is_uniform = len({generations.find_linked(paths, service) for service in rendered}) == 1
    if current and is_uniform and current.has(rendered) and current.versions == versions:
        folder = generations.folder_of(paths, current.n)
        # This also creates the folders of Postfix's queue.
        if not drift and all(check.ok for check in check_service("postfix", folder, config)):
            return
        if drift and all(check.ok for check in check_all(folder, config)):
            log.warning("the daemons' configuration was edited by hand", files=_name_files(drift))
            return
    n = max(generations.list_generations(paths), default=0) + 1
    manifest = generations.Manifest(n, at, revision, versions, generations.hash_files(rendered))
    edits = generations.read_files(paths, drift)
    if not (edits and _is_valid(manifest, rendered, edits, config)):
        if edits:
            kept = str(generations.folder_of(paths, n - 1))
            log.error("edits by hand were not used: the check fails", files=_name_files(drift), kept_in=kept)
        generations.stage(paths, manifest, rendered)
        require_valid(check_all(generations.draft_of(paths, n), config))
    generations.publish(paths, n)
    for service in rendered:
        generations.switch(paths, service, n)
    generations.prune(paths)
    # Again with the final path: with another path of the source, Dovecot would compile it at every delivery.
    compile_scripts(paths.dovecot_conf)


def _is_valid(
    manifest: generations.Manifest, rendered: Mapping[str, Files], edits: Mapping[str, Files], config: DaemonConfig
) -> bool:
    folder = generations.stage(config.paths, manifest, rendered, edits)
    return all(check.ok for check in check_all(folder, config))


def _name_files(drift: Sequence[generations.Drift]) -> list[str]:
    return [f"{each.service}/{each.path}" for each in drift]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a daemon's own check of its configuration; `output` are the last lines that it wrote."""

    service: str
    ok: bool
    output: str


def require_valid(checks: Iterable[Check]) -> None:
    """Failure, permanent, with the output of the first check that failed."""
    for check in checks:
        if not check.ok:
            text = f"The check of the generated {check.service} configuration failed: {check.output}"
            raise Failure(text, permanent=True)


def check_all(generation: Path, config: DaemonConfig) -> list[Check]:
    """Check the configuration of all daemons in the folder of a generation. Compiles what they need compiled."""
    return [
        check for service in ("rspamd", "dovecot", "postfix") for check in check_service(service, generation, config)
    ]


def check_service(service: str, generation: Path, config: DaemonConfig) -> list[Check]:
    """Check the configuration of a daemon in the folder of a generation."""
    folder = generation / service
    match service:
        case "rspamd":
            variables = rspamd_variables(config, folder)
            return [_check(service, ["rspamadm", *variables, "configtest", "-c", RSPAMD])]
        case "dovecot":
            parsed = _check(service, ["doveconf", "-n", "-c", str(folder / "dovecot.conf")])
            return [parsed, *(_compile(folder) if parsed.ok else ())]
        case "postfix":
            compiled = _check(service, postfix_queue.generation_command(folder))
            # This also creates the queue's folders, with the right owners.
            return [compiled, _check(service, ["postfix", "-c", str(folder), "check"])]
        case _:
            return []


def compile_scripts(folder: Path) -> None:
    """Compile the global Sieve scripts of Dovecot's configuration in this folder. Failure."""
    require_valid(_compile(folder))


def _compile(folder: Path) -> list[Check]:
    """Compile the global Sieve scripts, readable for the mailboxes' account."""
    checks: list[Check] = []
    for script in render.SIEVE:
        compiled = (folder / script).with_suffix(".svbin")
        compiled.unlink(missing_ok=True)
        checks.append(_check("dovecot", ["sievec", "-c", str(folder / "dovecot.conf"), str(folder / script)]))
        with contextlib.suppress(FileNotFoundError):
            os.chown(compiled, -1, grp.getgrnam(program.MAIL_ACCOUNT).gr_gid)
    return checks


def rspamd_variables(config: DaemonConfig, confdir: Path) -> list[str]:
    """Options that make Debian's configuration use the instance's folders."""
    paths = config.paths
    variables = {
        "LOCAL_CONFDIR": confdir,
        "DBDIR": paths.rspamd_data,
        "RUNDIR": paths.filter_sockets,
        "LOGDIR": paths.log,
    }
    return [f"--var={name}={value}" for name, value in variables.items()]


def require_addresses(addresses: Sequence[str]) -> None:
    """Fail if no interface has one of the addresses: Postfix would exit, and report it only in its log."""
    local = _local_addresses() if addresses else set[str]()
    for address in addresses:
        if str(ipaddress.ip_address(address)) not in local:
            raise Failure(f"server.addresses: no interface of this machine has {address}.", permanent=True)


def _local_addresses() -> set[str]:
    """The addresses of this machine's interfaces."""
    routing_table = Path("/proc/net/fib_trie").read_text("ascii")
    addresses = set(re.findall(r"\|-- ([0-9.]+)\n +/32 host LOCAL", routing_table))
    with contextlib.suppress(FileNotFoundError):  # without IPv6
        for line in Path("/proc/net/if_inet6").read_text("ascii").splitlines():
            addresses.add(str(ipaddress.IPv6Address(int(line.split()[0], 16))))
    return addresses


def _check(service: str, argv: Sequence[str]) -> Check:
    result = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT, cwd="/", env=ENVIRONMENT
    )
    output = " / ".join((result.stderr + result.stdout).strip().splitlines()[-4:])
    return Check(
        service, result.returncode == 0, output if result.returncode == 0 else output or f"status {result.returncode}"
    )
