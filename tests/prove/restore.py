"""`make prove-restore`: a machine of the full profile is lost; as root. `mailkeep restore` and `mailkeep up` in an
empty folder, then mail, DKIM signatures, what was queued, and the audit chain continue. It prints the seconds of each
step. Before it, a restore is killed at each of its steps, and repeated. The database alone is restored to three random
times of a ledger of domains.

ARGS="--messages 200 --seconds 75": how many messages the machine had, and how long the ledger is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import psycopg

from mailkeep.core.clock import utc_now
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres_cluster import WEBMAIL
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import sieve_spool
from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.harness import PASSWORD, Stack, eventually
from tests.support.backups import back_up_now
from tests.support.instance import PROGRAM, ROOT
from tests.support.restoring import list_domains, restore
from tests.support.scratch import new_directory

Entry = tuple[datetime, datetime, str]
"""When a domain was asked for and acknowledged, and its name."""
DOMAIN = "lost.test"
ALICE, QUEUED = f"alice@{DOMAIN}", "defer+queued@remote.test"
BOSS, REDIRECTED, SUBMITTED = "boss@remote.test", "redirected@remote.test", "submitted@remote.test"
STEPS = (
    "restore.begun",
    "restore.tree_restored",
    "restore.files_placed",
    "restore.cluster_noted",
    "restore.placed",
    "restore.synced",
)
AT_STEPS = ("restore.wal_restored", "restore.wal_placed", "restore.recovered")
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


def furnish(stack: Stack, messages: int) -> str:
    """A domain with a mailbox and mail, and one message in the queue; the ID of the mailbox."""
    domain_id = stack.make_domain(DOMAIN)
    mailbox_id: str = stack.make_mailbox(domain_id, "alice")["id"]
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
    return mailbox_id


def leave_behind(stack: Stack, mailbox_id: str) -> None:
    """While Postfix is stopped: mail of the server itself, a redirect of Sieve and mail of a local program."""
    boss = {"email": BOSS, "password": PASSWORD, "role": "super_admin"}
    operation = stack.do("POST", "/orchestrator/services/postfix/stop")["operation_id"]
    eventually(lambda: stack.do("GET", f"/orchestrator/operations/{operation}")["state"] == "succeeded")
    stack.do("POST", "/admins", boss)
    stack.do("POST", "/admins", boss | {"email": "other@remote.test"})
    paths = InstancePaths(stack.data_dir, stack.data_dir)
    sieve_spool.write(
        paths.sieve_spool, utc_now(), mailbox_id, ALICE, [REDIRECTED],
        harness.letter(REDIRECTED, "Redirected", sender=ALICE).encode(),
    )  # fmt: skip
    owner = (paths.sieve_spool / "new").stat()
    for path in (paths.sieve_spool / "new").iterdir():
        os.chown(path, owner.st_uid, owner.st_gid)
    subprocess.run(
        ["/usr/sbin/sendmail", "-C", str(paths.postfix_conf), "-f", ALICE, SUBMITTED],
        input=harness.letter(SUBMITTED, "Submitted", sender=ALICE),
        text=True,
        check=True,
        timeout=30,
    )


def add_domains(stack: Stack, seconds: int) -> list[Entry]:
    """Add a domain each second, and wait until the write-ahead log about them is stored."""
    ledger: list[Entry] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked_at, name = utc_now(), f"d{len(ledger)}.test"
        stack.make_domain(name)
        ledger.append((asked_at, utc_now(), name))
        time.sleep(1)

    def stored() -> bool:
        found = stack.do("GET", "/backups/policy")["point_in_time"]["to"]
        return bool(found) and datetime.fromisoformat(found) > ledger[-1][1]

    eventually(stored, 150, "the write-ahead log")
    return ledger


def restore_times(repository: Path, key: Path, new: Path, ledger: list[Entry]) -> None:
    """The database at three random times; the first restore is killed at each step of the recovery."""
    for number in range(3):
        to = ledger[0][0] + random.random() * (ledger[-1][1] - ledger[0][0])
        target = new / f"at-{number}"
        for step in AT_STEPS if number == 0 else ():
            killed = (sys.executable, "-m", "tests.crash.killed_at", step)
            code, _, errors = restore(repository, target, key, "--at", to.isoformat(), program=killed)
            assert code == -9, f"{step}: {code} {errors}"
            print(f"killed at {step}: repeated", flush=True)
        began = time.monotonic()
        code, done, errors = restore(repository, target, key, "--at", to.isoformat())
        assert code == 0, f"{done} {errors}"
        seconds = time.monotonic() - began
        names = asyncio.run(list_domains(target)) - {DOMAIN}
        acknowledged = {name for _, at, name in ledger if at < to}
        asked = {name for at, _, name in ledger if at <= to}
        assert acknowledged <= names <= asked, f"{to}: {sorted(names)}, acknowledged {sorted(acknowledged)}"
        shutil.rmtree(target)
        print(
            f"at {to:%H:%M:%S.%f}: {len(names)} of {len(ledger)} domains, exactly what was acknowledged until then; "
            f"restored in {seconds:.1f} s",
            flush=True,
        )


def webmail_sessions(stack: Stack, *, adds: bool = False) -> int:
    """The number of sessions of the webmail."""
    sockets = run_folder(stack.data_dir) / "pg"
    with psycopg.connect(host=str(sockets), dbname=WEBMAIL, user=WEBMAIL, autocommit=True) as conn:
        if adds:
            conn.execute("CREATE TABLE IF NOT EXISTS session (sess_id text)")
            conn.execute("INSERT INTO session (sess_id) VALUES ('open')")
        row = conn.execute("SELECT count(*) FROM session").fetchone()
        return row[0] if row else 0


def lose(folder: Path, messages: int, ledger_seconds: int) -> tuple[Path, Path, float, list[Entry]]:
    """A machine with a backup, and its loss: what is left are the repository and the key."""
    repository = folder / "repository"
    old = folder / "old"
    old.mkdir(mode=0o755)
    try:
        harness.start(old, (), None, **SETTINGS, BACKUP__REPOSITORY=str(repository), BACKUP__WAL_ARCHIVE="true")
        stack = Stack(old)
        leave_behind(stack, furnish(stack, messages))
        began = time.monotonic()
        back_up_now(stack.data_dir)
        seconds = time.monotonic() - began
        ledger = add_domains(stack, ledger_seconds)
        setting = {"MAILKEEP_BACKUP__REPOSITORY": str(repository)}
        (folder / "key").write_text(json.loads(command(stack.data_dir, "backup", "key", "create", **setting))["key"])
    finally:
        harness.stop(old)
    shutil.rmtree(old)
    return repository, folder / "key", seconds, ledger


def about_admins(stack: Stack) -> list[bytes]:
    """The mail to a super_admin that waited when the backup was made."""
    return [each for each in stack.caught(BOSS) if b"Subject: Administrators of" in each]


def check(stack: Stack, messages: int) -> None:
    """Everything continues on the new machine."""
    assert len(stack.mail_of(ALICE)) == messages
    assert len(stack.mail_of(ALICE, "Kept")) == 1
    with stack.imap(ALICE) as client:
        client.select("INBOX", readonly=True)
        assert client.search(None, "FLAGGED")[1][0].split() == [b"1"], "flags are kept"
    (held,) = stack.do("GET", "/queue")
    assert (held["state"], held["recipients"][0]["address"]) == ("hold", QUEUED)
    waiting = stack.do("GET", "/queue/held")
    assert waiting["system_mails"] >= 1
    assert [waiting[name] for name in ("messages", "sieve_messages", "local_submissions")] == [1, 1, 1]
    stack.deliver(ALICE, "On the new machine")
    eventually(lambda: len(stack.mail_of(ALICE)) == messages + 1, what="new mail")
    assert stack.send(ALICE, "new@remote.test").status == 200
    (sent,) = stack.arrived("new@remote.test")
    assert f"d={DOMAIN}".encode() in sent, "signed by the same keys"
    with stack.login(ALICE, PASSWORD) as client:
        client.sendmail(ALICE, ["client@remote.test"], harness.letter("client@remote.test", sender=ALICE))
    stack.arrived("client@remote.test")
    assert [stack.caught(each) for each in (QUEUED, REDIRECTED, SUBMITTED)] == [[], [], []]
    assert about_admins(stack) == []
    done = json.loads(command(stack.data_dir, "queue", "act", "release", "--all"))
    assert (done["affected"], done["released"]["system_mails"]) == (1, waiting["system_mails"])
    eventually(lambda: about_admins(stack), what="the mail of the server itself")
    assert [len(stack.arrived(each)) for each in (REDIRECTED, SUBMITTED)] == [1, 1]
    assert len(about_admins(stack)) == 1

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
    parser.add_argument("--seconds", type=int, default=75)
    parser.add_argument("--no-kills", action="store_true")
    arguments = parser.parse_args()
    messages = arguments.messages
    harness.require_full_profile()
    folder = new_directory("mailkeep-prove-restore-", 0o755, programs=True)
    try:
        print(circumstances(f"a machine with {messages} messages is lost"), flush=True)
        repository, key, seconds, ledger = lose(folder, messages, arguments.seconds)
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
        restore_times(repository, key, new, ledger)
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
        print("mail with folders and flags, DKIM signatures, audit chain and backups continue")
        print("on hold until the release, then sent once: the queue, mail of the server, Sieve's redirect, local mail")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
