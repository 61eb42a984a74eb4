"""Changes DKIM keys directly in the instance's database."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mailkeep.app import App
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.domains import service as domains
from mailkeep.run.runtime.context import open_app
from tests.stack.harness import Stack


def _with_app(stack: Stack, work: Callable[[App], Awaitable[None]]) -> None:
    async def run() -> None:
        async with open_app(stack.data_dir) as app:
            await work(app)

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()


def give_ed25519_key(stack: Stack, domain_name: str, *, with_slash: bool = False) -> None:
    """Add a second key to a new domain, whose seed begins with a slash in base64."""

    async def work(app: App) -> None:
        async with app.db.tx() as conn:
            domain = await domains.find_by_name(conn, domain_name)
            assert domain is not None
            key = dkim.generate_key(app.vault, domain.id, app.clock(), "ed25519")
            while with_slash and not _seed(app, key).startswith(b"/"):
                key = dkim.generate_key(app.vault, domain.id, app.clock(), "ed25519")
            await dkim.insert(conn, key)

    _with_app(stack, work)


def _seed(app: App, key: DkimKey) -> bytes:
    pem = app.vault.open("dkim", key.private_key, key.id.bytes)
    assert pem is not None
    private = load_pem_private_key(pem, None)
    assert isinstance(private, Ed25519PrivateKey)
    return b64encode(private.private_bytes_raw())


def retire_all_keys(stack: Stack, domain_name: str) -> None:
    """Deactivate all keys of the domain."""

    async def work(app: App) -> None:
        async with app.db.tx() as conn:
            await conn.execute(
                """
                UPDATE dkim_keys k SET stage = 'retired' FROM domains d
                WHERE d.id = k.domain_id AND d.name = %(name)s
                """,
                {"name": domain_name},
            )

    _with_app(stack, work)
