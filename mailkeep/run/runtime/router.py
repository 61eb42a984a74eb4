"""Everything that the API answers, in one list: the features' endpoints and those that describe them."""

from __future__ import annotations

from mailkeep.features.access.admins.routes import ENDPOINTS as ADMINS
from mailkeep.features.access.api_keys.routes import ENDPOINTS as API_KEYS
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.logins.routes import ENDPOINTS as LOGINS
from mailkeep.features.access.oidc.routes import ENDPOINTS as OIDC
from mailkeep.features.access.passkeys.routes import ENDPOINTS as PASSKEYS, OWN_MAILBOX_ENDPOINTS as OWN_PASSKEYS
from mailkeep.features.access.second_factors.routes import (
    ENDPOINTS as SECOND_FACTORS,
    OWN_MAILBOX_ENDPOINTS as OWN_SECOND_FACTORS,
)
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.access.sessions.routes import ENDPOINTS as SESSIONS, OWN_MAILBOX_ENDPOINTS as OWN_SESSIONS
from mailkeep.features.access.sign_in_protection.routes import ENDPOINTS as SIGN_IN_BLOCKS
from mailkeep.features.directory.aliases.routes import ENDPOINTS as ALIASES
from mailkeep.features.directory.app_passwords.routes import (
    ENDPOINTS as APP_PASSWORDS,
    OWN_MAILBOX_ENDPOINTS as OWN_APP_PASSWORDS,
)
from mailkeep.features.directory.bulk.routes import ENDPOINTS as BULK
from mailkeep.features.directory.client_setup.routes import (
    ENDPOINTS as CLIENT_SETUP,
    OWN_MAILBOX_ENDPOINTS as OWN_CLIENT_SETUP,
)
from mailkeep.features.directory.dkim_rotation.routes import ENDPOINTS as DKIM_KEYS
from mailkeep.features.directory.dns_checks.routes import ENDPOINTS as DNS_CHECKS
from mailkeep.features.directory.dns_updates.routes import ENDPOINTS as DNS_UPDATES
from mailkeep.features.directory.domains.routes import ENDPOINTS as DOMAINS
from mailkeep.features.directory.invitation_acceptance.routes import ENDPOINTS as INVITATION_ACCEPTANCE
from mailkeep.features.directory.mailbox_usage.routes import ENDPOINTS as MAILBOX_USAGE
from mailkeep.features.directory.mailboxes.routes import ENDPOINTS as MAILBOXES
from mailkeep.features.directory.mta_sts.routes import ENDPOINTS as MTA_STS
from mailkeep.features.directory.owners.routes import ENDPOINTS as OWNERS
from mailkeep.features.directory.routing.routes import ENDPOINTS as ROUTING
from mailkeep.features.directory.sieve.routes import ENDPOINTS as SIEVE, OWN_MAILBOX_ENDPOINTS as OWN_SIEVE
from mailkeep.features.directory.vacation.routes import ENDPOINTS as VACATION, OWN_MAILBOX_ENDPOINTS as OWN_VACATION
from mailkeep.features.mailflow.abuse.routes import ENDPOINTS as ABUSE
from mailkeep.features.mailflow.abuse_overview.routes import ENDPOINTS as ABUSE_OVERVIEW
from mailkeep.features.mailflow.filter_test.routes import (
    ENDPOINTS as FILTER_TEST,
    OWN_MAILBOX_ENDPOINTS as OWN_FILTER_TEST,
)
from mailkeep.features.mailflow.filtering.routes import (
    ENDPOINTS as FILTERING,
    OWN_MAILBOX_ENDPOINTS as OWN_FILTERING,
)
from mailkeep.features.mailflow.incidents.routes import ENDPOINTS as INCIDENTS
from mailkeep.features.mailflow.junk.routes import ENDPOINTS as JUNK, OWN_MAILBOX_ENDPOINTS as OWN_JUNK
from mailkeep.features.mailflow.message_content.routes import ENDPOINTS as MESSAGE_CONTENT
from mailkeep.features.mailflow.queue.routes import ENDPOINTS as QUEUE
from mailkeep.features.mailflow.reports.routes import ENDPOINTS as REPORTS
from mailkeep.features.mailflow.resending.routes import ENDPOINTS as RESENDING
from mailkeep.features.mailflow.sandbox.routes import ENDPOINTS as SANDBOX
from mailkeep.features.mailflow.scheduling.routes import ENDPOINTS as SCHEDULING
from mailkeep.features.mailflow.sending.routes import ENDPOINTS as SENDING
from mailkeep.features.mailflow.suppressions.routes import ENDPOINTS as SUPPRESSIONS
from mailkeep.features.mailflow.templates.routes import ENDPOINTS as TEMPLATES
from mailkeep.features.mailflow.thresholds.routes import ENDPOINTS as THRESHOLDS
from mailkeep.features.mailflow.unsubscribe.routes import ENDPOINTS as UNSUBSCRIBE
from mailkeep.features.mailflow.webhooks.routes import ENDPOINTS as WEBHOOKS
from mailkeep.features.operations.backup_contents.routes import ENDPOINTS as BACKUP_CONTENTS
from mailkeep.features.operations.backup_policy.routes import ENDPOINTS as BACKUP_POLICY
from mailkeep.features.operations.backups.routes import ENDPOINTS as BACKUPS
from mailkeep.features.operations.certificates.routes import ENDPOINTS as CERTIFICATES
from mailkeep.features.operations.configuration.routes import ENDPOINTS as CONFIGURATION
from mailkeep.features.operations.health.routes import ENDPOINTS as HEALTH
from mailkeep.features.operations.operation_status.routes import ENDPOINTS as OPERATION_STATUS
from mailkeep.features.operations.orchestrator.routes import ENDPOINTS as ORCHESTRATOR
from mailkeep.features.operations.server_filtering.routes import ENDPOINTS as SERVER_FILTERING
from mailkeep.features.record.alerts.routes import ENDPOINTS as ALERTS
from mailkeep.features.record.analytics.routes import ENDPOINTS as ANALYTICS
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.routes import ENDPOINTS as AUDIT
from mailkeep.features.record.events.routes import ENDPOINTS as EVENTS
from mailkeep.features.record.history.routes import ENDPOINTS as HISTORY
from mailkeep.web.dashboard import dashboard_endpoints, not_found_pages
from mailkeep.web.endpoint import Endpoint
from mailkeep.web.openapi import openapi_endpoints
from mailkeep.web.pipeline import AccessControl

