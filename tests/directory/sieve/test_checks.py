"""Checks and tests of scripts with Pigeonhole's programs: results, hostile scripts, availability."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core.isolation import IsolationLimits
from mailkeep.mail.sieve import checker
from tests.directory.sieve.conftest import PIGEONHOLE
from tests.directory.sieve.fuzz import fuzz
from tests.directory.sieve.hostile import MESSAGE, SCRIPTS
from tests.plugins.post import Post
from tests.support.client import EXAMPLE, Api, Client

pytestmark = [pytest.mark.usefixtures("unhurried"), PIGEONHOLE]

LETTER = "From: Bob <bob@elsewhere.test>\nTo: alice@example.test\nSubject: Hello\n\nHi.\n"
SECONDS = float(os.environ.get("MAILKEEP_FUZZ_SECONDS", "5"))


async def validate(api: Api, script: str) -> dict[str, Any]:
    answer = await api.dora.post("/sieve/validate", {"script": script})
    assert answer.status == 200, answer.body
    return answer.data


async def try_script(api: Api, script: str, message: str = LETTER, **more: str) -> dict[str, Any]:
    answer = await api.dora.post("/sieve/test", {"script": script, "message": message, **more})
    assert answer.status == 200, answer.body
    return answer.data


async def test_errors_and_warnings_have_their_lines(api: Api):
    assert await validate(api, 'require "fileinto";\nfileinto "A";\n') == {"ok": True, "errors": [], "warnings": []}
    assert await validate(api, "") == {"ok": True, "errors": [], "warnings": []}
    result = await validate(api, 'keep;\n\nif header "x y" "z" {\n  foo "a";\n}\n')
    assert result == {
        "ok": False,
        "errors": [{"line": 4, "message": "unknown command 'foo' (only reported once at first occurrence)"}],
        "warnings": [{"line": 3, "message": "specified header field name 'x y' is invalid"}],
    }
    for extension in ("vnd.dovecot.execute", "vnd.dovecot.pipe", "enotify", "editheader", "environment", "imapsieve"):
        assert not (await validate(api, f'require "{extension}";'))["ok"], extension
    for extension in ("fileinto", "reject", "vacation", "imap4flags", "regex", "variables", "duplicate", "date"):
        assert (await validate(api, f'require "{extension}";'))["ok"], extension


async def test_what_a_script_would_do(api: Api):
    everything = """require ["fileinto", "mailbox", "imap4flags", "copy", "vacation"];
    fileinto :create :flags ["\\\\Seen", "$Label"] "Lists/New";
    redirect :copy "carol@elsewhere.test";
    vacation :days 3 :subject "Away" :addresses "alice@example.test" "I am away.
