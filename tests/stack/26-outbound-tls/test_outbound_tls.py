"""TLS to other servers: DANE against a signed zone with a trust anchor of its own, MTA-STS, and both together.

The instance starts with neither; the settings are applied while it runs, so that the private resolver starts then.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import trustme

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.harness import Stack, eventually, free_address
from tests.stack.tls_peers import TlsPeer
from tests.support.policy_host import PolicyHost
from tests.support.scratch import new_directory
from tests.support.signed_zone import SignedZone, require_knot

WRONG = f"3 1 1 {'ab' * 32}"
SENDER = "orders@shop.example"


@dataclass
class World:
    """The instance, the signed zone, the host of policies and an external mail server."""

    stack: Stack
    zone: SignedZone
    policies: PolicyHost
    peer: TlsPeer

    def publish(self, domain: str, *records: str) -> None:
        """Publish a domain whose mail goes to the peer as `mx.DOMAIN`; `mta-sts.DOMAIN` is the host of policies."""
        hosts = ("@ MX 10 mx", f"mx A {self.peer.address}", f"mta-sts A {self.policies.address}")
        self.zone.publish(domain, *hosts, *records)

    def send(self, domain: str) -> str:
        """Send a message to an address of a domain; its ID."""
        return self.stack.send(SENDER, f"you@{domain}").data["id"]

    def status(self, message: str, status: str) -> dict[str, Any]:
        """The recipient of a message, once it has this status."""

        def look() -> dict[str, Any] | None:
            (found,) = self.stack.do("GET", f"/messages/{message}")["recipients"]
            assert found["status"] in (status, "accepted", "queued", "deferred"), found
            return found if found["status"] == status else None

        return eventually(look, 90, f"the status {status}")

    def arrived(self, domain: str) -> list[bool]:
        """For each message that the peer accepted for the domain, whether it came by TLS."""
        with self.peer.lock:
            return [with_tls for recipient, with_tls in self.peer.taken if recipient.endswith(f"@{domain}")]

    def log(self) -> str:
        return (self.stack.data_dir / "log" / "mail.log").read_text()

    def change(self, **changes: Any) -> dict[str, Any]:
        """Change settings, and return the plan."""
        named = {key.replace("__", "."): value for key, value in changes.items()}
        self.stack.do("PATCH", "/config", {"changes": named})
        return self.stack.do("GET", "/orchestrator/plan")

    def apply(self, plan: dict[str, Any], state: str = "succeeded") -> str:
        """Apply a plan, which ends in this state; edited files are overwritten. Returns the error."""
        overwritten = [f"{file['service']}/{file['path']}" for file in plan["files"] if file["change"] == "drifted"]
        body = {"plan_id": plan["id"], "watch_seconds": 5, "overwrite_drift": overwritten}
        operation_id = self.stack.do("POST", "/orchestrator/apply", body)["operation_id"]

        def finished() -> dict[str, Any] | None:
            operation = self.stack.do("GET", f"/orchestrator/operations/{operation_id}")
            return operation if operation["state"] != "running" else None

        operation = eventually(finished, 120, "the apply")
        assert operation["state"] == state, operation
        return str(operation["error"])

    def act(self, service: str, action: str) -> None:
        """Start or stop a service."""
        operation_id = self.stack.do("POST", f"/orchestrator/services/{service}/{action}")["operation_id"]
        eventually(lambda: self.stack.do("GET", f"/orchestrator/operations/{operation_id}")["state"] == "succeeded")

    def services(self) -> dict[str, str]:
        """The state of each service by its name."""
        found = self.stack.do("GET", "/orchestrator")
        return {each["name"]: each["state"] for each in found["services"]}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    harness.require_full_profile()
    require_knot()
    folder = new_directory("mailkeep-tls-", 0o755, programs=True)
    authority = trustme.CA()
    with contextlib.ExitStack() as running:
        running.callback(shutil.rmtree, folder, ignore_errors=True)
        zone = running.enter_context(SignedZone(folder / "signed-zone", free_address(53)))
        names = [f"mta-sts.{name}.example" for name in ("sts", "both", "down")]
        policies = running.enter_context(PolicyHost(folder, free_address(443), names, authority))
        policies.ca_file.chmod(0o644)
        peer = TlsPeer(authority, free_address(25))
        peer.use_certificate("mx.elsewhere.example")
        running.callback(peer.start().stop)
        data = folder / "data"
        for part, name, text in (
            ("overlays/postfix", "main.cf", f"smtp_tls_CAfile = {policies.ca_file}\n"),
            ("unbound", "root.key", zone.trust_anchor()),
        ):
            (data / part).mkdir(parents=True)
            (data / part / name).write_text(text)
        running.callback(harness.stop, folder)
        harness.start(
            folder,
            OUTBOUND__TLS="may",
            OUTBOUND__GIVE_UP_HOURS="1",
            OUTBOUND__EXTRA_CA_FILE=str(policies.ca_file),
            OUTBOUND__MTA_STS_NETWORKS=json.dumps(["127.0.0.0/8"]),
            DNS__SERVERS=json.dumps([zone.address]),
        )
        stack = Stack(folder)
        stack.make_domain("shop.example")
        yield World(stack, zone, policies, peer)


@pytest.fixture(scope="module")
def protected(world: World) -> World:
    """The world with DANE, MTA-STS and the private resolver."""
    assert "unbound" not in world.services()
    refused = world.change(outbound__dane=True)
    (check,) = [each for each in refused["checks"] if each["service"] == "dane"]
    assert not check["ok"]
    assert "does not validate DNSSEC" in check["output"]
    plan = world.change(outbound__dane=True, outbound__mta_sts=True, dns__resolver="unbound")
    assert all(each["ok"] for each in plan["checks"]), plan["checks"]
    world.apply(plan)
    assert world.services()["unbound"] == "running"
    return world


def test_dane_stops_delivery_until_the_tlsa_record_is_right(protected: World) -> None:
    protected.publish("dane.example", f"_25._tcp.mx TLSA {WRONG}")
    right = protected.peer.use_certificate("mx.elsewhere.example")  # DANE-EE ignores names (RFC 7672 §3.1.1)
    message = protected.send("dane.example")
    assert "certificate not verified" in protected.status(message, "deferred")["diagnostic"]
    assert protected.arrived("dane.example") == []
    protected.publish("dane.example", f"_25._tcp.mx TLSA {right}")
    protected.status(message, "delivered")
    assert protected.arrived("dane.example") == [True]
    assert "Verified TLS connection established to mx.dane.example" in protected.log()


def test_an_enforced_policy_stops_delivery_until_the_certificate_is_right(protected: World) -> None:
    protected.peer.use_certificate("mx.elsewhere.example")
    protected.policies.serve("sts.example", policy("sts.example"))
    protected.publish("sts.example", '_mta-sts TXT "v=STSv1; id=1"')
    message = protected.send("sts.example")
    assert "certificate not verified" in protected.status(message, "deferred")["diagnostic"]
    assert protected.arrived("sts.example") == []
    protected.peer.use_certificate("mx.sts.example")
    protected.status(message, "delivered")
    assert protected.arrived("sts.example") == [True]
    assert "Verified TLS connection established to mx.sts.example" in protected.log()


def test_dane_takes_precedence_over_a_policy(protected: World) -> None:
    right = protected.peer.use_certificate("mx.both.example")  # the policy is fulfilled
    protected.policies.serve("both.example", policy("both.example"))
    protected.publish("both.example", '_mta-sts TXT "v=STSv1; id=1"', f"_25._tcp.mx TLSA {WRONG}")
    message = protected.send("both.example")
    assert "certificate not verified" in protected.status(message, "deferred")["diagnostic"]
    assert "mta-sts.both.example" not in protected.policies.requests
    protected.publish("both.example", '_mta-sts TXT "v=STSv1; id=1"', f"_25._tcp.mx TLSA {right}")
    protected.status(message, "delivered")
    assert protected.arrived("both.example") == [True]


def test_mail_waits_while_the_table_of_policies_does_not_answer(protected: World) -> None:
    protected.publish("down.example")
    protected.act("policy", "stop")
    message = protected.send("down.example")
    waiting = protected.status(message, "deferred")
    assert "client TLS configuration problem" in waiting["diagnostic"]
    protected.act("policy", "start")
    protected.status(message, "delivered")
    # Neither TLSA records nor a policy: TLS if it is offered, with any certificate.
    assert protected.arrived("down.example") == [True]


def test_the_private_resolver_stops_with_its_setting_and_one_that_can_not_start_changes_nothing(
    protected: World,
) -> None:
    protected.apply(protected.change(outbound__dane=False, dns__resolver="system"))
    assert "unbound" not in protected.services()
    assert protected.stack.ask("POST", "/orchestrator/services/unbound/start").status == 404
    assert "smtp_tls_security_level = may" in (protected.stack.data_dir / "postfix/conf/main.cf").read_text()

    data = protected.stack.data_dir
    address = InstancePaths(data, run_folder(data)).own_address
    with socket.socket() as taken:
        taken.bind((address, 53))
        taken.listen()
        error = protected.apply(protected.change(dns__resolver="unbound"), "rolled_back")
    assert "unbound did not start" in error
    assert "unbound" not in protected.services()
    assert not list((data / "unbound" / "conf").iterdir())


def policy(domain: str) -> str:
    return f"version: STSv1\nmode: enforce\nmx: mx.{domain}\nmax_age: 86400\n"
