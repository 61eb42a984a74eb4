"""Webhooks: events, pushed to those who subscribed, signed (`signature`).

A webhook has a URL (https only), the kinds that it wants, and a domain or none: then it is told of all domains. `*`
stands for all kinds but those that begin with `system.`, which have to be named. It goes with its domain and never
becomes global; what belongs to no domain is out of a scoped key's reach.

`emit_events` in the database writes a delivery for each active webhook that wants an event, in the transaction of what
it tells. The content is the event's own row, and the body made of it is the same at every try: `id` is the message's,
`event_id` the event's, which is `webhook-id` too.

A delivery is pending until its first try, then delivered (2xx within 10 seconds), or waiting for a retry after the
next of `webhooks.retry_seconds`; after the last of these it is abandoned. Redirects are failures, as is 410: nothing
that a receiver answers ends the schedule but 2xx. At most 16 KiB of an answer are read. Replayed, a delivery has all
its tries again.

Workers (`jobs`) claim deliveries with a lease of 30 seconds; that an attempt begins is written by the claim, how it
ended afterwards, where the claim still holds. An attempt without an end is shown as interrupted, does not count
as a failure, and is made up for when the lease is over. One webhook has up to 64 attempts under way while they succeed,
fewer when they don't, and the webhooks take turns, so that one that is slow holds back only itself.

A webhook whose every try has failed for `webhooks.disable_after_hours` is made inactive when it gives a delivery up,
which is told as `system.webhook_disabled`. For an inactive one nothing is queued; what it missed can be replayed.
"""
