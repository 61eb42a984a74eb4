"""The record of mail: one row for each message sent or received, each recipient, and each delivery attempt.

An outbound row is inserted before its message is submitted to the mail transfer agent (MTA), with status `submitting`,
so that a crash leaves no message without a row. Inbound mail has one row for each mailbox, unique by (queue ID,
mailbox). Mail rejected at SMTP has a row too, at most 60 a minute for each source.

`model.OutboundStatus` and `InboundStatus` list the statuses. If all recipients of a message have the same status, it is
that of the message, otherwise `partial`. Acceptance and delivery outcomes may be recorded in any order: an outcome that
is recorded first implies the acceptance. `mail.sent` is emitted once, before any other event of its message.

Contents are files in a directory for each day, `content/YYYY-MM-DD/<id>.eml` in the data directory, deleted by whole
days after `retention.content_days`. They are written without fsync: the mail itself is on disk in the MTA's queue or
the mailbox. Rows are deleted by whole months, once the last day of the month is older than `retention.history_days`
(events: `retention.event_days`).
"""
