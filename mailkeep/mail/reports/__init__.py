"""Reads reports of other mail servers: DMARC aggregate reports (RFC 7489 appendix C, RFC 9990), TLS reports (RFC 8460)
and abuse reports (ARF, RFC 5965).

A report is a file (XML or JSON, also in gzip or in a zip archive with one file) or a message with one such attachment.
Anybody can send one, so `reader` reads them in child processes (`mail/message/parse_process`) without database, network
and secrets, and with limits on CPU time and memory. What exceeds a limit of `unpack`, `dmarc`, `tls` or `arf` is
refused with the reason. XML with a DTD is refused, so entities are never defined, expanded or fetched (defusedxml).
"""
