"""Events: what happened to mail, as subscribers are told it.

`emit` goes in on the transaction of the change and calls one database function, where later the deliveries
to webhooks are born too. The transaction's id stands beside each event, so that a reader can tell what is settled.
"""
