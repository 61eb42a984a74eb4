"""Certificates: one for the server's host names and one for each hosted domain, ordered and renewed by ACME
(`acme.*`, `net/acme`); an administrator's own files (`tls.*`) are listed and watched too. Full profile.

A certificate is a row and a job of the process `worker`. Its private key is sealed with the master secret. The process
`node` writes files for the daemons from it, and reloads them (`run/runtime/certificate_files`).

Which names: of the server `server.hostname` and `webmail.host`, of a domain those in `acme.domain_names`. A name is
ordered only if it leads to this server: with HTTP-01 we fetch a file of our own at port 80 of the name first. Names
that don't are left out, with the reason in `checks`, and looked at again every hour; a domain none of whose names leads
here has no certificate, which is no failure. So one name never fails the others. A name that the certificate already
has is left out of a renewal only when a sixth of the lifetime is left.

When: in the window that the authority suggests (ARI), at a moment that the serial number decides, so that not all are
renewed at once; without ARI when a third of the lifetime is left (half, below ten days). After a failure with growing
pauses, or when the authority says. A clock that was set back does not delay anything: what was attempted in the future
is due.

Events (`system.alert` `certificate_failed`; mail is sent about the health's component `certificates`, see
`operations/health_alerts`): after two failures, or when a third of the lifetime is left and the renewal has failed or
nobody renews; once, until it works again (`certificate_recovered`).

To revoke a certificate, it is replaced first and revoked afterwards; with `at_once` it is revoked without waiting for
the replacement.
"""
