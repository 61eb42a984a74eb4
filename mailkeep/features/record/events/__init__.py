"""Events: what happened to mail, as subscribers are told it.

`emit` goes in on the transaction of the change and calls one database function, where later the deliveries
to webhooks are born too. The transaction's id stands beside each event, so that a reader can tell what is settled:
the feed shows events in the order (transaction, id), and none that began later than a transaction that is still
open. Whoever goes on from the last event it saw therefore misses none and sees none twice. Transactions get their
number with their first write, which is within seconds of their commit.

The stream (GET /events/stream) is the same feed, pushed. One watcher a process looks whether the feed has moved:
woken by NOTIFY, which a transaction sends only where a watcher sleeps, else every second; then each stream reads what
is its own. Its caller is authenticated again before each look, so that nothing is shown to whom it may not be. A
stream tells the id to come back with before there was an event.

Events are kept for at least `retention.event_days` and go by whole months. Who goes on from one that is gone
gets the first that is kept, and is told so (`meta.details.reason` truncated).
"""
