"""Reports about sent mail: bounces and complaints that arrive after a server has accepted it.

A report acts only with a proof that its author had the message, at most 30 days after it was sent:

- It came to the message's bounce address (`mail/message/bounce_address`), which is signed, from another server. What
  our own mail server reports is in its log.
- Or it is a complaint with the whole message and a valid DKIM signature of ours, at an address for reports or uploaded
  (`mailflow/reports`).

Each acts once for a recipient:

- A delivery status notification (RFC 3464) with `Action: failed` moves a recipient that is `delivered` or `relayed` to
  `bounced` (`mail.bounced`, class and provider).
- A feedback report (RFC 5965) about a recipient that is `delivered`, `relayed` or `bounced` is a complaint:
  `mail.complained`, and a suppression with reason `complaint`.

Only the recipient of a message with one recipient, and its servers, have that proof. A report need not name it: some
name the address that it forwards to, or none. It suppresses the address only if it names it (a complaint: or none).

Of a message with several recipients everybody has the proof for all. There a report has to name its recipient, and its
author to show that it answers for the recipient's server: From is mailer-daemon, postmaster or abuse of the recipient's
domain or of the server that took the message, and passed DMARC (full profile). All else changes nothing.

Other mail to a bounce address, such as automatic replies, is discarded (docs/decisions/0084, 0089).
"""
