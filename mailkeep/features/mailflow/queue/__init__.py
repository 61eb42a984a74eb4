"""The queue of the mail server for operators: which messages wait, why, and actions on them.

Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The database holds nothing of it:
each call is a node task, and the agent of the node queries Postfix. The agent also paginates, so that a long queue does
not cost more to transfer. Messages that leave the queue between two pages, or between a filter and its action, are
skipped; `affected` counts the messages to which the action applied when it started.

An action needs IDs or a filter; the filter `{}` selects all messages. `dry_run` only counts.
"""
