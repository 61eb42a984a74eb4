"""Addresses: what is accepted, what it becomes, and that nothing else gets through."""

from __future__ import annotations

import contextlib
import sys
import unicodedata

import pytest
from hypothesis import example, given, strategies as st

from mailkeep.core.address import (
    AddressError,
    fold_local,
    normalize_domain,
    parse_address,
    strip_tag,
    unicode_domain,
)

ASSIGNED = [
    char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) not in ("Cn", "Cs", "Co")
]


@pytest.mark.parametrize(
    "text, name",
    [
        ("example.com", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        ("localhost", "localhost"),
        ("a-b.c--d.example", "a-b.c--d.example"),
        ("r3---sn.example", "r3---sn.example"),
        ("faß.de", "xn--fa-hia.de"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("Bücher.Example", "xn--bcher-kva.example"),
        ("XN--FA-HIA.DE", "xn--fa-hia.de"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ("مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"),
        ("1and1.example", "1and1.example"),
        ("4.example", "4.example"),
        ("a" * 63 + ".example", "a" * 63 + ".example"),
    ],
)
def test_a_domain_becomes_its_lower_case_a_label_form(text: str, name: str) -> None:
    assert normalize_domain(text) == name
    assert normalize_domain(name) == name
    assert normalize_domain(unicode_domain(name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "example.com.",
        ".example.com",
        "a..b",
        "-a.example",
        "a-.example",
        "a_b.example",
        "a b.example",
        "a\tb",
        "example.com\n",
        "example．com",  # full-width dot
        "example。com",  # ideographic full stop
        "exam\u00adple.com",  # soft hyphen
        "\u212aelvin.example",  # KELVIN SIGN
        "ｅxample.com",
        "MÜNCHEN.example",
        "bu\u0308cher.example",  # not NFC
        "\u0301a.example",
        "a\u200db.example",
        "1.2.3.4",
        "[1.2.3.4]",
        "[IPv6:::1]",
        "127.1",
        "0x7f.1",
        "example.0x7f",
        "xn--",
        "xn--a",
        "xn--fass-.de",
        "xn--abc.example",
        "xn--ls8h.example",  # an emoji: IDNA2008 disallows symbols
        "xn--\x80.de",
        "a" * 64 + ".example",
        ".".join(["a" * 49] * 5) + ".abcd",
        "ü" * 60 + ".example",
        "a\x00.example",
        "\ud800.example",
        "a.exa\u202emple",
    ],
)
def test_a_domain_is_never_repaired(text: str) -> None:
    with pytest.raises(AddressError):
        normalize_domain(text)


def test_a_domain_can_be_required_to_have_two_labels() -> None:
    assert normalize_domain("a.b", min_labels=2) == "a.b"
    with pytest.raises(AddressError, match="at least 2"):
        normalize_domain("localhost", min_labels=2)


def test_a_name_of_253_octets_is_the_longest() -> None:
    longest = ".".join(["a" * 49] * 5) + ".abc"
    assert len(longest) == 253
    assert normalize_domain(longest) == longest


@pytest.mark.parametrize(
    "text, local, domain, written",
    [
        ("alice@example.com", "alice", "example.com", "alice@example.com"),
        ("Alice.B+news@EXAMPLE.com", "Alice.B+news", "example.com", "Alice.B+news@example.com"),
        ("!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~", "example.com", None),
        ("a=?b?=@example.com", "a=?b?=", "example.com", None),
        ("alice@faß.de", "alice", "xn--fa-hia.de", "alice@xn--fa-hia.de"),
        ("Jörg@bücher.example", "Jörg", "xn--bcher-kva.example", "Jörg@bücher.example"),
        ("用户@例え.テスト", "用户", "xn--r8jz45g.xn--zckzah", "用户@例え.テスト"),
        ("a" * 64 + "@b.example", "a" * 64, "b.example", None),
        ("ü" * 32 + "@b.example", "ü" * 32, "b.example", None),
        ("postmaster@localhost", "postmaster", "localhost", None),
    ],
)
def test_an_address_keeps_its_local_part_as_written(text: str, local: str, domain: str, written: str | None) -> None:
    address = parse_address(text)
    assert (address.local_part, address.domain) == (local, domain)
    assert address.text == (written or text)
    assert str(address) == address.text
    assert parse_address(address.text) == address
    assert address.smtputf8 is (not local.isascii())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "alice",
        "alice@",
        "@example.com",
        "a@b@example.com",
        "alice@managed.test)x@evil.test",
        "a@evil.test,<b@d.test>",
        "<alice@example.com>",
        "Alice <alice@example.com>",
        "alice(comment)@example.com",
        '"alice"@example.com',
        '"a b"@example.com',
        '"a@evil.test"@example.com',
        "alice@[127.0.0.1]",
        "alice@[IPv6:::1]",
        "alice@127.0.0.1",
        "alice@example.com.",
        ".alice@example.com",
        "alice.@example.com",
        "al..ice@example.com",
        " alice@example.com",
        "alice@example.com ",
        "alice@example.com\n",
        "alice\r\nRCPT TO:<x@evil.test>@example.com",
        "ali ce@example.com",
        "alice\x00@example.com",
        "alice\x7f@example.com",
        "alice\x85@example.com",
        "alice\xa0@example.com",
        "alice\u2028@example.com",
        "alice\u202e@example.com",
        "alice\u200b@example.com",
        "alice\ufeff@example.com",
        "alice\u3164@example.com",
        "alice\u037e@example.com",  # NFC makes a semicolon of it
        "alice\u0378@example.com",  # unassigned
        "alice\ue000@example.com",  # private use
        "alice\ud800@example.com",
        "\u0301alice@example.com",
        "a.\u0301b@example.com",
        "alice＠example.com",
        "alice@exam\u212aple.com",
        "a,b@example.com",
        "a;b@example.com",
        "a:b@example.com",
        "a\\b@example.com",
        "a[b]@example.com",
        "=?utf-8?b?DQpCY2M6IHg=?=@example.com",  # a line break and a Bcc, to who decodes it
        "a.=?utf-8?q?evil=40x.test=3e?=@example.com",
        "jörg=?x?q??=@example.com",
        "a" * 65 + "@b.example",
        "ü" * 33 + "@b.example",
        "a" * 64 + "@" + ".".join(["b" * 47] * 4),
    ],
)
def test_an_address_is_never_repaired(text: str) -> None:
    with pytest.raises(AddressError):
        parse_address(text)


def test_the_domain_of_an_address_can_require_two_labels() -> None:
    with pytest.raises(AddressError, match="at least 2"):
        parse_address("root@localhost", min_labels=2)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Alice", "alice"),
        ("straße", "STRASSE"),
        ("strasse", "stra\u1e9ee"),
        ("J\u00d6RG", "jo\u0308rg"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("\ufb01n", "FIN"),
        ("\u212aelvin", "kelvin"),
    ],
)
def test_local_parts_compare_by_full_case_folding(one: str, other: str) -> None:
    assert fold_local(one) == fold_local(other)
    assert fold_local(fold_local(one)) == fold_local(one)


