"""`make prove-restore`: a machine of the full profile is lost; as root. `mailkeep restore` and `mailkeep up` in an
empty folder, then mail, DKIM signatures, what was queued, and the audit chain continue. It prints the seconds of each
step. Before it, a restore is killed at each of its steps, and repeated.

ARGS="--messages 200": how many messages the machine had.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from mailkeep.db.instance import run_folder
from mailkeep.db.postgres_cluster import WEBMAIL
from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.harness import PASSWORD, Stack, eventually
from tests.support.backups import back_up_now
from tests.support.instance import PROGRAM, ROOT
from tests.support.restoring import restore
from tests.support.scratch import new_directory

DOMAIN = "lost.test"
ALICE, QUEUED = f"alice@{DOMAIN}", "defer+queued@remote.test"
STEPS = (
    "restore.begun",
    "restore.tree_restored",
    "restore.files_placed",
    "restore.cluster_noted",
    "restore.placed",
    "restore.synced",
)
# Deferred mail stays in the queue until it is flushed.
SETTINGS = {
    "OUTBOUND__GIVE_UP_HOURS": "24",
    "OUTBOUND__FIRST_RETRY_SECONDS": "900",
    "OUTBOUND__LONGEST_RETRY_SECONDS": "900",
    "EDGE__ENABLED": "false",
}


def command(data_dir: Path, *words: str, **environ: str) -> str:
    done = subprocess.run(
        [*PROGRAM, *words, "--data-dir", str(data_dir), "--json"],
        cwd=ROOT,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{words}: {done.stdout} {done.stderr}"
    return done.stdout


def furnish(stack: Stack, messages: int) -> None:
    """A domain with a mailbox and mail, one message in the queue and one for later."""
    domain_id = stack.make_domain(DOMAIN)
    stack.make_mailbox(domain_id, "alice")
    assert webmail_sessions(stack, adds=True) == 1
    for number in range(messages):
        stack.deliver(ALICE, f"Number {number}")
    with stack.imap(ALICE) as client:
        client.create("Kept")
        client.select("INBOX")
        client.copy("1", "Kept")
        client.store("1", "+FLAGS", "(\\Flagged)")
    assert stack.send(ALICE, QUEUED, subject="queued").status == 200
    eventually(lambda: stack.do("GET", "/queue?state=deferred"), what="the deferral")


def webmail_sessions(stack: Stack, *, adds: bool = False) -> int:
    """The number of sessions of the webmail."""
    sockets = run_folder(stack.data_dir) / "pg"
    with psycopg.connect(host=str(sockets), dbname=WEBMAIL, user=WEBMAIL, autocommit=True) as conn:
        if adds:
            conn.execute("CREATE TABLE IF NOT EXISTS session (sess_id text)")
            conn.execute("INSERT INTO session (sess_id) VALUES ('open')")
        row = conn.execute("SELECT count(*) FROM session").fetchone()
        return row[0] if row else 0


def lose(folder: Path, messages: int) -> tuple[Path, Path, float]:
    """A machine with a backup, and its loss: what is left are the repository and the key."""
    repository = folder / "repository"
    old = folder / "old"
    old.mkdir(mode=0o755)
    try:
        harness.start(old, (), None, **SETTINGS, BACKUP__REPOSITORY=str(repository))
        stack = Stack(old)
        furnish(stack, messages)
        began = time.monotonic()
        back_up_now(stack.data_dir)
        seconds = time.monotonic() - began
        stack.deliver(ALICE, "After the backup")
        setting = {"MAILKEEP_BACKUP__REPOSITORY": str(repository)}
        (folder / "key").write_text(json.loads(command(stack.data_dir, "backup", "key", "create", **setting))["key"])
    finally:
        harness.stop(old)
    shutil.rmtree(old)
    return repository, folder / "key", seconds


def check(stack: Stack, messages: int) -> None:
    """Everything continues on the new machine."""
    assert len(stack.mail_of(ALICE)) == messages
    assert len(stack.mail_of(ALICE, "Kept")) == 1
    with stack.imap(ALICE) as client:
        client.select("INBOX", readonly=True)
        assert client.search(None, "FLAGGED")[1][0].split() == [b"1"], "flags are kept"
    (held,) = stack.do("GET", "/queue")
    assert (held["state"], held["recipients"][0]["address"]) == ("hold", QUEUED)
    assert stack.do("GET", "/queue/held")["messages"] == 1
    stack.deliver(ALICE, "On the new machine")
    eventually(lambda: len(stack.mail_of(ALICE)) == messages + 1, what="new mail")
    assert stack.send(ALICE, "new@remote.test").status == 200
    (sent,) = stack.arrived("new@remote.test")
    assert f"d={DOMAIN}".encode() in sent, "signed by the same keys"
    with stack.login(ALICE, PASSWORD) as client:
        client.sendmail(ALICE, ["client@remote.test"], harness.letter("client@remote.test", sender=ALICE))
    stack.arrived("client@remote.test")
    assert stack.caught(QUEUED) == []
    assert json.loads(command(stack.data_dir, "queue", "act", "release", "--all"))["affected"] == 1

    def flushed() -> bool:
        command(stack.data_dir, "queue", "act", "flush", "--all")
        return len(stack.caught(QUEUED)) == 1

    eventually(flushed, what="the released message")
    assert webmail_sessions(stack) == 0
    assert "backup.restore_all" in [each["action"] for each in stack.do("GET", "/audit?action=backup.restore_all")]
    command(stack.data_dir, "audit", "verify")
    back_up_now(stack.data_dir)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--no-kills", action="store_true")
    arguments = parser.parse_args()
    messages = arguments.messages
    harness.require_full_profile()
    folder = new_directory("mailkeep-prove-restore-", 0o755, programs=True)
    try:
        print(circumstances(f"a machine with {messages} messages is lost"), flush=True)
        repository, key, seconds = lose(folder, messages)
        print(f"backup: {seconds:.1f} s", flush=True)
        new = folder / "new"
        new.mkdir(mode=0o755)
        for step in () if arguments.no_kills else STEPS:
            killed = (sys.executable, "-m", "tests.crash.killed_at", step)
            code, _, errors = restore(repository, new / "data", key, program=killed)
            assert code == -9, f"{step}: {code} {errors}"
            refused = subprocess.run(
                [*PROGRAM, "up", "--profile", "full", "--data-dir", str(new / "data")],
                cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            assert "is not complete" in refused.stderr, f"{step}: {refused.stderr}"
            print(f"killed at {step}: nothing starts there", flush=True)
        began = time.monotonic()
        code, done, errors = restore(repository, new / "data", key)
        assert code == 0, errors
        assert (done["messages_on_hold"], done["warning"]) == (1, None)
        restored = time.monotonic() - began
        try:
            harness.start(new, (), None, **SETTINGS, BACKUP__REPOSITORY=str(repository))
            started = time.monotonic() - began
            check(Stack(new), messages)
        except BaseException:
            print((new / "up.log").read_text()[-5000:])
            raise
        finally:
            harness.stop(new)
        print(f"restored after {restored:.1f} s, started after {started:.1f} s ({started / 60:.1f} minutes)")
        print("mail with folders and flags, DKIM signatures, the held message, audit chain and backups continue")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
