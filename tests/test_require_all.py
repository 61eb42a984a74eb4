"""MAILKEEP_REQUIRE_ALL=1 turns skips into failures, and changes nothing else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SUITE = """
import pytest

def test_passes(): pass

def test_skips(): pytest.skip("no such server here")

@pytest.mark.skipif(True, reason="not today")
def test_is_marked(): raise AssertionError

@pytest.mark.xfail(strict=True)
def test_is_expected_to_fail(): raise AssertionError
"""
MODULE = "import pytest\npytest.importorskip('no_such_module_at_all')\n"


@pytest.mark.timeout(240)  # a whole run of pytest's own
@pytest.mark.parametrize(
    "require, summary",
    [("0", "1 passed, 3 skipped, 1 xfailed"), ("1", "1 failed, 1 passed, 1 xfailed, 2 errors")],
)
def test_a_skip_fails_where_everything_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require: str, summary: str
):
    # Without our fixtures: loading the whole application takes longer than the run.
    rules = re.sub(
        r"^pytest_plugins = \[.*?^\]$", "", (ROOT / "conftest.py").read_text(), count=1, flags=re.MULTILINE | re.DOTALL
    )
    assert "pytest_plugins" not in rules
    (tmp_path / "conftest.py").write_text(rules)
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "test_module.py").write_text(MODULE)
    monkeypatch.setenv("MAILKEEP_REQUIRE_ALL", require)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytest_here = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:schemathesis", "--rootdir", "."]
    run = subprocess.run(
        [*pytest_here, "--continue-on-collection-errors"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert summary in run.stdout.splitlines()[-1], run.stdout + run.stderr
    assert ("no such server here" in run.stdout) == (require == "1")
