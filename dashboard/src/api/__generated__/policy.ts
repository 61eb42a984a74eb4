// Generated from mailkeep/core/principal.py by `make generate`; change it there.
export const POLICY = {
  "abuse.read": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "account.change": {
    "role": "domain_admin",
    "reach": "credentials",
    "unenrolled": false
  },
  "account.password": {
    "role": "domain_admin",
    "reach": "credentials",
    "unenrolled": false
  },
  "account.read": {
    "role": "domain_admin",
    "reach": "account",
    "unenrolled": true
  },
  "admin.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "admin.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "alert.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "alert.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "alert.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "alias.bulk": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "alias.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "alias.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "alias.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "analytics.read": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "api_key.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "api_key.write": {
    "role": "domain_admin",
    "reach": "global",
    "unenrolled": false
  },
  "audit.export": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "audit.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "audit.verify": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "backup.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "backup.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "certificate.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "certificate.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "config.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "config.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "dkim.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "dkim.write": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "dns.check": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "dns.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "dns_server.check": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "dns_server.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "domain.create": {
    "role": "admin",
    "reach": "global",
    "unenrolled": false
  },
  "domain.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "domain.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "domain.write": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "event.list": {
    "role": "admin",
    "reach": "listing",
    "unenrolled": false
  },
  "event.read": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "factor.change": {
    "role": "domain_admin",
    "reach": "credentials",
    "unenrolled": false
  },
  "factor.enrol": {
    "role": "domain_admin",
    "reach": "credentials",
    "unenrolled": true
  },
  "filter.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "filter.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "filter_server.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "filter_server.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "health.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "health.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "incident.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "incident.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "incident.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "mailbox.bulk": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "mailbox.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "mailbox.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "mailbox.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.details": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "message.raw_inbound": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.resend": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.retry": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.schedule": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "message.totals": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "operation.read": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "orchestrator.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "orchestrator.write": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "passkey.list": {
    "role": "domain_admin",
    "reach": "account",
    "unenrolled": true
  },
  "queue.list": {
    "role": "admin",
    "reach": "global",
    "unenrolled": false
  },
  "queue.write": {
    "role": "admin",
    "reach": "global",
    "unenrolled": false
  },
  "report.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "report.upload": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "routing.explain": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "sandbox": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "sandbox.read": {
    "role": "super_admin",
    "reach": "global",
    "unenrolled": false
  },
  "send": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "session.leave": {
    "role": "domain_admin",
    "reach": "credentials",
    "unenrolled": true
  },
  "session.list": {
    "role": "domain_admin",
    "reach": "account",
    "unenrolled": false
  },
  "sieve.check": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "sieve.read": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "sieve.write": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "sign_in_block.list": {
    "role": "admin",
    "reach": "global",
    "unenrolled": false
  },
  "sign_in_block.remove": {
    "role": "admin",
    "reach": "global",
    "unenrolled": false
  },
  "suppression.import": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "suppression.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "suppression.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "suppression.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "suspension.lift": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "suspension.list": {
    "role": "admin",
    "reach": "listing",
    "unenrolled": false
  },
  "suspension.read": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "template.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "template.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "template.render": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "template.write": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "threshold.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "threshold.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "unsubscribe_group.list": {
    "role": "domain_admin",
    "reach": "listing",
    "unenrolled": false
  },
  "unsubscribe_group.read": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "unsubscribe_group.write": {
    "role": "domain_admin",
    "reach": "domain",
    "unenrolled": false
  },
  "webhook.list": {
    "role": "admin",
    "reach": "listing",
    "unenrolled": false
  },
  "webhook.read": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  },
  "webhook.write": {
    "role": "admin",
    "reach": "domain",
    "unenrolled": false
  }
} as const
