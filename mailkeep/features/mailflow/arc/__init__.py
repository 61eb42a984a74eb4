"""Seals forwarded mail (ARC, RFC 8617; `mail/message/arc`), full profile: the next server sees what this one found, and
can believe it although forwarding breaks SPF.

External copies of aliases and forwards are sealed by Rspamd (templates/rspamd/lua/arc.lua) with the key that `find_key`
gives it through the process `keys`, Sieve's redirects by the process `reinjection` (`seal_redirect`). `d=` is the
domain that forwards; for an alias domain the alias domain; of several domains that forward one message, that of the
first recipient with external copies. The seal is made with the newest active RSA key.

If that fails, mail is forwarded without a seal. The first such message causes an alert (`forward_unsealed`); another
one follows only after mail of the domain was sealed, or a start.
"""
