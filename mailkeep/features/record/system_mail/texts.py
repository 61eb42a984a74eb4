"""The texts of all mail that Mailkeep itself writes."""

from __future__ import annotations

from mailkeep.features.record.system_mail.model import SystemMail, SystemMailItem, SystemMailText

_SUBJECTS = {
    "settings_changed": "Settings of {host} were changed",
    "admin_changed": "Administrators of {host} were changed",
}
_FIRST_LINES = {
    "settings_changed": "Settings that decide who has access, or what the server connects to, were changed on {host}.",
    "admin_changed": "Accounts of administrators were changed on {host}.",
}
_ADVICE = {
    "settings_changed": (
        "If you do not expect this, look at the audit log and the history of the settings, and roll the settings back."
    ),
    "admin_changed": (
        "If you do not expect this, look at the audit log, and change the passwords of the accounts that it names."
    ),
}
_ACCOUNT_CHANGES = {
    "created": "The account {email} was created with the role {role}.",
    "role": "The role of the account {email} was changed from {old_role} to {role}.",
    "email": "The email of the account {old_email} was changed to {email}.",
    "password": "The account {email} got a new password.",
    "deleted": "The account {email} with the role {role} was deleted.",
}


def write(mail: SystemMail, host: str) -> SystemMailText:
    """The text of a mail of the server with this host name."""
    lines = [_FIRST_LINES[mail.kind].format(host=host)]
    for item in mail.items:
        what = _settings_lines(item) if mail.kind == "settings_changed" else _account_lines(item)
        lines += ["", *what, f"At {item['at']}, by {_actor(item)}."]
    if (more := mail.item_count - len(mail.items)) > 0:
        changes = "change is" if more == 1 else "changes are"
        lines += ["", f"{more} more {changes} not listed here. The audit log has all of them."]
    lines += [
        "",
        _ADVICE[mail.kind],
        "",
        "--",
        f"This mail was written by the mail server {host} and sent to all its super administrators.",
    ]
    return SystemMailText(_SUBJECTS[mail.kind].format(host=host), "\n".join(lines) + "\n")


def _settings_lines(item: SystemMailItem) -> list[str]:
    action = {
        "update": "Changed settings:",
        "rollback": "Settings changed by a rollback:",
        "restore": "Settings restored because an apply did not succeed:",
    }
    return [action[item["action"]], *(f"  {key}" for key in item["settings"])]


def _account_lines(item: SystemMailItem) -> list[str]:
    return [_ACCOUNT_CHANGES[change].format(**item) for change in item["changes"]]


def _actor(item: SystemMailItem) -> str:
    label, address = item["actor"], item["ip_address"]
    text = {
        "session": f"{label}",
        "api_key": f"an API key (ID {item['key_id']})",
        "cli": "the command line of the server",
    }.get(item["actor_type"], f"the server ({label})")
    return f"{text}, from the address {address}" if address else text
