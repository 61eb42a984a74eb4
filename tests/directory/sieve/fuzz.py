"""Generated scripts: any text is valid or has errors, at lines that exist; no limit is reached."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

WORDS = (
    "require", "if", "elsif", "else", "keep", "discard", "stop", "redirect", "fileinto", "header", "address", "size",
    "envelope", "exists", "allof", "anyof", "not", "true", "false", ":is", ":contains", ":matches", ":regex", ":over",
    ":comparator", ":flags", ":copy", ":create", "set", "include", "foreverypart", "vacation", "[", "]", "(", ")", "{",
    "}", ",", ";", "text:", "\n.\n", "100K", "99999999999999999999", '"subject"', '"*"', '"${a}"', '"${1}"', "/*", "*/",
    "#", '"fileinto"', '"regex"', '"variables"', '"foreverypart"', '"include"', '"vacation"', "\\", "\U0001f4e7", "ü",
)  # fmt: skip
REQUIRE = 'require ["fileinto", "regex", "variables", "foreverypart", "mime", "vacation", "copy"];\n'
# Complete statements, so that a part of the scripts is valid and runs.
STATEMENTS = (
    "keep;\n", 'fileinto "A/B";\n', 'redirect :copy "a@b.test";\n', 'set "a" "${a}x${1}";\n', "stop;\n", "discard;\n",
    'if header :matches "subject" "*e*" { set "a" "${1}${2}"; }\n', 'if size :over 1K { keep; } else { discard; }\n',
    'if header :regex "from" "(.*)@(.*)" { fileinto "${2}"; }\n', 'vacation :days 2 "away ${a}";\n',
    'foreverypart { if header :mime :type "content-type" "text" { break; } }\n', "# comment ü\n",
    'if allof (exists "to", not address :domain "from" "x.test") { keep; }\n', 'fileinto "\n * discard\n";\n',
)  # fmt: skip

Check = Callable[[str], Awaitable[dict[str, Any]]]
"""Checks or tries a script: the answer of the API."""


async def fuzz(checks: tuple[Check, Check], seed: int, seconds: float) -> str:
    """Generate scripts for some seconds; what was tried. AssertionError with the seed."""
    chance, until = random.Random(seed), time.monotonic() + seconds
    tried = valid = 0
    while time.monotonic() < until:
        if chance.random() < 0.5:
            script = REQUIRE + "".join(chance.choices(STATEMENTS, k=chance.choice((1, 5, 50))))
        else:
            script = chance.choice(("", REQUIRE)) + " ".join(chance.choices(WORDS, k=chance.choice((1, 5, 50, 2000))))
        for answer in await asyncio.gather(*(check(script) for check in checks)):
            lines = [each["line"] for each in answer["errors"] + answer["warnings"]]
            texts = [each["message"] for each in answer["errors"]]
            assert answer["ok"] is (not texts), (seed, script)
            assert all(line is None or 1 <= line <= script.count("\n") + 1 for line in lines), (seed, script, lines)
            assert not any("stopped" in each or "failed: " in each for each in texts), (seed, script, texts)
            valid += answer["ok"]
        tried += 1
    return f"seed {seed}: {tried} scripts checked and tried, {valid} of {2 * tried} answers without errors"
