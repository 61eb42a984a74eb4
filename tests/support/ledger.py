"""The ledger: what clients asked for and were told, weighed against what is there after healing.

Each effect that a client asks for carries a token of its own. Before asking it notes `invoke`; then `ok`, `fail` (the
server said for certain that nothing happened) or `info` (cut off, timed out, an answer that leaves it open). A token
that was `info` stays doubtful whatever a later try with the same token is told, for its first try may have worked.

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
class Balance:
    """What does not add up; all empty when everything does."""

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
    """Of one kind of effect; threads may write to it. `asked` counts the tries to which each token was put."""

    what: str
    asked: Counter[str] = field(default_factory=Counter[str])
    keyed: set[str] = field(default_factory=set[str])
    succeeded: set[str] = field(default_factory=set[str])
    failed: set[str] = field(default_factory=set[str])
    doubtful: set[str] = field(default_factory=set[str])
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def invoke(self, token: str, *, keyed: bool = False) -> None:
        """The client is about to ask; `keyed` says that an Idempotency-Key goes along."""
        with self._lock:
            self.asked[token] += 1
            if keyed:
                self.keyed.add(token)

    def ok(self, token: str) -> None:
        """It was told that it is done."""
        with self._lock:
            self.succeeded.add(token)
            self.failed.discard(token)

    def fail(self, token: str) -> None:
        """It was told for certain that nothing happened. Of an earlier doubtful try that says something only with
        a key.
        """
        with self._lock:
            if token not in self.doubtful or token in self.keyed:
                self.failed.add(token)

    def info(self, token: str) -> None:
        """Nobody told it what became of it."""
        with self._lock:
            self.doubtful.add(token)
            self.failed.discard(token)

    def weigh(self, received: Iterable[str]) -> Balance:
        """Against the tokens that are there, as often as they are there."""
        there = Counter(received)
        may_double = self.doubtful - self.keyed
        return Balance(
            self.what,
            lost=self.succeeded - there.keys(),
            unexpected=there.keys() - self.asked.keys(),
            phantom=self.failed & there.keys(),
            duplicated={token for token, times in there.items() if times > 1 and token not in may_double},
        )

    @property
    def open(self) -> set[str]:
        """Tokens whose last word is still to come."""
        return set(self.asked) - self.succeeded - self.failed - self.doubtful

    def __str__(self) -> str:
        tries = sum(self.asked.values())
        return (
            f"{self.what}: {len(self.asked)} asked for in {tries} tries ({len(self.keyed)} with a key), "
            f"{len(self.succeeded)} ok, {len(self.failed)} fail, {len(self.doubtful)} doubtful at some time"
        )


def compare(what: str, effects: Iterable[str], records: Iterable[str]) -> Balance:
    """Of each effect exactly one record, and of nothing else."""
    there, told = set(effects), Counter(records)
    return Balance(
        what,
        lost=there - told.keys(),
        unexpected=told.keys() - there,
        duplicated={name for name, times in told.items() if times > 1},
    )
