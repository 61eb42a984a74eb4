"""What a proof checks, printed line by line; it fails in the end if one of them does."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Checks:
    """The checks of a proof."""

    passed: int = 0
    failed: list[str] = field(default_factory=list[str])

    def check(self, what: str, good: bool, details: str = "") -> bool:
        """Print a check with its outcome."""
        print(f"  {'ok  ' if good else 'FAIL'}  {what}{': ' if details else ''}{details}", flush=True)
        if good:
            self.passed += 1
        else:
            self.failed.append(what)
        return good

    def fail(self, what: str) -> None:
        """Print what is wrong."""
        self.check(what, good=False)
