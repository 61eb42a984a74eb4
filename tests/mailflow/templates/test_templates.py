"""Templates: drafts, versions, previews, and messages sent by them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mailkeep.features.mailflow.templates import service, store
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, faults, reason

HERE, THERE = str(DOMAIN_IDS[EXAMPLE]), str(DOMAIN_IDS[OTHER])


def content(**changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": "Order sent",
        "domain_id": HERE,
        "subject": "Order {{ order.id }}",
        "html_body": "<p>Hello {{ name }},</p><p>order {{ order.id }} is on its way.</p>",
        "variables": [{"name": "name", "example": "Ann"}, {"name": "order.id", "example": "A-1"}],
    }
    return {name: value for name, value in (body | changes).items() if value is not None}


async def create(api: Api, **changes: Any) -> dict[str, Any]:
    answer = await api.adam.post("/templates", content(**changes))
    assert answer.status == 201, answer.body
    return answer.data


async def create_published(api: Api, **changes: Any) -> str:
    template = await create(api, **changes)
    assert (await api.adam.post(f"/templates/{template['id']}/publish", {})).status == 200
    return template["id"]


def problems(answer: Answer) -> dict[str, str]:
    assert answer.code == "INVALID_FIELD", answer.body
    return {each["field"]: each["reason"] for each in answer.json["error"]["details"]["fields"]}


class TestDraft:
    async def test_a_template_is_created_changed_and_deleted(self, api: Api):
        template = await create(api)
        assert template["version"] == 1
        assert template["published_version"] is None
        assert template["unpublished_changes"]
        assert template["warnings"] == []
        path = f"/templates/{template['id']}"
        changed = await api.adam.patch(path, {"text_body": "Hello {{ nmae }}", "name": "Sent"})
        assert changed.data["warnings"] == ["nmae is used but not declared."]
        assert (changed.data["version"], changed.data["name"]) == (1, "Sent")
        assert (await api.adam.patch(path, {"text_body": None})).data["warnings"] == []
        [row] = (await api.adam.get("/templates")).data
        assert row == {name: value for name, value in (await api.adam.get(path)).data.items() if name in row}
        assert "html_body" not in row
        assert (await api.adam.delete(path)).status == 200
        assert (await api.adam.get(path)).code == "NOT_FOUND"
        actions = [row["action"] for row in await api.sql("SELECT action FROM audit_entries ORDER BY id")]
        assert [each for each in actions if each.startswith("template.")] == [
            "template.create", "template.update", "template.update", "template.delete",
        ]  # fmt: skip

    async def test_syntax_errors_name_part_and_line(self, api: Api):
        answer = await api.adam.post(
            "/templates", content(subject="{{ a", html_body="<p>\n{% if %}", text_body="{{ b }}")
        )
        found = problems(answer)
        assert sorted(found) == ["html_body", "subject"]
        assert found["html_body"].startswith("line 2: ")
        template = await create(api)
        answer = await api.adam.patch(f"/templates/{template['id']}", {"text_body": "{% include 'x' %}"})
        assert problems(answer) == {"text_body": "line 1: include, import and extends are not available"}

    @pytest.mark.parametrize(
        "changes, fields",
        [
            ({"html_body": None}, ["text_body"]),
            ({"subject": None}, ["subject"]),
            ({"subject": "a\nb"}, ["subject"]),
            ({"name": "n" * 201}, ["name"]),
            ({"html_body": "x" * (256 * 1024 + 1)}, ["html_body"]),
            ({"variables": [{"name": "order..id"}]}, ["variables[0].name"]),
            ({"variables": [{"name": "_x"}]}, ["variables[0].name"]),
            ({"variables": [{"name": "loop"}]}, ["variables[0].name"]),
            ({"variables": [{"name": "a"}, {"name": "a"}]}, ["variables[1].name"]),
            ({"variables": [{"name": "a", "example": "x" * 10_000}]}, ["variables[0].example"]),
            ({"variables": [{"name": "a", "example": ["\0"]}]}, ["variables[0].example"]),
            ({"variables": [{"name": f"a{n}"} for n in range(101)]}, ["variables"]),
        ],
    )  # fmt: skip
    async def test_invalid_fields(self, api: Api, changes: dict[str, Any], fields: list[str]):
        assert faults(await api.adam.post("/templates", content(**changes))) == fields

    async def test_names_are_unique_in_their_domain(self, api: Api):
        await create(api)
        assert reason(await api.adam.post("/templates", content())) == "name_taken"
        other = await create(api, domain_id=THERE)
        await create(api, domain_id=None)
        assert reason(await api.adam.post("/templates", content(domain_id=None))) == "name_taken"
        renamed = await create(api, domain_id=THERE, name="Other")
        answer = await api.adam.patch(f"/templates/{renamed['id']}", {"name": other["name"]})
        assert (answer.status, reason(answer)) == (409, "name_taken")

    async def test_the_number_is_limited_also_by_concurrent_calls(self, api: Api, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(service.rules, "MAX_TEMPLATES", 3)
        answers = await asyncio.gather(
            *(api.adam.post("/templates", content(name=f"Template {number}")) for number in range(6))
        )
        assert sorted(answer.status for answer in answers) == [201] * 3 + [409] * 3
        assert {reason(answer) for answer in answers if answer.status == 409} == {"limit_reached"}

    async def test_a_change_needs_the_expected_version(self, api: Api):
        template = await create(api)
        path = f"/templates/{template['id']}"
        tag = (await api.adam.get(path)).headers["etag"]
        api.clock.advance(seconds=1)
        assert (await api.adam("PATCH", path, {"name": "New"}, headers={"if-match": tag})).status == 200
        for method, target, body in (
            ("PATCH", path, {"name": "x"}),
            ("POST", f"{path}/publish", {}),
            ("DELETE", path, None),
        ):
            assert (await api.adam(method, target, body, headers={"if-match": tag})).code == "PRECONDITION_FAILED"

    async def test_a_creation_with_a_key_happens_once(self, api: Api):
        headers = {"idempotency-key": "once"}
        first, second = [await api.adam("POST", "/templates", content(), headers=headers) for _ in range(2)]
        assert first.data["id"] == second.data["id"]

    async def test_templates_go_with_their_domain(self, api: Api):
        domain_id = await api.domain("gone.test")
        await create_published(api, domain_id=str(domain_id))
        assert (await api.adam.delete(f"/domains/{domain_id}")).status == 200
        assert await api.sql("SELECT 1 FROM templates") == []
        assert await api.sql("SELECT 1 FROM template_versions") == []

    async def test_the_list_is_filtered_and_sorted(self, api: Api):
        for name, domain in (("Beta", HERE), ("alpha", THERE), ("Gamma", None)):
            await create(api, name=name, domain_id=domain)
        names = [row["name"] for row in (await api.dora.get("/templates", sort="name", order="asc")).data]
        assert names == ["Beta", "Gamma"]
        assert [row["name"] for row in (await api.sue.get("/templates", q="ALPH")).data] == ["alpha"]
        assert [row["name"] for row in (await api.sue.get("/templates", domain_id=THERE)).data] == ["alpha"]


class TestVersions:
    async def test_a_version_never_changes_and_can_be_published_again(self, api: Api):
        template_id = await create_published(api)
        path = f"/templates/{template_id}"
        draft = (await api.adam.patch(path, {"subject": "Second {{ order.id }}"})).data
        assert (draft["version"], draft["published_version"], draft["unpublished_changes"]) == (2, 1, True)
        api.clock.advance(seconds=1)
        second = (await api.adam.post(f"{path}/publish", {})).data
        assert (second["version"], second["published_version"], second["unpublished_changes"]) == (2, 2, False)
        rows = (await api.dora.get(f"{path}/versions")).data
        assert [(row["version"], row["published"]) for row in rows] == [(2, True), (1, False)]
        assert (await api.dora.get(f"{path}/versions/1")).data["subject"] == "Order {{ order.id }}"
        back = (await api.adam.post(f"{path}/publish", {"version": 1})).data
        assert (back["version"], back["published_version"], back["unpublished_changes"]) == (2, 1, False)
        assert (await api.adam.post(f"{path}/publish", {"version": 9})).code == "NOT_FOUND"
        assert (await api.adam.get(f"{path}/versions/9")).code == "NOT_FOUND"
        assert (await api.adam.get(f"{path}/versions/x")).code == "NOT_FOUND"

    async def test_publishing_without_a_change_changes_nothing(self, api: Api):
        template_id = await create_published(api)
        first = (await api.adam.get(f"/templates/{template_id}")).data
        api.clock.advance(seconds=1)
        assert (await api.adam.post(f"/templates/{template_id}/publish")).data == first
        assert (await api.adam.patch(f"/templates/{template_id}", {"subject": first["subject"]})).data == first

    async def test_undeclared_variables_prevent_publication(self, api: Api):
        template = await create(api, text_body="{{ nmae }} {{ order.lines[0] }}")
        answer = await api.adam.post(f"/templates/{template['id']}/publish", {})
        assert (answer.code, reason(answer)) == ("CONFLICT", "undeclared_variables")
        assert answer.json["error"]["details"]["variables"] == ["nmae", "order.lines"]

    async def test_one_of_two_concurrent_publications_makes_the_version(self, api: Api):
        template = await create(api)
        path = f"/templates/{template['id']}/publish"
        answers = await asyncio.gather(*(api.adam.post(path, {}) for _ in range(4)))
        assert {answer.status for answer in answers} == {200}
        assert len(await api.sql("SELECT 1 FROM template_versions")) == 1

    async def test_the_oldest_versions_are_dropped_but_not_the_published_one(
        self, api: Api, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(store, "MAX_VERSIONS", 3)
        path = f"/templates/{await create_published(api)}"
        for number in range(2, 7):
            await api.adam.patch(path, {"subject": f"Number {number}"})
            await api.adam.post(f"{path}/publish", {})
            if number == 4:
                await api.adam.post(f"{path}/publish", {"version": 2})
        versions = [row["version"] for row in await api.sql("SELECT version FROM template_versions ORDER BY version")]
        assert versions == [4, 5, 6]


class TestPreview:
    async def test_examples_stand_for_values(self, api: Api):
        template_id = await create_published(api)
        path = f"/templates/{template_id}"
        preview = (await api.dora.post(f"{path}/render", {})).data
        assert preview == {
            "version": 1,
            "subject": "Order A-1",
            "text_body": "Hello Ann,\n\norder A-1 is on its way.\n",
            "html_body": "<p>Hello Ann,</p><p>order A-1 is on its way.</p>",
            "text_derived": True,
        }
        await api.adam.patch(path, {"subject": "New {{ order.id }}"})
        values = {"variables": {"order": {"id": "B-2"}}}
        assert (await api.dora.post(f"{path}/render", values)).data["subject"] == "New B-2"
        assert (await api.dora.post(f"{path}/render", {"version": 1} | values)).data["subject"] == "Order B-2"
        assert (await api.dora.post(f"{path}/render", {"version": 7})).code == "NOT_FOUND"

    async def test_errors_name_the_part(self, api: Api):
        template = await create(api, variables=[], text_body="{% for line in lines %}{{ line }}{% endfor %}")
        path = f"/templates/{template['id']}/render"
        assert sorted(problems(await api.adam.post(path, {}))) == [
            "variables.lines", "variables.name", "variables.order.id",
        ]  # fmt: skip
        values = {"name": "x", "order": {"id": 1}, "lines": 5}
        answer = await api.adam.post(path, {"variables": values})
        assert problems(answer) == {"text_body": "line 1: 'int' object is not iterable"}
        assert problems(await api.adam.post(path, {"variables": []})) == {"variables": "must be an object"}
        too_large = {"variables": {"name": "x" * 300_000}}
        assert problems(await api.adam.post(path, too_large))["variables"].startswith("must have at most 262144 bytes")

    async def test_what_is_not_stored_is_rendered(self, api: Api):
        body = {"subject": "{{ a }}", "html_body": "<style>p{color:red}</style><p>{{ b.c }}</p>", "inline_css": True}
        variables = [{"name": "a", "example": "x"}, {"name": "b.c", "example": 1}]
        answer = await api.adam.post("/templates/render", body | {"variables": variables, "values": {"a": "y"}})
        assert answer.data["subject"] == "y"
        assert '<p style="color: red;">1</p>' in answer.data["html_body"]
        assert answer.data["version"] is None
        assert (await api.dora.post("/templates/render", body)).code == "FORBIDDEN"


class TestSend:
    async def send(self, post: Post, template_id: str, variables: Any = None, **changes: Any) -> Answer:
        body = letter(subject=None, text_body=None, template_id=template_id, variables=variables) | changes
        return await post.api.dora.post("/send", body)

    async def test_the_published_version_is_sent(self, post: Post):
        api = post.api
        template_id = await create_published(api)
        await api.adam.patch(f"/templates/{template_id}", {"subject": "Draft"})
        answer = await self.send(post, template_id, {"name": "Bob <b>", "order": {"id": "A-7"}})
        assert answer.status == 200, answer.body
        [message] = (await api.sue.get("/sandbox/messages")).data
        assert message["subject"] == "Order A-7"
        content = await api.sue.get(f"/sandbox/messages/{message['id']}")
        assert content.data["body_text"].split() == ["Hello", "Bob", "<b>,", "order", "A-7", "is", "on", "its", "way."]
        assert "Hello Bob &lt;b&gt;," in content.data["body_html"]
        row = (await api.dora.get(f"/messages/{answer.data['id']}")).data
        assert row["template"] == {"id": template_id, "version": 1}
        assert (await api.adam.delete(f"/templates/{template_id}")).status == 200
        assert (await api.dora.get(f"/messages/{answer.data['id']}")).data["template"]["version"] == 1

    async def test_given_fields_take_precedence(self, post: Post):
        template_id = await create_published(post.api, text_body="Text for {{ name }}")
        values = {"name": "Bob", "order": {"id": 1}}
        await self.send(post, template_id, values, subject="Mine", html_body="<p>Mine</p>")
        derived = await create_published(post.api, name="derived")
        await self.send(post, derived, values, html_body="<p>Other</p>")
        first, second = reversed((await post.api.sue.get("/sandbox/messages")).data)
        detail = (await post.api.sue.get(f"/sandbox/messages/{first['id']}")).data
        assert (detail["subject"], detail["body_text"].strip()) == ("Mine", "Text for Bob")
        assert "Mine" in detail["body_html"]
        detail = (await post.api.sue.get(f"/sandbox/messages/{second['id']}")).data
        assert (detail["subject"], detail["body_text"]) == ("Order 1", None)

    async def test_refusals(self, post: Post):
        api = post.api
        published, draft = await create_published(api), (await create(api, name="Draft"))["id"]
        foreign = await create_published(api, domain_id=THERE)
        missing = problems(await self.send(post, published, {"order": {}}))
        assert missing == dict.fromkeys(("variables.name", "variables.order.id"), "is missing: the template needs it")
        answer = await self.send(post, draft, {})
        assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "not_published")
        assert (await self.send(post, HERE)).code == "NOT_FOUND"
        assert (await self.send(post, foreign, {})).code == "FORBIDDEN"
        body = letter(subject=None, text_body=None, template_id=foreign, variables={})
        assert (await api.scoped.post("/send", body)).code == "API_KEY_DOMAIN_SCOPE"
        assert list(problems(await api.adam.post("/send", body))) == ["template_id"]
        # After the checks of the sender, before those of the recipients.
        wrong = body | {"to": [{"email": "nobody"}]}
        assert (await api.dora.post("/send", wrong | {"from": {"email": "x@unknown.test"}})).code == "DOMAIN_NOT_FOUND"
        assert (await api.dora.post("/send", wrong)).code == "FORBIDDEN"
        assert (await self.send(post, published, {"name": "x", "order": {"id": 1}}, to=[{"email": "no"}])).code == (
            "INVALID_RECIPIENT"
        )

    async def test_fields(self, post: Post):
        dora = post.api.dora
        assert faults(await dora.post("/send", letter(subject=None, text_body=None))) == ["subject", "text_body"]
        assert faults(await dora.post("/send", letter(variables={"a": 1}))) == ["variables"]
        assert faults(await self.send(post, HERE, "text")) == ["variables"]
        assert faults(await self.send(post, "x", {})) == ["template_id"]

    async def test_a_value_can_not_add_a_header(self, post: Post):
        template_id = await create_published(post.api)
        answer = await self.send(post, template_id, {"name": "x", "order": {"id": "1\r\nBcc: eve@elsewhere.test"}})
        assert list(problems(answer)) == ["template_id"]
        assert (await post.api.sue.get("/sandbox/messages")).data == []

    async def test_each_message_of_a_batch_has_its_own(self, post: Post):
        api = post.api
        here, everywhere = (
            await create_published(api),
            await create_published(api, domain_id=None, subject="All {{ name }}"),
        )
        slow = await create_published(
            api, name="slow", html_body="{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
        )
        values = {"name": "Bob", "order": {"id": 1}}
        by_template = letter(subject=None, text_body=None)
        answer = await api.dora.post(
            "/send/batch",
            {
                "messages": [
                    by_template | {"template_id": here, "variables": values},
                    by_template | {"template_id": here},
                    letter(subject="Plain"),
                    *[by_template | {"template_id": slow, "variables": values}] * 20,
                    by_template | {"template_id": everywhere, "variables": values},
                ]
            },
        )
        results = answer.data["results"]
        assert [each.get("code", "sent") for each in results] == [
            "sent", "INVALID_FIELD", "sent", *["INVALID_FIELD"] * 20, "sent",
        ]  # fmt: skip
        assert "takes too much time" in results[3]["error"]
        subjects = [row["subject"] for row in (await api.sue.get("/sandbox/messages")).data]
        assert sorted(subjects) == ["All Bob", "Order 1", "Plain"]

    async def test_large_values_beside_a_large_attachment(self, post: Post):
        """Such a body has its large strings undecoded."""
        template_id = await create_published(post.api)
        attachment = {"filename": "a.bin", "content_type": "application/octet-stream", "content": "AAAA" * 100_000}
        values = {"name": "n" * 100_000, "order": {"id": 1}}
        answer = await self.send(post, template_id, values, attachments=[attachment])
        assert answer.status == 200, answer.body
