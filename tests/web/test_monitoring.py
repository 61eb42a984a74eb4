"""The Grafana dashboard and the alert rules in `deploy/`: promtool accepts them, and what they use exists."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support.monitoring import DASHBOARD, RULES, find_unknown, list_expressions, require_promtool


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [require_promtool(), *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=RULES.parent
    )


def test_the_rules_are_right_and_fire_as_described():
    checked = run("check", "rules", RULES.name)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tested = run("test", "rules", "alerts_test.yml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_expression_of_the_dashboard_is_valid(tmp_path: Path):
    rules = [{"record": f"panel_{n}", "expr": each} for n, each in enumerate(list_expressions())]
    assert len(rules) > 30
    file = tmp_path / "panels.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    checked = run("check", "rules", str(file))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_panels_do_not_overlap():
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"]:
        grid = panel["gridPos"]
        cells = {(grid["x"] + x, grid["y"] + y) for x in range(grid["w"]) for y in range(grid["h"])}
        assert not taken & cells, panel["title"]
        assert grid["x"] + grid["w"] <= 24, panel["title"]
        taken |= cells


def test_what_does_not_exist_is_found():
    metrics = '# TYPE mailkeep_queue_messages gauge\nmailkeep_queue_messages{state="hold"} 1\n'
    used = ['mailkeep_queue_messages{state="hold",instance="mx"}', 'mailkeep_queue_messages{kind="x"} + mailkeep_gone']
    assert find_unknown(metrics, used) == {"mailkeep_queue_messages.kind", "mailkeep_gone"}
