"""Incidents: what an administrator does at once about a mailbox, an API key or another administrator's account.

One call names the subject and the actions. They are carried out in the order of the table, each in a transaction of
its own with its audit entry, so that one that fails does not prevent the others; `retry` carries out those that have
failed, or were not begun because the process ended. `undo` ends what this incident did. It changes nothing that was so
before, nothing that somebody has changed since, and nothing that another incident also does.

| action | mailbox | api_key | admin | what it does, until it is undone |
|---|---|---|---|---|
| `suspend` | yes | | yes | the address may not send; the account is disabled, with its sessions and keys |
| `disable_sign_in` | yes | | | passwords and app passwords open nothing; open sessions end |
| `disable_keys` | | yes | yes | the keys that exist now, with those they have created, authenticate nothing |
| `disable_app_passwords` | yes | | | those that exist now open nothing |
| `block_app_passwords` | yes | | | no new ones can be created |
| `disable_forwards` | yes | | | mail stays in the mailbox instead |
| `disable_sieve` | yes | | | no script and no vacation reply runs (full profile) |
| `end_sessions` | yes | yes | yes | once; can't be undone |
| `hold_queue` | yes | yes | yes | holds what waits in the queue now (full profile) |
| `delete_queue` | yes | yes | yes | deletes it; can't be undone (full profile) |

`suspend`, `disable_keys` and `hold_queue` also hold the subject's scheduled messages. What an incident holds is
released by its undo only. A message in the queue is a mailbox's by its sender, or by the login with which it was
submitted (also from an address in `send_as`); a key's or an administrator's by the history.

Nobody acts against an administrator of higher rank, or their mailbox. On keys and accounts act super_admins, and admins
on those of domain administrators; everybody above domain_admin on their own keys. A domain administrator acts on
mailboxes of its domains. Nobody acts on their own account. An incident is undone with at least the rank of whoever
opened it. It belongs to the mailbox's domain and is deleted with it.
"""
