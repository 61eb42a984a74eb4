"""Events: what happened to mail, as subscribers are told it.

`emit` goes in on the transaction of the change and calls one database function, where later the deliveries
to webhooks are born too. The transaction's id stands beside each event, so that a reader can tell what is settled:
the feed shows events in the order (transaction, id), and none that began later than a transaction that is still
open. Whoever goes on from the last event it saw therefore misses none and sees none twice. Transactions get their
number with their first write, which is within seconds of their commit.

Events are kept for at least `retention.event_days` and go by whole months. Who goes on from one that is gone
gets the first that is kept, and is told so (`meta.details.reason` truncated).
"""
