"""Rewritten senders (SRS): restored for three weeks, and not forgeable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.secret import Vault
from mailkeep.mail.message.srs import DAYS, SrsRewriter

US = SrsRewriter("mx.example.com", Vault(b"k" * 32))
AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def rewritten(address: str, at: datetime = AT) -> str:
    made = US.rewrite(address, at)
    assert made is not None
    return made


@pytest.mark.parametrize(
    "address, ending",
    [
        ("someone@far.test", "=far.test=someone@mx.example.com"),
        ("Some.One+tag=x@Far.test", "=Far.test=Some.One+tag=x@mx.example.com"),
        ("jörg@bücher.test", "=bücher.test=jörg@mx.example.com"),
        ("SRS0=abcd=xy=far.test=someone@fwd.test", "=fwd.test==abcd=xy=far.test=someone@mx.example.com"),
        ("srs0+abcd=xy=far.test=someone@fwd.test", "=fwd.test=+abcd=xy=far.test=someone@mx.example.com"),
        ("SRS1=efgh=fwd.test==abcd=xy=far.test=a@next.test", "=fwd.test==abcd=xy=far.test=a@mx.example.com"),
        ("SRS0odd@far.test", "=far.test=SRS0odd@mx.example.com"),
    ],
)
def test_a_sender_is_rewritten(address: str, ending: str) -> None:
    made = rewritten(address)
    assert made.endswith(ending)
    assert made.startswith("SRS1=" if address.upper().startswith(("SRS0=", "SRS0+", "SRS1=")) else "SRS0=")


@pytest.mark.parametrize(
    "address", ["someone@far.test", "Some.One+tag=x@far.test", "a=b=c@far.test", "SRS0odd@far.test"]
)
def test_an_address_in_lower_case_is_restored_too(address: str) -> None:
    made = rewritten(address)
    assert US.restore(made, AT) == address
    assert US.restore(made.lower(), AT) == address.lower()
    assert US.restore(made.upper(), AT) == address.upper()


def test_a_chain_leads_back_to_the_first_server() -> None:
    one = SrsRewriter("one.test", Vault(b"1" * 32))
    two = SrsRewriter("two.test", Vault(b"2" * 32))
    first = one.rewrite("someone@far.test", AT)
    assert first
    second = two.rewrite(first, AT)
    assert second
    third = rewritten(second)
    assert US.restore(third, AT) == two.restore(second, AT) == first
    assert one.restore(first, AT) == "someone@far.test"


@pytest.mark.parametrize(
    "address",
    ["", "postmaster", "@far.test", "someone@", "someone@mx.example.com", "SRS0=x@MX.Example.com", '"a b"@far.test',
     "a b@far.test", "a@[192.0.2.1]", "a@b@far.test", "a@fa=r.test", "x" * 230 + "@far.test"],
)  # fmt: skip
def test_our_own_and_unrepresentable_senders_are_not_rewritten(address: str) -> None:
    assert US.rewrite(address, AT) is None


def test_a_rewritten_address_is_valid_for_three_weeks() -> None:
    made = rewritten("someone@far.test")
    assert US.restore(made, AT + timedelta(days=DAYS)) == "someone@far.test"
    assert US.restore(made, AT + timedelta(days=DAYS + 1)) is None
    assert US.restore(made, AT - timedelta(days=1)) is None
    assert US.restore(made) == "someone@far.test"


@pytest.mark.parametrize("place", [5, 8, 12, 15, 20])
def test_a_changed_letter_is_rejected(place: int) -> None:
    made = rewritten("someone@far.test")
    other = "b" if made[place] != "b" else "c"
    assert US.restore(made[:place] + other + made[place + 1 :], AT) is None


@pytest.mark.parametrize(
    "odd", ["SRS0=abcdef=ſa=far.test=a", "SRS0=\u212aabcde=aa=far.test=a", "ſRS0=abcdef=aa=far.test=a"]
)
def test_letters_that_look_like_our_digits_are_rejected(odd: str) -> None:
    assert US.restore(f"{odd}@mx.example.com", AT) is None


def test_an_address_of_another_installation_is_rejected() -> None:
    other = SrsRewriter("mx.example.com", Vault(b"o" * 32)).rewrite("someone@far.test", AT)
    assert other
    assert US.restore(other, AT) is None


@given(
    st.one_of(
        st.text(max_size=80),
        st.from_regex(r"\A(?i:srs)[01][-+=].{6}=.{2}=[^=]*=.*\Z"),
        st.text("SRSsrſ01=+-aK2Kab", max_size=40),
    ),
    st.sampled_from(["mx.example.com", "far.test", ""]),
)
def test_any_address_is_handled(local: str, domain: str) -> None:
    address = f"{local}@{domain}"
    made = US.rewrite(address, AT)
    assert made is None or US.restore(made, AT) is not None
    assert US.restore(address, AT) is None
