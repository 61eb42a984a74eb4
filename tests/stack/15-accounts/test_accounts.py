"""Each process has its own account, and its files are private."""

import imaplib
import os
import pwd
import subprocess
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from psycopg.conninfo import make_conninfo

from mailkeep.db.instance import run_folder
from mailkeep.db.postgres_cluster import APP, AUDIT, DATABASE, DOVECOT, OWNER, POSTFIX
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.cli import install
from mailkeep.run.runtime import privileges
from tests.stack.harness import PASSWORD, Stack, eventually

OURS = ("api", "usage", "keys", "lmtp", "logs", "milter", "policy", "reinjection", "worker")
DAEMONS = ("postfix", "dovecot", "_rspamd", "postgres", install.MAIL_ACCOUNT, "nobody")


def places_of(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


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
def test_a_process_is_not_root_and_can_not_become_root(stack: Stack, name: str):
    account = pwd.getpwnam(install.ACCOUNT)
    status = status_of(pid_of(stack, name))
    assert set(status["Uid"].split()) == {str(account.pw_uid)}
    assert set(status["Gid"].split()) == {str(account.pw_gid)}
    sends = name in ("api", "lmtp", "reinjection", "worker")  # through Postfix's socket, as the group postdrop
    assert len(status["Groups"].split()) == sends
    assert status["NoNewPrivs"] == "1"
    # It keeps only read access, and only if the program is not readable otherwise.
    kept = 1 << 2 if privileges.find_unreachable(install.ACCOUNT) else 0
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == kept


def test_templates_are_rendered_by_an_account_without_any_rights(stack: Stack):
    domain = stack.make_domain("templates.test")
    body = {"name": "Hello", "domain_id": domain, "subject": "Hello {{ name }}", "text_body": "Hello {{ name }}."}
    variables = [{"name": "name", "example": "Ann"}]
    template = stack.do("POST", "/templates", body | {"variables": variables})["id"]
    assert stack.do("POST", f"/templates/{template}/render", {})["text_body"] == "Hello Ann."
    node = pid_of(stack, "node")
    threads = Path(f"/proc/{node}/task").glob("*/children")
    children = [int(pid) for thread in threads for pid in thread.read_text().split()]
    renderers = [pid for pid in children if b"render_worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert renderers
    for pid in renderers:
        status = status_of(pid)
        assert set(status["Uid"].split()) == set(status["Gid"].split()) == {str(pwd.getpwnam("nobody").pw_uid)}
        assert (status["Groups"], status["CapEff"], status["NoNewPrivs"], status["Seccomp"]) == ("", "0" * 16, "1", "2")
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
        files = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()]
        assert sorted(file.partition(":")[0] for file in files) == ["/dev/null"] * 3 + ["socket"]
    # Another account gets no process.
    connected = subprocess.run(
        ["/usr/bin/env", "python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])",
         str(places_of(stack).templates_socket)],
        user=pwd.getpwnam("nobody").pw_uid, group=pwd.getpwnam("nobody").pw_gid, extra_groups=[],
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert b"PermissionError" in connected.stderr


def test_only_the_supervisor_and_who_needs_daemons_tools_are_root(stack: Stack):
    ours = {path.stem for path in (places_of(stack).run / "pids").glob("*.pid")}
    root = {name for name in ours if status_of(pid_of(stack, name))["Uid"].split()[0] == "0"}
    # Masters of daemons are root to bind ports and to change to accounts of their own.
    assert root == {"backup", "dovecot", "nginx", "node", "postfix", "prefork", "rspamd"}


def test_secrets_and_mail_are_private(stack: Stack):
    domain = stack.make_domain("accounts.test")
    stack.make_mailbox(domain, "alice")
    stack.deliver("alice@accounts.test")
    assert stack.send("alice@accounts.test", "friend@remote.test").status == 200
    assert eventually(lambda: stack.mail_of("alice@accounts.test"))
    places = places_of(stack)
    content = eventually(lambda: list((places.data / "content").rglob("*.eml")), what="content")
    closed = [places.data / "secret", places.run / "logins-token", places.mail_log, content[0]]
    assert {(account, path) for account in DAEMONS for path in closed if reads(account, path)} == set()
    # Not even for processes that received the content.
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


def test_the_initial_password_file_is_removed_after_the_first_login(stack: Stack):
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


def psql(stack: Stack, account: str, role: str, statement: str) -> subprocess.CompletedProcess[str]:
    """The database's response to a local account that connects as a role."""
    found = pwd.getpwnam(account)
    who = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    url = make_conninfo(host=str(places_of(stack).run / "pg"), port=5432, dbname=DATABASE, user=role)
    (program,) = sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1:]
    command = [str(program), "--no-psqlrc", "-At", "-c", statement, url]
    return subprocess.run(command, **who, capture_output=True, text=True, check=False, cwd="/", timeout=60)


def test_no_process_of_ours_but_roots_may_seal_the_audit_log(stack: Stack):
    for account, role, enters in (
        ("root", AUDIT, True),
        (install.ACCOUNT, APP, True),
        (install.ACCOUNT, AUDIT, False),
        (install.ACCOUNT, OWNER, False),
        ("postfix", POSTFIX, True),
        ("postfix", DOVECOT, False),
        ("postfix", APP, False),
        ("dovecot", DOVECOT, True),
        ("dovecot", POSTFIX, False),
        ("dovecot", AUDIT, False),
    ):
        answer = psql(stack, account, role, "SELECT 1")
        assert (answer.returncode == 0) == enters, (account, role, answer.stderr)
    # It is sealed, by the node's agent.
    assert eventually(lambda: stack.do("GET", "/audit/verify")["checked"] > 0, what="a seal")
    lines = stack.content("/audit/export?format=ndjson").splitlines()
    assert b'"seals":[{' in lines[-1]


def test_postfix_reads_no_password_hash_and_dovecot_no_route(stack: Stack):
    for account, role, statement in (
        ("postfix", POSTFIX, "SELECT mta_login('alice', 'accounts.test', 'imap')"),
        ("postfix", POSTFIX, "SELECT password_hash FROM mailboxes"),
        ("dovecot", DOVECOT, "SELECT mta_route('alice', 'accounts.test')"),
        ("dovecot", DOVECOT, "SELECT password_hash FROM mailboxes"),
    ):
        assert "permission denied" in psql(stack, account, role, statement).stderr


def test_the_costliest_hash_verifies_and_a_costlier_one_is_harmless(stack: Stack):
    domain = stack.make_domain("expensive.test")
    hasher = PasswordHasher(time_cost=10, memory_cost=256 << 10, parallelism=1)
    made = {"argon": "{ARGON2ID}" + hasher.hash(PASSWORD)}
    for name, scheme, rounds in (("bcrypt", "BLF-CRYPT", "14"), ("sha", "SHA512-CRYPT", "1000000")):
        command = ["doveadm", "pw", "-s", scheme, "-r", rounds, "-p", PASSWORD]
        made[name] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    for name, password_hash in made.items():
        stack.make_mailbox(domain, name, password=None, password_hash=password_hash)
        stack.imap(f"{name}@expensive.test").logout()
    # Directly in the database: the API refuses it.
    dearer = made["argon"].replace("m=262144", "m=4194304")
    refused = stack.ask("POST", "/mailboxes", {"domain_id": domain, "local_part": "x", "password_hash": dearer})
    assert refused.status == 400
    statement = f"UPDATE mailboxes SET password_hash = '{dearer}' WHERE local_part = 'argon'"
    assert psql(stack, "root", OWNER, statement).stdout.strip() == "UPDATE 1"
    with pytest.raises(imaplib.IMAP4.error):
        stack.imap("argon@expensive.test")
    stack.imap("sha@expensive.test").logout()
