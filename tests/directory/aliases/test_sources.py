"""Aliases: sorting by source, and destinations without a dot."""

from __future__ import annotations

import pytest

from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api


async def test_aliases_sort_by_their_source(api: Api):
    for source in ("sales", "info", "zoo", "abuse"):
        await api.alias(f"{source}@{EXAMPLE}", ["x@far.test"])
        await api.alias(f"{source}@{OTHER}", ["x@far.test"])
    for query in ({}, {"domain_id": str(DOMAIN_IDS[EXAMPLE])}):
        for order in ("asc", "desc"):
            found: list[str] = []
            cursor: str | None = ""
            while cursor is not None:
                page = await api.sue.get(
                    "/aliases", sort="source_local_part", order=order, limit=3, cursor=cursor, **query
                )
                assert page.status == 200, page
                found += [row["source_local_part"] for row in page.data]
                pagination = page.json["meta"]["pagination"]
                cursor = pagination["next_cursor"] if pagination["has_more"] else None
            assert found == sorted(found, reverse=order == "desc")
            assert len(found) == (4 if query else 8)


@pytest.mark.parametrize("destination", ["x@y", "x@localhost", "a@b.test, x@y"])
async def test_a_destination_without_a_dot_is_refused(api: Api, destination: str):
    body = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "source_local_part": "sales", "destination": destination}
    answer = await api.sue.post("/aliases", body)
    assert (answer.status, answer.code) == (400, "INVALID_FIELD")
    assert "must have at least 2 parts" in answer.json["error"]["message"]
    made = await api.alias(f"team@{EXAMPLE}", ["x@far.test"])
    assert (await api.sue.patch(f"/aliases/{made}", {"destination": destination})).code == "INVALID_FIELD"
    box = await api.mailbox()
    forward = {"forward": {"destinations": [destination.rpartition(" ")[2]], "keep_copy": True}}
    assert (await api.sue.patch(f"/mailboxes/{box}", forward)).code == "INVALID_FIELD"
