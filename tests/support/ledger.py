"""A ledger of requests and their results, compared with the effects found after recovery.

Each effect that a client asks for carries a token of its own. Before asking it notes `invoke`; then `ok`, `fail` (the
server said for certain that nothing happened) or `info` (cut off, timed out, an answer that leaves it open). A token
that was `info` stays doubtful whatever a later attempt gets, because the first one may have worked.

    lost       = ok − received
    unexpected = received − invoked
    phantom    = received ∩ fail
    duplicated = received more than once, unless doubtful and asked for without an Idempotency-Key

Records that follow from effects (events, audit rows, history) are weighed by `compare`: one for each effect.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Discrepancies:
    """Differences between a ledger and what was found; all empty without any."""

    what: str
    lost: Collection[str] = ()
    unexpected: Collection[str] = ()
    phantom: Collection[str] = ()
    duplicated: Collection[str] = ()

    @property
    def empty(self) -> bool:
        return not (self.lost or self.unexpected or self.phantom or self.duplicated)

    def __str__(self) -> str:
        names = ("lost", "unexpected", "phantom", "duplicated")
        wrong = {name: sorted(getattr(self, name)) for name in names if getattr(self, name)}
        shown = (f"{name} {len(tokens)}: {', '.join(tokens[:5])}" for name, tokens in wrong.items())
        return f"{self.what}: {'; '.join(shown) or 'empty'}"


@dataclass
class Ledger:
    """Requests for one kind of effect; thread-safe. `attempts` counts the attempts of each token."""

    what: str
    attempts: Counter[str] = field(default_factory=Counter[str])
    keyed: set[str] = field(default_factory=set[str])
    succeeded: set[str] = field(default_factory=set[str])
    failed: set[str] = field(default_factory=set[str])
    doubtful: set[str] = field(default_factory=set[str])
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def invoke(self, token: str, *, keyed: bool = False) -> None:
        """Call it before each request; `keyed`: with an Idempotency-Key."""
        with self._lock:
            self.attempts[token] += 1
            if keyed:
                self.keyed.add(token)

    def ok(self, token: str) -> None:
        """The server confirmed it."""
        with self._lock:
            self.succeeded.add(token)
            self.failed.discard(token)

    def fail(self, token: str) -> None:
        """The server said for certain that nothing happened. After a doubtful attempt this counts only with a key."""
        with self._lock:
            if token not in self.doubtful or token in self.keyed:
                self.failed.add(token)

    def info(self, token: str) -> None:
        """The result is unknown."""
        with self._lock:
            self.doubtful.add(token)
            self.failed.discard(token)

    def compare_with(self, received: Iterable[str]) -> Discrepancies:
        """Compare with the tokens found, as often as they were found."""
        there = Counter(received)
        may_double = self.doubtful - self.keyed
        return Discrepancies(
            self.what,
            lost=self.succeeded - there.keys(),
            unexpected=there.keys() - self.attempts.keys(),
            phantom=self.failed & there.keys(),
            duplicated={token for token, times in there.items() if times > 1 and token not in may_double},
        )

    @property
    def open(self) -> set[str]:
        """Tokens without a result yet."""
        return set(self.attempts) - self.succeeded - self.failed - self.doubtful

    def __str__(self) -> str:
        tries = sum(self.attempts.values())
        return (
            f"{self.what}: {len(self.attempts)} asked for in {tries} tries ({len(self.keyed)} with a key), "
            f"{len(self.succeeded)} ok, {len(self.failed)} fail, {len(self.doubtful)} doubtful at some time"
        )


def compare(what: str, effects: Iterable[str], records: Iterable[str]) -> Discrepancies:
    """Each effect must have exactly one record, and each record an effect."""
    there, counts = set(effects), Counter(records)
    return Discrepancies(
        what,
        lost=there - counts.keys(),
        unexpected=counts.keys() - there,
        duplicated={name for name, times in counts.items() if times > 1},
    )
