"""The queue of the mail server for operators: which messages wait, why, and actions on them.

Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The queue is not in the database:
each call is a node task, for which the process `node` queries Postfix. It also selects the page, so that a long queue
does not cost more to transfer. Messages that leave the queue between two pages, or between a filter and its action, are
skipped; `affected` counts the messages to which the action applied when it started.

Instead of an envelope sender that Mailkeep wrote (a rewritten sender, a bounce address) the queue shows, and its
filters compare, the address that the sender chose.

What an incident holds (`mailflow/incidents`) is released by its undo only, not by `release`.

An action needs IDs or a filter; the filter `{}` selects all messages. `dry_run` only counts.

After a full restore (`record/holds`) scheduled messages, webhook deliveries, mail of Mailkeep itself, the spool of
Sieve and what local programs have submitted are held too: `release` with the filter `{}` releases them in both
profiles, and `GET /queue/held` counts all that is held.
"""
