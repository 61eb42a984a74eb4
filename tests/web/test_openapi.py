"""The OpenAPI document: valid, complete, and consistent with the endpoint declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import UNSET, Meta, Struct, UnsetType
from openapi_spec_validator import validate

from mailkeep.core import errors
from mailkeep.core.errors import Refusal
from mailkeep.core.principal import POLICY
from mailkeep.features.mailflow.webhooks.model import CATALOGUE
from mailkeep.run.runtime.router import ENDPOINTS
from mailkeep.web.endpoint import Call, Endpoint, HttpResponse, Listing
from mailkeep.web.fields import Body, MayBeEmpty, Patch, Query, Text, Timestamp
from mailkeep.web.openapi import document, openapi_endpoints, operation_id
from mailkeep.web.openapi_examples import BY_STRUCT, example_id, fill_placeholders
from mailkeep.web.schemas import Schemas
from tests.support.caller import Caller
from tests.support.openapi import openapi_document
from tests.web.pipeline_setup import PipelineSetup

DOCUMENTED = [endpoint for endpoint in ENDPOINTS if endpoint.documented]
CODES = {(kind.status, kind.code) for kind in vars(errors).values() if isinstance(kind, type) and
         issubclass(kind, Refusal) and kind is not Refusal}  # fmt: skip


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in openapi_document()["paths"].items():
        for method, operation in item.items():
            if method != "servers":
                yield method, path, operation


def resolve(thing: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in thing:
        return thing
    found: Any = openapi_document()
    for part in thing["$ref"][2:].split("/"):
        found = found[part]
    return found


def assert_conforms(value: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "components": openapi_document()["components"]}
    Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


def test_it_is_a_valid_openapi_document():
    assert openapi_document()["openapi"].startswith("3.1.")
    validate(openapi_document())


def test_each_event_kind_has_a_webhook_with_an_example():
    assert list(openapi_document()["webhooks"]) == list(CATALOGUE)
    for kind, item in openapi_document()["webhooks"].items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        assert_conforms(content["example"], content["schema"])
        assert content["example"]["event"] == kind
        assert item["post"]["security"] == []
        assert {each["name"] for each in item["post"]["parameters"]} >= {"webhook-signature", "X-Svc-Signature"}


def test_it_is_the_same_each_time():
    assert document(ENDPOINTS) == openapi_document()


def test_every_documented_endpoint_is_listed():
    assert {(method.upper(), path) for method, path, _ in operations()} == {
        (endpoint.method, endpoint.path) for endpoint in DOCUMENTED
    }


def test_every_endpoint_has_an_example_summary_and_unique_name():
    assert [endpoint.path for endpoint in ENDPOINTS if not endpoint.examples] == []
    assert [endpoint.path for endpoint in ENDPOINTS if not endpoint.summary or not endpoint.tag] == []
    names = [operation_id(endpoint) for endpoint in DOCUMENTED]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+[A-Za-z0-9]*", name) for name in names)


def test_every_error_code_is_published_with_its_status():
    for _, path, operation in operations():
        for status, answer in operation["responses"].items():
            if int(status) < 400:
                continue
            content = resolve(answer)["content"]["application/json"]
            codes = content["schema"]["allOf"][1]["properties"]["error"]["properties"]["code"]["enum"]
            assert codes
            assert {(int(status), code) for code in codes} <= CODES, path
            assert set(content["examples"]) == set(codes)
            for example in content["examples"].values():
                assert_conforms(example["value"], content["schema"])


def test_the_error_table_has_errors_that_precede_routing():
    for row in ("| 400 | `BAD_REQUEST` |", "| 404 | `NOT_FOUND` |", "| 405 | `METHOD_NOT_ALLOWED` |",
                "| 408 | `REQUEST_TIMEOUT` |", "| 431 | `HEAD_TOO_LARGE` |"):  # fmt: skip
        assert openapi_document()["info"]["description"].count(row) == 1


def test_request_and_response_examples_match_their_schemas():
    for method, path, operation in operations():
        body = operation.get("requestBody")
        if body:
            content = body["content"]["application/json"]
            for example in content["examples"].values():
                assert_conforms(example["value"], content["schema"])
        for parameter in map(resolve, operation.get("parameters", [])):
            if "example" in parameter:
                assert_conforms(parameter["example"], parameter["schema"])
        success = next(answer for status, answer in operation["responses"].items() if int(status) < 400)
        for content in success["content"].values():
            if "example" in content:
                assert_conforms(content["example"], content.get("schema", {}))
            else:
                assert (method, path) in {
                    ("get", "/openapi.json"),
                    ("get", "/docs"),
                    ("get", "/domains/{id}/zone-file"),
                    ("get", "/dns/server/zone-file"),
                    ("get", "/.well-known/mta-sts.txt"),
                    ("get", "/.well-known/acme-challenge/{token}"),
                    ("get", "/sandbox/messages/{id}/html"),
                    ("get", "/sandbox/messages/{id}/raw"),
                    ("get", "/sandbox/messages/{id}/attachments/{number}"),
                    ("get", "/messages/{id}/html"),
                    ("get", "/messages/{id}/raw"),
                    ("get", "/messages/{id}/attachments/{number}"),
                    ("get", "/audit/export"),
                    ("get", "/u/{token}"),
                    ("post", "/u/{token}"),
                    ("get", "/setup/{token}"),
                    ("get", "/setup/{token}/mail.mobileconfig"),
                    ("get", "/mailboxes/{id}/setup"),
                    ("get", "/me/setup"),
                }


def test_examples_have_no_placeholders():
    for method, path, operation in operations():
        examples = repr([operation.get("requestBody"), operation.get("parameters")])
        assert not re.search(r"\{[a-z_]+\}", examples), (method, path)


def test_roles_and_credentials_are_those_of_the_policy():
    for endpoint in DOCUMENTED:
        operation = openapi_document()["paths"][endpoint.path][endpoint.method.lower()]
        rule = POLICY[endpoint.action] if endpoint.action else None
        role = rule and (rule.role.value if rule.role else "mailbox")
        assert operation.get("x-required-role") == role
        schemes = {name for each in operation["security"] for name in each}
        assert ("mailbox_session" in schemes) == (rule is not None and rule.owners)
        assert ("session" in schemes) == (rule is not None and rule.role is not None)
        assert bool(operation["security"]) == (endpoint.action is not None)
        assert ("401" in operation["responses"]) >= (endpoint.action is not None)


def test_lists_document_paging_parameters_and_metadata():
    for endpoint in DOCUMENTED:
        operation = openapi_document()["paths"][endpoint.path][endpoint.method.lower()]
        names = [resolve(each)["name"] for each in operation.get("parameters", [])]
        assert ({"cursor", "limit", "sort", "order"} <= set(names)) == (endpoint.listing is not None)
        if endpoint.listing:
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            assert schema["properties"]["meta"]["$ref"].endswith("/PageMeta")


class Inner(Body, frozen=True):
    """An inner."""

    email: str


class CreateBody(Body, frozen=True):
    name: Text
    empty: MayBeEmpty
    many: list[Inner]
    rate: Annotated[int, Meta(ge=1, le=5, description="Per minute")] | UnsetType = UNSET
    note: Text | None = None
    active: bool = True


class PatchBody(Patch, frozen=True):
    note: Text | UnsetType | None = UNSET


class Filter(Query, frozen=True):
    needed: Text
    active: bool | None = None


class Response(Struct, frozen=True):
    at: Timestamp
    inner: Inner | None
    shown: int = 0


async def _handler(_: Any, call: Call) -> HttpResponse:
    return HttpResponse()


def test_body_schemas_match_the_decoder():
    schemas = Schemas([CreateBody, PatchBody, list[Response]])
    body = schemas.components["CreateBody"]
    assert body["required"] == ["name", "empty", "many"]
    assert body["additionalProperties"] is False
    assert body["properties"] == {
        "name": {"type": "string", "maxLength": 1000, "minLength": 1},
        "empty": {"type": "string", "maxLength": 1000},
        "many": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}, "minItems": 1},
        "rate": {"type": "integer", "minimum": 1, "maximum": 5, "description": "Per minute"},
        "note": {"type": ["string", "null"], "maxLength": 1000},
        "active": {"type": "boolean", "default": True},
    }
    assert schemas.components["PatchBody"]["properties"]["note"]["type"] == ["string", "null"]
    assert "required" not in schemas.components["PatchBody"]
    assert schemas.of(list[Response]) == {"type": "array", "items": {"$ref": "#/components/schemas/Response"}}
    response = schemas.components["Response"]
    assert response["required"] == ["at", "inner", "shown"]
    assert response["properties"]["inner"] == {"anyOf": [{"$ref": "#/components/schemas/Inner"}, {"type": "null"}]}
    assert "additionalProperties" not in response


def test_error_codes_follow_from_the_kind_of_endpoint():
    endpoint = Endpoint(
        method="GET",
        path="/things/{id}/parts",
        handler=_handler,
        action="domain.list",
        summary="List parts",
        tag="Things",
        data=list[Response],
        query=Filter,
        listing=Listing(("created_at", "name")),
        refusals=(errors.DomainNotFound,),
    )
    generated = document([endpoint], "1")
    operation = generated["paths"]["/things/{id}/parts"]["get"]
    assert operation["operationId"] == "getThingsByIdParts"
    assert {status: answer.get("$ref", "").rpartition("/")[2] for status, answer in operation["responses"].items()} == {
        "200": "",
        "400": "400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION.MISSING_FIELDS",
        "401": "401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID",
        "404": "404.DOMAIN_NOT_FOUND.NOT_FOUND",
        "413": "413.PAYLOAD_TOO_LARGE",
        "415": "415.UNSUPPORTED_MEDIA_TYPE",
        "429": "429.RATE_LIMIT_EXCEEDED",
        "500": "500.INTERNAL_ERROR",
        "503": "503.UNAVAILABLE",
    }
    assert [(each.get("name"), each.get("required"), each.get("schema", {}).get("type")) for each in
            operation["parameters"][:3]] == [
        ("id", True, "string"), ("needed", True, "string"), ("active", False, "boolean"),
    ]  # fmt: skip


def test_structs_with_the_same_name_get_a_prefix():
    one, other = (type("Same", (Struct,), {"__module__": f"mailkeep.features.{name}.wire"}) for name in ("a", "b"))
    assert list(Schemas([one, other]).components) == ["ASame", "BSame"]


def test_example_ids_are_deterministic_and_version_7():
    assert example_id("domain_id") == example_id("domain_id") != example_id("mailbox_id")
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", example_id("x"))
    assert fill_placeholders({"a": ["x{domain_id}"]}) == {"a": [f"x{example_id('domain_id')}"]}


PAGES = {
    "/docs": "text/html",
    "/api/v1/docs": "text/html",
    "/docs/page.css": "text/css",
    "/docs/page.js": "text/javascript",
    "/docs/icon.svg": "image/svg+xml",
}


@pytest.fixture(scope="module")
def caller() -> Caller:
    from mailkeep.web.pipeline import Pipeline
    from mailkeep.web.router import Router

    setup = PipelineSetup()
    return Caller(Pipeline(setup.app, Router(openapi_endpoints(())), setup.access.control))


@pytest.mark.parametrize("path, kind", PAGES.items())
async def test_the_page_loads_only_files_of_this_server(caller: Caller, path: str, kind: str):
    answer = await caller("GET", path)
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, kind)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    text = answer.body.decode()
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//|@import|\burl\(|innerHTML|insertAdjacent|eval\(", text)
    if kind == "text/html":
        assert not re.search(r"<style|style=|<script>|\son[a-z]+=", text)
        for reference in re.findall(r'(?:src|href)="([^"#]+)"', text):
            base = path.rpartition("/")[0]
            assert (await caller("GET", f"{base}/{reference}")).status == 200


@pytest.mark.parametrize("path", ["/openapi.json", "/api/v1/openapi.json"])
async def test_the_document_is_served_without_an_envelope(caller: Caller, path: str):
    answer = await caller("GET", path)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["openapi"] == "3.1.0"


def test_lists_with_a_domain_filter_document_forbidden():
    """Issue 17, number 24: a domain that the caller has no access to is refused, and the document did not say so."""
    found = 0
    for path, method, operation in ((path, method, each) for path, method, each in operations()):
        if any(
            each.get("name") == "domain_id" and each.get("in") == "query" for each in operation.get("parameters", ())
        ):
            found += 1
            refusals = str(operation["responses"]["403"])
            assert "FORBIDDEN" in refusals, (method, path)
            assert "API_KEY_DOMAIN_SCOPE" in refusals, (method, path)
    assert found >= 5


def test_example_values_belong_to_fields_that_exist():
    components = openapi_document()["components"]["schemas"]
    fields = {f"{name}.{field}" for name, schema in components.items() for field in schema.get("properties", ())}
    assert set(BY_STRUCT) <= fields
