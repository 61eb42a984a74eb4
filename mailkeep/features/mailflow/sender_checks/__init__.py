"""Checks of senders by what became of their mail: bounce rate, complaint rate, and the share of new recipients.

`check` follows the feed of events as the analytics do. In one transaction it adds the outcomes to the counters of
their senders, checks these senders, suspends them, reports alerts, and moves its position: each outcome counts
once, and the check cannot miss one. It runs every two seconds. A sender is the address for which mail counts
(`mailflow/abuse`).

Rates:

- The bounce rate is the share of recipients that servers refused for good because they do not exist (classes
  `invalid_recipient`, `mailbox_disabled`, `bad_domain`) among all final outcomes. What was refused for other
  reasons (reputation, content) says nothing about the sender's list. Only our own log counts, not bounces that came
  by mail.
- The complaint rate is the share of complaints among deliveries. Every complaint has a proof
  (`mailflow/bounce_reports`).
- Each is computed over the last hour, 24 hours and 7 days, and the worst counts. What is compared with a threshold
  is the lower bound of the Wilson interval (95 %), and none below `abuse.bounce_minimum` or
  `abuse.complaint_minimum`.
- At `bounce_warn` or `complaint_warn` an alert is opened (`bounce_rate`, `complaint_rate`). At `bounce_act` the
  sender is suspended by the rules, with the same alert, which is critical. At `complaint_act` it is critical too,
  but complaints are mailed by others: the sender is suspended only if its bounce rate is at `bounce_warn` as well.
- Senders below the minimum are added up by domain, every five minutes and over 24 hours: an alert `bounce_rate` about
  the domain, without a suspension.
- A domain or mailbox may have thresholds of its own (`mailflow/thresholds`).
- A sender that was suspended because of its hourly limit has an alert as well (`sender_rate`), until the suspension is
  lifted or somebody resolves the alert. A suspended sender sends nothing, so nothing is seen again: whoever resolves
  its alert without lifting the suspension has decided that it stays, and is not asked again.
- Lifting a suspension deletes the sender's counters, as it deletes its count of recipients.

New recipients: a bitmap of 2,048 bits for each sender and day (linear counting, about 3 % off) tells how many
recipients of a day the sender had not written to in the 30 days before. An alert `new_recipients` is opened if
these are at least 80 % of 200 or more, for a sender with mail on at least five of these days. Above 4,000
recipients in 30 days the bitmap tells nothing, and nothing is reported.

Senders with unresolved alerts are checked again every five minutes, so that these end when the rate is in order
again.
"""
