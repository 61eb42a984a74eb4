"""The login name of a submission session."""

import pytest

from mailkeep.mail.postfix.submission_login import SubmissionLogin, parse_login


@pytest.mark.parametrize(
    "name, address, access",
    [
        ("alice@example.org/17", "alice@example.org", "17"),
        ("alice@example.org/17/23", "alice@example.org", "17/23"),
        ("a/b@example.org/1", "a/b@example.org", "1"),
        ("a/1@example.org", "a/1@example.org", ""),
        ("alice@example.org", "alice@example.org", ""),
        ("alice@example.org/", "alice@example.org/", ""),
        ("alice@example.org/17/", "alice@example.org/17/", ""),
        ("alice@example.org/1/2/3", "alice@example.org/1/2/3", ""),
        ("alice@example.org/-1", "alice@example.org/-1", ""),
        ("", "", ""),
    ],
)
def test_the_access_follows_the_address(name: str, address: str, access: str) -> None:
    assert parse_login(name) == SubmissionLogin(address, access)
