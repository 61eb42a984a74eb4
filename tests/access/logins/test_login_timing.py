"""The time that a login takes does not reveal whether an account exists.

Wrong passwords for accounts that there are and for such that there aren't, each account tried once, in an order drawn
by lot: were there no difference, any outcome would be as likely for either, however noisy the machine. A rank test
that finds no difference must be able to find one: without the hash for unknown accounts, it does.
`make prove-login-timing` does the same with many more, against a whole instance.
"""

import random
import time
from typing import Any

import pytest

from mailkeep.core.ids import uuid7
from mailkeep.features.access.admins import service as admins
from tests.support.client import START, Api, insert_row
from tests.support.mann_whitney import Comparison, mann_whitney

EACH = 25
CERTAIN = 1e-6
"""A difference that occurs by chance once in a million runs."""


async def compare(api: Api, prefix: str) -> Comparison:
    """Seconds of logins with a wrong password, for known and unknown accounts."""
    stored = await admins.hash_password("some password of theirs")
    known = [f"{prefix}-known{number}@example.test" for number in range(EACH)]
    unknown = [f"{prefix}-other{number}@example.test" for number in range(EACH)]
    async with api.app.db.tx() as conn:
        for email in known:
            account: dict[str, Any] = {"id": uuid7(START), "email": email, "email_key": email, "role": "admin"}
            await insert_row(
                conn, "admins", account | {"password_hash": stored, "created_at": START, "updated_at": START}
            )
    order = [*known, *unknown]
    random.shuffle(order)
    seconds: dict[str, float] = {}
    for number, email in enumerate(["warm@example.test", "up@example.test", *order]):
        client = api.nobody.from_address(f"198.51.100.{number}")  # one address would be blocked
        start = time.perf_counter()
        answer = await client.post("/auth/login", {"email": email, "password": "not this one"})
        seconds[email] = time.perf_counter() - start
        assert answer.code == "INVALID_CREDENTIALS"
    return mann_whitney([seconds[email] for email in known], [seconds[email] for email in unknown])


@pytest.mark.timeout(300)
async def test_a_login_takes_as_long_for_an_unknown_account(api: Api, monkeypatch: pytest.MonkeyPatch):
    honest = await compare(api, "honest")
    assert honest.p > CERTAIN, honest
    verify = admins.verify_password

    async def hasty(stored: str | None, password: str) -> bool:
        return await verify(stored, password) if stored else False

    monkeypatch.setattr(admins, "verify_password", hasty)
    leaky = await compare(api, "leaky")
    assert leaky.p < 0.001, leaky
    assert leaky.superiority > 0.5
