"""Which addresses are of this machine, as `server.addresses` needs."""

from __future__ import annotations

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.runtime.configuration import parse_local_networks, require_addresses
from mailkeep.settings import Settings
from mailkeep.settings.edge import EdgeSettings
from mailkeep.settings.server import ServerSettings

TABLE = """\
Main:
  +-- 0.0.0.0/0 3 0 4
     |-- 192.0.2.0
        /24 link UNICAST
Local:
  +-- 0.0.0.0/0 3 0 4
     +-- 127.0.0.0/8 2 0 2
        +-- 127.0.0.0/31 1 0 0
           |-- 127.0.0.0
              /32 link BROADCAST
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     |-- 192.0.2.7
        /32 host LOCAL
"""


def test_networks_that_are_local_as_a_whole_count() -> None:
    assert [str(each) for each in parse_local_networks(TABLE)] == ["127.0.0.0/8", "127.0.0.1/32", "192.0.2.7/32"]


def with_addresses(*addresses: str) -> Settings:
    return Settings(server=ServerSettings(addresses=addresses), edge=EdgeSettings(enabled=True, listen=addresses))


def test_all_of_lo_is_accepted_and_other_addresses_are_not() -> None:
    require_addresses(with_addresses("127.0.0.1", "127.55.66.77"))
    with pytest.raises(Failure, match=r"no interface of this machine has 192\.0\.2\.200"):
        require_addresses(with_addresses("127.0.0.1", "192.0.2.200"))
