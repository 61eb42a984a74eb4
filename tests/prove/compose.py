"""`make prove-compose`: the composer's fuzz for an hour (or MAILKEEP_FUZZ_SECONDS), with its seeds and counts."""

from __future__ import annotations

from tests.mail.message.test_compose_fuzz import SECONDS, SEED, prove
from tests.prove.circumstances import circumstances


def main() -> None:
    seconds = SECONDS or 3600
    print(circumstances(f"the composer's fuzz, {seconds} s"), flush=True)
    print(prove(SEED, seconds))


if __name__ == "__main__":
    main()
