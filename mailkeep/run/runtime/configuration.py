"""The daemons' configuration: rendered, checked by the daemons' own tools, and installed as a new generation."""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import pwd
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import structlog

from mailkeep.core.errors import Failure
from mailkeep.core.secret import Vault
from mailkeep.db.postgres_cluster import DATABASE
from mailkeep.mail.daemons import probe_mailbox, render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig, Files
from mailkeep.run.cli import install as program
from mailkeep.run.runtime import certificate, checks, generations, overlay_files, process, service_status
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.configuration")

LOGINS_PORT = "logins-port"
"""The file in the data directory with the port for Dovecot's reports of logins."""
_SENDERS_MARK, _DOUBLE_BOUNCE, _PROBE = "senders in the filter", "double bounce", "HELO of the probe"


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
        probe_helo=make_probe_helo(vault),
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


def make_probe_helo(vault: Vault) -> str:
    """The name that the probe gives in HELO. A secret: only who knows it can send to the probe's mailbox."""
    return f"{_derive_name(vault, _PROBE)}.{probe_mailbox.DOMAIN}"


def _hash_probe_password(vault: Vault) -> str:
    # A fast hash is enough for a password with 256 random bits, and is the same at each start.
    return hashlib.sha256(make_probe_password(vault).encode()).hexdigest()


def list_secrets(vault: Vault) -> list[str]:
    """The secrets in the daemons' files, which must not be shown."""
    names = [_derive_name(vault, purpose) for purpose in (_SENDERS_MARK, _DOUBLE_BOUNCE, _PROBE)]
    return [make_logins_token(vault), *names, _hash_probe_password(vault)]


def _derive_name(vault: Vault, purpose: str) -> str:
    return hashlib.sha256(vault.sign(purpose, b"name").encode()).hexdigest()[:16]


def install(settings: Settings, config: DaemonConfig, revision: int, at: datetime) -> None:
    """At the start of an instance: use a generation with these settings (revision `revision`), checked by the daemons'
    own tools; the current one if its files are the same. After a Failure none is changed.

    Files that were edited by hand keep their edits, unless the daemon's check rejects them.
    """
    addresses = settings.server.addresses
    require_addresses(addresses)
    generations.remove_drafts(config.paths)
    paths, rendered = config.paths, render.render_all(settings, config)
    versions = {service: service_status.find_version(service) for service in rendered}
    current = generations.find_current(paths)
    drift = generations.find_drift(paths, current) if current else []
    is_uniform = len({generations.find_linked(paths, service) for service in rendered}) == 1
    is_current = current and is_uniform and current.has(rendered) and current.versions == versions
    if (
        current
        and is_current
        and (not drift or _is_accepted(generations.folder_of(paths, current.n), config, addresses))
    ):
        if drift:
            log.warning("the daemons' configuration was edited by hand", files=_name_files(drift))
        checks.prepare_queue(paths.postfix_conf)
        return
    n = max(generations.list_generations(paths), default=0) + 1
    manifest = generations.Manifest(n, at, revision, versions, generations.hash_files(rendered))
    edits = generations.read_files(paths, drift)
    if not (edits and _is_valid(manifest, rendered, edits, config, addresses)):
        if edits:
            kept = str(generations.folder_of(paths, n - 1))
            log.error("edits by hand were not used: the check fails", files=_name_files(drift), kept_in=kept)
        generations.stage(paths, manifest, rendered)
        checks.require_valid(checks.check_all(generations.draft_of(paths, n), config, addresses))
    checks.compile_tables(generations.draft_of(paths, n))
    generations.publish(paths, n)
    for service in rendered:
        generations.switch(paths, service, n)
    generations.prune(paths)
    checks.compile_scripts(paths.dovecot_conf)
    checks.prepare_queue(paths.postfix_conf)


def _is_valid(
    manifest: generations.Manifest,
    rendered: Mapping[str, Files],
    edits: Mapping[str, Files],
    config: DaemonConfig,
    addresses: Sequence[str],
) -> bool:
    folder = generations.stage(config.paths, manifest, rendered, edits)
    return _is_accepted(folder, config, addresses)


def _is_accepted(folder: Path, config: DaemonConfig, addresses: Sequence[str]) -> bool:
    return all(check.ok for check in checks.check_all(folder, config, addresses))


def _name_files(drift: Sequence[generations.Drift]) -> list[str]:
    return [f"{each.service}/{each.path}" for each in drift]


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
