"""Thresholds of the abuse rules: the settings `abuse.*` hold for all, unless a domain or a mailbox has its own.

The most specific value counts. An admin may set any value. A domain_admin may lower those of its domains and mailboxes,
never above what an admin has set there, or above the settings; if that is lowered later, the lower value counts. For
every threshold, lower means stricter. A domain's own values are not read for its alias domains, whose mail counts for
their target. Thresholds are deleted with their domain or mailbox.

`effective_thresholds` in the database is the only place that chooses a value: the counts of the policy service, the
milter, scheduled mail and the API use it, and so do the checks of senders. `send_counts` has the usage of a domain.
"""
