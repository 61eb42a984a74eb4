"""Mail that Sieve sends for a mailbox. Replies (vacation replies and rejections) are checked and signed.

From must be an address that the mailbox may send from, or `postmaster@` its domain (of rejections), because the
signature vouches for it. Other replies are dropped: a script can set any From (`:from`). Likewise a reply to another
server if the sender is suspended or its domain's `sending_enabled` is false. The signature is made here, with all
active keys of From's domain: Postfix's service for Sieve's mail has no filter, which could not sign redirected
messages. Without a key, the reply waits.

Replies to other servers count with the forwarded copies of the mailbox's domain (`abuse.forward_per_hour`), and not for
the mailbox: everybody can cause them, and must not be able to suspend it.

Redirected messages are forwarded mail: sealed (`mailflow/arc`), not signed, and also sent if `sending_enabled` is
false. While the mailbox is suspended or in the trash, those to other servers wait (`outbound.give_up_hours`): there may
be no other copy of them. One that the mailbox or four mailboxes here have redirected before is dropped: tags let
scripts evade Pigeonhole's check for loops, and two mailboxes multiplied one message without end.
"""
