"""The sandbox: a mail transfer agent for trying out Mailkeep. Outbound mail is stored, not sent.

It accepts mail by SMTP on its own loopback port: it signs the message with the active DKIM keys of the From domain,
stores it in a file, and answers 250 with a queue ID once file and database row are on disk. A background task then
delivers to each recipient. Recipients at managed domains are delivered locally, with the usual routing. External
recipients are reported as delivered, except those with the local parts `bounce` (550 5.1.1), `defer` (451 4.2.0,
delivered at the second attempt) and `fail` (expires after two attempts), each with any `+tag`. Retries come after 2
seconds. A bounce suppresses its address (`mailflow/suppressions`) only with a tag.
"""
