"""The status of aliases: why mail does not arrive, in lists and of a single alias, and what it costs."""

from __future__ import annotations

from typing import Any

from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api

HERE = str(DOMAIN_IDS[EXAMPLE])


async def statuses(api: Api, **query: Any) -> dict[str, tuple[str, str]]:
    rows = (await api.dora.get("/aliases", domain_id=HERE, with_status="true", limit=200, **query)).data
    for row in rows:
        one = (await api.dora.get(f"/aliases/{row['id']}")).data
        assert one["status"] == row["status"]
    return {row["source_local_part"]: (row["status"]["state"], row["status"]["text"]) for row in rows}


async def test_each_reason_has_a_text(api: Api):
    await api.mailbox(f"alice@{EXAMPLE}")
    await api.mailbox(f"asleep@{EXAMPLE}", active=False)
    await api.mailbox(f"binned@{EXAMPLE}", deleted_at=api.clock())
    await api.domain("inactive.test", active=False)
    await api.domain("deaf.test", receiving_enabled=False)
    ghosts = [f"ghost{n}@{EXAMPLE}" for n in range(5)]
    aliases = {
        "fine": [f"alice@{EXAMPLE}", "x@else.test"],
        "half": [f"alice@{EXAMPLE}", f"ghost@{EXAMPLE}"],
        "asleep.alias": [f"asleep@{EXAMPLE}"],
        "binned.alias": [f"Binned@{EXAMPLE}"],
        "inactive": ["x@inactive.test"],
        "deaf": ["x@deaf.test"],
        "circle": [f"circle@{OTHER}"],
        "many": ghosts,
        "alice": ["x@else.test"],
        "postmaster": [f"ghost@{EXAMPLE}"],
    }
    for source, destinations in aliases.items():
        await api.alias(f"{source}@{EXAMPLE}", destinations)
    await api.alias(f"circle@{OTHER}", [f"circle@{EXAMPLE}"])
    await api.alias(f"off@{EXAMPLE}", ["x@else.test"], active=False)
    nobody = "leads nowhere: nobody has this address"
    assert await statuses(api) == {
        "fine": ("ok", ""),
        "half": ("partial", f"Some destinations get no mail: ghost@{EXAMPLE} {nobody}."),
        "asleep.alias": ("nowhere", f"asleep@{EXAMPLE} leads nowhere: the mailbox is inactive."),
        "binned.alias": ("nowhere", f"Binned@{EXAMPLE} leads nowhere: the mailbox is in the trash."),
        "inactive": ("nowhere", "x@inactive.test leads nowhere: its domain is inactive."),
        "deaf": ("nowhere", "x@deaf.test leads nowhere: its domain does not receive mail."),
        "circle": ("nowhere", f"circle@{OTHER} leads back to itself."),
        "many": (
            "nowhere",
            "; ".join(f"{each} {nobody}" for each in ghosts[:3]) + ", and 2 more.",
        ),
        "alice": ("unused", "Not used: a mailbox has this address and gets its mail."),
        "postmaster": ("nowhere", f"ghost@{EXAMPLE} {nobody}."),
        "off": ("inactive", "Inactive: mail is routed as if the alias did not exist."),
    }
    assert (await api.dora.get("/aliases", domain_id=HERE)).data[0]["status"] is None
    # Search, by address and destination.
    assert set(await statuses(api, q="ALICE@")) == {"fine", "half", "alice"}
    for change, state in (
        ({"active": False}, "domain_inactive"),
        ({"active": True, "receiving_enabled": False}, "receiving_disabled"),
    ):
        await api.sue.patch(f"/domains/{HERE}", change)
        assert (await statuses(api))["fine"][0] == state


async def test_details_of_other_tenants_are_not_shown(api: Api):
    await api.alias(f"team@{EXAMPLE}", [f"list@{OTHER}"])
    await api.alias(f"list@{OTHER}", [f"secret@{OTHER}"])
    assert await statuses(api) == {"team": ("nowhere", f"list@{OTHER} leads nowhere: nobody has this address.")}
    # What only part of another tenant's list misses is not shown, neither by explain; what a sender learns at RCPT is.
    await api.mailbox(f"olga@{OTHER}")
    await api.mailbox(f"asleep@{OTHER}", active=False)
    await api.domain("inactive.test", active=False)
    dead_ends = [f"asleep@{OTHER}", "x@inactive.test", f"ghost@{OTHER}"]
    cases = {
        "mixed": [f"olga@{OTHER}", *dead_ends],
        "external": ["x@else.test", *dead_ends],
        "retried": [*dead_ends],
        "asleep": dead_ends[:1],
    }
    for name, destinations in cases.items():
        await api.alias(f"{name}.list@{OTHER}", destinations)
        await api.alias(f"{name}@{EXAMPLE}", [f"{name}.list@{OTHER}"])
    await api.alias(f"direct@{EXAMPLE}", [f"asleep@{OTHER}"])
    dead_ends.remove("x@inactive.test")
    forwarding = {"forward_destinations": dead_ends, "forward_keys": dead_ends, "forward_keep_copy": False}
    await api.mailbox(f"forwarding@{OTHER}", **forwarding)
    await api.alias(f"forwarded@{EXAMPLE}", [f"forwarding@{OTHER}"])
    shown = await statuses(api)
    assert {name: shown[name] for name in shown if name != "team"} == {
        "mixed": ("ok", ""),
        "external": ("ok", ""),
        "retried": ("nowhere", f"retried.list@{OTHER} leads nowhere: its domain is inactive."),
        "asleep": ("nowhere", f"asleep.list@{OTHER} leads nowhere: nobody has this address."),
        "direct": ("nowhere", f"asleep@{OTHER} leads nowhere: the mailbox is inactive."),
        "forwarded": ("ok", ""),
    }
    for name in ("mixed", "external", "retried", "asleep", "direct", "forwarded"):
        own = (await api.dora.get("/routing/explain", address=f"{name}@{EXAMPLE}")).data
        full = (await api.sue.get("/routing/explain", address=f"{name}@{EXAMPLE}")).data
        assert own["decision"] == full["decision"]
        assert own["warnings"] == ([] if shown[name][0] == "ok" else [shown[name][1].rstrip(".")])


async def test_too_many_destinations_have_a_status(api: Api):
    await api.alias(f"all@{EXAMPLE}", [f"x{n}@else.test" for n in range(101)])
    state, text = (await statuses(api))["all"]
    assert (state, "at most 100 are allowed" in text) == ("nowhere", True)


async def test_a_list_of_very_many_destinations_ends_early(api: Api):
    destinations = [f"ghost{n}@{EXAMPLE}" for n in range(1000)]
    for n in range(8):
        await api.alias(f"s{n}@{EXAMPLE}", destinations)
    rows = (await api.dora.get("/aliases", domain_id=HERE, with_status="true")).data
    states = [row["status"] and row["status"]["state"] for row in rows]
    assert states == ["nowhere"] * 5 + [None] * 3
