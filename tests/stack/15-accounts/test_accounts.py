"""Our own processes are nobody but themselves, and what they keep is theirs alone."""

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.places import Places
from mailkeep.run import install, privileges
from tests.stack.stand import Stack, eventually

OURS = ("api", "figures", "keys", "lmtp", "logs", "policy", "worker")
DAEMONS = ("postfix", "dovecot", "_rspamd", "postgres", install.MAIL_ACCOUNT, "nobody")


def places_of(stack: Stack) -> Places:
    return Places(stack.data_dir, run_folder(stack.data_dir))


def pid_of(stack: Stack, name: str) -> int:
    return int((places_of(stack).run / "pids" / f"{name}.pid").read_text().split()[0])


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def reads(account: str, path: Path) -> bool:
    found = pwd.getpwnam(account)
    who = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    tried = subprocess.run(["/bin/cat", str(path)], **who, capture_output=True, check=False)
    return tried.returncode == 0


@pytest.mark.parametrize("name", OURS)
def test_a_process_of_ours_is_no_root_and_becomes_none(stack: Stack, name: str):
    account = pwd.getpwnam(install.ACCOUNT)
    told = status_of(pid_of(stack, name))
    assert set(told["Uid"].split()) == {str(account.pw_uid)}
    assert set(told["Gid"].split()) == {str(account.pw_gid)}
    assert len(told["Groups"].split()) == (1 if name == "api" else 0)
    assert told["NoNewPrivs"] == "1"
    # Reading is all that is kept, and only where the program could not be read otherwise.
    kept = 1 << 2 if privileges.must_read_all(install.ACCOUNT) else 0
    assert int(told["CapEff"], 16) == int(told["CapPrm"], 16) == kept


def test_only_the_supervisor_and_who_needs_daemons_tools_are_root(stack: Stack):
    ours = {path.stem for path in (places_of(stack).run / "pids").glob("*.pid")}
    root = {name for name in ours if status_of(pid_of(stack, name))["Uid"].split()[0] == "0"}
    # Masters of daemons are root to bind ports and to change to accounts of their own.
    assert root == {"dovecot", "node", "nursery", "postfix", "rspamd"}


def test_secrets_and_mail_are_nobody_elses(stack: Stack):
    domain = stack.make_domain("accounts.test")
    stack.make_mailbox(domain, "alice")
    stack.deliver("alice@accounts.test")
    assert stack.send("alice@accounts.test", "friend@remote.test").status == 200
    assert eventually(lambda: stack.mail_of("alice@accounts.test"))
    places = places_of(stack)
    content = eventually(lambda: list((places.data / "content").rglob("*.eml")), what="content")
    closed = [places.data / "secret", places.run / "keys-token", places.mail_log, content[0]]
    assert {(account, path) for account in DAEMONS for path in closed if reads(account, path)} == set()
    # Not even to those who were handed what is in it.
    assert not reads(install.ACCOUNT, places.data / "secret")
    assert reads(install.ACCOUNT, places.mail_log)
    for path in (places.lmtp_socket, places.policy_socket, places.run / "ready"):
        assert path.stat().st_uid == pwd.getpwnam(install.ACCOUNT).pw_uid
    for socket in (places.lmtp_socket, places.policy_socket):
        assert (socket.stat().st_mode & 0o777, socket.stat().st_gid) == (0o660, pwd.getpwnam("postfix").pw_gid)


def test_what_only_root_can_remove_is_removed(stack: Stack):
    domain = stack.make_domain("removed.test")
    mailbox = stack.make_mailbox(domain, "alice")
    stack.deliver("alice@removed.test")
    assert eventually(lambda: stack.mail_of("alice@removed.test"))
    folder = places_of(stack).mail_root / mailbox["id"]
    assert folder.exists()
    stack.do("DELETE", f"/mailboxes/{mailbox['id']}?purge=true")
    assert eventually(lambda: not folder.exists(), 90, "the end of its mail")


def test_a_password_that_was_printed_once_is_gone_after_the_first_login(stack: Stack):
    path = stack.data_dir / "initial-admin"
    account = pwd.getpwnam(install.ACCOUNT)
    path.write_text("a password\n")
    os.chown(path, account.pw_uid, account.pw_gid)
    path.chmod(0o600)
    assert Stack(stack.folder).cookie
    assert eventually(lambda: not path.exists(), what="the end of the file")


def test_the_audit_log_is_sealed_and_its_head_noted_where_only_root_writes(stack: Stack):
    head = stack.data_dir / "audit-head"
    assert eventually(head.exists, 90, "the note of the newest seal")
    assert head.stat().st_uid == 0
    eventually(lambda: stack.do("GET", "/audit/verify")["unsealed"] == 0, 90, "a seal of everything")
    assert stack.do("GET", "/audit/verify")["ok"]