Bob";
    keep;"""
    result = await try_script(api, everything)
    empty = {"folder": None, "create": False, "flags": [], "address": None, "subject": None, "text": None}
    shown = [{name: value for name, value in each.items() if name != "description"} for each in result["actions"]]
    assert shown == [
        empty | {"action": "fileinto", "folder": "Lists/New", "create": True, "flags": ["\\seen", "$Label"]},
        empty | {"action": "redirect", "address": "carol@elsewhere.test"},
        empty | {"action": "vacation", "subject": "Away", "text": "I am away.\nBob"},
        empty | {"action": "keep", "folder": "INBOX"},
    ]
    assert (result["ok"], result["implicit_keep"]) == (True, False)
    assert (await try_script(api, "stop;"))["implicit_keep"] is True
    assert [each["action"] for each in (await try_script(api, "discard;"))["actions"]] == ["discard"]
    rejected = (await try_script(api, 'require "reject"; reject "No, thanks";'))["actions"]
    assert [(each["action"], each["text"]) for each in rejected] == [("reject", "No, thanks")]


async def test_the_envelope_of_a_test(api: Api):
    script = 'require "envelope"; if envelope "from" "x@y.test" { if envelope "to" "-z@y.test" { discard; } }'
    assert (await try_script(api, script))["implicit_keep"] is True
    result = await try_script(api, script, sender="x@y.test", recipient="-z@y.test")
    assert [each["action"] for each in result["actions"]] == ["discard"]
    for more in ({"sender": "no address"}, {"recipient": "-C"}, {"message_id": "01890000-0000-7000-8000-000000000000"}):
        answer = await api.dora.post("/sieve/test", {"script": "keep;", "message": LETTER, **more})
        assert answer.code == "INVALID_FIELD", more
    assert (await api.dora.post("/sieve/test", {"script": "keep;"})).code == "MISSING_FIELDS"


async def test_a_script_that_fails_with_the_message(api: Api):
    """The limit on redirects is that of Dovecot, and the mail stays in the inbox."""
    result = await try_script(api, "".join(f'redirect "a{n}@b.test";\n' for n in range(11)))
    assert (result["ok"], result["actions"], result["implicit_keep"]) == (False, [], True)
    assert result["errors"][0]["line"] == 11
    assert "10" in result["errors"][0]["message"]


async def test_a_stored_message_needs_the_permission_to_read_it(post: Post):
    api = post.api
    mailbox_id = await api.mailbox(f"alice@{EXAMPLE}")
    await post.deliver(f"alice@{EXAMPLE}")
    [row] = await api.sql("SELECT id FROM messages WHERE mailbox_id = %(id)s", id=mailbox_id)
    body = {"script": 'if header :is "subject" "Hello" { discard; }', "message_id": str(row["id"])}
    assert (await api.dora.post("/sieve/test", body)).code == "FORBIDDEN"
    assert await api.audit_entries("message.read_raw") == []
    answer = await api.adam.post("/sieve/test", body)
    assert [each["action"] for each in answer.data["actions"]] == ["discard"]
    assert len(await api.audit_entries("message.read_raw")) == 1
    api.app.sieve.limit = checker.ConcurrencyLimit(0, 0)
    assert (await api.adam.post("/sieve/test", body)).code == "RATE_LIMIT_EXCEEDED"
    assert len(await api.audit_entries("message.read_raw")) == 1  # it was not read


async def test_a_message_of_the_largest_size(api: Api, monkeypatch: pytest.MonkeyPatch):
    message = LETTER.encode() + b"x" * 76 * 1024 * 1024
    settings = {"sieve_max_script_size": "256K"}
    messages, actions = await api.app.sieve.test(b"stop;", message, checker.Envelope(), settings)
    assert (messages.errors, actions.implicit_keep) == ([], True)


@pytest.mark.timeout(600)
async def test_hostile_scripts_stay_within_the_limits_and_leave_nothing(api: Api):
    before = listing(api)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # KiB, of other tests' processes too
    for name, (script, valid) in SCRIPTS.items():
        assert (await validate(api, script))["ok"] is valid, name
        started = time.monotonic()
        result = await try_script(api, script, MESSAGE)
        assert time.monotonic() - started < IsolationLimits().seconds + 20, name
        assert result["ok"] or result["errors"], name
    too_large = await api.dora.post("/sieve/validate", {"script": "#" + "a" * 300_000})
    assert too_large.code == "INVALID_FIELD"
    assert listing(api) == before
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(largest, 512 << 10)


def listing(api: Api) -> set[Path]:
    """The files where something could be left: other tests use the temporary folder too."""
    temporary = [path for path in Path(tempfile.gettempdir()).iterdir() if "sieve" in path.name or "svbin" in path.name]
    return {*api.app.data_dir.rglob("*"), *temporary}


@pytest.mark.timeout(int(SECONDS) + 300)
async def test_generated_scripts_get_an_answer(api: Api):
    seed = random.SystemRandom().randrange(1 << 32)
    print(await fuzz((partial(validate, api), partial(try_script, api)), seed, SECONDS))


async def test_calls_beyond_the_limits_are_refused(api: Api):
    async def check(*clients: Client) -> list[int]:
        answers = (client.post("/sieve/validate", {"script": "keep;"}) for client in clients)
        return sorted([each.status for each in await asyncio.gather(*answers)])

    api.app.sieve.limit = checker.ConcurrencyLimit(1, 0)
    assert await check(api.dora, api.adam, api.sue) == [200, 429, 429]
    # One account does not take the room of others.
    api.app.sieve.limit = checker.ConcurrencyLimit(1, 1)
    assert await check(*[api.dora] * 18, api.adam) == [200] * 18 + [429]


async def test_where_it_is_not_installed_or_can_not_be_isolated(api: Api, monkeypatch: pytest.MonkeyPatch):
    async def reason() -> str:
        answer = await api.dora.post("/sieve/validate", {"script": "keep;"})
        assert answer.code == "UNAVAILABLE"
        return answer.json["error"]["details"]["reason"]

    with monkeypatch.context() as patch:
        patch.setattr(checker, "find_program", lambda name: None)
        assert await reason() == "needs_sievec"
    monkeypatch.setattr("mailkeep.core.isolation.find_version", lambda: 0)
    assert await reason() == "no_isolation"
