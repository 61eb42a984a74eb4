"""Reports of other servers: DMARC aggregates, TLS reports, and abuse reports (ARF).

They arrive at `dmarc@` and `tls@` the server's host name, in both profiles, or by POST /reports. Mail to these
addresses goes to no mailbox: routing accepts it (step `report`), the delivery stores the message with its row in the
history, and the process `worker` reads it (`mail/reports`) and deletes it in the transaction that stores the result. So
each report is read exactly once, whatever is killed. A mailbox or alias of that name, if the host name is a managed
domain, wins.

A report counts once per domain, organisation and report ID, and belongs to the domain's ID: a domain that is added
again starts empty. It is about one managed domain; others are dropped. A mailed report counts only if its sender passed
DMARC (`local_delivery.rules`, from the filter's own field), and the domain that passed is part of the organisation's
identity. All else is kept as unproved: it is listed, and is in no figure and no advice. Reports are claims of
strangers: nothing is suspended because of them (T55 of the threat model). Only an abuse report, mailed or uploaded,
that has a message with our own valid DKIM signature does something: it is a complaint of its recipient
(`mailflow/bounce_reports`).

Limits, so that strangers can't fill the disk: 10 MB per message, 1,000 unread messages, and for one domain within a day
1,000 reports, 100 unproved ones and 300,000 records. Beyond them mail is deferred, or a report is dropped and logged.

Sources are classified by what a reporter saw, in this order (`store`, SQL):

    ours       from server.addresses; or signed with a key of the domain, and SPF aligned or the domain has a relay
    forwarder  signed with a key of the domain, or marked as forwarded by the reporter, or of a known forwarder
    sender     aligned by SPF or DKIM without our key: another system of the domain's owner, set up correctly
    other      authenticated for another domain only: a service that lacks SPF or DKIM for this domain, or a stranger
    unknown    nothing passed: forged, or a system without any set-up

`rules` has the thresholds of the advice. Reverse names are looked up in the background, 20 every 10 seconds, and only
shown if the name leads back to the address.
"""
