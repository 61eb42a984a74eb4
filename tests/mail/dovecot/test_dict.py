"""Dovecot's dict protocol: what its client writes, line by line, and what is none of it."""

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


def said(*lines: bytes) -> tuple[list[DictWrite], bytes]:
    """What a dialogue tells, and all its answers."""
    told: list[DictWrite] = []
    dialogue = DictSession(told.append)
    return told, b"".join(dialogue.answer(line) for line in lines)


@pytest.mark.parametrize(
    "lines, told, answers",
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
def test_transactions(lines: tuple[bytes, ...], told: list[DictWrite], answers: bytes) -> None:
    assert said(*lines) == (told, answers)


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
def test_what_is_none_of_it(lines: tuple[bytes, ...]) -> None:
    with pytest.raises(MalformedDictRequest):
        said(*lines)


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")) | st.sampled_from((HELLO, *QUOTA))))
def test_lines_of_any_kind_are_understood_or_malformed(lines: list[bytes]) -> None:
    try:
        _, answers = said(*lines)
    except MalformedDictRequest:
        return
    assert set(answers) <= set(b"ON\n")


async def test_on_a_socket_one_that_is_malformed_is_cut_off_and_others_go_on() -> None:
    told: list[DictWrite] = []
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        path = Path(folder) / "usage"
        path.write_text("left over")
        server = await serve_dict(path, told.append, mode=0o600, group=os.getgid())
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
    assert told == [WRITTEN]


async def test_one_that_hangs_is_told_from_one_that_answers_and_one_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dovecot_dict, "_ANSWER_SECONDS", 60)
    told: list[DictWrite] = []
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        path = Path(folder) / "usage"
        assert not await is_unresponsive(path)
        async with await serve_dict(path, told.append, mode=0o600, group=os.getgid()):
            assert not await is_unresponsive(path)
        assert not await is_unresponsive(path)
        path.unlink()
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(path))
            silent.listen()
            monkeypatch.setattr(dovecot_dict, "_ANSWER_SECONDS", 0.5)
            assert await is_unresponsive(path)
    assert told == []
