"""The daemons' configuration: rendered, checked by the daemons' own tools, and installed as a new generation."""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import pwd
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import structlog

from mailkeep.core.errors import Failure
from mailkeep.core.secret import Vault
from mailkeep.db.postgres_cluster import DATABASE
from mailkeep.mail.daemons import probe_mailbox, render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig
from mailkeep.run.cli import install as program
from mailkeep.run.runtime import certificate, checks, generations, overlay_files, process, service_status
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.configuration")

LOGINS_PORT = "logins-port"
"""The file in the data directory with the port for Dovecot's reports of logins."""
_SENDERS_MARK, _DOUBLE_BOUNCE, _PROBE = "senders in the filter", "double bounce", "HELO of the probe"
_WEBMAIL = "connections of the webmail"


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
        webmail_key=_make_webmail_key(vault),
        webmail_mark=make_webmail_mark(vault),
        certificate_file=certificate.find_served_file(paths.tls),
        lmtp_socket=paths.lmtp_socket if "lmtp" in present_processes else paths.dovecot_lmtp,
        policy_socket=paths.policy_socket if "policy" in present_processes else None,
        edge_account=program.EDGE_ACCOUNT,
        has_ipv6=Path("/proc/net/if_inet6").exists(),
        trust_anchor=paths.trust_anchor if paths.trust_anchor.exists() else render.ROOT_KEY,
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


def make_webmail_mark(vault: Vault) -> str:
    """The host name with which our process `webmail` identifies itself to Dovecot."""
    return f"{_derive_name(vault, _WEBMAIL)}.{probe_mailbox.DOMAIN}"


def _make_webmail_key(vault: Vault) -> str:
    """The key with which the webmail encrypts passwords in its sessions: 32 characters, for AES-256."""
    return hashlib.sha256(vault.sign("sessions of the webmail", b"key").encode()).hexdigest()[:32]


def _hash_probe_password(vault: Vault) -> str:
    # A fast hash is enough for a password with 256 random bits, and is the same at each start.
    return hashlib.sha256(make_probe_password(vault).encode()).hexdigest()


def list_secrets(vault: Vault) -> list[str]:
    """The secrets in the daemons' files, which must not be shown."""
    names = [_derive_name(vault, purpose) for purpose in (_SENDERS_MARK, _DOUBLE_BOUNCE, _PROBE, _WEBMAIL)]
    return [make_logins_token(vault), *names, _hash_probe_password(vault), _make_webmail_key(vault)]


def _derive_name(vault: Vault, purpose: str) -> str:
    return hashlib.sha256(vault.sign(purpose, b"name").encode()).hexdigest()[:16]


def install(settings: Settings, config: DaemonConfig, revision: int, at: datetime) -> None:
    """At the start of an instance: use a generation with these settings (revision `revision`), checked by the daemons'
    own tools; the current one if its files are the same. After a Failure none is changed.

    Files that were edited by hand keep their edits, except those of a daemon whose check rejects them.
    """
    addresses = settings.server.addresses
    require_addresses(settings)
    if settings.filter.antivirus:
        program.require_installed(antivirus=True)
    if settings.webmail.enabled:
        program.require_installed(webmail=True)
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
    manifest = generations.GenerationManifest(n, at, revision, versions, generations.hash_files(rendered))
    edits = generations.read_files(paths, drift)
    draft = generations.stage(paths, manifest, rendered, edits)
    results = checks.check_all(draft, config, addresses)
    rejected = [check for check in results if not check.ok and check.service in edits]
    if rejected:
        for check in rejected:
            del edits[check.service]
        draft = generations.stage(paths, manifest, rendered, edits)
        results = checks.check_all(draft, config, addresses)
    checks.require_valid(results)
    for check in rejected:
        _log_rejected(paths, check, [each for each in drift if each.service == check.service])
    checks.compile_tables(draft)
    generations.publish(paths, n)
    for service in rendered:
        generations.switch(paths, service, n)
    generations.prune(paths)
    checks.compile_scripts(paths.dovecot_conf)
    checks.prepare_queue(paths.postfix_conf)


def _log_rejected(paths: InstancePaths, check: checks.Check, drift: Sequence[generations.Drift]) -> None:
    """Log which edits are not used; the service still uses the generation that has them."""
    kept = str(paths.conf(check.service).resolve())
    text = "edits by hand were not used: the check fails"
    log.error(text, files=_name_files(drift), output=check.output, kept_in=kept)


def _is_accepted(folder: Path, config: DaemonConfig, addresses: Sequence[str]) -> bool:
    return all(check.ok for check in checks.check_all(folder, config, addresses))


def _name_files(drift: Sequence[generations.Drift]) -> list[str]:
    return [f"{each.service}/{each.path}" for each in drift]


def require_addresses(settings: Settings) -> None:
    """Fail if no interface has one of the addresses: a daemon would exit, and report it only in its log."""
    wanted = [("server.addresses", address) for address in settings.server.addresses]
    wanted += [("edge.listen", address) for address in settings.edge.listen if settings.edge.enabled]
    local = _list_local_networks() if wanted else []
    for key, address in wanted:
        if not any(ipaddress.ip_address(address) in network for network in local):
            raise Failure(f"{key}: no interface of this machine has {address}.", permanent=True)


def _list_local_networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The addresses of this machine's interfaces, and networks that are local as a whole, such as 127.0.0.0/8."""
    networks = parse_local_networks(Path("/proc/net/fib_trie").read_text("ascii"))
    with contextlib.suppress(FileNotFoundError):  # without IPv6
        for line in Path("/proc/net/if_inet6").read_text("ascii").splitlines():
            networks.append(ipaddress.IPv6Network(int(line.split()[0], 16)))
    return networks


def parse_local_networks(routing_table: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The networks of Linux's `/proc/net/fib_trie` whose addresses are all of this machine."""
    leaves = re.findall(r"\|-- ([0-9.]+)\n((?: +/[0-9]+ .*\n)+)", routing_table)
    return [
        ipaddress.IPv4Network(f"{address}/{length}")
        for address, routes in leaves
        for length in re.findall(r"/([0-9]+) host LOCAL", routes)
    ]
