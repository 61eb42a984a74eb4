"""`make prove-compose`: the composer's fuzz for an hour (or MAILKEEP_FUZZ_SECONDS), with its seeds and counts."""

from __future__ import annotations

import platform

from mailkeep import __version__
from tests.mail.test_compose_fuzz import SECONDS, SEED, prove


def main() -> None:
    seconds = SECONDS or 3600
    print(f"Mailkeep {__version__}, Python {platform.python_version()}, {seconds} s")
    print(prove(SEED, seconds))


if __name__ == "__main__":
    main()
