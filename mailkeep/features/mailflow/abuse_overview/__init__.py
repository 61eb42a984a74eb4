"""An overview of abuse: who is suspended, near a limit or sends most, whose volume spikes, and where sign-ins fail.

Recipients and failed sign-ins are those of the last hour, suspensions and spikes those of now. Each list has at most 50
entries, the worst first. A sender or domain is near its limit from 80 % of its threshold on (`mailflow/thresholds`).

A caller who does not see all domains gets what belongs to its domains: of failed sign-ins those to mailboxes there, and
of the client addresses only what they tried there. That such an address is blocked says what it did to others, so it is
shown only to callers who see all domains.
"""
