"""Verification of backups, and restores of a mailbox or a domain, in a running instance of the embedded profile."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from mailkeep.backup.restic import INSTALL_COMMAND, find_program
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.core.landlock import MIN_VERSION, find_version
from mailkeep.db import postgres
from tests.support import instance as instances
from tests.support.backup_server import FIRST, HASH, Server
from tests.support.backups import place_repository, run_restic
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(300)
if find_program() is None:
    pytest.skip(f"restic is not installed: {INSTALL_COMMAND}", allow_module_level=True)
if find_version() < MIN_VERSION:
    pytest.skip("the kernel has no Landlock", allow_module_level=True)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folder = new_directory("mailkeep-test-", 0o755, programs=True)
    running = Server(instances.start(folder / "data", FIRST, 90))
    running.log_in()
    place_repository(running.data_dir)
    yield running
    assert running.instance.stop() == 0, running.instance.log
    shutil.rmtree(folder)


def arrange(server: Server, mailbox_id: str) -> dict[str, str]:
    """Give a mailbox folders, flags, keywords, UIDs and a script, as Dovecot would. Returns its files."""
    maildir = server.maildir(mailbox_id)
    for path in list((maildir / "new").iterdir()):
        path.rename(maildir / "cur" / f"{path.name}:2,Sa")
    (maildir / "dovecot-keywords").write_text("0 important\n")
    (maildir / "dovecot-uidlist").write_text("3 V1700000000 N9 Gabc\n7 :1.x\n")
    (maildir / "subscriptions").write_text("V\t2\n\nProjects\n")
    for name in ("cur", "new", "tmp"):
        (maildir / ".Projects" / name).mkdir(parents=True)
    (maildir / ".Projects" / "maildirfolder").touch()
    message = maildir / ".Projects" / "cur" / "1.x,S=9:2,F"
    message.write_bytes(b"A: b\r\n\r\nc")
    os.utime(message, (1_700_000_000, 1_700_000_000))
    scripts = maildir.parent / "sieve"
    scripts.mkdir()
    (scripts / "main.sieve").write_text("keep;")
    (maildir.parent / "sieve.active").symlink_to("sieve/main.sieve")
    return files_of(maildir.parent)


def files_of(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): str(path.readlink()) if path.is_symlink() else path.read_text()
        for path in home.rglob("*")
        if not path.is_dir()
    }


def snapshot_of(server: Server) -> list[list[dict[str, Any]]]:
    tables = ("domains", "mailboxes", "aliases", "dkim_keys", "admins", "api_keys", "webhooks", "filter_entries")
    return [server.query(f"SELECT * FROM {table} ORDER BY id") for table in tables]


def test_a_backup_is_verified(server: Server):
    domain_id = server.add_domain("verified.test")
    server.add_mailbox(domain_id, "ann")
    server.deliver("ann@verified.test", "one", "two", "three")
    backup_id = server.back_up()
    result = server.perform("verify", backup_id)
    assert result["ok"], result
    assert result["messages"] >= 3
    assert result["rows"] > 0
    assert result["audit_entries"] > 0
    [row] = server.query("SELECT * FROM backups WHERE id = %(id)s", id=backup_id)
    assert row["verified_ok"]
    assert "messages are as they were" in row["verified_detail"]
    assert not (server.data_dir / "backup" / "scratch").exists()
    assert not list(server.data_dir.glob("*.scratch"))


def find_blobs(server: Server, snapshot: str, *folders: str) -> list[tuple[Path, int]]:
    """The pack and the offset of each folder on the way to one in the snapshot, and of the content of a file in it."""
    ids: list[str] = [json.loads(run_restic(server.data_dir, "cat", "snapshot", snapshot))["tree"]]
    for name in folders:
        nodes = json.loads(run_restic(server.data_dir, "cat", "blob", ids[-1]))["nodes"]
        ids += [node["subtree"] for node in nodes if node["name"] == name]
    nodes = json.loads(run_restic(server.data_dir, "cat", "blob", ids[-1]))["nodes"]
    ids.append(next(node["content"][0] for node in nodes if node.get("content")))
    found: dict[str, tuple[Path, int]] = {}
    for index in run_restic(server.data_dir, "list", "index").split():
        for pack in json.loads(run_restic(server.data_dir, "cat", "index", index))["packs"]:
            path = server.data_dir / "backup/repository/data" / pack["id"][:2] / pack["id"]
            found |= {blob["id"]: (path, blob["offset"]) for blob in pack["blobs"]}
    return [found[each] for each in ids]


def test_flipped_bits_are_found(server: Server):
    """In what the backup needs: the repository also has blobs that only other backups need."""
    backup_id = server.back_up()
    [row] = server.query("SELECT snapshot FROM backups WHERE id = %(id)s", id=backup_id)
    repository, stage = server.data_dir / "backup/repository", server.data_dir / "backup/stage"
    blobs = find_blobs(server, row["snapshot"], *stage.parts[1:])
    places = [blobs[0], blobs[-2], blobs[-1], (repository / "snapshots" / row["snapshot"], 0)]
    places += [(path, 0) for path in (repository / "index").iterdir()][:1]
    for path, offset in places:
        content = path.read_bytes()
        position = offset + 20  # behind the initialization vector
        path.chmod(0o600)
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        result = server.perform("verify", backup_id)
        path.write_bytes(content)
        assert not result["ok"], (path, offset, result)
        [row] = server.query("SELECT * FROM backups WHERE id = %(id)s", id=backup_id)
        assert row["verified_ok"] is False
    assert server.perform("verify", backup_id)["ok"], "as it was"


def test_a_purged_mailbox_returns_as_it_was(server: Server):
    domain_id = server.add_domain("purged.test")
    mailbox_id = server.add_mailbox(domain_id, "pia")
    server.deliver("pia@purged.test", "one", "two")
    before = arrange(server, mailbox_id)
    backup_id = server.back_up()
    server.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true", expected=200)
    assert not server.maildir(mailbox_id).exists()
    state = snapshot_of(server)

    dry = server.perform("restore", backup_id, scope="mailbox", mailbox_id=mailbox_id, dry_run=True)
    assert dry["mailboxes"] == {"existing": 0, "returned": 1, "skipped": 0}
    assert dry["messages"] == {"restored": 3, "present": 0, "newer": 0}
    assert snapshot_of(server) == state
    assert not server.maildir(mailbox_id).exists()

    done = server.perform("restore", backup_id, scope="mailbox", mailbox_id=mailbox_id)
    assert done["messages"] == dry["messages"]
    assert files_of(server.maildir(mailbox_id).parent) == before
    message = server.maildir(mailbox_id) / ".Projects/cur/1.x,S=9:2,F"
    assert message.stat().st_mtime == 1_700_000_000
    [row] = server.query("SELECT * FROM mailboxes WHERE id = %(id)s", id=UUID(mailbox_id))
    assert (row["address_key"], row["password_hash"], row["message_count"]) == ("pia@purged.test", "", 3)
    actions = server.query("SELECT action FROM audit_entries ORDER BY id DESC LIMIT 1")
    assert actions == [{"action": "mailbox.restore_from_backup"}]
    server.deliver("pia@purged.test", "three")
    assert len(list((server.maildir(mailbox_id) / "new").iterdir())) == 1


def test_newer_mail_stays(server: Server):
    domain_id = server.add_domain("newer.test")
    mailbox_id = server.add_mailbox(domain_id, "nina")
    server.deliver("nina@newer.test", "deleted", "kept")
    arrange(server, mailbox_id)
    backup_id = server.back_up()
    maildir = server.maildir(mailbox_id)
    (maildir / "dovecot-keywords").write_text("0 other\n")
    for path in list((maildir / "cur").iterdir()):
        if b"deleted" in path.read_bytes():
            path.unlink()
    server.deliver("nina@newer.test", "newer")
    kept = files_of(maildir.parent)

    wanted = {"scope": "mailbox", "mailbox_id": mailbox_id, "into": "in_place"}
    done = server.perform("restore", backup_id, **wanted)
    assert done["messages"] == {"restored": 1, "present": 2, "newer": 1}
    found = files_of(maildir.parent)
    assert {name: found.get(name) for name in kept if "keywords" not in name} == {
        name: text for name, text in kept.items() if "keywords" not in name
    }
    [added] = set(found) - set(kept)
    assert "deleted" in found[added]
    assert added.endswith(":2,Sb")  # the keyword has another letter here
    assert found["Maildir/dovecot-keywords"] == "0 other\n1 important\n"
    assert server.perform("restore", backup_id, **wanted)["messages"]["restored"] == 0

    into = {"scope": "mailbox", "mailbox_id": mailbox_id}
    done = server.perform("restore", backup_id, **into)
    assert done["messages"]["restored"] == 3
    [folder] = [path for path in maildir.iterdir() if path.name.startswith(".Restored") and "Projects" not in path.name]
    assert done["folder"] == folder.name[1:]
    assert len(list((folder / "cur").iterdir())) == 2
    assert len(list((maildir / f"{folder.name}.Projects" / "cur").iterdir())) == 1
    assert f"{folder.name[1:]}\tProjects\n" in (maildir / "subscriptions").read_text()
    assert server.perform("restore", backup_id, **into)["messages"]["restored"] == 0


def test_a_deleted_domain_returns_without_what_was_revoked(server: Server):
    domain_id = server.add_domain("gone.test")
    other_id = server.add_domain("stays.test")
    mailbox_id = server.add_mailbox(domain_id, "dora")
    alias = {"domain_id": domain_id, "source_local_part": "info", "destination": "dora@gone.test"}
    server.call("POST", "/aliases", alias, 201)
    server.deliver("dora@gone.test", "one")
    server.call("POST", "/webhooks", {"url": "https://hook.test/", "events": ["mail.sent"]}, 201)
    server.query(
        "INSERT INTO app_passwords (id, mailbox_id, name, digest, protocols, created_at)"
        " VALUES (%(id)s, %(mailbox)s, 'phone', sha256('x'), '{imap}', %(at)s)",
        id=uuid7(utc_now()),
        mailbox=UUID(mailbox_id),
        at=utc_now(),
    )
    backup_id = server.back_up()
    dkim = server.query("SELECT id, selector FROM dkim_keys WHERE domain_id = %(id)s ORDER BY id", id=UUID(domain_id))
    for found in server.call("GET", "/webhooks"):
        server.call("DELETE", f"/webhooks/{found['id']}", expected=200)
    server.query("UPDATE admins SET last_login_at = %(at)s", at=utc_now())
    for found in server.call("GET", f"/aliases?domain_id={domain_id}"):
        server.call("DELETE", f"/aliases/{found['id']}", expected=200)
    server.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true", expected=200)
    server.call("DELETE", f"/domains/{domain_id}", expected=200)

    failed = server.wait(server.begin("restore", backup_id, {"scope": "mailbox", "mailbox_id": mailbox_id}))
    assert failed["state"] == "failed"
    assert "Restore the domain first" in failed["error"]

    untouched = ("admins", "api_keys", "webhooks", "suspensions", "app_passwords", "settings_revisions")
    before = [server.query(f"SELECT * FROM {table}") for table in untouched]
    done = server.perform("restore", backup_id, scope="domain", domain_id=domain_id)
    assert [server.query(f"SELECT * FROM {table}") for table in untouched] == before
    assert done["objects"] == {"domains": 1, "dkim_keys": len(dkim), "aliases": 1, "mailboxes": 1}
    assert (
        server.query("SELECT id, selector FROM dkim_keys WHERE domain_id = %(id)s ORDER BY id", id=UUID(domain_id))
        == dkim
    )
    server.deliver("info@gone.test", "two")  # by the alias
    assert len(list((server.maildir(mailbox_id) / "new").iterdir())) == 2
    assert other_id in [each["id"] for each in server.call("GET", "/domains")]

    server.query("UPDATE mailboxes SET password_hash = 'now' WHERE id = %(id)s", id=UUID(mailbox_id))
    again = server.perform("restore", backup_id, scope="domain", domain_id=domain_id, into="in_place")
    assert again["objects"] == {}
    assert again["messages"] == {"restored": 0, "present": 1, "newer": 1}
    [row] = server.query("SELECT password_hash FROM mailboxes WHERE id = %(id)s", id=UUID(mailbox_id))
    assert row["password_hash"] == "now"


def test_an_address_that_somebody_else_has_now(server: Server):
    domain_id = server.add_domain("taken.test")
    mailbox_id = server.add_mailbox(domain_id, "tom")
    server.deliver("tom@taken.test", "one")
    backup_id = server.back_up()
    server.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true", expected=200)
    other_id = server.add_mailbox(domain_id, "tom")
    done = server.perform("restore", backup_id, scope="domain", domain_id=domain_id)
    assert done["mailboxes"] == {"existing": 0, "returned": 0, "skipped": 1}
    assert "belongs to another mailbox" in done["details"][0]["problem"]
    assert not server.maildir(mailbox_id).exists()
    assert server.call("GET", f"/mailboxes/{other_id}")["id"] == other_id


def test_an_address_taken_while_its_mail_is_written(server: Server):
    domain_id = server.add_domain("race.test")
    mailbox_id = server.add_mailbox(domain_id, "tom")
    server.deliver("tom@race.test", "one")
    backup_id = server.back_up()
    server.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true", expected=200)
    urls = postgres.running_urls(server.data_dir)
    assert urls
    with psycopg.connect(urls.owner, autocommit=True) as conn:  # the row of another mailbox would have the same effect
        conn.execute(
            "CREATE FUNCTION insert_nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
            "CREATE TRIGGER taken BEFORE INSERT ON mailboxes FOR EACH ROW EXECUTE FUNCTION insert_nothing()"
        )
        done = server.perform("restore", backup_id, scope="mailbox", mailbox_id=mailbox_id)
        conn.execute("DROP FUNCTION insert_nothing CASCADE")
    assert done["mailboxes"] == {"existing": 0, "returned": 0, "skipped": 1}
    assert done["messages"]["restored"] == 0
    rows = server.query("SELECT mailbox_id FROM mail_removals")
    assert rows == [{"mailbox_id": UUID(mailbox_id)}] or not server.maildir(mailbox_id).exists()


def test_what_returns_forms_no_loop_with_what_was_created_since(server: Server):
    one, two = server.add_domain("loop.test"), server.add_domain("back.test")
    mailbox_id = server.add_mailbox(one, "lou")
    for name, destination in (("info", "x@back.test"), ("kept", "lou@loop.test")):
        alias = {"domain_id": one, "source_local_part": name, "destination": destination}
        server.call("POST", "/aliases", alias, 201)
    forwarding = {"destinations": ["y@back.test"], "keep_copy": True}
    server.call("PATCH", f"/mailboxes/{mailbox_id}", {"forward": forwarding}, 200)
    backup_id = server.back_up()
    for found in server.call("GET", f"/aliases?domain_id={one}"):
        server.call("DELETE", f"/aliases/{found['id']}", expected=200)
    server.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true", expected=200)
    for name, destination in (("x", "info@loop.test"), ("y", "lou@loop.test")):
        alias = {"domain_id": two, "source_local_part": name, "destination": destination}
        server.call("POST", "/aliases", alias, 201)

    done = server.perform("restore", backup_id, scope="domain", domain_id=one)
    assert done["objects"] == {"aliases": 1, "mailboxes": 1}
    assert done["details"][0]["problem"] == "Its forwards now lead back to it, and were left out."
    assert [each["source_local_part"] for each in server.call("GET", f"/aliases?domain_id={one}")] == ["kept"]
    server.deliver("y@back.test", "one")
    assert len(list((server.maildir(mailbox_id) / "new").iterdir())) == 1


def test_a_mailbox_in_the_trash_returns_with_its_password(server: Server):
    domain_id = server.add_domain("trash.test")
    mailbox_id = server.add_mailbox(domain_id, "tess")
    server.deliver("tess@trash.test", "one")
    backup_id = server.back_up()
    server.call("DELETE", f"/mailboxes/{mailbox_id}", expected=200)
    done = server.perform("restore", backup_id, scope="mailbox", mailbox_id=mailbox_id, into="in_place")
    assert done["mailboxes"]["returned"] == 1
    assert done["messages"] == {"restored": 0, "present": 1, "newer": 0}
    [row] = server.query("SELECT * FROM mailboxes WHERE id = %(id)s", id=UUID(mailbox_id))
    assert (row["deleted_at"], row["password_hash"]) == (None, HASH)

    server.call("DELETE", f"/mailboxes/{mailbox_id}", expected=200)
    late = server.wait(server.begin("restore", server.back_up(), {"scope": "mailbox", "mailbox_id": mailbox_id}))
    assert "was in the trash when the backup was made" in late["error"]


@pytest.mark.parametrize(
    "argument",
    [
        {},
        {"scope": "all"},
        {"scope": "mailbox"},
        {"scope": "mailbox", "domain_id": "0198c0de-0000-7000-8000-000000000001"},
        {"scope": "domain", "domain_id": "../../etc"},
    ],
)
def test_wrong_arguments(server: Server, argument: dict[str, Any]):
    [row] = server.query("SELECT id FROM backups WHERE snapshot <> '' LIMIT 1")
    ended = server.wait(server.begin("restore", row["id"], argument))
    assert ended["state"] == "failed"
    assert "internal error" not in ended["error"]


def test_what_the_backup_does_not_have(server: Server):
    [row] = server.query("SELECT id FROM backups WHERE snapshot <> '' LIMIT 1")
    for scope in ("mailbox", "domain"):
        argument = {"scope": scope, f"{scope}_id": str(uuid7(utc_now()))}
        ended = server.wait(server.begin("restore", row["id"], argument))
        assert ended["error"] == f"The backup does not have this {scope}."
