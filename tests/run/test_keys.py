"""What the filter asks: for keys, and whether a recipient has a mailbox here."""

from __future__ import annotations

import pytest

from mailkeep.run.keys import Listener
from tests.client import DOMAIN_IDS, EXAMPLE, Api

ALICE = f"alice@{EXAMPLE}"


@pytest.fixture
async def listener(api: Api) -> Listener:
    await api.mailbox(ALICE)
    domain_id = str(DOMAIN_IDS[EXAMPLE])
    for name, destination in (("out", "a@far.test,b@far.test"), ("both", f"{ALICE},a@far.test"), ("in", ALICE)):
        body = {"domain_id": domain_id, "source_local_part": name, "destination": destination}
        assert (await api.sue.post("/aliases", body)).status == 201
    return Listener(api.app, "secret")


def head(path: str, token: str = "secret", method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-Token: {token}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "local, status",
    [("alice", 200), ("alice%2Btag", 200), ("in", 200), ("both", 200), ("out", 404), ("out%2Btag", 404), ("none", 404)],
)
async def test_a_recipient_is_at_home_where_a_copy_comes_to_a_mailbox(
    listener: Listener, local: str, status: int
) -> None:
    assert (await listener.answer(head(f"/homes/{local}%40{EXAMPLE}")))[0] == status


@pytest.mark.parametrize("asked", ["a%40far.test", "", "%40", "%ff", "no-address", "a/b%40far.test"])
async def test_whoever_is_not_ours_is_not_at_home(listener: Listener, asked: str) -> None:
    assert (await listener.answer(head(f"/homes/{asked}")))[0] == 404


async def test_keys_are_given_for_a_domain_of_ours(api: Api, listener: Listener) -> None:
    assert (await api.sue.post("/domains", {"name": "signed.test"})).status == 201
    status, body = await listener.answer(head("/keys/SIGNED.test"))
    assert (status, b'"selector"' in body) == (200, True)
    assert (await listener.answer(head("/keys/far.test")))[0] == 404


@pytest.mark.parametrize(
    "sent, status",
    [
        (head("/keys/x", "guessed"), 403),
        (head(f"/homes/alice%40{EXAMPLE}", ""), 403),
        (head("/keys"), 400),
        (head("/others/x"), 400),
        (head("/homes/a%00b%40far.test"), 400),
        (head("/keys/x", method="POST"), 400),
        (b"GET\r\nX-Token: secret\r\n\r\n", 400),
    ],
)
async def test_who_shows_no_token_or_asks_something_else_learns_nothing(
    listener: Listener, sent: bytes, status: int
) -> None:
    assert await listener.answer(sent) == (status, b"{}")
