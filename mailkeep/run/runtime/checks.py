"""Checks the daemons' configuration with their own tools, in a sandbox, and compiles what they need compiled.

A check reads and writes nothing but its copy of the files (`core/sandbox.py`): lines of an administrator may run
programs or Lua even in a checker. What Postfix and Dovecot need compiled is compiled afterwards, from files that were
checked.
"""

from __future__ import annotations

import grp
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core import sandbox
from mailkeep.core.errors import Failure
from mailkeep.mail.daemons import render
from mailkeep.mail.daemons.render import DaemonConfig
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.cli import install as program
from mailkeep.run.runtime.child import ENVIRONMENT

RSPAMD = "/etc/rspamd/rspamd.conf"
_CHECKED = ("rspamd", "dovecot", "postfix")
_SECONDS = 60
_WITHOUT_NETWORK = ("cannot parse resolv.conf", "address resolution for ", "cannot read servers definition")
"""What Rspamd says because the sandbox has no network."""
_WITHOUT_CACHE = "cannot open hyperscan cache file"
"""What Rspamd says, after its name, because the sandbox's account can't read compiled patterns: it compiles its own."""
_POSTLOG = "postlog/unix-dgram"


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


def check_all(generation: Path, config: DaemonConfig, addresses: Sequence[str]) -> list[Check]:
    """Check the configuration of all daemons in the folder of a generation, as if it were in use; `addresses` are those
    of the daemons. Blocks for about two seconds.
    """
    nginx = [check_nginx(generation / "nginx")] if (generation / "nginx" / "nginx.conf").exists() else []
    jobs = [_make_job(service, generation / service, config) for service in _CHECKED]
    try:
        results = sandbox.run(jobs, _SECONDS, addresses)
    except sandbox.SandboxError as error:
        return [Check(service, False, str(error)) for service in _CHECKED]
    return [
        judge(service, result[-1].status, result[-1].output) for service, result in zip(_CHECKED, results, strict=True)
    ] + nginx


def _make_job(service: str, folder: Path, config: DaemonConfig) -> sandbox.Job:
    paths = config.paths
    files = sandbox.Files(
        copies={paths.conf(service): folder},
        hidden=[paths.data, paths.run],
        writable=[paths.log, paths.filter_sockets, paths.rspamd_data, paths.postfix_queue],
    )
    return sandbox.Job(_list_commands(service, config), files)


def _list_commands(service: str, config: DaemonConfig) -> list[Sequence[str]]:
    conf = config.paths.conf(service)
    match service:
        case "rspamd":
            return [["rspamadm", *rspamd_variables(config), "configtest", "-c", RSPAMD]]
        case "dovecot":
            compile_all = [_sieve_command(conf, script) for script in render.SIEVE]
            return [["doveconf", "-n", "-c", str(conf / "dovecot.conf")], *compile_all]
        case _:
            # postconf parses main.cf and master.cf; postmap reads the parameters that all programs of Postfix read.
            # Without the service `postlog` nothing would be logged.
            listing = ["postconf", "-c", str(conf)]
            postlog = ["sh", "-c", 'postconf -c "$0" -M "$1" | grep .', str(conf), _POSTLOG]
            return [[*listing, "-n"], [*listing, "-M"], postlog, postfix_queue.generation_command(conf)]


def check_nginx(conf: Path) -> Check:
    """Check nginx's configuration in a folder. Not in the sandbox: nginx reads the private keys, and there are no lines
    of an administrator but edits by root.
    """
    return _run("nginx", ["nginx", "-t", "-q", "-c", str(conf / "nginx.conf")])


def prepare_queue(conf: Path) -> None:
    """Create the folders of Postfix's queue with the right owners. Failure. Only with files that were checked: this
    runs as root.
    """
    require_valid([_run("postfix", ["postfix", "-c", str(conf), "check"])])


def compile_tables(generation: Path) -> None:
    """Compile Postfix's tables in the folder of a generation that was checked. Failure."""
    require_valid([_run("postfix", postfix_queue.generation_command(generation / "postfix"))])


def compile_scripts(conf: Path) -> None:
    """Compile the global Sieve scripts, readable for the mailboxes' account. Failure.

    `conf` is the folder that Dovecot uses: with another path of the source, it would compile them at every delivery.
    """
    for script in render.SIEVE:
        compiled = (conf / script).with_suffix(".svbin")
        compiled.unlink(missing_ok=True)
        require_valid([_run("dovecot", _sieve_command(conf, script))])
        os.chown(compiled, -1, grp.getgrnam(program.MAIL_ACCOUNT).gr_gid)


def _sieve_command(conf: Path, script: str) -> Sequence[str]:
    return ["sievec", "-c", str(conf / "dovecot.conf"), str(conf / script)]


def rspamd_variables(config: DaemonConfig) -> list[str]:
    """Options that make Debian's configuration use the instance's folders."""
    paths = config.paths
    variables = {
        "LOCAL_CONFDIR": paths.rspamd_conf,
        "DBDIR": paths.rspamd_data,
        "RUNDIR": paths.filter_sockets,
        "LOGDIR": paths.log,
    }
    return [f"--var={name}={value}" for name, value in variables.items()]


def _run(service: str, argv: Sequence[str]) -> Check:
    try:
        result = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
            cwd="/",
            env=ENVIRONMENT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(service, False, str(error))
    return judge(service, result.returncode, result.stderr + result.stdout)


def judge(service: str, status: int, output: str) -> Check:
    """The result of a check that ended with this status, without what is no fault but due to the sandbox."""
    lines = [
        line
        for line in output.strip().splitlines()
        if not line.startswith(_WITHOUT_NETWORK) and _WITHOUT_CACHE not in line
    ]
    text = " / ".join(lines[-4:])
    return Check(service, status == 0, text if status == 0 else text or f"status {status}")
