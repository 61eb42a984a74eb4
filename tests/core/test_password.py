import pytest

from mailkeep.core.errors import WeakPassword
from mailkeep.core.password import check_password, prepare_password


@pytest.mark.parametrize(
    "password, reason",
    [
        ("", "too_short"),
        ("1234567", "too_short"),
        ("e\u0301" * 7, "too_short"),  # seven characters once composed
        ("x" * 257, "too_long"),
        ("password", "common"),
        ("PassWord", "common"),
        ("qwertyuiop", "common"),
        ("sue@example.test", "email"),
        ("SUE@Example.Test", "email"),
    ],
)
def test_a_weak_password_is_refused_with_its_reason(password: str, reason: str):
    with pytest.raises(WeakPassword) as refused:
        check_password(password, "sue@example.test")
    assert refused.value.details == {"reason": reason}


@pytest.mark.parametrize(
    "password", ["8 chars!", "x" * 256, "paßwörter", "correct horse battery staple", "密码密码密码密码"]
)
def test_length_and_rarity_are_all_that_is_asked(password: str):
    assert check_password(password, "sue@example.test") == password


def test_two_ways_to_type_a_character_are_one_password():
    assert prepare_password("cafe\u0301 au lait") == prepare_password("caf\u00e9 au lait")
