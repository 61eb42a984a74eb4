"""Which TLS a delivery to another domain needs: MTA-STS (RFC 8461), and its precedence with DANE (RFC 7672).

Postfix asks before each connection (`smtp_tls_policy_maps`) if `outbound.mta_sts` is on, or both `outbound.dane` and
`outbound.tls = encrypt`. Without an answer the default applies: `dane` if `outbound.dane` is on, else `outbound.tls`.

1. A domain whose MX records are signed, and all of whose servers have signed TLSA records: the default (`dane`). A
   policy of MTA-STS must not replace a DANE check that fails (RFC 8461 §2), so it is not looked at.
2. A policy with the mode `enforce`: `secure`, the certificate must be valid and name a server of the policy. If only
   some servers have TLSA records: `dane-only`, delivery only to these.
3. Everything else: the default. A mode `testing` changes nothing, and no reports are sent.

A policy is looked up by the record `_mta-sts.DOMAIN`, fetched by the one HTTP client (which reaches no internal
address, although a sender chooses the domain), and kept in the database until its `max_age` has passed, so that an
attacker who suppresses DNS and HTTPS does not remove it. It is fetched again when the record's ID changes, and once a
day in the background. Answers are kept for five minutes in memory.

If the decision can't be made (no process, no database, no answer about MX records), mail waits; it is never delivered
with less than a policy demands. A domain whose policy was never fetched, and can't be, has none (RFC 8461 §3.3).
"""
