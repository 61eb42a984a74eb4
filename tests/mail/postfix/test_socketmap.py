"""Postfix's socketmap: one response per request."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mailkeep.mail.postfix.socketmap import LookupFailed, serve_tables

TABLES = {"upper": lambda key: key.upper() or None}


@asynccontextmanager
async def connect(folder: Path) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    path = folder / "map"
    server = await serve_tables(path, TABLES, mode=0o600, group=os.getgid())
    reader, writer = await asyncio.open_unix_connection(path)
    yield reader, writer
    writer.close()
    server.close()


async def test_requests_are_answered_one_after_the_other(tmp_path: Path) -> None:
    async with connect(tmp_path) as (reader, writer):
        writer.write("9:upper bär,6:upper ,7:upper \xff,".encode("latin-1").replace(b"b\xe4r", "bä".encode()))
        async with asyncio.timeout(60):
            assert await reader.readexactly(9) == "6:OK BÄ,".encode()
            assert await reader.readexactly(24) == b"9:NOTFOUND ,9:NOTFOUND ,"


@pytest.mark.parametrize(
    "content", [b"upper x", b":x,", b"9999999:", b"7:upper x;", b"6:nowhat,", b"9:missing x,", b"-1:,"]
)
async def test_an_invalid_contentends_the_connection(tmp_path: Path, content: bytes) -> None:
    async with connect(tmp_path) as (reader, writer):
        writer.write(content)
        async with asyncio.timeout(60):
            assert await reader.read() == b""


async def test_an_incomplete_contentends_the_connection(tmp_path: Path) -> None:
    async with connect(tmp_path) as (reader, writer):
        writer.write(b"9:upper")
        writer.write_eof()
        async with asyncio.timeout(60):
            assert await reader.read() == b""


async def test_a_table_may_wait_and_fail(tmp_path: Path) -> None:
    async def find(key: str) -> str | None:
        await asyncio.sleep(0)
        if key == "broken":
            raise LookupFailed("no name server: ä")
        return key if key == "known" else None

    server = await serve_tables(tmp_path / "map", {"slow": find}, mode=0o600, group=os.getgid())
    reader, writer = await asyncio.open_unix_connection(tmp_path / "map")
    writer.write(b"10:slow known,11:slow broken,6:slow x,")
    async with asyncio.timeout(60):
        expected = b"8:OK known,22:TEMP no name server: ?,9:NOTFOUND ,"
        assert await reader.readexactly(len(expected)) == expected
    writer.close()
    server.close()
