"""The matrix of `test_policy` can fail: if a check is missing, it names the route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mailkeep.core.principal import Principal
from mailkeep.features.directory.aliases import service as aliases
from mailkeep.web import pipeline
from tests import test_policy as matrix

Mutation = Callable[[pytest.MonkeyPatch], None]
factory = matrix.factory


def permit(*_: Any) -> None:
    """Replaces a check; permits everything."""


def remove_check_of_a_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aliases, "allow_on", permit)


def remove_role_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "allow", permit)


def remove_domain_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Principal, "domains", permit)  # None: all domains


MUTATIONS: list[tuple[str, Mutation, str]] = [
    ("GET /aliases/{id}", remove_check_of_a_route, "by domain admin on foreign: (200, None), not (403, 'FORBIDDEN')"),
    ("POST /admins", remove_role_check, "by admin on"),
    ("GET /mailboxes", remove_domain_filter, "by domain admin on"),
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("route, mutate, message", MUTATIONS, ids=[mutate.__name__ for _, mutate, _ in MUTATIONS])
async def test_the_matrix_names_the_route_whose_check_is_missing(
    factory: matrix.ObjectFactory, monkeypatch: pytest.MonkeyPatch, route: str, mutate: Mutation, message: str
) -> None:
    monkeypatch.setattr(matrix, "ROWS", {route: matrix.ROWS[route]})
    monkeypatch.setattr(matrix, "FURTHER_ROWS", ())
    await matrix.check_matrix(factory, matrix.ACTORS)
    mutate(monkeypatch)
    with pytest.raises(AssertionError) as error:
        await matrix.check_matrix(factory, matrix.ACTORS)
    assert f"{route} {message}" in str(error.value)
