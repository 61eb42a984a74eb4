"""The rules of the house that no linter can say; the direction of imports is in pyproject.toml."""

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
# What is more than a feature's seven files, and why.
OTHER_FILES = {
    "mailkeep/features/mailflow/local_delivery/journal.py": "its store is a file, which must outlive the agent",
    "mailkeep/features/mailflow/delivery_status/log_updates.py": "applies log lines to the history; service reads them",
    "mailkeep/features/mailflow/receiving/rejections.py": "records refused recipients, at a limited rate",
    "mailkeep/features/record/messages/content.py": "its store is the file system",
    "mailkeep/features/mailflow/sending/writes.py": "writes the sends of many calls in one statement",
    "mailkeep/features/mailflow/webhooks/delivery_store.py": "the SQL of deliveries; `store` has that of webhooks",
    "mailkeep/features/mailflow/webhooks/signature.py": "a published contract of its own: `listen` signs alike",
}
PRIVATE = {"store", "delivery_store", "wire", "routes", "jobs"}
# The processes hand the routes to the web layer and the jobs to the worker.
ASSEMBLED_BY_RUN = {"routes", "jobs"}
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "base", "misc"}
MAX_LINES = 400
# Names that are still to change; a name that is gone has to leave this list.
UNFINISHED_FUNCTIONS = {
    "mailkeep/web/openapi.py": {"written"},
}
# A function is named with a verb: neither by a participle alone (`_signed`) nor with a preposition (`passed_on`).
PARTICIPLE = re.compile(
    r"_*(?:[a-z]*[^e]ed|asked|begun|done|found|given|gone|held|kept|known|left|lost|made|met|said|seen|sent|shown|taken|told"
    r"|won|written)(?:_(?:back|before|by|for|from|in|into|of|off|on|out|over|to|up|with))?"
)

ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.getenvb", "tomllib"}
# Who may read the environment or TOML, beside the settings, and why.
ENVIRONMENT_READERS = {
    "mailkeep/run/cli/sendmail.py": "runs for accounts that can not read the settings, and imports nothing of ours",
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


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def docstrings(module: ast.Module) -> set[ast.expr]:
    """Strings that stand as a statement of their own: of modules, classes, functions and constants."""
    return {node.value for node in ast.walk(module) if isinstance(node, ast.Expr)}


def uses(path: Path) -> Iterator[tuple[int, str]]:
    """Every dotted name that is used, and every module and name that is imported, with its line."""
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
    odd = [
        named(path)
        for group in FEATURES.glob("[!_]*")
        for feature in group.glob("[!_]*")
        for path in (feature.iterdir() if feature.is_dir() else [feature])
        if path.name != "__pycache__"
        and not (path.suffix == ".py" and path.stem in FILE_WORDS)
        and named(path) not in OTHER_FILES
    ]
    assert odd == []


def test_store_wire_routes_and_jobs_are_private_to_their_feature():
    graph = grimp.build_graph("mailkeep", cache_dir=None)
    trespasses: list[str] = []
    for module in graph.modules:
        parts = module.split(".")
        if parts[:2] != ["mailkeep", "features"] or len(parts) < 5 or parts[4] not in PRIVATE:
            continue
        own = ".".join(parts[:4])
        for importer in graph.find_modules_that_directly_import(module):
            assembled = parts[4] in ASSEMBLED_BY_RUN and importer.startswith("mailkeep.run.")
            if not (importer == own or importer.startswith(f"{own}.") or assembled):
                trespasses.append(f"{importer} imports {module}")
    assert trespasses == []


def test_rules_are_pure():
    """No await, clock, settings, database, HTTP or logging in rules; the parsers of `mail` are pure too."""
    barred = re.compile(r"(?:mailkeep\.(?:db|web|app|settings|run)|psycopg|starlette|structlog|logging|asyncio)\b")
    faults: list[str] = []
    for path in FEATURES.glob("*/*/rules.py"):
        faults += [f"{named(path)}:{line} {name}" for line, name in uses(path) if barred.match(name)]
        faults += [
            f"{named(path)}:{node.lineno} async"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.AsyncFunctionDef | ast.Await)
        ]
    assert faults == []


def test_only_the_settings_read_the_environment_and_toml():
    readers = {
        f"{named(path)}:{line} {name}"
        for path in sources()
        if not named(path).startswith("mailkeep/settings/") and named(path) not in ENVIRONMENT_READERS
        for line, name in uses(path)
        if any(name == read or name.startswith(f"{read}.") for read in ENVIRONMENT)
    }
    assert readers == set()


def test_only_the_clock_tells_the_time():
    tellers = [
        f"{named(path)}:{line} {name}"
        for path in sources()
        if named(path) != "mailkeep/core/clock.py"
        for line, name in uses(path)
        if name in WALL_CLOCK
    ]
    assert tellers == []


def test_no_sql_tells_the_time():
    found: list[str] = []
    for path in sources():
        prose = docstrings(tree(path))
        found += [
            f"{named(path)}:{node.lineno}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in prose
            and SQL_WORD.search(node.value)
            and SQL_CLOCK.search(node.value)
        ]
    for path in sources(pattern="*.sql"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            # The least retention of the audit log: a time as an argument would be the caller's choice.
            bounds_pruning = "clock_timestamp(), newest_row_at(" in line
            if SQL_CLOCK.search(line.partition("--")[0]) and not bounds_pruning:
                found.append(f"{named(path)}:{number}")
    assert found == []


@pytest.mark.parametrize(
    "sql, tells",
    [
        ("SELECT now()", True),
        ("created_at timestamptz DEFAULT CURRENT_TIMESTAMP", True),
        ("WHERE at > clock_timestamp() - interval '1 hour'", True),
        ("SELECT 'today'::date", True),
        ("SELECT known(1), %(now)s", False),
        ("WHERE at > %(current_time_at)s", False),
    ],
)
def test_the_search_for_clocks_in_sql_finds_them(sql: str, tells: bool):
    assert bool(SQL_CLOCK.search(sql)) is tells


def test_no_file_is_longer_than_400_lines():
    long = [
        f"{named(path)}: {count}"
        for path in [*sources(), *sources(ROOT / "docs")]
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    ]
    assert long == []


def test_no_module_has_a_name_that_says_nothing():
    assert [named(path) for path in sources() if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES] == []


def test_every_folder_of_the_package_says_what_it_is():
    """Its docstring is its specification: at least a sentence."""
    folders = {path.parent for path in sources()}
    silent = [
        named(folder)
        for folder in folders
        if not (folder / "__init__.py").is_file() or len(ast.get_docstring(tree(folder / "__init__.py")) or "") < 20
    ]
    assert silent == []


def test_a_class_name_has_one_meaning():
    places: dict[str, list[str]] = {}
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(named(path))
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert shared == {}


def test_no_function_is_named_with_a_participle():
    found = [
        f"{named(path)}:{node.lineno} {node.name}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE.fullmatch(node.name)
        and node.name not in UNFINISHED_FUNCTIONS.get(named(path), set())
    ]
    assert found == []
