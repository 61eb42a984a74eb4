"""`make prove-sieve-fuzz`: generated Sieve scripts for ten minutes (or MAILKEEP_FUZZ_SECONDS)."""

from __future__ import annotations

import asyncio
import os
import random
from typing import Any

import msgspec

from mailkeep.features.directory.sieve import wire
from mailkeep.features.directory.sieve.model import ScriptTestResult
from mailkeep.mail.sieve.checker import Envelope, SieveChecker
from mailkeep.mail.sieve.config import default_settings
from tests.directory.sieve.fuzz import fuzz
from tests.prove.circumstances import circumstances

MESSAGE = b"From: Bob <bob@elsewhere.test>\nTo: alice@example.test\nSubject: Hello\n\nHi.\n"


async def prove(seed: int, seconds: float) -> str:
    """Fuzz both programs; what was tried."""
    checker, settings = SieveChecker(), default_settings()

    async def check(script: str) -> dict[str, Any]:
        return msgspec.to_builtins(wire.to_validation(await checker.check(script.encode(), settings)))

    async def attempt(script: str) -> dict[str, Any]:
        result = await checker.test(script.encode(), MESSAGE, Envelope(), settings)
        return msgspec.to_builtins(wire.to_test(ScriptTestResult(*result)))

    return await fuzz((check, attempt), seed, seconds)


def main() -> None:
    seconds = int(os.environ.get("MAILKEEP_FUZZ_SECONDS", "600"))
    print(circumstances(f"generated Sieve scripts, {seconds} s"), flush=True)
    print(asyncio.run(prove(random.SystemRandom().randrange(1 << 32), seconds)))


if __name__ == "__main__":
    main()
