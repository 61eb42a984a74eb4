"""The queue of the mail server, as an operator sees it: what waits, why, and what is done about it.

The full profile's only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. Nothing of it stands in the
database: each call is an operation of the node's agent, which asks Postfix. A page is cut there, so that a long queue
costs no more to send about than a short one. A message that left the queue between two pages, or between a filter
and its action, is passed over; `affected` counts those that the action could be done to as it began.

An action needs ids or a filter, and `{}` as the filter means all of it. `dry_run` only counts.
"""
