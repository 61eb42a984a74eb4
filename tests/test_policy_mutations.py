"""The matrix of `test_policy` can fail: with one check of the policy taken away, it names the route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mailkeep.core.principal import Principal
from mailkeep.features.directory.aliases import service as aliases
from mailkeep.web import pipeline
from tests import test_policy as matrix

Break = Callable[[pytest.MonkeyPatch], None]
world = matrix.world


def nothing(*_: Any) -> None:
    """Replaces a check."""


def a_route_without_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aliases, "allow_on", nothing)


def a_route_for_every_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "allow", nothing)


def a_list_of_foreign_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Principal, "domains", nothing)  # None: all of them


BROKEN: list[tuple[str, Break, str]] = [
    ("GET /aliases/{id}", a_route_without_its_check, "by domain admin on foreign: (200, None), not (403, 'FORBIDDEN')"),
    ("POST /admins", a_route_for_every_role, "by admin on"),
    ("GET /mailboxes", a_list_of_foreign_domains, "by domain admin on"),
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("route, breaks, message", BROKEN, ids=[breaks.__name__ for _, breaks, _ in BROKEN])
async def test_the_matrix_names_the_route_whose_check_is_gone(
    world: matrix.World, monkeypatch: pytest.MonkeyPatch, route: str, breaks: Break, message: str
) -> None:
    monkeypatch.setattr(matrix, "ROWS", {route: matrix.ROWS[route]})
    monkeypatch.setattr(matrix, "MORE", ())
    await matrix.test_every_route_responds_to_every_caller_by_the_policy(world)
    breaks(monkeypatch)
    with pytest.raises(AssertionError) as found:
        await matrix.test_every_route_responds_to_every_caller_by_the_policy(world)
    assert f"{route} {message}" in str(found.value)
