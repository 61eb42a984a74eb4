"""Dovecot's listing of sessions. The real one is in tests/stack/03-submission."""

import os

import pytest

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.mail.dovecot.sessions import parse_sessions

HEAD = b"username\tproto\tpid\tip\n"


def test_a_process_of_another_program_is_not_a_session() -> None:
    # This process runs Python: a process ID in the listing may have been reused.
    assert parse_sessions(HEAD + f"a@ex.test\timap\t{os.getpid()}\t192.0.2.1\n".encode(), utc_now()) == []
    assert parse_sessions(HEAD + b"a@ex.test\timap\t-1\t\na@ex.test\n", utc_now()) == []


@pytest.mark.parametrize("output", [b"", b"doveadm: something else\n", b"username\tproto\n"])
def test_unexpected_output_is_a_failure(output: bytes) -> None:
    with pytest.raises(Failure):
        parse_sessions(output, utc_now())
