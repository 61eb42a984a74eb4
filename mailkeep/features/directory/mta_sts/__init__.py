"""Inbound MTA-STS (RFC 8461): the policy with which other servers deliver a domain's mail only to this server over
verified TLS; and the record for reports about TLS (TLS-RPT, RFC 8460).

The policy is served at `https://mta-sts.DOMAIN/.well-known/mta-sts.txt`, chosen by the Host field, and names
`server.hostname` as the only server. A proxy in front of the API has the certificate for `mta-sts.DOMAIN`. Its ID is a
hash of its text, so that it changes whenever the policy does.

`mta_sts_mode` of a domain is `none`, `testing` (others report failures, and deliver anyway) or `enforce`. `enforce` is
refused (CONFLICT `not_served`) until a check has fetched the policy over HTTPS with a valid certificate; a check that
finds another policy or none withdraws that permission, but changes no mode.

Senders keep a policy for its `max_age`: a day (testing) or a week (enforce). So after a change to `none` a policy with
the mode none is served for a week (RFC 8461 §8.3), with its record; only then both can go.
"""
