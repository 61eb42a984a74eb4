"""Abuse: addresses whose sending is suspended.

A suspension is a row on a sender address, whether or not it has a mailbox; it holds for every way of sending
(403 MAILBOX_SUSPENDED) and is shown on the mailbox. It goes with its domain, not with its mailbox: an address
that is given out anew is still suspended.

Who suspends an address that is suspended already takes the suspension over, unless the rules or a higher rank
hold it: then it stays as it is. A suspension that the rules or an admin set is lifted by admins only. Nobody
suspends or frees the mailbox of a higher-ranked administrator.
"""
