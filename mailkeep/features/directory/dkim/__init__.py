"""DKIM keys: with which each domain signs (RFC 6376; Ed25519 by RFC 8463).

A key is `pending` until its DNS record is seen, then `active`: every active key of a domain signs. Then it is
`retiring`, while mail that it signed may still be under way, and `retired` when its record may be removed.

The private key is sealed with the master secret, bound to the key's id, and never answered. The public key is
stored as it stands behind `p=`: a SubjectPublicKeyInfo for RSA, the 32 bytes for Ed25519.
"""
