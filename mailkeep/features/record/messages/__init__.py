"""The record of mail: a row for each message sent or received, one for each of its recipients, one for each try.

Outbound rows are born before the mail transfer agent is asked (status `submitting`), so that no crash leaves a
message unknown. Inbound rows are one for each mailbox that a message reached, unique by (queue id, mailbox); what was
refused at SMTP has a row too, at most 60 a minute for one source.

A recipient's status: submitting, lost, unknown, queued, relayed, deferred, delivered, bounced, failed; inbound
received, rejected. A message has the status of its recipients when they agree, else `partial`. Acceptance and
fates commute: a fate that is told before the acceptance is written is itself the acceptance, and `mail.sent` comes
once, before any other event of its message.

Content lies in files by day, `content/YYYY-MM-DD/<id>.eml` in the data directory, and is removed by whole days
after `retention.content_days`. It is written without fsync: mail itself lies elsewhere, safely. Rows go by whole
months, once the last day of a month is older than `retention.history_days` (events: `retention.event_days`).
"""
