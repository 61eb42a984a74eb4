"""Rejects retired words in names, texts and documents, so that they do not return (`make check`).

    python docs/check_words.py [PATH ...]

Prints each line that has one, with the standard term, and exits with 1. Identifiers are split at underscores and at
capital letters. Ordinary words with a second, standard meaning (MIME parts, the pace of a retry) are not listed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Retired word or phrase (a regular expression, words separated by one space), and what to write instead.
RETIRED = {
    "fates?": "delivery outcome, delivery status",
    "tall(?:y|ies|ying|ied)": "counters, metrics",
    "told": "published, reported, event",
    "deeds?": "audit action",
    "nurser(?:y|ies)": "prefork server, process pool",
    "toolbox": "context",
    "ground": "context",
    "passers?": "forwarding domain",
    "lanes?": "key, job kind",
    "bell": "wakeup",
    "at its turn": "in order",
    "turns at": "bounded queue, concurrency limit",
    "dear": "expensive",
    "born": "started, forked",
    "lately": "recently",
    "anew": "again",
    "mend(?:s|ed|ing)?": "fix, repair",
    "stumbled?": "failed",
    "passing troubles?": "transient errors",
    "still at it": "still running",
    "may not be reached": "is not allowed",
    "not one to call": "is not allowed",
    "whose it is": "owner",
    "with care": "danger zone",
    "as the dns writes it": "ASCII (Punycode) name",
    "is like that": "matches",
    "where mail goes": "routing",
    "lets? go of": "release, delete",
    "puts? off": "defer",
    "handed in|hands? in|handing in": "submitted, submit",
    "put aside": "stored",
    "of late": "recently",
    "so many": "a number of, at most N",
    "comes? to rest": "ends",
    "taken apart|takes? apart|taking apart": "parsed, parse",
    "no more of it": "nothing further",
    "hurts?": "harm, exhaust",
}
# The contract's own words, generated files, the history of decisions, and measurements.
EXEMPT = (
    "docs/check_words.py", "docs/decisions/", "docs/proofs/", "docs/reference/", "requirements/", "LICENSE",
    "dashboard/package-lock.json", "dashboard/src/api/__generated__/", "tests/oidc_provider/package-lock.json",
)  # fmt: skip
TEXT = {".py", ".sql", ".ts", ".tsx", ".css", ".html", ".js", ".md", ".toml", ".sh", ".cf", ".conf", ".map", ""}
WORDS = re.compile(r"(?<![a-z])(?:" + "|".join(RETIRED) + r")(?![a-z])")
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+|-")


def main(paths: list[str]) -> int:
    """The exit code: 1 where a file has a retired word."""
    found = [line for path in _files(paths) for line in _retired(path)]
    print("\n".join(found) if found else "No retired words.")
    return 1 if found else 0


def _files(paths: list[str]) -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *paths], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    ).stdout.splitlines()
    for name in listed:
        path = ROOT / name
        if path.suffix in TEXT and not name.startswith(EXEMPT) and path.is_file():
            yield path


def _retired(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        for match in WORDS.finditer(HUMPS.sub(" ", line).lower()):
            word = next(term for term in RETIRED if re.fullmatch(term, match[0]))
            yield f"{path.relative_to(ROOT)}:{number}: {match[0]!r}: write {RETIRED[word]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
