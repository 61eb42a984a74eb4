"""The sandbox: a mail transfer agent for trying out Mailkeep. Outbound mail is stored, not sent.

It accepts mail by SMTP on its own loopback port: it signs the message with the active DKIM keys of the From domain,
stores it in a file, and answers 250 with a queue ID once file and database row are on disk. A background task then
delivers to each recipient. Recipients at managed domains are delivered locally, with the usual routing. External
recipients are reported as delivered, except those with the local parts `bounce` (550 5.1.1), `defer` (451 4.2.0,
delivered at the second attempt), `fail` (expires after two attempts) and `complaint` (delivered, then reported as
spam), each with any `+tag`. Retries come after 2 seconds. A bounce or complaint suppresses its address
(`mailflow/suppressions`) only with a tag. `suppressed` is suppressed for every sender: `mailflow/sending` submits
nothing to it.
"""
