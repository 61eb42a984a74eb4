"""What incidents that are not undone (`mailflow/incidents`) restrict, each with the incident: what is restricted by two
ends with the second.

| kind | subject | where it holds |
|---|---|---|
| `sign_in` | mailbox | its passwords open no session, by any protocol, and its owner can't sign in |
| `app_password` | app password | opens no session |
| `new_app_passwords` | mailbox | none can be created |
| `forwards` | mailbox | routing leaves its forward out and keeps a copy |
| `sieve` | mailbox | neither the vacation reply nor the owner's script runs: mail is delivered to the inbox |
| `key` | API key | authenticates nothing |
| `account` | administrator | marks that the incident disabled it; a change of `active` removes the mark |
| `suspension` | suspension | marks that the incident set it |
| `scheduled_message` | message | waits |
| `queued_message` | queue ID | is on hold |

The first six are looked up where they hold (SQL function `is_restricted`): what the owner has set is not changed, so
that it holds again as soon as the restriction ends.
"""
