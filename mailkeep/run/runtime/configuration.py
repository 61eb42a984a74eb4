"""The daemons' configuration put in place: rendered beside the old one, checked by the daemon itself, swapped in."""

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
_SECONDS = 60


def install(settings: Settings, facts: DaemonConfig) -> None:
    """Render, check and install the configuration of every daemon; Failure, with the checker's words, changes none."""
    _require_addresses(settings.server.addresses)
    paths = facts.paths
    parts = (
        (paths.redis_conf, render.render_redis(facts), "_rspamd"),
        (paths.rspamd_conf, render.render_rspamd(settings, facts), "_rspamd"),
        (paths.dovecot_conf, render.render_dovecot(settings, facts), facts.mail_account),
        (paths.postfix_conf, render.render_postfix(settings, facts), "postfix"),
    )
    for folder, files, group in parts:
        _write(_draft(folder), files, group)
    _check_rspamd(facts)
    _check("dovecot", ["doveconf", "-n", "-c", str(_draft(paths.dovecot_conf) / "dovecot.conf")])
    _compile(_draft(paths.dovecot_conf), facts)
    _check("postfix", postfix_queue.generation_command(_draft(paths.postfix_conf)))
    # Makes the queue's folders too, with the owners that Postfix wants.
    _check("postfix", ["postfix", "-c", str(_draft(paths.postfix_conf)), "check"])
    for folder, _, _ in parts:
        _swap(folder)
    # Once more where it lies now: the compiled form names its source, and would be made anew at every delivery.
    _compile(paths.dovecot_conf, facts)


def _compile(folder: Path, facts: DaemonConfig) -> None:
    """The Sieve scripts beside everybody's own, which deliveries and moves read as the mailboxes' account."""
    for script in render.SIEVE:
        compiled = (folder / script).with_suffix(".svbin")
        compiled.unlink(missing_ok=True)
        _check("sievec", ["sievec", "-c", str(folder / "dovecot.conf"), str(folder / script)])
        os.chown(compiled, -1, grp.getgrnam(facts.mail_account).gr_gid)


def rspamd_variables(facts: DaemonConfig, confdir: Path) -> list[str]:
    """What makes Debian's configuration ours: where it finds what lies over it, and where everything else goes."""
    paths = facts.paths
    variables = {
        "LOCAL_CONFDIR": confdir,
        "DBDIR": paths.rspamd_data,
        "RUNDIR": paths.filter_sockets,
        "LOGDIR": paths.log,
    }
    return [f"--var={name}={value}" for name, value in variables.items()]


def _require_addresses(asked: Sequence[str]) -> None:
    """Postfix would end over an address that no interface has, and say so to its log alone."""
    present = _local_addresses() if asked else set[str]()
    for address in asked:
        if str(ipaddress.ip_address(address)) not in present:
            raise Failure(f"server.addresses: {address} is no address of this machine.", permanent=True)


def _local_addresses() -> set[str]:
    """The addresses of this machine's interfaces, as the kernel tells them."""
    trie = Path("/proc/net/fib_trie").read_text("ascii")
    found = set(re.findall(r"\|-- ([0-9.]+)\n +/32 host LOCAL", trie))
    with contextlib.suppress(FileNotFoundError):  # no IPv6 here
        for line in Path("/proc/net/if_inet6").read_text("ascii").splitlines():
            found.add(str(ipaddress.IPv6Address(int(line.split()[0], 16))))
    return found


def _check_rspamd(facts: DaemonConfig) -> None:
    variables = rspamd_variables(facts, _draft(facts.paths.rspamd_conf))
    _check("rspamd", ["rspamadm", *variables, "configtest", "-c", RSPAMD])


def _write(folder: Path, files: Files, group: str) -> None:
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


def _check(what: str, argv: Sequence[str]) -> None:
    done = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS, cwd="/", env=ENVIRONMENT
    )
    if done.returncode != 0:
        said = " / ".join((done.stderr + done.stdout).strip().splitlines()[-4:]) or f"status {done.returncode}"
        raise Failure(f"The configuration made for {what} is refused by its own checker: {said}", permanent=True)


def _draft(folder: Path) -> Path:
    return folder.with_name(folder.name + ".new")


def _swap(folder: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    _draft(folder).rename(folder)
    shutil.rmtree(old, ignore_errors=True)
