"""Installs the daemons' configuration: rendered beside the old one, checked by the daemon's own tool, then swapped."""

from __future__ import annotations

import contextlib
import grp
import ipaddress
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.db.instance import write_atomically
from mailkeep.mail.daemons import render
from mailkeep.mail.daemons.render import DaemonConfig, Files
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime.child import ENVIRONMENT
from mailkeep.settings import Settings

RSPAMD = "/etc/rspamd/rspamd.conf"
_TIMEOUT = 60


def install(settings: Settings, config: DaemonConfig) -> None:
    """Render, check and install the configuration of every daemon. After a Failure none is changed."""
    _require_addresses(settings.server.addresses)
    paths = config.paths
    configurations = (
        (paths.redis_conf, render.render_redis(config), "_rspamd"),
        (paths.rspamd_conf, render.render_rspamd(settings, config), "_rspamd"),
        (paths.dovecot_conf, render.render_dovecot(settings, config), config.mail_account),
        (paths.postfix_conf, render.render_postfix(settings, config), "postfix"),
    )
    for folder, files, group in configurations:
        _write_files(_draft(folder), files, group)
    _check_rspamd(config)
    _check("dovecot", ["doveconf", "-n", "-c", str(_draft(paths.dovecot_conf) / "dovecot.conf")])
    _compile(_draft(paths.dovecot_conf), config)
    _check("postfix", postfix_queue.generation_command(_draft(paths.postfix_conf)))
    # This also creates the queue's folders, with the right owners.
    _check("postfix", ["postfix", "-c", str(_draft(paths.postfix_conf)), "check"])
    for folder, _, _ in configurations:
        _swap(folder)
    # Again in the final folder: with another path of the source, Dovecot would compile it at every delivery.
    _compile(paths.dovecot_conf, config)


def _compile(folder: Path, config: DaemonConfig) -> None:
    """Compile the global Sieve scripts, readable for the mailboxes' account."""
    for script in render.SIEVE:
        compiled = (folder / script).with_suffix(".svbin")
        compiled.unlink(missing_ok=True)
        _check("sievec", ["sievec", "-c", str(folder / "dovecot.conf"), str(folder / script)])
        os.chown(compiled, -1, grp.getgrnam(config.mail_account).gr_gid)


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


def _require_addresses(addresses: Sequence[str]) -> None:
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


def _check_rspamd(config: DaemonConfig) -> None:
    variables = rspamd_variables(config, _draft(config.paths.rspamd_conf))
    _check("rspamd", ["rspamadm", *variables, "configtest", "-c", RSPAMD])


def _write_files(folder: Path, files: Files, group: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o750, parents=True)
    gid = grp.getgrnam(group).gr_gid
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(mode=0o750, exist_ok=True)
        write_atomically(path, text, 0o750 if text.startswith("#!") else 0o640)
        os.chown(path, -1, gid)
        os.chown(path.parent, -1, gid)
    os.chown(folder, -1, gid)


def _check(name: str, argv: Sequence[str]) -> None:
    result = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT, cwd="/", env=ENVIRONMENT
    )
    if result.returncode != 0:
        output = " / ".join((result.stderr + result.stdout).strip().splitlines()[-4:]) or f"status {result.returncode}"
        raise Failure(f"The check of the generated {name} configuration failed: {output}", permanent=True)


def _draft(folder: Path) -> Path:
    return folder.with_name(folder.name + ".new")


def _swap(folder: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    _draft(folder).rename(folder)
    shutil.rmtree(old, ignore_errors=True)
