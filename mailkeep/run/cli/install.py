"""`mailkeep install`: Debian's packages for the full profile, and the system accounts.

No service starts during the installation (policy-rc.d), and the installed units are disabled. Debian's configuration is
not changed; each instance has its own.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure

MAIL_ACCOUNT = "mailkeep-mail"
"""The owner of mailboxes."""
ACCOUNT = "mailkeep"
"""The account of our own processes that need no root."""
WEBMAIL_ACCOUNT = "mailkeep-webmail"
"""The account of the webmail's PHP."""
EDGE_ACCOUNT = "mailkeep-edge"
"""The account of nginx. It alone may use the API's Unix socket, whose X-Forwarded-For is trusted."""
PACKAGES = (
    "ca-certificates", "dns-root-data", "dovecot-core", "dovecot-imapd", "dovecot-lmtpd", "dovecot-lucene",
    "dovecot-managesieved", "dovecot-pgsql", "dovecot-pop3d", "dovecot-sieve", "libnginx-mod-http-js", "nginx",
    "postfix", "postfix-pgsql", "redis-server", "restic", "rspamd", "unbound",
)  # fmt: skip
ANTIVIRUS_PACKAGES = ("clamav-daemon", "clamav-freshclam")
"""What `filter.antivirus` needs in addition."""
WEBMAIL_PACKAGES = ("php-fpm", "roundcube-core", "roundcube-pgsql", "roundcube-plugins")
"""What `webmail.enabled` needs in addition, besides nginx."""
ANTIVIRUS_COSTS = (
    "The scanner runs only with filter.antivirus = true. With ClamAV's own signatures expect more than 1 GB of memory, "
    "twice that for a minute when new ones are loaded, 500 MB of disk, and a download every few hours: "
    "docs/howto/scanning.md."
)
_ANTIVIRUS_UNITS = ("clamav-daemon", "clamav-daemon.socket", "clamav-freshclam")
_WEBMAIL_UNITS = ("php*-fpm.service", "roundcube-cleandb.timer", "roundcube-gc.timer")
_UNITS = ("postfix", "dovecot", "dovecot.socket", "redis-server", "rspamd")
# With these answers Debian's packages write no main.cf, and create no database.
_DEBCONF_ANSWERS = (
    "postfix postfix/main_mailer_type select No configuration\n"
    "roundcube-core roundcube/dbconfig-install boolean false\n"
)
_POLICY_SCRIPT = Path("/usr/sbin/policy-rc.d")
_MINUTE = 60
_ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


@dataclass(frozen=True, slots=True)
class Plan:
    """The packages and accounts to be installed."""

    packages: tuple[str, ...]
    accounts: tuple[str, ...]

    @property
    def steps(self) -> list[str]:
        """The steps as text."""
        steps = [f"install {' '.join(self.packages)}"] if self.packages else []
        return [*steps, *(f"create the account {name}" for name in self.accounts)]


def make_plan(*, antivirus: bool = False, webmail: bool = False) -> Plan:
    """The packages and accounts that this machine lacks; with those of the virus scanner if `antivirus`, and with those
    of the webmail if `webmail`.
    """
    wanted = (*PACKAGES, *(ANTIVIRUS_PACKAGES if antivirus else ()), *(WEBMAIL_PACKAGES if webmail else ()))
    accounts = (MAIL_ACCOUNT, ACCOUNT, EDGE_ACCOUNT, *((WEBMAIL_ACCOUNT,) if webmail else ()))
    packages = tuple(name for name in wanted if not _is_installed(name))
    return Plan(packages, tuple(name for name in accounts if not _has_account(name)))


def install(*, antivirus: bool = False, webmail: bool = False) -> Plan:
    """Install what is missing; returns the plan that was carried out. Failure without root or apt, or if apt fails."""
    plan = make_plan(antivirus=antivirus, webmail=webmail)
    if not plan.steps:
        return plan
    if os.geteuid() != 0:
        raise Failure(f"`mailkeep install` must run as root: {'; '.join(plan.steps)}.", permanent=True)
    if plan.packages:
        if not shutil.which("apt-get"):
            raise Failure("The full profile needs Debian's packages, and this machine has no apt-get.", permanent=True)
        with _prevent_service_starts():
            _run(["debconf-set-selections"], _DEBCONF_ANSWERS)
            _run(["apt-get", "update", "-qq"])
            _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *plan.packages])
        if Path("/run/systemd/system").is_dir():
            # What was there before may serve others: an Unbound may be the machine's resolver.
            added = tuple(name for name in ("nginx", "unbound") if name in plan.packages)
            added += _ANTIVIRUS_UNITS if "clamav-daemon" in plan.packages else ()
            added += _WEBMAIL_UNITS if "roundcube-core" in plan.packages else ()
            _run(["systemctl", "disable", "--quiet", "--now", *_UNITS, *added])
    for name in plan.accounts:
        _run(["useradd", "--system", "--user-group", "--home-dir", "/nonexistent", "--no-create-home",
              "--shell", "/usr/sbin/nologin", name])  # fmt: skip
    return plan


def require_installed(*, antivirus: bool = False, webmail: bool = False) -> None:
    """Fail permanently if something is missing."""
    if steps := make_plan(antivirus=antivirus, webmail=webmail).steps:
        what, option = ("The virus scanner", " --antivirus") if antivirus else ("The full profile", "")
        what, option = ("The webmail", " --webmail") if webmail else (what, option)
        raise Failure(f"{what} is not installed: run `mailkeep install{option}`, which will {'; '.join(steps)}.",
                      permanent=True)  # fmt: skip


def _is_installed(package: str) -> bool:
    command = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MINUTE)
    except FileNotFoundError:
        return False
    return result.stdout == "installed"


def _has_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@contextlib.contextmanager
def _prevent_service_starts() -> Generator[None]:
    """Let no service start while the block lasts (exit status 101 of policy-rc.d); an existing policy stays."""
    if _POLICY_SCRIPT.exists():
        yield
        return
    _POLICY_SCRIPT.write_text("#!/bin/sh\nexit 101\n")
    _POLICY_SCRIPT.chmod(0o755)
    try:
        yield
    finally:
        _POLICY_SCRIPT.unlink()


def _run(argv: Sequence[str], text: str = "") -> None:
    result = subprocess.run(
        argv,
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=15 * _MINUTE,
        env=_ENVIRONMENT,
    )
    if result.returncode != 0:
        output = " / ".join((result.stderr or result.stdout).strip().splitlines()[-3:])
        raise Failure(f"{' '.join(argv[:2])} failed with status {result.returncode}: {output}")
