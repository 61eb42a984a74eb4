"""The sandbox: a mail transfer agent for trying Mailkeep out, whose outbound mail goes nowhere.

It takes mail by SMTP on a port of its own on loopback, as any MTA does: signs it with the active DKIM keys of the
From domain, keeps it in a file, and answers 250 with a queue id only when file and row are on disk. A runner then
sees to each recipient. Those at managed domains are delivered inside, by the routing that all mail takes. Elsewhere
every recipient is delivered, but for the local parts `bounce` (550 5.1.1), `defer` (451 4.2.0, delivered at the next
try) and `fail` (expires after two tries), each with any `+tag`; the next try comes after 2 seconds.
"""
