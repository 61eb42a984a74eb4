"""Alerts: what an administrator should look at now, each once, until it has been in order again for an hour.

Features that watch something (the health of the server, senders) report the problems they see, again and again.
`report` compares them with the alerts that have not ended: a new problem opens an alert, a worse one is reported again,
one that lasts is remembered once a day, and one that has not been seen for an hour is resolved. A problem that comes
back within that hour belongs to the same alert, so that a value around its threshold does not alternate.

A change of an alert is an event (`system.alert`), and mail by the settings `alerts.*` (`mail`): about health to
super_admins, about abuse also to the domain_admins of the domain. The change to mail is in the row of the alert.
"""
