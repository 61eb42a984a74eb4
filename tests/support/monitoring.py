"""The metrics that the Grafana dashboard and the alert rules in `deploy/` use."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES, DASHBOARD = DEPLOY / "prometheus/alerts.yml", DEPLOY / "grafana/mailkeep.json"
_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
_METRIC = re.compile(r"\b(mailkeep_\w+)(?:\{([^}]*)\})?")
_SCRAPED = {"instance", "job"}  # the labels that Prometheus adds


def require_promtool() -> str:
    """The path of promtool; skip the test without it."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (apt install prometheus)")
    return found


def list_expressions() -> list[str]:
    """The expressions of the dashboard and the rules, with values for Grafana's variables."""
    text = DASHBOARD.read_text("utf-8").replace("$__rate_interval", "5m").replace("$instance", "mx")
    panels = cast(list[dict[str, Any]], json.loads(text)["panels"])
    shown = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return shown + [rule["expr"] for group in groups for rule in group["rules"]]


def find_unknown(metrics: str, expressions: Iterable[str]) -> set[str]:
    """What the expressions use and the text of `/metrics` does not have: names, and labels of series."""
    labels = defaultdict[str, set[str]](set)
    for family in text_string_to_metric_families(metrics):
        for suffix in _SUFFIXES.get(family.type, ("",)):
            labels[family.name + suffix].update(*(sample.labels for sample in family.samples))
    return {use for expression in expressions for use in _uses(expression) if not _is_known(use, labels)}


def _uses(expression: str) -> Iterator[str]:
    for name, given in _METRIC.findall(expression):
        yield name
        yield from (f"{name}.{label}" for label in re.findall(r"(\w+)\s*(?:=|!)", given) if label not in _SCRAPED)


def _is_known(use: str, labels: dict[str, set[str]]) -> bool:
    name, _, label = use.partition(".")
    return name in labels and (not label or label in labels[name])