def test_different_local_parts_stay_different() -> None:
    assert parse_address("alice@example.com").key == "alice@example.com"
    assert parse_address("ALICE@EXAMPLE.COM").key == "alice@example.com"
    keys = {fold_local(text) for text in ("fass", "fas", "f\u0430ss", "\u0131", "i", "i\u0307")}
    assert len(keys) == 6


def test_folding_is_stable_and_adds_no_ascii_specials() -> None:
    for char in ASSIGNED:
        folded = fold_local(char)
        assert fold_local(folded) == folded
        if not char.isascii() and char not in "\u037e\u1fef":
            assert not set(folded) & set('@.,;:<>()[]\\" \r\n')


@pytest.mark.parametrize(
    "local, base",
    [
        ("alice+news", "alice"),
        ("alice+a+b", "alice"),
        ("alice+", "alice"),
        ("alice", None),
        ("+news", None),
        ("a.+news", None),
        ("jörg+x", "jörg"),
    ],
)
def test_a_tag_is_what_follows_the_first_delimiter(local: str, base: str | None) -> None:
    assert strip_tag(local, "+") == base


hostile = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(list('ab.@-+"<>()[]\\,:; \r\n\t\x00xnüß\u0308\u0345\u0301')),
        st.sampled_from(list("\u212a．。\u00ad\u200d\u202e\u2028\u0131\u0130")),
    ),
    max_size=40,
)
words = st.text(st.sampled_from(ASSIGNED), min_size=1, max_size=12)


def normalized(text: str) -> str | None:
    with contextlib.suppress(AddressError):
        return normalize_domain(text)
    return None


@given(st.one_of(hostile, st.from_regex(r"xn--[a-z0-9-]{1,30}\.example", fullmatch=True)))
def test_a_hostile_domain_is_refused_or_canonical(text: str) -> None:
    if name := normalized(text):
        assert name.isascii()
        assert name == name.lower()
        assert len(name) <= 253
        assert normalize_domain(name) == name
        assert normalize_domain(unicode_domain(name)) == name


@given(st.one_of(hostile, st.builds("{}@{}".format, hostile, hostile), words.map("{}@example.com".format)))
@example("\U0001e900@example.com")
def test_a_hostile_address_is_refused_or_round_trips(text: str) -> None:
    try:
        address = parse_address(text)
    except AddressError:
        return
    assert parse_address(address.text) == address
    assert len(address.text.encode()) <= 254
    assert address.text.count("@") == 1
    assert not any(char.isspace() or not char.isprintable() for char in address.text)
    assert address.key == f"{fold_local(fold_local(address.local_part))}@{address.domain}"


@given(words)
def test_folding_is_idempotent(text: str) -> None:
    assert fold_local(fold_local(text)) == fold_local(text)
    assert unicodedata.is_normalized("NFC", fold_local(text))


@given(words)
def test_a_tag_is_cut_alike_before_and_after_folding(text: str) -> None:
    local = f"a{text}+b"
    cut, folded = strip_tag(local, "+"), strip_tag(fold_local(local), "+")
    assert (cut is None) == (folded is None)
    assert cut is None or fold_local(cut) == folded
