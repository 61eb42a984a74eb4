"""The login name of a submission session."""

import pytest

from mailkeep.mail.postfix.submission_login import SubmissionLogin, parse_login


@pytest.mark.parametrize(
    "name, address, version",
    [
        ("alice@example.org/17", "alice@example.org", 17),
        ("a/b@example.org/1", "a/b@example.org", 1),
        ("a/1@example.org", "a/1@example.org", None),
        ("alice@example.org", "alice@example.org", None),
        ("alice@example.org/", "alice@example.org/", None),
        ("alice@example.org/-1", "alice@example.org/-1", None),
        ("", "", None),
    ],
)
def test_the_access_version_follows_the_address(name: str, address: str, version: int | None) -> None:
    assert parse_login(name) == SubmissionLogin(address, version)
