"""Against the test vectors of RFC 4226 (appendix D) and RFC 6238 (appendix B, SHA-1)."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, strategies as st

from mailkeep.core import totp

SECRET = b"12345678901234567890"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNTED = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]


@pytest.mark.parametrize("counter, code", list(enumerate(COUNTED)))
def test_codes_by_counter(counter: int, code: str):
    assert totp.hotp(SECRET, counter) == code


@pytest.mark.parametrize(
    "seconds, step, code",
    [
        (59, 0x1, "94287082"),
        (1111111109, 0x23523EC, "07081804"),
        (1111111111, 0x23523ED, "14050471"),
        (1234567890, 0x273EF07, "89005924"),
        (2000000000, 0x3F940AA, "69279037"),
        (20000000000, 0x27BC86AA, "65353130"),
    ],
)
def test_codes_by_time(seconds: int, step: int, code: str):
    at = datetime.fromtimestamp(seconds, UTC)
    assert totp.step_of(at) == step
    assert totp.hotp(SECRET, step, 8) == code
    assert totp.match(SECRET, code[2:], at) == step


@pytest.mark.parametrize("drift, matched", [(-2, None), (-1, -1), (0, 0), (1, 1), (2, None)])
def test_a_code_matches_its_own_step_and_one_either_way(drift: int, matched: int | None):
    now = totp.step_of(NOW)
    found = totp.match(SECRET, totp.hotp(SECRET, now + drift), NOW)
    assert found == (None if matched is None else now + matched)


def test_a_step_lasts_30_seconds():
    assert totp.step_of(NOW + timedelta(seconds=29, microseconds=999_999)) == totp.step_of(NOW)
    assert totp.step_of(NOW + timedelta(seconds=30)) == totp.step_of(NOW) + 1


CODE = totp.hotp(SECRET, totp.step_of(NOW))


@pytest.mark.parametrize(
    "text",
    [
        "",
        CODE[:5],
        f"{CODE}0",
        f"{CODE}\n",
        f" {CODE}",
        f"{CODE[:3]} {CODE[3:]}",
        "".join(chr(0xFF10 + int(d)) for d in CODE),
    ],
)
def test_what_is_not_six_digits_is_no_code(text: str):
    assert totp.match(SECRET, CODE, NOW) is not None
    assert totp.match(SECRET, text, NOW) is None


@given(st.text(), st.binary(min_size=20, max_size=20))
def test_no_text_makes_it_fail(text: str, secret: bytes):
    codes = {totp.hotp(secret, totp.step_of(NOW) + drift) for drift in (-1, 0, 1)}
    assert (totp.match(secret, text, NOW) is not None) == (text in codes)


def test_secrets_are_random_and_have_160_bits():
    made = {totp.new_secret() for _ in range(100)}
    assert len(made) == 100
    assert {len(secret) for secret in made} == {20}


def test_the_provisioning_uri_is_what_authenticators_read():
    uri = totp.provisioning_uri(SECRET, "sue+x@example.test", "Mailkeep")
    assert uri == (
        "otpauth://totp/Mailkeep:sue%2Bx%40example.test?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Mailkeep"
        "&algorithm=SHA1&digits=6&period=30"
    )
    odd = urlsplit(totp.provisioning_uri(SECRET, "straße&a=b@example.test", "A & B: C"))
    assert (odd.scheme, odd.netloc) == ("otpauth", "totp")
    assert parse_qs(odd.query)["issuer"] == ["A & B: C"]
    assert odd.path == "/A%20%26%20B%3A%20C:stra%C3%9Fe%26a%3Db%40example.test"
