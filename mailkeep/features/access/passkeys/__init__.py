"""Passkeys: logging in by a key that never leaves its owner's device, alone or after the password.

A passkey is a credential of Web Authentication, made for `http.public_url` and for nothing else: browsers refuse it to
every other site, and so do we. It opens a session alone where the authenticator has asked for a PIN, a finger or a
face (user verification), or after the password, as second factor, without. An account with a passkey has a second
factor: its password alone opens nothing, and `auth.require_second_factor` is content.

Every ceremony begins with a challenge of ours: 256 random bits, kept as a hash for 5 minutes, bound to its purpose and
to the session or the waiting login that asked, and gone with the first answer, right or wrong. Of authenticators that
count their uses the counter must rise, compared and set in the database: a copy of a key is refused and audited.

An account has at most 20 passkeys; a credential belongs to one account. The first factor of an account comes with ten
recovery codes, shown once, which last as long as it has any factor. Registering and deleting need a session that was
opened within 15 minutes, or the password; both end the account's other sessions, and logins under way. Where the role
needs a second factor, the last one is not deleted.

Attestation is not asked for: which make an authenticator is, is its owner's business.
"""
