"""Relays: which server delivers outbound mail, and how it is reached.

Mail leaves through the relay of its envelope sender's domain (the domain field `relay`), else through `outbound.relay`,
else directly. Mail with an empty sender (vacation replies, rejections, bounces) and forwarded mail, whose sender is
rewritten (SRS), never uses a domain's relay.

In the full profile, Postfix passes such mail to the process `relay` (`run/processes/relay`) over LMTP on a Unix socket.
That process reads host and password in one statement at each delivery and opens the connection itself. The password is
therefore neither in Postfix's configuration nor in clear in the database, and a message that was queued before a change
of the relay never carries the new password to the old host. In the embedded profile with `mta.mode = smtp`, the API
submits to the domain's relay instead of `mta.host`; with the sandbox, a relay is stored but not used.

A password is sent only over TLS with a certificate that is valid for the host. A relay must have a global address;
`outbound.relay_networks` permits more networks.
"""
