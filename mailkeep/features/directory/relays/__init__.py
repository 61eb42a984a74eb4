"""Relays: which server takes outbound mail on, and how it is reached.

Mail leaves by the relay of its envelope sender's domain (the domain field `relay`), else by `outbound.relay`, else
directly. Mail without a sender (vacation replies, rejections, bounces) and forwarded mail, whose sender is rewritten
(SRS), never uses a domain's relay.

In the full profile Postfix hands such mail to the process `relay` (`run/processes/relay`) over LMTP on a Unix socket.
The process reads host and password in one statement when it delivers, and opens the connection itself: the password is
neither in Postfix's configuration nor in clear in the database, and a message that was queued before a change of the
relay never takes the new password to the old host. In the embedded profile with `mta.mode = smtp` the API submits to
the domain's relay instead of `mta.host`; with the sandbox a relay is stored and not used.

A password is sent only over TLS whose certificate is valid for the host. A relay must resolve to global addresses;
`outbound.relay_networks` permits others.
"""
