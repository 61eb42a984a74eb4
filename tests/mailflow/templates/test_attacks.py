"""T57 by the API: what each kind of hostile template or value is answered, and that other messages do not notice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mail.templates.test_render import ATTACKS
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE

NAMES = ("attributes", "attributes by filter", "an endless loop", "huge output", "recursion", "another template")


def problems(answer: Answer) -> dict[str, str]:
    assert (answer.status, answer.code) == (400, "INVALID_FIELD"), answer.body
    return {each["field"]: each["reason"] for each in answer.json["error"]["details"]["fields"]}


@pytest.mark.parametrize("name", NAMES)
async def test_a_hostile_template_is_answered_with_a_named_error(post: Post, name: str):
    html, expected = ATTACKS[name]
    variables = [{"name": each, "required": False} for each in ("name", "n")]
    body: dict[str, Any] = {"subject": "s", "html_body": html, "variables": variables}
    values = {"name": "x", "n": 10**7}
    [(field, reason)] = problems(await post.api.adam.post("/templates/render", body | {"values": values})).items()
    assert field == "html_body"
    assert expected in reason
    created = await post.api.adam.post("/templates", body | {"name": "hostile", "domain_id": str(DOMAIN_IDS[EXAMPLE])})
    if created.status == 400:  # refused when it is saved
        assert expected in problems(created)["html_body"]
        return
    template_id = created.data["id"]
    assert (await post.api.adam.post(f"/templates/{template_id}/publish", {})).status == 200
    hostile = letter(subject=None, text_body=None, template_id=template_id, variables=values)
    answer = await post.api.sue.post("/send/batch", {"messages": [hostile, letter(subject="plain")]})
    first, second = answer.data["results"]
    assert (first["code"], second["status"]) == ("INVALID_FIELD", "queued")
    assert expected in first["error"]
    assert [row["subject"] for row in await post.caught()] == ["plain"]


async def test_undefined_values_are_named_and_nothing_is_loaded(post: Post, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CANARY", "canary-4711")
    body: dict[str, Any] = {
        "subject": "{{ order.id }}",
        "html_body": (
            "<link rel='stylesheet' href='http://169.254.169.254/latest/meta-data/'><style>@import "
            "url(file:///etc/passwd); p { color: red }</style><p>{{ url }}{{ environ }}{{ config.SECRET }}</p>"
        ),
        "inline_css": True,
    }
    missing = problems(await post.api.adam.post("/templates/render", body))
    assert sorted(missing) == ["variables.config.SECRET", "variables.environ", "variables.order.id", "variables.url"]
    values = {"order": {"id": 1}, "url": "file:///etc/passwd", "environ": "", "config": {"SECRET": ""}}
    rendered = (await post.api.adam.post("/templates/render", body | {"values": values})).data
    assert '<p style="color: red;">file:///etc/passwd</p>' in rendered["html_body"]
    assert not any(text in str(rendered) for text in ("root:", "canary-4711"))
