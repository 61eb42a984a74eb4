"""Logins by IMAP with sign-in protection, compared with logins without it: the time until the login is answered.

The instance runs without the question for the other side: `auth_policy_check_before_auth = no` in its dovecot.conf, and
a reload. Each client logs in and disconnects, one at a time, TLS included; rounds alternate between the sides. App
passwords are the worst case: they are verified fastest.

Root only, after `mailkeep install`. `python -m bench.login_policy [LOGINS] [ROUNDS]`.
"""

from __future__ import annotations

import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.app_password_logins import log_in
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.harness import PASSWORD, Stack, trusting

_QUESTION = "auth_policy_check_before_auth = "


def main() -> None:
    logins, rounds = (int(text) for text in (*sys.argv[1:], *("60", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        harness.start(folder)
        stack = Stack(folder)
        mailbox = stack.make_mailbox(stack.make_domain("example.test"), "user")
        app_password = stack.do("POST", f"/mailboxes/{mailbox['id']}/app-passwords", {"name": "Bench"})["password"]
        passwords = {"own password": PASSWORD, "app password": app_password}
        times: dict[tuple[str, bool], list[float]] = {(kind, on): [] for kind in passwords for on in (True, False)}
        for _ in range(rounds):
            for on in (True, False):
                ask_before_logins(stack, on=on)
                for kind, password in passwords.items():
                    log_in_once(stack, mailbox["address"], password)
                    times[kind, on] += [log_in_once(stack, mailbox["address"], password) for _ in range(logins)]
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    for kind in passwords:
        protected, plain = (statistics.median(times[kind, on]) * 1000 for on in (True, False))
        print(f"{kind}: {protected:.1f} ms with sign-in protection, {plain:.1f} without, {protected / plain:.2f} ×")


def log_in_once(stack: Stack, address: str, password: str) -> float:
    """Seconds until a client has logged in."""
    began = time.perf_counter()
    log_in(stack, trusting(), address, password)
    return time.perf_counter() - began


def ask_before_logins(stack: Stack, *, on: bool) -> None:
    """Set whether Dovecot asks before it verifies a password, and reload it."""
    paths = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    file = paths.dovecot_conf / "dovecot.conf"
    text = file.read_text()
    old, new = (f"{_QUESTION}{'yes' if each else 'no'}" for each in (not on, on))
    file.write_text(text.replace(old, new))
    subprocess.run(["doveadm", "-c", str(file), "reload"], check=True, timeout=60)
    time.sleep(2)


if __name__ == "__main__":
    main()
