"""Entity tags: the version of an object, and the condition that a change is made to the expected version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mailkeep.core.errors import PreconditionFailed, invalid_field

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"[ \t]*{_TAG}(?:[ \t]*,[ \t]*{_TAG})*[ \t]*")


def entity_tag(changed_at: datetime) -> str:
    """The strong entity tag of an object that was last changed at this time (RFC 9110 §8.8.3)."""
    return f'"{(changed_at - _EPOCH) // timedelta(microseconds=1):x}"'


@dataclass(frozen=True, slots=True)
class IfMatch:
    """The condition of a change (RFC 9110 §13.1.1): the value of the field If-Match, None for any version."""

    expected: str | None = None

    def check(self, changed_at: datetime | None) -> None:
        """PRECONDITION_FAILED unless the object has an expected version; None: it has no version.

        Call it with the object locked, after the checks of the caller's permission. A weak tag never matches.
        """
        self.check_tag(None if changed_at is None else entity_tag(changed_at))

    def check_tag(self, actual: str | None) -> None:
        """`check` for an object whose tag is not that of a time."""
        if self.expected is not None and actual not in re.findall(_TAG, self.expected):
            raise PreconditionFailed(expected=self.expected, actual=actual)


ANY_VERSION = IfMatch()
"""No condition."""


def parse_if_match(value: str | None) -> IfMatch:
    """The condition in a request; INVALID_FIELD if it is neither `*` nor a list of entity tags."""
    if value is None or value.strip() == "*":
        return ANY_VERSION
    if not _TAGS.fullmatch(value):
        raise invalid_field("If-Match", 'must be * or a list of entity tags, such as "61f0a2b3c4d5e"')
    return IfMatch(value.strip())
