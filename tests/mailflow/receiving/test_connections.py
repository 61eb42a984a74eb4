"""How many connections one address may have at the built-in listener."""

from __future__ import annotations

import asyncio

from tests.plugins.post import Post


async def test_an_address_has_twenty_connections_and_no_more(post: Post):
    clients: list[asyncio.StreamWriter] = []

    async def greeting() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", post.port)
        clients.append(writer)
        return await asyncio.wait_for(reader.readline(), 30)

    try:
        result = [await greeting() for _ in range(21)]
        assert [line[:3] for line in result[:20]] == [b"220"] * 20
        assert result[20].startswith(b"421 4.7.0 ")
    finally:
        for writer in clients:
            writer.close()
