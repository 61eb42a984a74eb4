"""Components of the health that are not in order, as alerts (`record/alerts`): `health_` and the component's name.

A component that is degraded for five minutes is a warning, one that is down for two minutes is critical: a restart of
a daemon is neither. One that is `disabled` is in order. The worker of the instance looks every 30 seconds.
"""
