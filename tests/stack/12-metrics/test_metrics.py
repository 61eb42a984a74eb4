"""The metrics of a full instance: counted by each process, served by one."""

from __future__ import annotations

import contextlib
import imaplib
import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Mapping

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import service_status
from tests.stack.harness import Stack, eventually
from tests.support.monitoring import find_unknown, list_expressions, require_promtool

DOMAIN = "metrics.test"


def read_metrics(stack: Stack) -> str:
    """The text of `/metrics`."""
    url = json.loads((stack.data_dir / "run.json").read_text())["internal"]
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
        return answer.read().decode()


def counts(stack: Stack) -> dict[str, float]:
    """The counters of mail, by name and labels."""
    lines = read_metrics(stack).splitlines()
    ours = ("mailkeep_messages_accepted_total{", "mailkeep_deliveries_total{")
    wanted = [line for line in lines if line.startswith(ours)]
    return {name: float(count) for name, _, count in (line.rpartition(" ") for line in wanted)}


def risen_to(stack: Stack, before: Mapping[str, float], wanted: Mapping[str, float]) -> None:
    """Wait until the counts have increased by these amounts."""
    with contextlib.suppress(AssertionError):
        eventually(lambda: rise(stack, before) == wanted, 90)
    assert rise(stack, before) == wanted


def rise(stack: Stack, before: Mapping[str, float]) -> dict[str, float]:
    found = counts(stack)
    assert all(found.get(name, 0) >= count for name, count in before.items())
    return {name: count - before.get(name, 0) for name, count in found.items() if count > before.get(name, 0)}


def calm(stack: Stack) -> dict[str, float]:
    """The counters, once no earlier mail is queued and every process has reported."""
    eventually(lambda: not stack.ask("GET", "/queue").data, 90, "an empty queue")
    seen = [counts(stack)]

    def still() -> bool:
        time.sleep(8)
        seen.append(counts(stack))
        return seen[-1] == seen[-2]

    eventually(still, 90, "calm")
    return seen[-1]


def test_sends_and_outcomes_are_counted_once_and_never_fall(alone: Stack) -> None:
    domain = alone.make_domain(DOMAIN)
    alone.make_mailbox(domain, "alice")
    before = calm(alone)
    for to in ("anna@remote.test", "bounce@remote.test", f"alice@{DOMAIN}"):
        assert alone.send(f"shop@{DOMAIN}", to).status == 200
    alone.deliver(f"alice@{DOMAIN}")
    # As in the history: local mail of the API is also inbound, from the system.
    wanted = {
        'mailkeep_messages_accepted_total{direction="outbound",source="api"}': 3,
        'mailkeep_messages_accepted_total{direction="inbound",source="smtp"}': 1,
        'mailkeep_messages_accepted_total{direction="inbound",source="system"}': 1,
        'mailkeep_deliveries_total{direction="outbound",status="delivered"}': 2,
        'mailkeep_deliveries_total{direction="outbound",status="bounced"}': 1,
        'mailkeep_deliveries_total{direction="inbound",status="received"}': 2,
    }
    risen_to(alone, before, wanted)
    for part in service_status.list_services(run_folder(alone.data_dir)):
        if part.name in ("api", "logs", "lmtp") and part.pid:
            os.kill(part.pid, signal.SIGKILL)

    def is_back() -> bool:
        try:
            return alone.ask("GET", "/version").status == 200
        except OSError:
            return False

    eventually(is_back, 90, "the API")
    alone.deliver(f"alice@{DOMAIN}")
    wanted['mailkeep_messages_accepted_total{direction="inbound",source="smtp"}'] = 2
    wanted['mailkeep_deliveries_total{direction="inbound",status="received"}'] = 3
    risen_to(alone, before, wanted)


def test_dashboard_and_alert_rules_use_what_exists(alone: Stack) -> None:
    address = alone.make_mailbox(alone.make_domain("monitoring.test"), "alice")["address"]
    alone.imap(address).logout()
    with pytest.raises(imaplib.IMAP4.error):
        alone.imap(address, "a wrong password")
    webhook = alone.do("POST", "/webhooks", {"url": "https://unknown.invalid/hook", "events": ["mail.sent"]})
    alone.do("POST", f"/webhooks/{webhook['id']}/test")
    assert alone.send("alice@monitoring.test", "anna@remote.test").status == 200
    assert alone.ask("GET", "/domains/unknown").status >= 400  # counted as a refusal
    with contextlib.suppress(AssertionError):
        eventually(lambda: not find_unknown(read_metrics(alone), list_expressions()), 60)
    text = read_metrics(alone)
    assert find_unknown(text, list_expressions()) == set()
    checked = subprocess.run(
        [require_promtool(), "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert checked.returncode == 0, checked.stderr
    wanted = {
        'mailkeep_logins_total{protocol="imap",result="success"}',
        'mailkeep_logins_total{protocol="imap",result="failed"}',
        'mailkeep_component_status{component="mta",status="ok"}',
    }
    samples = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    values = {name: float(value) for name, _, value in samples}
    assert {name for name in wanted if values.get(name, 0) >= 1} == wanted
    assert values["mailkeep_disk_free_bytes"] > 0
