"""Webhooks: events are posted to the URLs that subscribe to them, signed (`signature`).

A webhook has a URL (https only), the event kinds to which it subscribes, and a domain or none; without a domain it
receives the events of all domains. `*` stands for all kinds except those that begin with `system.`, which must be
named. A webhook is deleted with its domain and never becomes global. Scoped keys can't see global webhooks.

`emit_events` in the database inserts a delivery for each active webhook that subscribes to an event, in the transaction
of the change. The content is the event's own row, and the body is the same for every attempt: `id` is the ID of the
message, `event_id` and the header `webhook-id` are the ID of the event.

A delivery is pending until its first attempt, then delivered (2xx within 10 seconds) or waiting for a retry after the
next of `webhooks.retry_seconds`; after the last retry it is abandoned. Redirects and 410 are failures too: only 2xx
ends the schedule. At most 16 KiB of a response are read. A replayed delivery starts the schedule again.

Workers (`jobs`) claim deliveries with a lease of 30 seconds. The claim records that an attempt begins; the outcome is
written afterwards if the claim still holds. An attempt without an outcome is shown as interrupted, does not count as a
failure, and is repeated when the lease ends. A webhook has up to 64 concurrent attempts while they succeed and fewer
while they fail; claims alternate between webhooks, so a slow receiver delays only its own deliveries.

If every attempt has failed for `webhooks.disable_after_hours` and a delivery is abandoned, the webhook is disabled: it
becomes inactive, and the event `system.webhook_disabled` is published. Nothing is queued for an inactive webhook;
missed events can be replayed.
"""
