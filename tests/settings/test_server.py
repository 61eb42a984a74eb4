"""The name of this server, without the setting."""

import socket

import pytest

from mailkeep.settings.server import ServerSettings, machine_name


@pytest.mark.parametrize(
    "system, expected",
    [("mail.example.test", "mail.example.test"), ("vm", "vm"), ("my_vm", "localhost"), ("", "localhost")],
)
def test_the_name_is_the_setting_or_the_systems(monkeypatch: pytest.MonkeyPatch, system: str, expected: str):
    monkeypatch.setattr(socket, "getfqdn", lambda: system)
    machine_name.cache_clear()
    try:
        assert ServerSettings().name == expected
        assert ServerSettings(hostname="mx.example.test").name == "mx.example.test"
    finally:
        machine_name.cache_clear()
