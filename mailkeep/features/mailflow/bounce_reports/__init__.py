"""Reports about sent mail: bounces and complaints that arrive after a server has accepted it.

They come to the bounce address of a message (`mail/message/bounce_address`), which only servers know that the message
went through. A report acts only if the address is signed by us for that message, not older than 30 days, and the report
came from another server: what our own mail server reports is in its log. Each acts once for a recipient:

- A delivery status notification (RFC 3464) with `Action: failed` moves a recipient that is `delivered` or `relayed` to
  `bounced` (`mail.bounced`, class and provider).
- A feedback report (RFC 5965) about a recipient that is `delivered`, `relayed` or `bounced` is a complaint:
  `mail.complained`, and a suppression with reason `complaint`.

The signature of a message with one recipient covers the recipient, and a report need not name it: some name the address
that it forwards to, or none. It suppresses the address only if it names it or names none. A message with several
recipients has one bounce address, which the server of each of them knows: a bounce then has to name its recipient, and
suppresses nobody; a complaint must name it too.

Other mail to a bounce address, such as automatic replies, is discarded (docs/decisions/0084).
"""
