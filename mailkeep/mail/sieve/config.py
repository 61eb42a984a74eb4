"""The configuration of Pigeonhole's programs, with the extensions and limits of the running Dovecot."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from mailkeep.mail.daemons.actions import list_parameters
from mailkeep.mail.daemons.render import TEMPLATES

MAX_SCRIPT_BYTES = 256 << 10
MAX_SCRIPTS = 32
"""Scripts of a mailbox. The template of dovecot.conf has the same limits, for ManageSieve."""

SieveSettings = Mapping[str, str]
"""Plugin settings by name. See `read_settings`."""

# What of the running Dovecot decides whether a script is valid, and what it does. Everything else has no effect in a
# check, or would give a script more than its owner may use.
_SHARED = (
    "sieve_extensions", "sieve_max_script_size", "sieve_max_actions", "sieve_max_redirects", "sieve_max_cpu_time",
    "sieve_vacation_min_period", "sieve_vacation_max_period", "sieve_vacation_default_period",
    "sieve_duplicate_default_period", "sieve_duplicate_max_period",
)  # fmt: skip

# It has no mail, connects to nothing and includes nothing. Dovecot expands % in values.
_TEMPLATE = """\
base_dir = /nonexistent
state_dir = /nonexistent
protocols =
log_path = /dev/stderr
ssl = no
stats_writer_socket_path =
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:/nonexistent
plugin {
  sieve = file:~/sieve;active=~/sieve.active
  sieve_plugins =
"""


def read_settings(dovecot_conf: str) -> dict[str, str]:
    """The settings in dovecot.conf that a check of scripts needs. Of several values, the last one holds."""
    values = list_parameters("dovecot", dovecot_conf)
    return {name: values[f"plugin/{name}"][-1].strip() for name in _SHARED if f"plugin/{name}" in values}


@cache
def default_settings() -> SieveSettings:
    """Those of the template of dovecot.conf, without an administrator's own lines."""
    return read_settings((TEMPLATES / "dovecot" / "dovecot.conf").read_text("utf-8"))


def render(settings: SieveSettings) -> bytes:
    """A dovecot.conf for Pigeonhole's programs."""
    lines = [f"  {name} = {value}\n" for name, value in settings.items() if "\n" not in value]
    return f"{_TEMPLATE}{''.join(lines)}}}\n".encode()
