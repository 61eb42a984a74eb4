"""Dovecot's dict protocol: valid lines and others."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.dovecot import dict as dovecot_dict
from mailkeep.mail.dovecot.dict import DictSession, DictWrite, MalformedDictRequest, is_unresponsive, serve_dict

HELLO = b"H3\t2\t0\t\t01a1ff88-06cb-700a-b704-740430818f21"
QUOTA = (b"B1\talice@example.test", b"S1\tpriv/quota/storage\t1033", b"S1\tpriv/quota/messages\t1")
WRITTEN = DictWrite("01a1ff88-06cb-700a-b704-740430818f21", {"priv/quota/storage": "1033", "priv/quota/messages": "1"})


def converse(*lines: bytes) -> tuple[list[DictWrite], bytes]:
    """The writes of a session, and all its responses."""
    writes: list[DictWrite] = []
    session = DictSession(writes.append)
    return writes, b"".join(session.answer(line) for line in lines)


@pytest.mark.parametrize(
    "lines, writes, responses",
    [
        ((HELLO, *QUOTA, b"C1"), [WRITTEN], b"O\n"),
        ((HELLO, *QUOTA, b"T1\t1795288467\t0", b"C1"), [WRITTEN], b"O\n"),
        ((HELLO, *QUOTA, b"R1"), [], b""),
        ((HELLO, b"Lshared/anything\talice", b"Lpriv/quota/storage"), [], b"N\nN\n"),
        ((HELLO, b"B1\t", b"S1\ta\t1", b"U1\ta", b"C1"), [DictWrite(WRITTEN.name, {})], b"O\n"),
        ((HELLO, *QUOTA, b"B2\t", b"S2\ta\t2", b"C2", b"C1"),
         [DictWrite(WRITTEN.name, {"a": "2"}), WRITTEN], b"O\nO\n"),
        ((b"H3\t2\t0\t\ta\x01tb", b"B1\t", b"S1\tk\tx\x011\x01n\x010", b"C1"),
         [DictWrite("a\tb", {"k": "x\x01\n\0"})], b"O\n"),
    ],
)  # fmt: skip
def test_transactions(lines: tuple[bytes, ...], writes: list[DictWrite], responses: bytes) -> None:
    assert converse(*lines) == (writes, responses)


@pytest.mark.parametrize(
    "lines",
    [
        (b"",),
        (b"B1\t",),
        (b"H2\t0\t0\t\tname",),
        (b"H3\t2\t0",),
        (HELLO, b"C1"),
        (HELLO, b"S1\ta\tb"),
        (HELLO, b"B1\t", b"S1\ta"),
        (HELLO, b"I0\tshared/anything"),
        (HELLO, *(b"B%d\t" % number for number in range(100))),
        (HELLO, b"B1\t", *(b"S1\tkey%d\tvalue" % number for number in range(100))),
    ],
)
def test_invalid_lines(lines: tuple[bytes, ...]) -> None:
    with pytest.raises(MalformedDictRequest):
        converse(*lines)


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")) | st.sampled_from((HELLO, *QUOTA))))
def test_any_lines_are_valid_or_malformed(lines: list[bytes]) -> None:
    try:
        _, responses = converse(*lines)
    except MalformedDictRequest:
        return
    assert set(responses) <= set(b"ON\n")


async def test_a_malformed_request_ends_only_its_own_connection() -> None:
    writes: list[DictWrite] = []
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        path = Path(folder) / "usage"
        path.write_text("left over")
        server = await serve_dict(path, writes.append, mode=0o600, group=os.getgid())
        assert path.stat().st_mode & 0o777 == 0o600
        async with server, asyncio.timeout(60):
            wrong, wrong_out = await asyncio.open_unix_connection(path)
            reader, writer = await asyncio.open_unix_connection(path)
            wrong_out.write(b"GET / HTTP/1.1\r\n\r\n")
            assert await wrong.read() == b""
            writer.write(b"\n".join((HELLO, *QUOTA, b"C1", b"")))
            assert await reader.readline() == b"O\n"
            wrong_out.close()
            writer.close()
    assert writes == [WRITTEN]


async def test_only_a_process_that_accepts_without_responding_is_unresponsive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dovecot_dict, "_ANSWER_SECONDS", 60)
    writes: list[DictWrite] = []
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        path = Path(folder) / "usage"
        assert not await is_unresponsive(path)
        async with await serve_dict(path, writes.append, mode=0o600, group=os.getgid()):
            assert not await is_unresponsive(path)
        assert not await is_unresponsive(path)
        path.unlink()
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(path))
            silent.listen()
            monkeypatch.setattr(dovecot_dict, "_ANSWER_SECONDS", 0.5)
            assert await is_unresponsive(path)
    assert writes == []
