"""`mailkeep template`, on a running instance: the same templates as by the API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.run.cli.test_cli import Result, Running, inside, instance

VARIABLES = [{"name": "name", "required": True, "example": "Ann"}, {"name": "note", "required": False, "example": None}]
ORDER = {
    "name": "Order sent",
    "domain": "example.test",
    "subject": "Hello {{ name }}",
    "text_body": None,
    "html_body": "<p>Grüße {{ name }}{{ note }}</p>",
    "variables": VARIABLES,
    "inline_css": False,
}
EVERYWHERE = ORDER | {"name": "Welcome", "domain": None}


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with instance() as one:
        key = inside("key", "create", "tests", "--admin", "admin@localhost", "--json", data=one.data).json["key"]
        for name in ("example.test", "other.test"):
            assert one.call("POST", "/domains", {"name": name}, key)[0] == 201
        yield one


def run(running: Running, *args: str | Path, code: int = 0, stdin: str = "") -> Any:
    """The JSON of a command."""
    result = inside("template", *args, "--json", data=running.data, stdin=stdin)
    assert result.code == code, (result.out, result.err)
    return result.json


def text(running: Running, *args: str) -> Result:
    return inside("template", *args, data=running.data)


def as_file(*templates: dict[str, Any]) -> str:
    return json.dumps({"templates": templates})


def test_templates_are_imported_published_rendered_and_exported(running: Running, tmp_path: Path):
    file = tmp_path / "templates.json"
    file.write_text(as_file(ORDER, EVERYWHERE))
    first = run(running, "import", file)["templates"]
    assert [(each["result"], each["published_version"]) for each in first] == [("created", None)] * 2
    published = run(running, "publish", "Order sent")
    assert (published["version"], published["published_version"]) == (1, 1)
    assert [each["result"] for each in run(running, "import", file)["templates"]] == ["unchanged"] * 2
    changed = as_file(ORDER | {"subject": "Second"})
    [second] = run(running, "import", "-", "--publish", stdin=changed)["templates"]
    assert (second["result"], second["published_version"]) == ("changed", 2)
    [other] = run(running, "import", "-", "--domain", "other.test", stdin=changed)["templates"]
    assert (other["domain"], other["result"]) == ("other.test", "created")

    assert run(running, "show", first[0]["id"], "--version", "1")["subject"] == "Hello {{ name }}"
    back = run(running, "publish", first[0]["id"], "--version", "1")
    assert (back["published_version"], back["unpublished_changes"]) == (1, False)
    rendered = run(running, "render", "Welcome", "--values", "-", stdin='{"note": "!"}')
    assert (rendered["subject"], rendered["text_body"]) == ("Hello Ann", "Grüße Ann!\n")
    assert "Grüße Ann" in text(running, "render", "Order sent", "--domain", "example.test", "--version", "1").out

    listed = run(running, "list")["templates"]
    assert [(each["name"], each["domain"]) for each in listed] == [
        ("Order sent", "example.test"), ("Order sent", "other.test"), ("Welcome", None),
    ]  # fmt: skip
    table = text(running, "list", "--domain", "example.test", "--search", "order").out.splitlines()
    assert len(table) == 2
    assert table[1].split()[-3:] == ["1", "2", "(published)"]
    assert run(running, "export", "Welcome") == {"templates": [EVERYWHERE]}
    assert len(json.loads(text(running, "export").out)["templates"]) == 3


def test_what_is_refused_names_the_template_and_changes_nothing(running: Running, tmp_path: Path):
    before = run(running, "list")
    for faulty, expected in (
        (ORDER | {"name": "Bad", "subject": "{{ a"}, "Bad: subject: "),
        (ORDER | {"name": "Bad", "domain": "unknown.test"}, "Bad: There is no domain unknown.test"),
        (ORDER | {"name": "Bad", "variables": []}, "Bad: The draft uses variables that are not declared: name, note"),
        (ORDER | {"name": ""}, "templates[1]: Required fields are missing: name"),
        (ORDER | {"domain": 5}, "whose domain is a name or null"),
        (ORDER | {"extra": 1}, "templates[1]: "),
    ):
        file = as_file(EVERYWHERE | {"name": "Good"}, faulty)
        refused = run(running, "import", "-", "--publish", code=1, stdin=file)["error"]
        assert expected in refused["message"]
    assert run(running, "list") == before
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert "is no JSON" in run(running, "import", broken, code=1)["error"]["message"]
    assert "a JSON object" in run(running, "import", "-", code=1, stdin="[]")["error"]["message"]
    assert "at least one" in run(running, "import", "-", code=1, stdin='{"templates": []}')["error"]["message"]
    assert run(running, "show", "Absent", code=1)["error"]["code"] == "NOT_FOUND"
    assert run(running, "show", "x", "--domain", "unknown.test", code=1)["error"]["code"] == "DOMAIN_NOT_FOUND"
    run(running, "import", "-", stdin=as_file(ORDER, ORDER | {"domain": "other.test"}))
    ambiguous = run(running, "publish", "Order sent", code=1)["error"]
    assert ambiguous["details"]["reason"] == "ambiguous"
    assert "example.test" in ambiguous["message"]
    assert run(running, "publish", "Order sent", "--domain", "other.test", "--version", "9", code=1)["error"][
        "code"
    ] == ("NOT_FOUND")
    missing = as_file(EVERYWHERE | {"name": "No examples", "variables": [{"name": "name"}, {"name": "note"}]})
    run(running, "import", "-", stdin=missing)
    refused = run(running, "render", "No examples", code=1)["error"]
    assert refused["message"] == (
        "variables.name: is missing: the template needs it; variables.note: is missing: the template needs it."
    )
