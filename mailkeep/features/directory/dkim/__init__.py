"""DKIM keys: the keys with which each domain signs (RFC 6376; Ed25519 by RFC 8463).

A key is `pending` until its DNS record is found, then `active`: every active key of a domain signs. It is `retiring`
while mail that it signed may still be in transit, and `retired` once its record can be removed.

The private key is encrypted with a key derived from the master secret, bound to the DKIM key's id, and never shown. The
public key is stored in the form of the `p=` tag: a SubjectPublicKeyInfo for RSA, the 32 bytes for Ed25519.

The server's host name has one key, for the mail that Mailkeep itself writes. It is created when it is first needed. If
the host name is a managed domain, the domain's keys are used instead.
"""
