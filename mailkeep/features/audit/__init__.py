"""The audit log: who did what to which object, from where, with what outcome.

A change and its entry are one transaction: neither exists without the other. Refused changes of authenticated
callers are entries too (outcome `denied` for 403, `failed` for the rest; 401 and 429 stand in the metrics only).
No secret ever enters an entry. The stored row never changes: the application's database role may only insert and
read, and the admin id that is answered is null once that admin is gone.

Whoever sees a domain's objects sees its entries; what belongs to no domain is seen by admin and super_admin.
"""
