"""From method and path to an endpoint."""

from typing import Any

import pytest

from mailkeep.web.endpoint import Call, Endpoint, HttpResponse
from mailkeep.web.router import Router


async def _handler(_: Any, call: Call) -> HttpResponse:
    return HttpResponse()


def endpoint(method: str, path: str, **more: Any) -> Endpoint:
    return Endpoint(method=method, path=path, handler=_handler, action=None, summary="", tag="", data=None, **more)


def test_an_exact_segment_goes_before_a_named_one():
    router = Router([endpoint("GET", "/a/{id}"), endpoint("GET", "/a/b"), endpoint("GET", "/a/{id}/c")])
    assert router.match("GET", "/api/v1/a/b")[0].path == "/a/b"
    assert router.match("GET", "/api/v1/a/x")[1] == {"id": "x"}
    assert router.match("GET", "/api/v1/a/x/c")[0].path == "/a/{id}/c"


@pytest.mark.parametrize(
    "endpoints",
    [
        [endpoint("GET", "/a"), endpoint("GET", "/a")],
        [endpoint("GET", "/a/{id}"), endpoint("GET", "/a/{name}/b")],
        [endpoint("GET", "/a", bare=True), endpoint("GET", "/a", bare=True, prefixed=False)],
    ],
)
def test_paths_that_are_taken_for_one_another_are_a_bug(endpoints: list[Endpoint]):
    with pytest.raises(ValueError):
        Router(endpoints)
