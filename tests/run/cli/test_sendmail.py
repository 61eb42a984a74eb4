"""`mailkeep sendmail`: its options, and the listener of an embedded instance."""

from __future__ import annotations

import asyncio
import io
import os
import pwd
import quopri
import random
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.features.mailflow.sendmail import rules
from mailkeep.features.mailflow.sendmail.model import SendmailBody, SendmailContent, SendmailError
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.spool import Spool
from mailkeep.run.cli import sendmail as cli_sendmail
from mailkeep.run.cli.sendmail import SendmailArguments as Options, UsageError, parse
from mailkeep.run.processes import sendmail
from mailkeep.settings.outgoing import SendmailSettings
from tests.mailflow.sending.test_smarthost import TIMEOUTS, Smarthost
from tests.support.client import EXAMPLE, Api


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["-t", "-i"], Options(extract=True, ignore_dots=True)),
        (["-ti"], Options(extract=True, ignore_dots=True)),
        (["-oi", "-oem", "a@b.test"], Options(ignore_dots=True, recipients=["a@b.test"])),
        (["-o", "i", "-fa@b.test", "c@d.test"], Options(ignore_dots=True, sender="a@b.test", recipients=["c@d.test"])),
        (["-f", "<a@b.test>", "--", "-t"], Options(sender="a@b.test", recipients=["-t"])),
        (["-f<>", "c@d.test"], Options(sender="", recipients=["c@d.test"])),
        (["-r", "a@b.test", "-FCron Daemon", "-bm"], Options(sender="a@b.test", name="Cron Daemon")),
        (["-FCronDaemon", "-i", "-B8BITMIME", "-oem", "root"], Options(name="CronDaemon", ignore_dots=True,
                                                                     recipients=["root"])),
        (["-N", "never", "-Rhdrs", "-Vx", "-Am", "-G", "-v", "-U", "x@y.test"], Options(recipients=["x@y.test"])),
        (["--key-file", "/k", "--data-dir=/d", "--socket", "/s"], Options(key_file="/k", data_dir="/d", socket="/s")),
        (["-bi"], Options(does_nothing=True)),
    ],
)  # fmt: skip
def test_options_are_read_as_sendmail_reads_them(arguments: list[str], expected: Options):
    assert parse(arguments) == expected


@pytest.mark.parametrize(
    "arguments", [["-bs"], ["-bp"], ["-bd"], ["-q"], ["-f"], ["-Z"], ["--key"], ["-Fa\nBcc: x@y.test"], ["x@y.test\n"]]
)
def test_an_invalid_option_is_a_usage_error(arguments: list[str]):
    with pytest.raises(UsageError):
        parse(arguments)
    assert cli_sendmail.run(arguments, io.BytesIO()) == 64


def test_without_a_server_the_exit_code_is_temporary_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli_sendmail.run(["--socket", str(tmp_path / "none"), "a@b.test"], io.BytesIO(b"\n")) == 75
    assert "not running" in capsys.readouterr().err


@pytest.fixture
def account() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


async def test_an_allowed_account_sends_and_incomplete_messages_are_dropped(api: Api, tmp_path: Path, account: str):
    allowed = SendmailSettings(allowed={account: (EXAMPLE,)})
    host = Smarthost()
    mta = await asyncio.start_server(host.serve, "127.0.0.1", 0)
    api.app.mta = SmtpPool(Relay("127.0.0.1", mta.sockets[0].getsockname()[1], timeouts=TIMEOUTS))
    path = tmp_path / "sendmail.sock"
    message = f"From: shop@{EXAMPLE}\r\nMessage-ID: <given@x.test>\rTo: a@far.test\n\n..\nHello.\n.\n".encode()
    (api.app.data_dir / "tmp").mkdir(exist_ok=True)

    def run(*arguments: str) -> int:
        return cli_sendmail.run(["--socket", str(path), "-i", *arguments], io.BytesIO(message))

    try:
        async with sendmail.listen(api.app, path):
            assert await asyncio.to_thread(run, "a@far.test") == 77
            api.app.settings = replace(api.app.settings, sendmail=allowed)
            assert await asyncio.to_thread(run, "-t") == 0
            with socket.socket(socket.AF_UNIX) as cut:
                await asyncio.to_thread(cut.connect, str(path))
                cut.sendall((2).to_bytes(4) + b"{}" + (10).to_bytes(4) + b"Subject: x")
            assert await asyncio.to_thread(run, "-f", f"shop@{EXAMPLE}", "b@far.test") == 0
    finally:
        await api.app.mta.close()
        mta.close()
    assert [to for to, _ in host.taken] == [["a@far.test"], ["b@far.test"]]
    assert b"\r\nMessage-ID: <given@x.test>\r\n" in host.taken[0][1]
    assert b"\r\n\r\n...\r\nHello.\r\n..\r\n" in host.taken[0][1]
    rows = (await api.sue.get("/messages")).data
    assert {(each["source"], each["status"], each["domain_id"] is not None) for each in rows} == {
        ("smtp", "queued", True)
    }


