"""Cursors over HTTP: they go on where a page ended, for their caller, list, filters, order and day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mailkeep.core.errors import InvalidPagination
from mailkeep.core.secret import Vault
from tests.support.caller import Answer
from tests.web.pipeline_setup import ADA_KEY, API, BOB_KEY, PipelineSetup


@pytest.fixture
def setup() -> PipelineSetup:
    return PipelineSetup()


async def page(setup: PipelineSetup, query: str, key: dict[str, str] = ADA_KEY, path: str = "/things") -> Answer:
    return await setup.call("GET", f"{API}{path}?{query}", key)


async def cursor_of(setup: PipelineSetup, query: str = "limit=3", path: str = "/things") -> str:
    answer = await page(setup, query, path=path)
    return answer.json["meta"]["pagination"]["next_cursor"]


async def test_a_list_goes_on_where_it_ended(setup: PipelineSetup):
    first = await page(setup, "limit=3")
    assert first.data == [0, 1, 2]
    following = first.json["meta"]["pagination"]
    assert following["has_more"] is True
    second = await page(setup, f"limit=5&cursor={following['next_cursor']}")
    assert second.data == [3, 4, 5, 6, 7]
    last = await page(setup, "limit=200")
    assert last.json["meta"]["pagination"] == {"next_cursor": "", "has_more": False}


async def test_an_empty_cursor_is_the_first_page(setup: PipelineSetup):
    assert (await page(setup, "limit=1&cursor=")).data == [0]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=", "limit=+1", "limit=1_0", "limit=%20 1", "limit=%D9%A3", "limit=%C2%B2",
     "limit=1&limit=2", "sort=colour", "sort=", "order=up", "order=ASC", "cursor=x", "cursor=%00",
     "cursor=%C3%A9", "cursor=AAAA", "cursor=" + "A" * 4000, "limit=1.0", "limit=-1", "limit=" + "9" * 5000],
)  # fmt: skip
async def test_malformed_paging_is_refused(setup: PipelineSetup, query: str):
    answer = await page(setup, query)
    assert (answer.status, answer.code) == (400, InvalidPagination.code)


async def test_a_cursor_that_was_altered_is_refused(setup: PipelineSetup):
    cursor = await cursor_of(setup)
    for at in (0, len(cursor) // 2, len(cursor) - 1):
        other = "A" if cursor[at] != "A" else "B"
        altered = cursor[:at] + other + cursor[at + 1 :]
        assert (await page(setup, f"cursor={altered}")).code == "INVALID_PAGINATION"
    assert (await page(setup, f"cursor={cursor}A")).code == "INVALID_PAGINATION"


@pytest.mark.parametrize("query", ["colour=red", "sort=name", "order=asc", "sort=created_at&order=asc"])
async def test_a_cursor_belongs_to_its_filters_and_order(setup: PipelineSetup, query: str):
    cursor = await cursor_of(setup)
    assert (await page(setup, f"{query}&cursor={cursor}")).code == "INVALID_PAGINATION"
    assert (await page(setup, f"sort=created_at&order=desc&colour=&cursor={cursor}")).status == 200


async def test_a_cursor_belongs_to_its_caller(setup: PipelineSetup):
    cursor = await cursor_of(setup)
    assert (await page(setup, f"cursor={cursor}", BOB_KEY)).code == "INVALID_PAGINATION"


async def test_a_cursor_belongs_to_its_list(setup: PipelineSetup):
    of_one = await cursor_of(setup, path="/domains/one/things")
    for path, status in (("/domains/one/things", 200), ("/domains/two/things", 400), ("/things", 400)):
        assert (await page(setup, f"cursor={of_one}", path=path)).status == status


async def test_a_cursor_holds_for_a_day(setup: PipelineSetup):
    cursor = await cursor_of(setup)
    setup.app.now += timedelta(hours=24)
    assert (await page(setup, f"cursor={cursor}")).status == 200
    setup.app.now += timedelta(seconds=1)
    assert (await page(setup, f"cursor={cursor}")).code == "INVALID_PAGINATION"


async def test_a_cursor_of_another_server_is_refused(setup: PipelineSetup):
    cursor = await cursor_of(setup)
    setup.app.vault = Vault(b"y" * 32)
    assert (await page(setup, f"cursor={cursor}")).code == "INVALID_PAGINATION"
