"""Rules for all tests: with MAILKEEP_REQUIRE_ALL=1, as in CI, skipping is a failure.

A test that can't run here (no second database server) skips and says what is missing. Where everything must be
there, such a skip would hide a hole in the set-up, so it is turned into a failure. What only root can do (run as
several accounts: marked `root`) is no hole for others: it is deselected, and counted as that.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest
import structlog

pytest_plugins = [
    "tests.plugins.api",
    "tests.plugins.browser",
    "tests.plugins.ending",
    "tests.plugins.memory",
    "tests.plugins.post",
    "tests.plugins.running",
    "tests.plugins.stack",
]

REQUIRE_ALL = "MAILKEEP_REQUIRE_ALL"


def pytest_configure() -> None:
    """What the product's parts log within a test is plain: with every frame's variables a traceback takes longer than
    most tests.
    """
    *others, _ = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*others, plain])
    # The time of an example depends on the load of the machine, which may pause for seconds.
    hypothesis.settings.register_profile(
        "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("unhurried")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need root when running without it."""
    if os.geteuid() == 0:
        return
    roots = [item for item in items if item.get_closest_marker("root")]
    if roots:
        config.hook.pytest_deselected(items=roots)
        items[:] = [item for item in items if item not in roots]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get(REQUIRE_ALL) == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, but {REQUIRE_ALL}=1: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.skipped and os.environ.get(REQUIRE_ALL) == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, but {REQUIRE_ALL}=1: {_reason(report.longrepr)}"
    return report


def _reason(longrepr: Any) -> str:
    """The reason for the skip: the last of pytest's triple (path, line, reason)."""
    match longrepr:
        case (_, _, str(reason)):
            return reason
        case _:
            return str(longrepr)