@pytest.mark.parametrize(
    "head", [b"Subject: x\r\n" + b" \r\n" * 345_000, b"X: y\r\n" * 100_000], ids=["folded lines", "fields"]
)
def test_a_header_without_measure_is_refused_in_no_time(head: bytes):
    """Folded lines were joined one by one: 9 s for 1 MiB, in which the event loop stood still."""
    started = time.thread_time()
    with pytest.raises(SendmailError, match=r"larger than 256 KiB|header fields; at most"):
        rules.read_fields(head)
    assert time.thread_time() - started < 3


def _body(text: bytes, *, encode: bool) -> SendmailBody:
    spool = Spool(None, 1 << 30)
    spool.write(text)
    return SendmailBody(
        SendmailContent(spool.finish(), is_8bit=True, is_utf8=False, longest_line=5000),
        0,
        encode=encode,
        wrap=not encode,
    )


def test_a_body_of_one_long_line_is_encoded_in_small_pieces():
    """All of it was one piece: 25 MB took a quarter of a second of the event loop."""
    text = b"\xe9 " * 1_000_000 + b"\r\n"
    encoded, wrapped = (list(rules.body_chunks(_body(text, encode=encode))) for encode in (True, False))
    assert max(map(len, [*encoded, *wrapped])) < 2 << 20
    assert quopri.decodestring(b"".join(encoded)) == text
    assert max(map(len, b"".join(wrapped).split(b"\r\n"))) == 998
    assert b"".join(wrapped).replace(b"\r\n", b"") == text.removesuffix(b"\r\n")


@pytest.mark.parametrize("seed", range(30))
def test_long_lines_are_encoded_and_broken_wherever_pieces_end(monkeypatch: pytest.MonkeyPatch, seed: int):
    made = random.Random(seed)
    parts = [b"a" * made.randint(0, 3000), b"\r\n", b" ", b"=", b"\xe9", b".\r\n", b"x \r\n"]
    text = b"".join(made.choices(parts, k=made.randint(0, 40))) + b"\r\n"
    size = made.choice([1, 2, 3, 50, 1000])
    monkeypatch.setattr(
        SendmailBody, "chunks", lambda _: iter([text[at : at + size] for at in range(0, len(text), size)])
    )
    encoded, wrapped = (b"".join(rules.body_chunks(_body(text, encode=encode))) for encode in (True, False))
    assert quopri.decodestring(encoded) == text
    assert wrapped.replace(b"\r\n", b"") == text.replace(b"\r\n", b"")
    for content, longest in ((encoded, 78), (wrapped, 998)):
        assert content.count(b"\n") == content.count(b"\r") == content.count(b"\r\n")
        assert max(map(len, content.split(b"\r\n"))) <= longest


async def test_an_empty_line_between_two_frames_stays(tmp_path: Path):
    incoming = sendmail.SubmittedContent(tmp_path, 1000)
    for frame in (b"X: y\r", b"\n", b"\n", b"body\n"):
        await incoming.write(frame)
    assert (await incoming.finish()).received.head(100) == b"X: y\r\n\r\nbody\r\n"
