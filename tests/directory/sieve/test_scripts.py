"""Scripts of a mailbox, with the real doveadm: names, versions, limits, refusals, audit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from mailkeep.features.directory.mailboxes.model import mail_folder
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.jobs.cancellation import cancel_all
from tests.directory.sieve.conftest import Scripts
from tests.support.client import ADMIN_IDS, EXAMPLE, Api

pytestmark = pytest.mark.usefixtures("unhurried")

FILE_NEWS = 'require "fileinto";\r\nif header :contains "list-id" "news" { fileinto "News"; }\r\n# ü'


async def test_scripts_are_written_read_activated_and_deleted(scripts: Scripts):
    assert await scripts.names() == {}
    written = await scripts.put("main", FILE_NEWS)
    assert written.data == {"name": "main", "active": False, "script": FILE_NEWS, "warnings": [
        {"line": 3, "message": "no newline (CRLF) at end of hash comment at end of file"}]}  # fmt: skip
    read = await scripts("GET", "main")
    assert read.data == {"name": "main", "active": False, "script": FILE_NEWS}
    assert read.headers["etag"] == written.headers["etag"]
    await scripts.put("other", "keep;")
    assert (await scripts.activate("main")).data == {"name": "main", "active": True}
    assert await scripts.names() == {"main": True, "other": False}
    in_use = await scripts("DELETE", "main")
    assert (in_use.status, in_use.json["error"]["details"]["reason"]) == (409, "in_use")
    assert (await scripts.put("main", "keep;")).data["active"] is True
    await scripts.activate("other")
    assert (await scripts("DELETE", "main")).data["name"] == "main"
    assert (await scripts.deactivate()).status == 200
    assert await scripts.names() == {"other": False}
    entries = await scripts.api.sql(
        "SELECT action, details ->> 'script' AS script, actor_label FROM audit_entries "
        "WHERE action LIKE 'sieve.%%' AND outcome = 'success' ORDER BY id"
    )
    assert [(each["action"], each["script"]) for each in entries] == [
        ("sieve.update", "main"), ("sieve.update", "other"), ("sieve.activate", "main"), ("sieve.update", "main"),
        ("sieve.activate", "other"), ("sieve.delete", "main"), ("sieve.deactivate", None),
    ]  # fmt: skip
    assert {each["actor_label"] for each in entries} == {"adam@example.test"}


async def test_an_invalid_script_is_refused_with_its_lines_and_changes_nothing(scripts: Scripts):
    await scripts.put("main", "keep;")
    refused = await scripts.put("main", 'require "fileinto";\nfoo;\nif header "x y" "z" { bar; }')
    error = refused.json["error"]
    assert (refused.status, error["code"]) == (400, "INVALID_FIELD")
    assert [(each["line"], each["message"].partition(" (")[0]) for each in error["details"]["errors"]] == [
        (2, "unknown command 'foo'"), (3, "unknown command 'bar'"),
    ]  # fmt: skip
    assert error["details"]["fields"][0]["field"] == "script"
    assert error["details"]["fields"][0]["reason"].startswith("line 2: unknown command 'foo'")
    assert (await scripts("GET", "main")).data["script"] == "keep;"
    for text in ("keep; # \0", "x" * (256 * 1024 + 1), "# " + "ü" * 140_000):
        assert (await scripts.put("main", text)).code == "INVALID_FIELD"
    for extension in ("vnd.dovecot.execute", "vnd.dovecot.pipe", "enotify", "editheader", "environment"):
        assert (await scripts.put("main", f'require "{extension}";')).code == "INVALID_FIELD", extension


NAMES = ("-a", "--", "100%u", "~ ünï", "x: line 7: y", "'; rm -rf *", "a" * 128)


async def test_names_are_never_options_or_paths(scripts: Scripts):
    for name in NAMES:
        assert (await scripts.put(name, f"keep; # {name}\n")).status == 200, name
    assert await scripts.names() == dict.fromkeys(NAMES, False)
    invalid = await scripts.put("x: line 7: y", "foo;")
    assert invalid.json["error"]["details"]["errors"][0]["line"] == 1
    assert (await scripts.activate("-a")).status == 200
    for name in NAMES:
        assert (await scripts("GET", name)).data["script"] == f"keep; # {name}\n"
        assert (await scripts("DELETE", name)).status == (409 if name == "-a" else 200)
    assert await scripts.names() == {"-a": True}


async def test_impossible_names_are_refused(scripts: Scripts):
    for name in ("../../x", "a" * 129, "ü" * 65, "..", "\u2028", "a\nb"):
        assert (await scripts.put(name, "keep;")).status in (400, 404)
        for answer in (await scripts("GET", name), await scripts("DELETE", name), await scripts.activate(name)):
            assert answer.status == 404
    assert await scripts.names() == {}


async def test_a_change_of_another_version_is_refused(scripts: Scripts):
    tag = (await scripts.put("main", "keep;")).headers["etag"]
    answers = await asyncio.gather(
        *(scripts.put("main", f"keep; # {number}\n", headers={"if-match": tag}) for number in range(3))
    )
    assert sorted(each.status for each in answers) == [200, 412, 412]
    refused = next(each for each in answers if each.status == 412)
    current = (await scripts("GET", "main")).headers["etag"]
    assert refused.json["error"]["details"] == {"expected": tag, "actual": current}
    assert (await scripts("DELETE", "main", headers={"if-match": tag})).status == 412
    assert (await scripts.put("new", "keep;", headers={"if-match": tag})).json["error"]["details"]["actual"] is None
    assert (await scripts("DELETE", "main", headers={"if-match": current})).status == 200


async def test_a_mailbox_has_at_most_32_scripts(scripts: Scripts):
    scripts.create_files({f"sieve/s{number}.sieve": b"keep;" for number in range(32)})
    refused = await scripts.put("one more", "keep;")
    assert (refused.status, refused.json["error"]["details"]["reason"]) == (409, "limit_reached")
    assert (await scripts.put("s0", "discard;")).status == 200


async def test_the_tasks_of_a_mailbox_take_turns_with_those_of_others(scripts: Scripts):
    """30 scripts that take long to compile kept `node` from other work for a minute."""
    open_tasks: list[int] = []

    async def watch() -> None:
        while True:
            sql = "SELECT count(*) AS n FROM node_tasks WHERE state IN ('waiting', 'running')"
            open_tasks.append((await scripts.api.sql(sql))[0]["n"])

    watching = asyncio.create_task(watch())
    answers = await asyncio.gather(*(scripts.put(f"name-{number}", "keep;") for number in range(19)))
    await cancel_all(watching)
    assert sorted(answer.status for answer in answers) == [200] * 17 + [429] * 2
    assert max(open_tasks) == 1
    assert (await scripts("GET")).status == 200


async def test_scripts_of_other_programs_can_be_read(scripts: Scripts):
    """Bytes that are not UTF-8, a script in the place of the link to the active one, and one that does not compile."""
    files = {"sieve/old.sieve": b"keep; # \xff\n", "sieve.active": b"discard;", "sieve/bad.sieve": b"keep;\0\nfoo;"}
    scripts.create_files(files)
    assert (await scripts("GET", "old")).data["script"] == "keep; # \ufffd\n"
    assert (await scripts("GET", "bad")).data["script"] == "keep;\ufffd\nfoo;"
    refused = (await scripts.activate("bad")).json["error"]["details"]
    assert (refused["reason"], refused["errors"][0]["line"]) == ("invalid_script", 1)
    assert (await scripts.activate("old")).status == 200
    assert (await scripts.names())["old"] is True


async def test_a_deleted_mailbox_has_no_scripts_and_gets_no_folder(scripts: Scripts):
    await scripts.api.sql("UPDATE mailboxes SET deleted_at = now() WHERE id = %(id)s", id=UUID(scripts.mailbox_id))
    assert (await scripts("GET")).status == 404
    task = {"kind": "put", "mailbox_id": scripts.mailbox_id, "name": "x", "text": "keep;", "expected": None}
    who = {"admin_id": None, "label": "x", "role": "admin", "actor": "session"}
    result = await node_tasks.run(scripts.api.app, "sieve.change", task | {"who": who})
    assert result["outcome"] == "mailbox_deleted"
    assert not mail_folder(scripts.api.app.data_dir, UUID(scripts.mailbox_id)).exists()


@pytest.mark.root
async def test_a_new_home_that_is_replaced_with_a_link_gives_no_file_away(
    scripts: Scripts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The mailboxes' account may write to the parent folder, and `node` is root."""
    target = tmp_path / "of-root"
    target.write_text("")
    create = Path.mkdir

    def create_and_replace(path: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        create(path, mode, parents, exist_ok)
        if path.parent.name == "mail":
            path.rmdir()
            path.symlink_to(target)

    monkeypatch.setattr(Path, "mkdir", create_and_replace)
    await scripts.put("main", "keep;")
    assert target.stat().st_uid == 0


async def test_an_inactive_mailbox_keeps_its_scripts(scripts: Scripts):
    await scripts.put("main", "keep;")
    await scripts.api.sue.patch(f"/mailboxes/{scripts.mailbox_id}", {"active": False})
    assert (await scripts.activate("main")).status == 200


async def test_only_the_rank_of_the_owner_changes_scripts(scripts: Scripts):
    """A redirect would show an administrator's mail to a lower rank."""
    await scripts.api.sql(
        "UPDATE admins SET email = %(address)s, email_key = %(address)s WHERE id = %(id)s",
        address=f"alice@{EXAMPLE}", id=ADMIN_IDS["sue"],
    )  # fmt: skip
    for answer in (
        await scripts.put("main", "keep;"),
        await scripts("DELETE", "main"),
        await scripts.activate("main"),
        await scripts.deactivate(),
    ):
        assert (answer.status, answer.json["error"]["details"]) == (403, {"reason": "higher_rank"})
    assert (await replace(scripts, client=scripts.api.sue).put("main", "keep;")).status == 200
    assert (await scripts("GET", "main")).status == 200


async def test_without_the_full_profile_or_the_node_agent(api: Api, monkeypatch: pytest.MonkeyPatch):
    path = f"/mailboxes/{await api.mailbox()}/sieve"
    answer = await api.adam.get(path)
    assert (answer.code, answer.json["error"]["details"]["reason"]) == ("UNAVAILABLE", "needs_full_profile")
    api.app.settings = replace(api.app.settings, mta=replace(api.app.settings.mta, mode="postfix"))
    monkeypatch.setattr(node_tasks.run, "__defaults__", (0.05,))
    answer = await api.adam.get(path)
    assert (answer.code, answer.json["error"]["details"]["reason"]) == ("UNAVAILABLE", "node_agent_away")
