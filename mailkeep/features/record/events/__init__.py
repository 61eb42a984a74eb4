"""Events: what happened to mail, for subscribers.

`emit` calls one SQL function in the transaction of the change, which also inserts the webhook deliveries. Each event is
stored with its transaction ID. The feed lists events in the order (transaction, ID), and only those of transactions
that began before the oldest one that is still open. A client that continues after the last event it saw therefore
misses none and sees none twice. PostgreSQL assigns the transaction ID at the first write, seconds before the commit.

The stream (GET /events/stream) sends the same feed as it grows. One watcher in each process checks whether the feed has
new events: when notified (a transaction sends NOTIFY only while a watcher sleeps), else every second. Then each stream
reads its own events. The caller is authenticated again before each read, so that it gets nothing new once its session
or key is revoked. A stream first sends an ID, with which a client can continue if the connection breaks before any
event.

Events are kept for at least `retention.event_days` and deleted by whole months. A client that continues after a deleted
event gets the feed from the oldest event on, and `meta.details.reason` `truncated`.
"""