FEATURES: tuple[Endpoint, ...] = (
    *LOGINS,
    *SESSIONS,
    *SECOND_FACTORS,
    *PASSKEYS,
    *OIDC,
    *INVITATION_ACCEPTANCE,
    *ADMINS,
    *API_KEYS,
    *DOMAINS,
    *DNS_CHECKS,
    *DKIM_KEYS,
    *DNS_UPDATES,
    *MTA_STS,
    *REPORTS,
    *MAILBOXES,
    *MAILBOX_USAGE,
    *APP_PASSWORDS,
    *CLIENT_SETUP,
    *SIEVE,
    *VACATION,
    *JUNK,
    *OWNERS,
    *OWN_SESSIONS,
    *OWN_SECOND_FACTORS,
    *OWN_PASSKEYS,
    *OWN_APP_PASSWORDS,
    *OWN_CLIENT_SETUP,
    *OWN_VACATION,
    *OWN_SIEVE,
    *OWN_JUNK,
    *OWN_FILTERING,
    *OWN_FILTER_TEST,
    *FILTERING,
    *SERVER_FILTERING,
    *FILTER_TEST,
    *ABUSE_OVERVIEW,
    *ABUSE,
    *INCIDENTS,
    *ALERTS,
    *THRESHOLDS,
    *SIGN_IN_BLOCKS,
    *ALIASES,
    *BULK,
    *OPERATION_STATUS,
    *ROUTING,
    *SENDING,
    *TEMPLATES,
    *SUPPRESSIONS,
    *UNSUBSCRIBE,
    *HISTORY,
    *ANALYTICS,
    *MESSAGE_CONTENT,
    *SCHEDULING,
    *RESENDING,
    *QUEUE,
    *EVENTS,
    *WEBHOOKS,
    *SANDBOX,
    *AUDIT,
    *HEALTH,
    *CERTIFICATES,
    *BACKUP_POLICY,
    *BACKUPS,
    *BACKUP_CONTENTS,
    *CONFIGURATION,
    *ORCHESTRATOR,
)
"""In the order of the documentation."""

NOT_FOUND_PAGES = not_found_pages()
ENDPOINTS: tuple[Endpoint, ...] = (*FEATURES, *openapi_endpoints(FEATURES), *dashboard_endpoints())


ACCESS_CONTROL = AccessControl(sessions.authenticate, logins.verify_own_password, audit.record_refusal)
