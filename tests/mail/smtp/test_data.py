"""Message content between DATA and the final dot, in chunks of any size."""

import itertools

import pytest
from hypothesis import given, settings, strategies as st

from mailkeep.mail.smtp.data import BareNewline, DataFault, DataReader, DotStuffer


def reader(size_limit: int = 10_000, *, header_line: int = 1000, drain: int = 20_000) -> DataReader:
    return DataReader(size_limit, header_line_limit=header_line, drain_limit=drain)


def read(pieces: list[bytes], reading: DataReader) -> bytes:
    content = b""
    for piece in pieces:
        if reading.is_complete or reading.fault in (DataFault.BARE_NEWLINE, DataFault.ENDLESS):
            reading.following_data += piece
        else:
            content += reading.feed(piece)
    return content


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


@pytest.mark.parametrize(
    "sent,content,rest",
    [
        (b".\r\n", b"", b""),
        (b"\r\n.\r\n", b"\r\n", b""),
        (b"a\r\n.\r\nQUIT\r\n", b"a\r\n", b"QUIT\r\n"),
        (b"..\r\n.\r\n", b".\r\n", b""),
        (b".a\r\n.\r\n", b"a\r\n", b""),
        (b"a\r\n..\r\n..b\r\n.\r\n", b"a\r\n.\r\n.b\r\n", b""),
        (b"a\r\n\0.\r\nb\r\n.\r\n", b"a\r\n\0.\r\nb\r\n", b""),
        (b"a.\r\n.\r\n", b"a.\r\n", b""),
        (b"...\r\n.\r\n", b"..\r\n", b""),
    ],
)
def test_content_does_not_depend_on_the_chunks(sent: bytes, content: bytes, rest: bytes) -> None:
    for step in range(1, len(sent) + 1):
        reading = reader()
        pieces = [sent[start : start + step] for start in range(0, len(sent), step)]
        assert read(pieces, reading) == content
        assert (reading.is_complete, reading.fault, reading.following_data) == (True, None, rest)
        assert reading.size == len(content)


@pytest.mark.parametrize(
    "sent",
    [
        b"a\nb",
        b"a\rb",
        b"\n.\n",
        b"\r.\r",
        b"a\r\n.\nb",
        b"a\n.\r\nb",
        b"a\r\n.\rb",
        b"a\r.\r\n",
        b"a\r\n.\r\r\n",
    ],
)
def test_a_bare_cr_or_lf_is_a_fault_however_it_is_cut(sent: bytes) -> None:
    for step in range(1, len(sent) + 1):
        reading = reader()
        pieces = [sent[start : start + step] for start in range(0, len(sent), step)]
        read([*pieces, b"x\r\n.\r\n"], reading)
        assert reading.fault is DataFault.BARE_NEWLINE


def test_content_over_the_limit_is_read_to_its_end_and_discarded() -> None:
    reading = reader(10)
    assert read([b"12345678\r\n"], reading) == b"12345678"
    assert read([b"9"], reading) == b""
    assert reading.fault is DataFault.TOO_LARGE
    assert read([b"more\r\n.\r\nNOOP\r\n"], reading) == b""
    assert (reading.is_complete, reading.following_data) == (True, b"NOOP\r\n")


def test_content_of_exactly_the_limit_is_accepted() -> None:
    reading = reader(10)
    assert read([b"12345678\r\n.\r\n"], reading) == b"12345678\r\n"
    assert reading.fault is None


def test_endless_content_is_an_error() -> None:
    reading = reader(10, drain=100)
    read([b"x" * 50, b"y" * 60], reading)
    assert reading.fault is DataFault.ENDLESS


@pytest.mark.parametrize(
    "sent,fault",
    [
        (b"Subject: " + b"x" * 991 + b"\r\n\r\nbody\r\n.\r\n", None),
        (b"Subject: " + b"x" * 992 + b"\r\n\r\nbody\r\n.\r\n", DataFault.HEADER_LINE_TOO_LONG),
        (b"A: b\r\n" + b"x" * 1001, DataFault.HEADER_LINE_TOO_LONG),
        (b"A: b\r\n\r\n" + b"x" * 5000 + b"\r\n.\r\n", None),
        (b"\r\n" + b"x" * 5000 + b"\r\n.\r\n", None),
    ],
)
def test_long_lines_are_an_error_in_the_header_only(sent: bytes, fault: DataFault | None) -> None:
    for step in (1, 7, 1000, 100_000):
        reading = reader()
        read([sent[start : start + step] for start in range(0, len(sent), step)], reading)
        assert reading.fault is fault


_TEXT = st.lists(st.sampled_from([b".", b"\r\n", b"a", b"\0", b" ", b"\xff", b"long text"]), max_size=40).map(b"".join)
_CUTS = st.lists(st.integers(0, 500), max_size=6)


@settings(max_examples=300)
@given(_TEXT, _CUTS, _CUTS)
def test_dot_stuffed_content_is_read_back_byte_for_byte(content: bytes, cuts: list[int], other_cuts: list[int]) -> None:
    content += b"\r\n"
    stuffer = DotStuffer()
    wire = b"".join(stuffer.feed(piece) for piece in split(content, cuts))
    stuffer.finish()
    reading = reader()
    assert read(split(wire + b".\r\nQUIT\r\n", other_cuts), reading) == content
    assert (reading.is_complete, reading.fault, reading.following_data) == (True, None, b"QUIT\r\n")


_ANY = st.lists(st.sampled_from([b".", b"\r", b"\n", b"\r\n", b"\r\n.\r\n", b"a"]), max_size=30).map(b"".join)


@settings(max_examples=300)
@given(_ANY, _CUTS)
def test_only_crlf_dot_crlf_ends_content_without_bare_newlines(sent: bytes, cuts: list[int]) -> None:
    reading = reader()
    read(split(sent, cuts), reading)
    if reading.is_complete and reading.fault is None:
        before = (b"\r\n" + sent).split(b"\r\n.\r\n", 1)[0]
        assert not set(before.replace(b"\r\n", b"")) & set(b"\r\n")


@pytest.mark.parametrize("pieces", [[b"a\nb"], [b"a\rb"], [b"a\r", b"b"], [b"a", b"\n"], [b"a\r"]])
def test_bare_newlines_are_never_sent(pieces: list[bytes]) -> None:
    def send() -> None:
        stuffer = DotStuffer()
        for piece in pieces:
            stuffer.feed(piece)
        stuffer.finish()

    with pytest.raises(BareNewline):
        send()
