"""Rules of the project that linters can't check. The import contracts are in pyproject.toml."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mailkeep"
FEATURES = PACKAGE / "features"
FILE_WORDS = {"__init__", "model", "rules", "store", "service", "wire", "routes", "jobs"}
# Files beyond a feature's seven, and why.
OTHER_FILES = {
    "mailkeep/features/directory/dns_checks/examine.py": "asks name servers; `rules` judges what they answered",
    "mailkeep/features/directory/mailbox_usage/folders.py": "asks for folders; service and jobs have the reports",
    "mailkeep/features/mailflow/incidents/actions.py": "carries out and undoes single actions; service orders them",
    "mailkeep/features/mailflow/local_delivery/journal.py": "its store is a file, which must outlive the agent",
    "mailkeep/features/mailflow/delivery_status/log_updates.py": "applies log lines to the history; service reads them",
    "mailkeep/features/mailflow/receiving/filters.py": "decides about copies for the built-in listener",
    "mailkeep/features/mailflow/receiving/rejections.py": "records refused recipients, at a limited rate",
    "mailkeep/features/operations/backups/engine.py": "performs the operations; jobs claims and supervises them",
    "mailkeep/features/operations/backups/policy.py": "retention and times; rules has what callers may ask for",
    "mailkeep/features/operations/backups/source_store.py": "the SQL about the database that is copied",
    "mailkeep/features/operations/backups/verification.py": "compares a restored backup; restores use its parts",
    "mailkeep/features/operations/orchestrator/plan_json.py": "its JSON is part of the configuration's too",
    "mailkeep/features/record/history/mailbox_store.py": "the SQL of mail for mailboxes; `store` has that of all lists",
    "mailkeep/features/record/messages/content.py": "its store is the file system",
    "mailkeep/features/record/system_mail/texts.py": "all texts of the server's own mail, apart from its rules",
    "mailkeep/features/mailflow/sending/recipients.py": "suppressed recipients, envelope sender, unsubscribe link",
    "mailkeep/features/mailflow/sending/writes.py": "writes the sends of many calls in one statement",
    "mailkeep/features/mailflow/sending/recovery.py": "answers repeated calls after a crash",
    "mailkeep/features/mailflow/sending/schedule.py": "stores what is not sent at once",
    "mailkeep/features/mailflow/sending/stored_request.py": "the format of what is stored until then",
    "mailkeep/features/mailflow/sending/submission.py": "submits, and waits for a restart of Postfix",
    "mailkeep/features/mailflow/webhooks/delivery_store.py": "the SQL of deliveries; `store` has that of webhooks",
    "mailkeep/features/mailflow/webhooks/signature.py": "a published contract of its own: `listen` signs alike",
}
PRIVATE = {"store", "delivery_store", "mailbox_store", "source_store", "wire", "routes", "jobs"}
# The processes hand the routes to the web layer and the jobs to the worker.
ASSEMBLED_BY_RUN = {"routes", "jobs"}
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "base", "misc"}
MAX_LINES = 400
# A function name is a verb, not a participle, alone (`_signed`) or with a preposition (`passed_on`).
PARTICIPLE = re.compile(
    r"_*(?:[a-z]*[^e]ed|asked|begun|done|found|given|gone|held|kept|known|left|lost|made|met|said|seen|sent|shown"
    r"|t(?:aken|old)|won|written)(?:_(?:back|before|by|for|from|in|into|of|off|on|out|over|to|up|with))?"
)

ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.getenvb", "tomllib"}
# Files that may read the environment or TOML, besides the settings, and why.
ENVIRONMENT_READERS = {
    "mailkeep/run/cli/sendmail.py": "runs for accounts that can not read the settings; standard library only",
}

WALL_CLOCK = {
    "datetime.now", "datetime.utcnow", "datetime.today", "datetime.datetime.now", "datetime.datetime.utcnow",
    "date.today", "datetime.date.today", "time.time", "time.time_ns", "time.gmtime", "time.localtime",
}  # fmt: skip
SQL_CLOCK = re.compile(
    r"\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)"
    r"|\b(?:current_(?:timestamp|date|time)|localtime(?:stamp)?)\b"
    r"|'(?:now|today|yesterday|tomorrow)'",
    re.IGNORECASE,
)
SQL_WORD = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|RETURNING|DEFAULT|WHERE)\b")


def sources(folder: Path = PACKAGE, pattern: str = "*.py") -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if "__pycache__" not in path.parts)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def docstrings(module: ast.Module) -> set[ast.expr]:
    """The docstrings of modules, classes, functions and constants."""
    return {node.value for node in ast.walk(module) if isinstance(node, ast.Expr)}


def uses(path: Path) -> Iterator[tuple[int, str]]:
    """All dotted names and imports, with their lines."""
    for node in ast.walk(tree(path)):
        match node:
            case ast.Attribute():
                yield node.lineno, ast.unparse(node)
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield node.lineno, module or ""
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case _:
                pass


def test_a_feature_has_only_the_seven_files():
    others = [
        relative(path)
        for group in FEATURES.glob("[!_]*")
        for feature in group.glob("[!_]*")
        for path in (feature.iterdir() if feature.is_dir() else [feature])
        if path.name != "__pycache__"
        and not (path.suffix == ".py" and path.stem in FILE_WORDS)
        and relative(path) not in OTHER_FILES
    ]
    assert others == []


def test_store_wire_routes_and_jobs_are_private_to_their_feature():
    graph = grimp.build_graph("mailkeep", cache_dir=None)
    violations: list[str] = []
    for module in graph.modules:
        parts = module.split(".")
        if parts[:2] != ["mailkeep", "features"] or len(parts) < 5 or parts[4] not in PRIVATE:
            continue
        own = ".".join(parts[:4])
        for importer in graph.find_modules_that_directly_import(module):
            assembled = parts[4] in ASSEMBLED_BY_RUN and importer.startswith("mailkeep.run.")
            if not (importer == own or importer.startswith(f"{own}.") or assembled):
                violations.append(f"{importer} imports {module}")
    assert violations == []


def test_rules_are_pure():
    """No await, clock, settings, database, HTTP or logging in rules; the parsers of `mail` are pure too."""
    forbidden = re.compile(r"(?:mailkeep\.(?:db|web|app|run)|psycopg|starlette|structlog|logging|asyncio)\b")
    settings = re.compile(r"mailkeep\.settings\b")
    violations: list[str] = []
    for path in FEATURES.glob("*/*/rules.py"):
        violations += [f"{relative(path)}:{line} {name}" for line, name in uses(path) if forbidden.match(name)]
        if path.parent.name not in ("settings_revisions", "configuration"):  # whose subject is the declared settings
            violations += [f"{relative(path)}:{line} {name}" for line, name in uses(path) if settings.match(name)]
        violations += [
            f"{relative(path)}:{node.lineno} async"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.AsyncFunctionDef | ast.Await)
        ]
    assert violations == []


def test_only_the_settings_read_the_environment_and_toml():
    readers = {
        f"{relative(path)}:{line} {name}"
        for path in sources()
        if not relative(path).startswith("mailkeep/settings/") and relative(path) not in ENVIRONMENT_READERS
        for line, name in uses(path)
        if any(name == read or name.startswith(f"{read}.") for read in ENVIRONMENT)
    }
    assert readers == set()


def test_only_the_clock_module_reads_the_clock():
    violations = [
        f"{relative(path)}:{line} {name}"
        for path in sources()
        if relative(path) != "mailkeep/core/clock.py"
        for line, name in uses(path)
        if name in WALL_CLOCK
    ]
    assert violations == []


def test_no_sql_reads_the_clock():
    found: list[str] = []
    for path in sources():
        prose = docstrings(tree(path))
        found += [
            f"{relative(path)}:{node.lineno}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in prose
            and SQL_WORD.search(node.value)
            and SQL_CLOCK.search(node.value)
        ]
    for path in sources(pattern="*.sql"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            # The minimum retention of the audit log must not depend on a time from the caller, and daemons pass none.
            is_allowed = "clock_timestamp(), newest_row_at(" in line or "FUNCTION mta_time()" in line
            if SQL_CLOCK.search(line.partition("--")[0]) and not is_allowed:
                found.append(f"{relative(path)}:{number}")
    assert found == []


@pytest.mark.parametrize(
    "sql, reads_clock",
    [
        ("SELECT now()", True),
        ("created_at timestamptz DEFAULT CURRENT_TIMESTAMP", True),
        ("WHERE at > clock_timestamp() - interval '1 hour'", True),
        ("SELECT 'today'::date", True),
        ("SELECT known(1), %(now)s", False),
        ("WHERE at > %(current_time_at)s", False),
    ],
)
def test_the_search_for_clocks_in_sql_finds_them(sql: str, reads_clock: bool):
    assert bool(SQL_CLOCK.search(sql)) is reads_clock


def test_no_file_is_longer_than_400_lines():
    long = [
        f"{relative(path)}: {count}"
        for path in [*sources(), *sources(ROOT / "docs")]
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    ]
    assert long == []


def test_no_module_has_a_vague_name():
    assert [relative(path) for path in sources() if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES] == []


def test_every_package_has_a_docstring():
    """It is the package's specification: at least a sentence."""
    folders = {path.parent for path in sources()}
    silent = [
        relative(folder)
        for folder in folders
        if not (folder / "__init__.py").is_file() or len(ast.get_docstring(tree(folder / "__init__.py")) or "") < 20
    ]
    assert silent == []


def test_a_class_name_has_one_meaning():
    files_by_name: dict[str, list[str]] = {}
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                files_by_name.setdefault(node.name, []).append(relative(path))
    shared = {name: files for name, files in files_by_name.items() if len(files) > 1}
    assert shared == {}


def test_no_function_is_named_with_a_participle():
    found = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and PARTICIPLE.fullmatch(node.name)
    ]
    assert found == []
