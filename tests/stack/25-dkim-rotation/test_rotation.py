"""DKIM keys are rotated while mail leaves: nothing is unsigned, and every signature verifies when it arrives."""

from __future__ import annotations

import pytest

from tests.stack.harness import Stack
from tests.stack.rotating import Rotating, set_rotation


@pytest.mark.timeout(600)
def test_every_message_verifies_through_a_rotation(stack: Stack) -> None:
    if stack.names is None:
        pytest.skip("without the DNS server of the tests")
    rotating = Rotating(stack, "rotated.test")
    rotating.set_up()
    first = {key["selector"] for key in rotating.list_keys()}
    set_rotation(stack, 1)
    try:
        with rotating.load():
            rotating.rotate()
    finally:
        set_rotation(stack, 0)
    assert not rotating.wrong
    assert not rotating.refused
    assert set(rotating.verified.values()) == {2}
    assert len(rotating.verified) == len(rotating.sent) > 30
    # Both pairs of keys have signed, and each replaced key is retired.
    assert first < rotating.selectors
    assert len(rotating.selectors) == 4
    assert {key["stage"] for key in rotating.list_keys()} == {"active", "retired"}
