"""Command lines of SMTP and LMTP: a command or a reply, never an exception."""

import pytest
from hypothesis import example, given, settings, strategies as st

from mailkeep.mail.smtp.commands import Hello, Mail, PlainCommand, Rcpt, is_mailbox, parse_command
from mailkeep.mail.smtp.reply import SmtpReply


@pytest.mark.parametrize(
    "line,command",
    [
        (b"EHLO client.test", Hello("EHLO", "client.test")),
        (b"ehlo [127.0.0.1]", Hello("EHLO", "[127.0.0.1]")),
        (b"HELO  client.test ", Hello("HELO", "client.test")),
        (b"LHLO localhost", Hello("LHLO", "localhost")),
        (b"MAIL FROM:<>", Mail("")),
        (b"MAIL FROM:<> SIZE=12", Mail("", 12)),
        (b"mail from: <a@b.test>", Mail("a@b.test")),
        (b"MAIL FROM:<a@b.test> SIZE=5 BODY=8BITMIME SMTPUTF8", Mail("a@b.test", 5, "8BITMIME", True)),
        (b"MAIL FROM:<a@b.test> body=7bit smtputf8", Mail("a@b.test", None, "7BIT", True)),
        ("MAIL FROM:<jörg@müller.test> SMTPUTF8".encode(), Mail("jörg@müller.test", smtputf8=True)),
        (b"RCPT TO:<a@b.test>", Rcpt("a@b.test")),
        (b"RCPT TO:<POSTMASTER>", Rcpt("postmaster")),
        (b"RCPT TO:<a.b+tag@[127.0.0.1]>", Rcpt("a.b+tag@[127.0.0.1]")),
        (b"RCPT TO:<a@[IPv6:::1]>", Rcpt("a@[IPv6:::1]")),
        (rb'RCPT TO:<"a b\"c>"@b.test>', Rcpt(r'"a b\"c>"@b.test')),
        (b"RCPT TO:<o'neil@under_score.test>", Rcpt("o'neil@under_score.test")),
        (b"DATA", PlainCommand("DATA")),
        (b"rset ", PlainCommand("RSET")),
        (b"NOOP whatever", PlainCommand("NOOP")),
        (b"VRFY alice", PlainCommand("VRFY")),
        (b"QUIT", PlainCommand("QUIT")),
    ],
)
def test_valid_lines_are_parsed(line: bytes, command: object) -> None:
    assert parse_command(line) == command


