"""A ledger of requests and their results, compared with the effects found after recovery.

Each requested effect has a unique token. The client records `invoke` before the request, and `ok`, `fail` (the response
excludes an effect) or `info` (connection lost, timeout, inconclusive response) after it. A token with `info` stays
doubtful whatever the result of a later attempt, because the first one may have succeeded.

    lost       = ok − received
    unexpected = received − invoked
    phantom    = received ∩ fail
    duplicated = received more than once, unless doubtful and requested without an Idempotency-Key

`compare` checks records that follow from effects (events, audit entries, history): one for each effect.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Discrepancies:
    """Differences between a ledger and the effects found; all empty if there are none."""

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
        differences = {name: sorted(getattr(self, name)) for name in names if getattr(self, name)}
        summary = (f"{name} {len(tokens)}: {', '.join(tokens[:5])}" for name, tokens in differences.items())
        return f"{self.what}: {'; '.join(summary) or 'empty'}"


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
        """The server confirmed the effect."""
        with self._lock:
            self.succeeded.add(token)
            self.failed.discard(token)

    def fail(self, token: str) -> None:
        """The response excludes an effect. After a doubtful attempt this counts only with an Idempotency-Key."""
        with self._lock:
            if token not in self.doubtful or token in self.keyed:
                self.failed.add(token)

    def info(self, token: str) -> None:
        """The result is unknown."""
        with self._lock:
            self.doubtful.add(token)
            self.failed.discard(token)

    def compare_with(self, received: Iterable[str]) -> Discrepancies:
        """Compare with the tokens of the effects found, with repetitions."""
        found = Counter(received)
        may_be_duplicated = self.doubtful - self.keyed
        return Discrepancies(
            self.what,
            lost=self.succeeded - found.keys(),
            unexpected=found.keys() - self.attempts.keys(),
            phantom=self.failed & found.keys(),
            duplicated={token for token, times in found.items() if times > 1 and token not in may_be_duplicated},
        )

    @property
    def open(self) -> set[str]:
        """Tokens without a result yet."""
        return set(self.attempts) - self.succeeded - self.failed - self.doubtful

    def __str__(self) -> str:
        attempts = sum(self.attempts.values())
        return (
            f"{self.what}: {len(self.attempts)} requested in {attempts} attempts ({len(self.keyed)} with a key), "
            f"{len(self.succeeded)} ok, {len(self.failed)} fail, {len(self.doubtful)} doubtful"
        )


def compare(what: str, effects: Iterable[str], records: Iterable[str]) -> Discrepancies:
    """Each effect must have exactly one record, and each record an effect."""
    found, counts = set(effects), Counter(records)
    return Discrepancies(
        what,
        lost=found - counts.keys(),
        unexpected=counts.keys() - found,
        duplicated={name for name, times in counts.items() if times > 1},
    )
