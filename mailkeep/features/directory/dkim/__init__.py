"""DKIM keys: the keys with which each domain signs (RFC 6376; Ed25519 by RFC 8463).

Every active key of a domain signs; a new domain has an RSA and an Ed25519 key, both active. `dkim_rotation` says how a
key becomes active, and when it may be removed.

The private key is encrypted with a key derived from the master secret, bound to the DKIM key's id, and never shown. It
is erased when the key is retired. The public key is stored in the form of the `p=` tag: a SubjectPublicKeyInfo for RSA,
the 32 bytes for Ed25519.

The server's host name has a key of each algorithm, for the mail that Mailkeep itself writes. They are created when they
are first needed. If the host name is a managed domain, the domain's keys are used instead.
"""