@pytest.mark.parametrize(
    "line,code",
    [
        (b"", 500),
        (b"FOO", 500),
        (b"EHLO", 501),
        (b"EHLO two words", 501),
        (b"EHLO " + b"x" * 300, 501),
        (b"DATA now", 501),
        (b"QUIT now", 501),
        (b"VRFY", 501),
        (b"EXPN list", 502),
        (b"BDAT 5 LAST", 502),
        (b"AUTH PLAIN AAAA", 502),
        (b"STARTTLS", 502),
        (b"POST / HTTP/1.1", 521),
        (b"GET / HTTP/1.1", 521),
        (b"MAIL", 501),
        (b"MAIL a@b.test", 501),
        (b"MAIL FROM:a@b.test", 501),
        (b"MAIL FROM:<a@b.test", 501),
        (b"MAIL FROM:<a>", 501),
        (b"MAIL FROM:<postmaster>", 501),
        (b"MAIL FROM:<@b.test>", 553),
        (b"MAIL FROM:<@r.test:a@b.test>", 553),
        (b"MAIL FROM:<a@b.test>SIZE=1", 501),
        (b"MAIL FROM:<a@b.test> SIZE", 501),
        (b"MAIL FROM:<a@b.test> SIZE=", 501),
        (b"MAIL FROM:<a@b.test> SIZE=-1", 501),
        (b"MAIL FROM:<a@b.test> SIZE=" + b"9" * 21, 501),
        (b"MAIL FROM:<a@b.test> SIZE=\xd9\xa3", 501),
        (b"MAIL FROM:<a@b.test> SIZE=1 SIZE=2", 501),
        (b"MAIL FROM:<a@b.test> BODY=BINARYMIME", 501),
        (b"MAIL FROM:<a@b.test> SMTPUTF8=yes", 501),
        (b"MAIL FROM:<a@b.test> AUTH=<>", 555),
        (b"MAIL FROM:<a@b.test> RET=FULL", 555),
        ("MAIL FROM:<jörg@b.test>".encode(), 553),
        (b"MAIL FROM:<\xff@b.test> SMTPUTF8", 501),
        (b"RCPT TO:<>", 501),
        (b"RCPT TO:<postmaster> NOTIFY=NEVER", 555),
        (b"RCPT TO:<a@b.test> NOTIFY=NEVER", 555),
        (b"RCPT TO:<a@b.test>x", 501),
        (b"RCPT TO:<a@b.test>,<c@d.test>", 501),
        (b"RCPT TO:<@r.test:a@b.test>", 553),
        (b"RCPT TO:<a b@b.test>", 501),
        (b"RCPT TO:<a@b@c.test>", 501),
        (b"RCPT TO:<a..b@c.test>", 501),
        (b"RCPT TO:<.a@c.test>", 501),
        (b"RCPT TO:<a@c..test>", 501),
        (b"RCPT TO:<a@-c.test>", 501),
        (b'RCPT TO:<"a@b.test>', 501),
        (b"RCPT TO:<a(comment)@b.test>", 501),
        (b"RCPT TO:<a@" + b"b" * 256 + b">", 553),
        (b"RCPT TO:<" + b"a" * 256 + b"@b.test>", 553),
        (b"RCPT TO:<a\x00@b.test>", 500),
        (b"RCPT TO:<a\r@b.test>", 500),
        (b"RCPT TO:<a\t@b.test>", 500),
        ("RCPT TO:<a\u2028b@b.test>".encode(), 500),
        ("RCPT TO:<a\u0085b@b.test>".encode(), 500),
    ],
)
def test_invalid_lines_give_the_rejecting_reply(line: bytes, code: int) -> None:
    reply = parse_command(line)
    assert isinstance(reply, SmtpReply)
    assert reply.code == code


def test_utf8_recipients_need_smtputf8() -> None:
    line = "RCPT TO:<用户@例え.test>".encode()
    assert parse_command(line, smtputf8=True) == Rcpt("用户@例え.test")
    assert parse_command(line) == SmtpReply(553, "5.6.7", "Address needs SMTPUTF8")


_LINES = st.one_of(
    st.binary(max_size=300),
    st.builds(
        lambda verb, rest: verb + rest.encode("utf-8", "surrogatepass"),
        st.sampled_from([b"MAIL FROM:<", b"RCPT TO:<", b"MAIL FROM:<a@b.test> ", b"EHLO ", b"DATA", b"RCPT "]),
        st.text(alphabet=st.sampled_from('<>@.:"\\ ab=-_[]\r\n\0\x7fé\u2028SIZE9'), max_size=60),
    ),
)


@settings(max_examples=400)
@given(_LINES, st.booleans())
@example(b"RCPT TO:<" + b"a." * 200, False)
@example(b"RCPT TO:<a@" + b"a-" * 200 + b"!>", False)
@example(b'RCPT TO:<"' + b"\\\\" * 300, False)
def test_any_input_gives_a_command_or_a_reply(line: bytes, smtputf8: bool) -> None:
    command = parse_command(line, smtputf8=smtputf8)
    if isinstance(command, SmtpReply):
        assert 500 <= command.code <= 599
    if isinstance(command, Mail | Rcpt):
        assert command.path.isprintable() or not command.path.isascii()
        assert not set(command.path) & set("\r\n\0")
        assert not command.path or command.path == "postmaster" or is_mailbox(command.path, smtputf8=True)


@pytest.mark.parametrize(
    "address",
    [
        "a@b.test>\r\nRCPT TO:<c@d.test",
        "a@b.test> SIZE=1",
        "a",
        "",
        "a@",
        "a@b.test\n",
        "a b@c.test",
        "<a@b.test>",
    ],
)
def test_text_that_could_close_its_brackets_is_not_a_mailbox(address: str) -> None:
    assert not is_mailbox(address, smtputf8=True)
