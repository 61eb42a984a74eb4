"""A milter: a filter that Postfix calls while it receives a message (Sendmail's milter protocol, version 6).

`protocol` has the packets, `server` the sessions. Postfix describes what it implements of the protocol in
https://www.postfix.org/MILTER_README.html; the packets are described in libmilter's `mfdef.h`.
"""
