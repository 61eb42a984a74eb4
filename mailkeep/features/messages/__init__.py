"""The history of mail: a row for each message sent or received, and one for each of its recipients.

Outbound rows are born before the mail transfer agent is asked (status `submitting`), so that no crash leaves a
message unknown. Inbound rows are one for each mailbox that a message reached, unique by (queue id, mailbox); what was
refused at SMTP has a row too, at most 60 a minute for one source. Content lies in files by day and has a retention
of its own.

A recipient's status: submitting, lost, unknown, queued, relayed, deferred, delivered, bounced, failed; inbound
received, rejected. A message has the status of its recipients when they agree, else `partial`.
"""
