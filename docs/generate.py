"""Write what is generated from the code: docs/reference/. With --check, refuse where a file is not fresh."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from mailkeep.settings import describe
from mailkeep.settings.tree import SECTIONS

ROOT = Path(__file__).resolve().parent.parent


def settings() -> str:
    lines = [
        "# Settings",
        "",
        "Generated from `mailkeep/settings/tree.py`; change it there. Later sources win: the default,",
        "`mailkeep.toml` in the data directory, the environment (`http.listen` is `MAILKEEP_HTTP__LISTEN`),",
        "options of the command line. In the environment lists are JSON. A setting marked *secret* is masked",
        "wherever it is shown, and may stand in a file: `MAILKEEP_MTA__PASSWORD_FILE=/run/secrets/mta`.",
        "`mailkeep config show --changed` tells what is set on a server, and where.",
    ]
    for section, described in groupby(describe(), lambda setting: setting.key.partition(".")[0]):
        lines += ["", f"## {section}", "", SECTIONS[section].__doc__ or "", ""]
        lines += ["| key | default | what it takes | meaning |", "|---|---|---|---|"]
        for one in described:
            secret = " *Secret.*" if one.secret else ""
            default = json.dumps(one.default, ensure_ascii=False)
            lines.append(f"| `{one.key}` | `{default}` | {one.type} | {one.doc}{secret} |")
    return "\n".join(lines) + "\n"


GENERATED: dict[str, Callable[[], str]] = {"docs/reference/settings.md": settings}


def stale() -> list[str]:
    return [
        name
        for name, make in GENERATED.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text(encoding="utf-8") != make()
    ]


def main() -> int:
    if "--check" in sys.argv[1:]:
        for name in (found := stale()):
            print(f"{name} is not fresh: run `make generate`", file=sys.stderr)
        return 1 if found else 0
    for name, make in GENERATED.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
