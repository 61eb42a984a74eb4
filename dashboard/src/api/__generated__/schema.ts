// Generated from docs/reference/openapi.json by `make generate`; change the API instead.
export interface paths {
    "/.well-known/acme-challenge/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Answer an ACME challenge
         * @description For certificate authorities (HTTP-01, RFC 8555 §8.3), at any host name. NOT_FOUND.
         */
        get: operations["getWellKnownAcmeChallengeByToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/autoconfig/mail/config-v1.1.xml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the autoconfig document of a domain
         * @description For mail programs; the answer is the same for every local part of a domain. The domain is that of the Host field, with or without `autoconfig.`, or else that of `emailaddress`. NOT_FOUND for a domain that is not managed here.
         */
        get: operations["getWellKnownAutoconfigMailConfigV11Xml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/mta-sts.txt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a domain's MTA-STS policy
         * @description For other mail servers (RFC 8461). The Host field chooses the domain: `mta-sts.` and its name. NOT_FOUND for other hosts, and for domains whose `mta_sts_mode` is none, except in the week after another mode.
         */
        get: operations["getWellKnownMtaStsTxt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/abuse/suspensions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suspended senders
         * @description Addresses whose sending is suspended, with or without a mailbox.
         */
        get: operations["getAbuseSuspensions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/abuse/suspensions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a suspension */
        get: operations["getAbuseSuspensionsById"];
        put?: never;
        post?: never;
        /**
         * Lift a suspension
         * @description The address may send again immediately, and its count is reset.
         */
        delete: operations["deleteAbuseSuspensionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/abuse/thresholds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the hourly limits for sending and forwarding
         * @description The settings `abuse.*` in recipients per hour; with `scope=domain` and the domain's `id` also its usage in the last hour. Copies to external recipients by aliases, forwards and Sieve redirects count for `forward_per_hour`; mail that exceeds it is deferred.
         */
        get: operations["getAbuseThresholds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List administrators
         * @description Newest first. admin and super_admin see all, a domain_admin its own account and those that share a domain with it, a scoped API key only its owner.
         */
        get: operations["getAdmins"];
        put?: never;
        /**
         * Create an administrator
         * @description With `password`, or with `invite`: then the response has a link with which the account's owner sets a password, or the link is mailed to `invite_to`. The link works once, for 72 hours. `invite_to` needs the setting `server.hostname` (CONFLICT hostname_not_set). At most 20 invitations an hour are mailed for the accounts of a domain, and 3 a day to an address (RATE_LIMIT_EXCEEDED). Until then nobody can sign in to the account. All other super_admins get mail about a new admin or super_admin. With the setting `auth.confirm_admin_changes` it needs a session of the last 10 minutes, or `current_password`, the caller's own; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        post: operations["postAdmins"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admins/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an administrator */
        get: operations["getAdminsById"];
        put?: never;
        post?: never;
        /**
         * Delete an administrator
         * @description Ends its sessions and revokes its keys. The last active super_admin can't be deleted. All super_admins, and the address of the account, get mail about a deleted admin or super_admin. With the setting `auth.confirm_admin_changes` it needs a session of the last 10 minutes, or `current_password`, the caller's own; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        delete: operations["deleteAdminsById"];
        options?: never;
        head?: never;
        /**
         * Change an administrator
         * @description A new password or role ends the administrator's sessions, except the caller's own; `active` false ends all, and makes the API keys invalid until it is true again. Nobody sets their own `must_change_password` (FORBIDDEN). To change their own email or password, callers need a session (with an API key FORBIDDEN) and `current_password` (missing: MISSING_FIELDS; wrong: INVALID_CREDENTIALS, which counts as a failed login). All super_admins get mail about a new role, email or password of another admin or super_admin, and when one is disabled or enabled. With the setting `auth.confirm_admin_changes` it needs a session of the last 10 minutes, or `current_password`, the caller's own; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        patch: operations["patchAdminsById"];
        trace?: never;
    };
    "/admins/{id}/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite an administrator again
         * @description A new link with which the owner of another account sets a password; it is in the response, or mailed to `invite_to`. The previous link ends. A password that the account has stays valid until the link is used. The link works once, for 72 hours. `invite_to` needs the setting `server.hostname` (CONFLICT hostname_not_set). At most 20 invitations an hour are mailed for the accounts of a domain, and 3 a day to an address (RATE_LIMIT_EXCEEDED). All super_admins get mail about a link for another admin or super_admin. With the setting `auth.confirm_admin_changes` it needs a session of the last 10 minutes, or `current_password`, the caller's own; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        post: operations["postAdminsByIdInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List aliases
         * @description Of one domain, or of all that the caller may see; a domain_admin must give `domain_id`.
         */
        get: operations["getAliases"];
        put?: never;
        /**
         * Create an alias
         * @description An empty `source_local_part` is the catch-all. CONFLICT has `details.reason`: `source_taken`, `alias_chain`, `alias_loop`, `alias_domain` or `limit_reached`. More external destinations than `limits.external_expansion`, nested ones included, are accepted with a warning, but mail for the alias is then rejected.
         */
        post: operations["postAliases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/aliases/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an alias */
        get: operations["getAliasesById"];
        put?: never;
        post?: never;
        /**
         * Delete an alias
         * @description Applies to the next message.
         */
        delete: operations["deleteAliasesById"];
        options?: never;
        head?: never;
        /**
         * Change an alias
         * @description Activating it checks for chains and loops again.
         */
        patch: operations["patchAliasesById"];
        trace?: never;
    };
    "/aliases/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create, update or delete many aliases
         * @description Returns at once; GET /operations/{id} shows the progress, and a result for each item. Each item does what the single call does, or nothing; it is authorised when it is carried out. The body may also be CSV (`text/csv`, UTF-8, with commas, semicolons or tabs) with `?action=` and `?dry_run=`. Its first line names the columns: `domain`, `source_local_part`, `destination`, `active`; instead of the first two also `id`. An empty cell is an absent field. RATE_LIMIT_EXCEEDED while 20 operations of the account are unfinished.
         */
        post: operations["postAliasesBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/aliases/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export aliases as CSV
         * @description Of one domain, or of all that the caller may see. The columns: domain, source_local_part, destination, active. An apostrophe stands before a cell that a spreadsheet would evaluate as a formula; an import takes it off again.
         */
        get: operations["getAliasesExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the figures of each API key
         * @description The keys with which mail was sent, at most 1,000. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsApiKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/bounces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get why mail was refused
         * @description The classes of replies, the most frequent first, each with advice and its latest reply. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsBounces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the figures of each provider
         * @description Outcomes by the provider of the server that gave them, so also for domains that a provider hosts. `tag` and `api_key_id` have no figures by provider. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsDestinations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the figures of each domain
         * @description The domains with mail, those with the most first, at most 1,000. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsDomains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the figures of a period
         * @description How much mail was accepted, delivered, refused and received, how long delivery took, and the same of the period before. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the figures of each tag
         * @description The tags with mail, at most 1,000. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsTags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the figures of each hour or day
         * @description One row for each hour or day, the running one last. `provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table.
         */
        get: operations["getAnalyticsTimeseries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Newest first. A super_admin sees all keys, others their own, a scoped key only itself.
         */
        get: operations["getApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The key is shown only once, with the settings to send by SMTP. It has the rights of its owner, restricted by `permissions` and `scoped_domain_ids`, and works from `allowed_networks` only (elsewhere FORBIDDEN, `details.reason` network). A key that is created with another key can't expire later than that one or have a higher rate limit or more networks (FORBIDDEN, `details.reason` longer_lived, faster or more_networks), and is revoked with it.
         */
        post: operations["postApiKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description At once, with all keys that were created with it. A super_admin may revoke any key, others their own. Messages that were scheduled with it fail at their time.
         */
        delete: operations["deleteApiKeysById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log
         * @description Newest first. A domain_admin sees the entries of its domains. For a refused call of an administrator whom the caller does not see in GET /admins, `actor.label` is the role, and `ip_address` and `user_agent` are null. Refused calls of a caller beyond 60 a minute are counted in one entry `denied.summary` with `count` and `actions`.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log
         * @description All current entries, oldest transactions first, as a stream; the filters are those of the list. `format`: `json` (in the envelope); `ndjson`, one entry per line with the `seals` that end before the next entry (for `mailkeep audit verify FILE`); `csv`, safe to open in a spreadsheet: a cell that would be a formula begins with `'`, and control characters are escaped. The export is recorded in the audit log.
         */
        get: operations["getAuditExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Verify the audit log
         * @description Checks every entry and every seal of the log. `checked` is the number of sealed entries; `unsealed` that of the newest ones, which are sealed within seconds. `bad` lists the first 100 of `bad_count` faults: entries that were `altered`, `removed` or `inserted`, seals that were altered or removed (`seal_altered`, `seal_removed`), and `truncated` if the log does not contain the newest seal noted in the data directory. With the `public_key`, an export as ndjson can be verified without the server: `mailkeep audit verify FILE --public-key KEY`.
         */
        get: operations["getAuditVerify"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in
         * @description Sets the cookie `svc_session` and replaces the session of the call's cookie. For an account with a second factor, the response has `requires_totp` and `totp_session` and sets no cookie. Complete the sign-in within 5 minutes and 5 attempts (then SESSION_INVALID): here with `totp_session` and `totp_code` or `recovery_code`, or at /auth/passkeys/login/options with a passkey; `methods` lists the account's second factors. After 10 failures of an account in 15 minutes, further attempts must wait, except from addresses that have signed in to the account before; after 30 failures with several accounts, an address is blocked for an hour (GET /sign-in-blocks).
         */
        post: operations["postAuthLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign out */
        post: operations["postAuthLogout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End all own sessions
         * @description Including the current one.
         */
        post: operations["postAuthLogoutAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the own account
         * @description With an API key: the account of its owner.
         */
        get: operations["getAuthMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/callback/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return from an identity provider
         * @description Sets the cookie `svc_session` and redirects to `/` or to the `next` of the sign-in. For an account with a second factor it redirects to `/login#totp_session=…&methods=…&next=…`, after an error to `/login?error=CODE`, with `reason` for FORBIDDEN, CONFLICT and UNAVAILABLE.
         */
        get: operations["getAuthOidcCallbackByProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/disconnect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disconnect the own identity
         * @description Ends the other sessions. The only way to sign in can't be removed: CONFLICT `last_way_in`.
         */
        delete: operations["deleteAuthOidcDisconnect"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/login/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sign in with an identity provider
         * @description For browsers: redirects to the provider, which redirects back to the callback. With `link=1` the identity is linked to the account of the session, which must be at most 15 minutes old. An error redirects to `/login?error=CODE`.
         */
        get: operations["getAuthOidcLoginByProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List identity providers
         * @description The settings' `oidc.providers`, in their order.
         */
        get: operations["getAuthOidcProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List own passkeys
         * @description Newest first. With an API key: the passkeys of its owner.
         */
        get: operations["getAuthPasskeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a passkey
         * @description Ends the other sessions. With the last second factor, the recovery codes are deleted. CONFLICT `last_factor` if the role requires a second factor and this is the last one; `last_way_in` if the account has no password, no identity and no other passkey. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        delete: operations["deleteAuthPasskeysById"];
        options?: never;
        head?: never;
        /** Rename a passkey */
        patch: operations["patchAuthPasskeysById"];
        trace?: never;
    };
    "/auth/passkeys/login/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to sign in with a passkey
         * @description With the passkey alone, or with the `totp_session` of POST /auth/login as second factor. Returns the options for `navigator.credentials.get()`, valid once, for 5 minutes.
         */
        post: operations["postAuthPasskeysLoginOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/login/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a passkey
         * @description Opens a session, as POST /auth/login does, with the same response and cookie. A passkey alone requires user verification: PIN, fingerprint or face. INVALID_CREDENTIALS for an unknown passkey or one whose counter has not increased; SESSION_INVALID for a challenge that is unknown, used or over 5 minutes old.
         */
        post: operations["postAuthPasskeysLoginVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the recovery codes of an account with passkeys
         * @description The old recovery codes no longer work. Ends the other sessions. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        post: operations["postAuthPasskeysRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/register/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to register a passkey
         * @description Returns the options for `navigator.credentials.create()`, valid once, for 5 minutes. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`). UNAVAILABLE (`public_url`) unless `http.public_url` is https with a host name or localhost.
         */
        post: operations["postAuthPasskeysRegisterOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/passkeys/register/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a passkey
         * @description With the browser's result. From then on the password alone opens no session. For the account's first second factor, the response has ten recovery codes. Ends the other sessions.
         */
        post: operations["postAuthPasskeysRegisterVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the own password
         * @description Ends the other sessions, not the current one. It ends `must_change_password`, which refuses the current password as the new one (WEAK_PASSWORD, `details.reason` unchanged).
         */
        post: operations["postAuthPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List own sessions
         * @description Active sessions, newest first. With an API key: the sessions of its owner.
         */
        get: operations["getAuthSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End an own session */
        delete: operations["deleteAuthSessionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disable the authenticator
         * @description With a code, or with a recovery code if the authenticator is lost. Ends the other sessions.
         */
        delete: operations["deleteAuthTotp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the recovery codes of an account with an authenticator
         * @description With a code. The old recovery codes no longer work. Ends the other sessions.
         */
        post: operations["postAuthTotpRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set up an authenticator
         * @description Returns the secret for an authenticator. Sign-in requires it only after POST /auth/totp/verify with a first code, within 10 minutes. A pending setup is replaced.
         */
        post: operations["postAuthTotpSetup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/totp/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable the authenticator
         * @description With a first code. Returns ten recovery codes, shown only once, and ends the other sessions.
         */
        post: operations["postAuthTotpVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autodiscover/autodiscover.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Say where the Autodiscover document of an address is
         * @description For mail programs; the answer is the same for every local part of a domain. Autodiscover version 2; the only `Protocol` is Autodiscoverv1 (INVALID_FIELD).
         */
        get: operations["getAutodiscoverAutodiscoverJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autodiscover/autodiscover.json/v1.0/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Say where the Autodiscover document of an address is
         * @description For mail programs; the answer is the same for every local part of a domain. Autodiscover version 2; the only `Protocol` is Autodiscoverv1 (INVALID_FIELD).
         */
        get: operations["getAutodiscoverAutodiscoverJsonV10ByAddress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autodiscover/autodiscover.xml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer Autodiscover
         * @description For mail programs; the answer is the same for every local part of a domain. The body is Outlook's request in XML, at most 16 KiB, without a DTD. The path may be in upper or lower case. A request for another schema gets the error 601 of Autodiscover, with status 200.
         */
        post: operations["postAutodiscoverAutodiscoverXml"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List backups */
        get: operations["getBackups"];
        put?: never;
        /**
         * Make a backup
         * @description In the background: the response has state `running`. The backup contains what was acknowledged before it begins: database, mail, queue, message contents, secrets, settings and certificates. One operation on backups at a time: ORCHESTRATOR_BUSY with its `operation_id`. Without restic on the server UNAVAILABLE `needs_restic`, with the command that installs it.
         */
        post: operations["postBackups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a backup */
        get: operations["getBackupsById"];
        put?: never;
        post?: never;
        /**
         * Delete a backup
         * @description In the background. Its data stays in the repository until the next removal of old backups. CONFLICT `running`, `append_only`. One operation on backups at a time: ORCHESTRATOR_BUSY with its `operation_id`. Without restic on the server UNAVAILABLE `needs_restic`, with the command that installs it.
         */
        delete: operations["deleteBackupsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel what runs with a backup
         * @description The backup, its verification, or a restore from it ends within seconds. A restore keeps what it has already restored. CONFLICT `not_running`.
         */
        post: operations["postBackupsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups/{id}/contents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Browse a backup
         * @description Its domains; with `domain_id` the mailboxes of a domain, with `mailbox_id` the folders of a mailbox, with `message_id` the messages with this Message-ID. By name. The first call for a backup reads its index from the repository: UNAVAILABLE `reading_index` if that takes longer than 20 seconds. CONFLICT `not_stored`.
         */
        get: operations["getBackupsByIdContents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a domain or a mailbox
         * @description Matched by ID, from the backup into the running instance. Messages that are newer than the backup stay. Passwords and suspensions stay as they are now; a mailbox that is missing comes back without a password. With `dry_run` only the counts are in `result` of the operation. CONFLICT `not_stored`; with the scope `all` CONFLICT `needs_empty_data_directory`, with the command to use. Except for a dry run, it needs a session of the last 10 minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`. One operation on backups at a time: ORCHESTRATOR_BUSY with its `operation_id`. Without restic on the server UNAVAILABLE `needs_restic`, with the command that installs it.
         */
        post: operations["postBackupsByIdRestore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a backup
         * @description Restores it into a temporary folder, starts a database there, and compares rows, messages and the audit log. The result is `verified` of the backup. CONFLICT `not_stored`. One operation on backups at a time: ORCHESTRATOR_BUSY with its `operation_id`. Without restic on the server UNAVAILABLE `needs_restic`, with the command that installs it.
         */
        post: operations["postBackupsByIdVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the policy of backups
         * @description `ETag` is the number of the newest revision of the settings.
         */
        get: operations["getBackupsPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the policy of backups
         * @description Adds a revision of the settings `backup.*` (PATCH /config, which also has the credentials of the repository). INVALID_FIELD if the file or the environment sets a value. It needs a session of the last 10 minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        patch: operations["patchBackupsPolicy"];
        trace?: never;
    };
    "/certificates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List certificates
         * @description Full profile: the certificate of the server and those of domains, with the reasons why host names are left out. They are ordered with `acme.enabled`. Private keys are never shown.
         */
        get: operations["getCertificates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/certificates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a certificate */
        get: operations["getCertificatesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/certificates/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a certificate now
         * @description It is replaced in the background, usually within seconds; without a certificate its names are looked at again. CONFLICT `not_managed`.
         */
        post: operations["postCertificatesByIdRenew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/certificates/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a certificate and replace it
         * @description In the background: it is replaced, with another key, and then revoked. CONFLICT `not_managed`, `not_issued`, `being_revoked`.
         */
        post: operations["postCertificatesByIdRevoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/certificates/account-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the key of the ACME account
         * @description Certificates stay valid. CONFLICT `not_managed`; UNAVAILABLE if the authority does not accept it.
         */
        post: operations["postCertificatesAccountKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all settings
         * @description With their values in running processes. `ETag` is the number of the newest revision.
         */
        get: operations["getConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change settings
         * @description Adds a revision. Settings with effect `none` apply to all processes at once, others with the next apply or start. INVALID_FIELD names each setting that is not valid, is set by the file or the environment, or can't be stored. With `If-Match` and another newest revision: PRECONDITION_FAILED, with the settings that have changed since in `details.changed`. With `dry_run` nothing is stored, and `plan` has the files that would change and what the services would do; null with a warning if the process `node` does not answer within 30 seconds. A relay's password is removed if its host, port, encryption or user name changes, unless it is in the same request. Changes of `auth.*`, `oidc.*`, `cors.*`, `dns.*`, `filter.dns_servers`, `mta.*`, `outbound.relay*`, `overlays.*` and `webhooks.allowed_networks` need a session of the last 10 minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        patch: operations["patchConfig"];
        trace?: never;
    };
    "/config/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the revisions of the settings */
        get: operations["getConfigRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/config/revisions/{n}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll back to a revision
         * @description Adds a revision with the stored settings of revision `n` (0: none stored), checked like a change. With `If-Match` and another newest revision: PRECONDITION_FAILED as for PATCH /config. Changes of `auth.*`, `oidc.*`, `cors.*`, `dns.*`, `filter.dns_servers`, `mta.*`, `outbound.relay*`, `overlays.*` and `webhooks.allowed_networks` need a session of the last 10 minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`.
         */
        post: operations["postConfigRevisionsByNRollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/config/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the JSON Schema of the settings
         * @description An object with a property for each setting that PATCH /config accepts.
         */
        get: operations["getConfigSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dns/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the DNS records of the server
         * @description Those of its name (`server.hostname`) and addresses, with reverse DNS, the DKIM key of its own mail, and what blocklists (`dns.blocklists`) say about its addresses. CAA, DNSSEC and TLSA are for information.
         */
        get: operations["getDnsServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dns/server/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the DNS records of the server
         * @description A worker carries it out, within seconds if the limit of look-ups (`dns.lookups_per_second`) allows: GET /dns/server shows the progress in `check` and then the results. While one waits, a further request changes nothing. RATE_LIMIT_EXCEEDED within 10 seconds after the last check.
         */
        post: operations["postDnsServerCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dns/server/zone-file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the DNS records of the server as a zone file
         * @description Those records that have a value, for the zone file of a DNS server or for an import at a DNS provider. `format=bind`: text, with TXT records split at 255 octets; `json`: a list in the envelope. Reverse DNS is set by the provider of the addresses: PTR records are comments.
         */
        get: operations["getDnsServerZoneFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the documentation
         * @description A page for people, generated from the OpenAPI document.
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List domains
         * @description Domains that the caller may see.
         */
        get: operations["getDomains"];
        put?: never;
        /**
         * Create a domain
         * @description Also creates its first DKIM keys: publish the records that GET /domains/{id}/dns shows. With `alias_of`, CONFLICT has `details.reason`: `alias_chain` (the target is an alias domain) or `alias_loop`. `mta_sts_mode` can't be enforce yet (`not_served`).
         */
        post: operations["postDomains"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a domain */
        get: operations["getDomainsById"];
        put?: never;
        post?: never;
        /**
         * Delete a domain
         * @description CONFLICT, with their numbers, while it has mailboxes, aliases or alias domains; mailboxes in the trash are deleted with it. Also while messages are scheduled, unless `cancel_scheduled` is true.
         */
        delete: operations["deleteDomainsById"];
        options?: never;
        head?: never;
        /**
         * Change a domain
         * @description `relay` is replaced as a whole; null removes it. Without `password`, the stored one is kept if host, port, tls and username are unchanged, and cleared otherwise. `alias_of` needs a domain without mailboxes and aliases, except in the trash (CONFLICT `has_dependents`); neither the target nor a domain that is a target can be an alias domain (`alias_chain`). `mta_sts_mode` enforce: `not_served` until a check has fetched the policy at https://mta-sts.DOMAIN/.well-known/mta-sts.txt.
         */
        patch: operations["patchDomainsById"];
        trace?: never;
    };
    "/domains/{id}/dkim-delegation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the CNAME records of a delegated domain
         * @description With `dkim_delegated`, the domain's administrator publishes these four records once; keys are then rotated without a change of its zone. Empty before `server.hostname` is set.
         */
        get: operations["getDomainsByIdDkimDelegation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dkim-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the DKIM keys of a domain
         * @description Newest first, with the record of each key. Every active key signs.
         */
        get: operations["getDomainsByIdDkimKeys"];
        put?: never;
        /**
         * Create or import a DKIM key
         * @description With `algorithm` a key is generated; with `private_key` (PEM) it is imported, and never shown again. It is `pending`: publish its record, then activate it. CONFLICT has `details.reason`: `limit_reached` (10 keys of the domain are not retired), `selector_taken`, or `selectors_in_use` (delegated domains).
         */
        post: operations["postDomainsByIdDkimKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dkim-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a DKIM key */
        get: operations["getDomainsByIdDkimKeysByKeyId"];
        put?: never;
        post?: never;
        /**
         * Delete a DKIM key
         * @description A pending or retired one; CONFLICT `in_use` for others.
         */
        delete: operations["deleteDomainsByIdDkimKeysByKeyId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dkim-keys/{key_id}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate a DKIM key
         * @description The key signs from now on. The active key of the same family (RSA or Ed25519) becomes `retiring`: its record must stay until it is `retired`, after the longest time that mail may be in the queue. CONFLICT `not_published`, with what each name server answers in `details.resolvers`, until all of `dns.servers` find the record; `force` skips this look-up. CONFLICT `retired` for a retired key.
         */
        post: operations["postDomainsByIdDkimKeysByKeyIdActivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dkim-keys/{key_id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retire a DKIM key
         * @description An active key stops signing and becomes `retiring`, a pending one `retired`. CONFLICT `last_active_key` if the domain's mail would not be signed any more.
         */
        post: operations["postDomainsByIdDkimKeysByKeyIdRetire"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dmarc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what DMARC reports say about a domain
         * @description Sources of mail in the domain's name, figures per day, who reported, and advice: which sources are yours and which `p=` is safe. Reports count once per organisation and ID, and only if their sender passed DMARC.
         */
        get: operations["getDomainsByIdDmarc"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the DNS records of a domain
         * @description The records that the domain needs, the values found by the last check, and the problem and the advice in words. SPF is not compared but evaluated for the server's addresses. Before `server.hostname` is set, `setup` says so, and nothing is checked.
         */
        get: operations["getDomainsByIdDns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dns-updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the DNS records that Mailkeep writes
         * @description Of a domain with `dns_managed`, by `dns.provider`: each record and what became of it. Errors are retried with growing pauses, at most an hour.
         */
        get: operations["getDomainsByIdDnsUpdates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/dns/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the DNS records of a domain
         * @description A worker carries it out, within seconds if the limit of look-ups (`dns.lookups_per_second`) allows: GET /domains/{id}/dns shows the progress in `check` and then the results. While one waits, a further request changes nothing. RATE_LIMIT_EXCEEDED within 10 seconds after the last check.
         */
        post: operations["postDomainsByIdDnsCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/filtering": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the filter settings of a domain
         * @description `effective` has the values in force, and the scope where each is set.
         */
        get: operations["getDomainsByIdFiltering"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the filter settings of a domain
         * @description Null: as the wider scope. They apply to the next message.
         */
        patch: operations["patchDomainsByIdFiltering"];
        trace?: never;
    };
    "/domains/{id}/filtering/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the allow and deny entries of a domain
         * @description Newest first. Not those of wider scopes.
         */
        get: operations["getDomainsByIdFilteringEntries"];
        put?: never;
        /**
         * Add an allow or deny entry of a domain
         * @description It applies to the next message. An allow entry applies only if the author or sender is proved, or the client is in its network. Order: enforced deny entries; then those of mailbox, domain, server; addresses, domains, networks; deny before allow. At most 10,000 (CONFLICT `limit_reached`). CONFLICT `exists`: `details.entry_id` names the entry.
         */
        post: operations["postDomainsByIdFilteringEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/filtering/entries/{entry_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an allow or deny entry of a domain */
        delete: operations["deleteDomainsByIdFilteringEntriesByEntryId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/filtering/entries/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import allow and deny entries of a domain
         * @description All valid rows are added in one transaction; entries that exist already do not change. The body may also be CSV (`text/csv`, UTF-8) whose first line names the columns: `list`, `kind`, `value`, `comment`, `enforced`.
         */
        post: operations["postDomainsByIdFilteringEntriesImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/filtering/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what the filter would do with a message
         * @description For a message that is described, or for one of the history (`message_id`), whose client address is not known. The decision is that of the filter itself; it changes nothing and counts no hit. A message to several mailboxes is refused only if all refuse it, and goes to Junk otherwise. In the embedded profile nothing proves an author, and only the test string GTUBE gives a score: allow entries apply by network only, and `score` has no effect.
         */
        post: operations["postDomainsByIdFilteringTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the reports about a domain
         * @description DMARC reports, TLS reports and abuse reports (ARF), newest first; also those that do not count.
         */
        get: operations["getDomainsByIdReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/tls-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what TLS reports say about a domain
         * @description Encrypted and failed sessions of other servers to this one (RFC 8460), by policy and by result.
         */
        get: operations["getDomainsByIdTlsReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/zone-file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the DNS records of a domain as a zone file
         * @description Those records that have a value, for the zone file of a DNS server or for an import at a DNS provider. `format=bind`: text, with TXT records split at 255 octets; `json`: a list in the envelope.
         */
        get: operations["getDomainsByIdZoneFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow events
         * @description Oldest first, in the order of commit: a client that continues with `after` (the ID of the last event it saw) misses no event and sees none twice. An event is hidden while an older transaction is open. Events are kept for `retention.event_days`; if the event `after` has been deleted, the response begins with the oldest event, and `meta.details.reason` is `truncated`.
         */
        get: operations["getEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an event */
        get: operations["getEventsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow events live
         * @description The feed of `GET /events` as server-sent events, in the same order. Each has its `id`, its kind as `event`, and the response of `GET /events/{id}` as `data`. The stream begins after the event in `Last-Event-ID` (which a browser's `EventSource` sends when it reconnects), else after the event `after`, else with the next new event; `00000000-0000-0000-0000-000000000000` means from the oldest event. If the event has been deleted, `stream.truncated` comes first. A comment is sent after each 5 seconds without events. The stream ends with the event `stream.end`, with `code` and `message`, when a new call would be refused (session or key revoked, role or scope changed) or the server shuts down. Limited by `limits.event_streams` and `limits.event_streams_per_caller` (`details.reason` `too_many_streams`).
         */
        get: operations["getEventsStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/filtering": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the filter settings of the server
         * @description They are in force where a mailbox and its domain have none. `effective` has the values in force. `ETag` is the number of the newest revision of the settings.
         */
        get: operations["getFiltering"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the filter settings of the server
         * @description Adds a revision of the settings (PATCH /config) and applies to the next message. Null: the default. INVALID_FIELD if the file or the environment sets a value.
         */
        patch: operations["patchFiltering"];
        trace?: never;
    };
    "/filtering/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the allow and deny entries of the server
         * @description Newest first. Not those of wider scopes.
         */
        get: operations["getFilteringEntries"];
        put?: never;
        /**
         * Add an allow or deny entry of the server
         * @description It applies to the next message. An allow entry applies only if the author or sender is proved, or the client is in its network. Order: enforced deny entries; then those of mailbox, domain, server; addresses, domains, networks; deny before allow. At most 100,000 (CONFLICT `limit_reached`). CONFLICT `exists`: `details.entry_id` names the entry.
         */
        post: operations["postFilteringEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/filtering/entries/{entry_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an allow or deny entry of the server */
        delete: operations["deleteFilteringEntriesByEntryId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/filtering/entries/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import allow and deny entries of the server
         * @description All valid rows are added in one transaction; entries that exist already do not change. The body may also be CSV (`text/csv`, UTF-8) whose first line names the columns: `list`, `kind`, `value`, `comment`, `enforced`.
         */
        post: operations["postFilteringEntriesImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/filtering/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what the filter would do with a message
         * @description For a message that is described, or for one of the history (`message_id`), whose client address is not known. The decision is that of the filter itself; it changes nothing and counts no hit. A message to several mailboxes is refused only if all refuse it, and goes to Junk otherwise. In the embedded profile nothing proves an author, and only the test string GTUBE gives a score: allow entries apply by network only, and `score` has no effect.
         */
        post: operations["postFilteringTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the health of the server
         * @description 200 if the server works, even `degraded`; 503 if it is `down`, with the same content in `details`. In the full profile, a daemon or agent that does not run is `degraded` until it has restarted.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the health of each component
         * @description `database`, `mta`, `filter`, `mailboxes`, `queue` (its length), `disk`, `certificates` (expiry and failed renewals), `dns` (`server.hostname` and the PTR records of the sending addresses) and `probe` (once a minute a message from port 25 through MTA and filter to a mailbox of its own, and a login there: `latency_ms` is the time until it arrived, `details` has when, and the `stage` that failed: `login`, `connect`, `envelope`, `content` or `delivery`), and `backups` (late, failed or not verified). A component that this profile does not have is `disabled`. `advice` says what to do. For super_admin.
         */
        get: operations["getHealthDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check whether the process is alive */
        get: operations["getHealthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation
         * @description Sets the password of the account, ends its sessions, and uses up the link; a refused password does not. It opens no session. NOT_FOUND as for POST /invitations/lookup. For an administrator FORBIDDEN network outside `auth.allowed_networks`.
         */
        post: operations["postInvitationsByToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show an invitation
         * @description The account whose password the link sets. NOT_FOUND if the link has been used or replaced, or has expired. The token is in the body, so that no log of a proxy gets it.
         */
        post: operations["postInvitationsLookup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mail/config-v1.1.xml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the autoconfig document of a domain
         * @description For mail programs; the answer is the same for every local part of a domain. The domain is that of the Host field, with or without `autoconfig.`, or else that of `emailaddress`. NOT_FOUND for a domain that is not managed here.
         */
        get: operations["getMailConfigV11Xml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List mailboxes */
        get: operations["getMailboxes"];
        put?: never;
        /**
         * Create a mailbox
         * @description With `password`, with `password_hash` in any scheme of Dovecot, or with `invite`: then the response has a link with which the mailbox's owner sets a password, or the link is mailed to `invite_to`. The link works once, for 72 hours. `invite_to` needs the setting `server.hostname` (CONFLICT hostname_not_set). At most 20 invitations an hour are mailed for the accounts of a domain, and 3 a day to an address (RATE_LIMIT_EXCEEDED). Until then nobody can sign in to the mailbox.
         */
        post: operations["postMailboxes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a mailbox */
        get: operations["getMailboxesById"];
        put?: never;
        post?: never;
        /**
         * Delete a mailbox
         * @description It is in the trash for 30 days; `purge` deletes it permanently. Its address is free at once.
         */
        delete: operations["deleteMailboxesById"];
        options?: never;
        head?: never;
        /**
         * Change a mailbox
         * @description `local_part` and `domain_id` change its address; it keeps its mail.
         */
        patch: operations["patchMailboxesById"];
        trace?: never;
    };
    "/mailboxes/{id}/app-passwords": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the app passwords of a mailbox
         * @description Newest first, also expired ones. The passwords themselves are never shown again.
         */
        get: operations["getMailboxesByIdAppPasswords"];
        put?: never;
        /**
         * Create an app password
         * @description A password for one mail client: for IMAP, POP3, SMTP (submission) and ManageSieve, or some of them. It is shown only once. A mailbox has at most 50 (CONFLICT, `details.reason` limit_reached). With `require_app_passwords` (of the mailbox, its domain or the setting) or a second factor of its owner, these protocols accept nothing else.
         */
        post: operations["postMailboxesByIdAppPasswords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/app-passwords/{app_password_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an app password
         * @description It stops working at once, and the sessions that use it end; those of other passwords continue.
         */
        delete: operations["deleteMailboxesByIdAppPasswordsByAppPasswordId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/filtering": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the filter settings of a mailbox
         * @description `effective` has the values in force, and the scope where each is set.
         */
        get: operations["getMailboxesByIdFiltering"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the filter settings of a mailbox
         * @description Null: as the wider scope. They apply to the next message.
         */
        patch: operations["patchMailboxesByIdFiltering"];
        trace?: never;
    };
    "/mailboxes/{id}/filtering/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the allow and deny entries of a mailbox
         * @description Newest first. Not those of wider scopes.
         */
        get: operations["getMailboxesByIdFilteringEntries"];
        put?: never;
        /**
         * Add an allow or deny entry of a mailbox
         * @description It applies to the next message. An allow entry applies only if the author or sender is proved, or the client is in its network. Order: enforced deny entries; then those of mailbox, domain, server; addresses, domains, networks; deny before allow. At most 1,000 (CONFLICT `limit_reached`). CONFLICT `exists`: `details.entry_id` names the entry.
         */
        post: operations["postMailboxesByIdFilteringEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/filtering/entries/{entry_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an allow or deny entry of a mailbox */
        delete: operations["deleteMailboxesByIdFilteringEntriesByEntryId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/filtering/entries/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import allow and deny entries of a mailbox
         * @description All valid rows are added in one transaction; entries that exist already do not change. The body may also be CSV (`text/csv`, UTF-8) whose first line names the columns: `list`, `kind`, `value`, `comment`, `enforced`.
         */
        post: operations["postMailboxesByIdFilteringEntriesImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/filtering/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what the filter would do with a message
         * @description For a message that is described, or for one of the history (`message_id`), whose client address is not known. The decision is that of the filter itself; it changes nothing and counts no hit. A message to several mailboxes is refused only if all refuse it, and goes to Junk otherwise. In the embedded profile nothing proves an author, and only the test string GTUBE gives a score: allow entries apply by network only, and `score` has no effect.
         */
        post: operations["postMailboxesByIdFilteringTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/folders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the folders of a mailbox
         * @description With the number of messages and their size. The embedded profile has only INBOX. In the full profile CONFLICT `inactive` if the mailbox or its domain is inactive: Dovecot knows only active ones. UNAVAILABLE if the process `node` does not answer.
         */
        get: operations["getMailboxesByIdFolders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite a mailbox's owner
         * @description A new link with which the owner sets a password; it is in the response, or mailed to `invite_to`. The previous link ends. A password that the mailbox has stays valid until the link is used. The link works once, for 72 hours. `invite_to` needs the setting `server.hostname` (CONFLICT hostname_not_set). At most 20 invitations an hour are mailed for the accounts of a domain, and 3 a day to an address (RATE_LIMIT_EXCEEDED).
         */
        post: operations["postMailboxesByIdInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/junk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List junk of a mailbox
         * @description What the filter filed in the folder Junk, and what it refused, newest first, with the rule that decided. Mail that was moved or deleted since is listed with `can_release` false; so is all mail of an inactive mailbox, and while Dovecot can't be asked.
         */
        get: operations["getMailboxesByIdJunk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/junk/{message_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a message from Junk
         * @description Moves it to the inbox and teaches the filter that it is not spam. Idempotent. With `allow` its author is added to the mailbox's allow list; INVALID_FIELD, and nothing is released, if it has no author or several; if the list is full, the message is released and `warnings` says so. CONFLICT with `details.reason` refused (the server did not keep the message), moved (to another folder), deleted, or inactive (the mailbox or its domain). UNAVAILABLE if the process `node` or Dovecot does not answer.
         */
        post: operations["postMailboxesByIdJunkByMessageIdRelease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/recalculate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recalculate the usage of a mailbox
         * @description Counts all messages again, for the case that usage and quota seem wrong. In the full profile CONFLICT `inactive` if the mailbox or its domain is inactive: Dovecot knows only active ones. UNAVAILABLE if the process `node` does not answer.
         */
        post: operations["postMailboxesByIdRecalculate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restore a mailbox from the trash */
        post: operations["postMailboxesByIdRestore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how to set up a mail client
         * @description The services that the mailbox may use. `format=apple` is a configuration profile, signed with the server's certificate (CONFLICT `no_mail_services` if the mailbox can't both read and send mail); `format=qr` the mailbox's setup link (NOT_FOUND without one). The embedded profile shows what the full one would offer with the same settings.
         */
        get: operations["getMailboxesByIdSetup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/setup-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a setup link
         * @description A page for whoever has the link: the settings, a profile for Apple's devices and a QR code of the link, but no password. It works for 7 days and replaces the mailbox's earlier link.
         */
        post: operations["postMailboxesByIdSetupLink"];
        /**
         * Delete a setup link
         * @description It stops working at once. NOT_FOUND if there is none.
         */
        delete: operations["deleteMailboxesByIdSetupLink"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/sieve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the Sieve scripts of a mailbox
         * @description By name, at most 32. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        get: operations["getMailboxesByIdSieve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/sieve/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a Sieve script
         * @description Its ETag is a hash of the text, so that it also changes with ManageSieve. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        get: operations["getMailboxesByIdSieveByName"];
        /**
         * Create or replace a Sieve script
         * @description A script that does not compile is not stored: INVALID_FIELD, with the errors and their lines in `details.errors`. An active script stays active. CONFLICT `limit_reached` at the 33rd script. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        put: operations["putMailboxesByIdSieveByName"];
        post?: never;
        /**
         * Delete a Sieve script
         * @description CONFLICT `in_use` if it is active. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        delete: operations["deleteMailboxesByIdSieveByName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/sieve/{name}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate a Sieve script
         * @description It filters new mail instead of the script that was active. CONFLICT `invalid_script` if another program wrote it and it does not compile. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        post: operations["postMailboxesByIdSieveByNameActivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/sieve/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deactivate the active Sieve script of a mailbox
         * @description New mail goes to the inbox. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        post: operations["postMailboxesByIdSieveDeactivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend sending for a mailbox's address
         * @description A suspension by the abuse rules or a higher rank is not replaced.
         */
        post: operations["postMailboxesByIdSuspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/unsuspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lift the suspension of a mailbox's address
         * @description Only admins can lift a suspension by the abuse rules or a higher rank. The count of the sender is reset.
         */
        post: operations["postMailboxesByIdUnsuspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/{id}/vacation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the vacation of a mailbox */
        get: operations["getMailboxesByIdVacation"];
        /**
         * Set the vacation of a mailbox
         * @description From `start_at` to `end_at` each sender gets one reply within `days`: not to spam, lists and automatic mail (RFC 3834), nor if the sender is not authenticated by SPF or DMARC. It applies to the next message, beside the owner's Sieve script. `warnings` says if it sends no replies. In the embedded profile an active vacation is UNAVAILABLE (`details.reason` needs_full_profile).
         */
        put: operations["putMailboxesByIdVacation"];
        post?: never;
        /**
         * Delete the vacation of a mailbox
         * @description Also its text. PUT with `active` false keeps it.
         */
        delete: operations["deleteMailboxesByIdVacation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create, update or delete many mailboxes
         * @description Returns at once; GET /operations/{id} shows the progress, and a result for each item. Each item does what the single call does, or nothing; it is authorised when it is carried out. The body may also be CSV (`text/csv`, UTF-8, with commas, semicolons or tabs) with `?action=` and `?dry_run=`. Its first line names the columns: `address`, `name`, `password` or `password_hash`, `quota_bytes`, `active`; instead of `address` also `id` (update, delete). An empty cell is an absent field. RATE_LIMIT_EXCEEDED while 20 operations of the account are unfinished.
         */
        post: operations["postMailboxesBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailboxes/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export mailboxes as CSV
         * @description Of one domain, or of all that the caller may see. The columns: address, name, quota_bytes, active. An apostrophe stands before a cell that a spreadsheet would evaluate as a formula; an import takes it off again.
         */
        get: operations["getMailboxesExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the own mailbox */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/app-passwords": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the app passwords of a mailbox
         * @description Newest first, also expired ones. The passwords themselves are never shown again.
         */
        get: operations["getMeAppPasswords"];
        put?: never;
        /**
         * Create an app password
         * @description A password for one mail client: for IMAP, POP3, SMTP (submission) and ManageSieve, or some of them. It is shown only once. A mailbox has at most 50 (CONFLICT, `details.reason` limit_reached). With `require_app_passwords` (of the mailbox, its domain or the setting) or a second factor of its owner, these protocols accept nothing else. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        post: operations["postMeAppPasswords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/app-passwords/{app_password_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an app password
         * @description It stops working at once, and the sessions that use it end; those of other passwords continue. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        delete: operations["deleteMeAppPasswordsByAppPasswordId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/filtering": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the filter settings of a mailbox
         * @description `effective` has the values in force, and the scope where each is set.
         */
        get: operations["getMeFiltering"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the filter settings of a mailbox
         * @description Null: as the wider scope. They apply to the next message.
         */
        patch: operations["patchMeFiltering"];
        trace?: never;
    };
    "/me/filtering/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the allow and deny entries of a mailbox
         * @description Newest first. Not those of wider scopes.
         */
        get: operations["getMeFilteringEntries"];
        put?: never;
        /**
         * Add an allow or deny entry of a mailbox
         * @description It applies to the next message. An allow entry applies only if the author or sender is proved, or the client is in its network. Order: enforced deny entries; then those of mailbox, domain, server; addresses, domains, networks; deny before allow. At most 1,000 (CONFLICT `limit_reached`). CONFLICT `exists`: `details.entry_id` names the entry. Owners can't allow networks or enforce entries (FORBIDDEN).
         */
        post: operations["postMeFilteringEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/filtering/entries/{entry_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete an allow or deny entry of a mailbox */
        delete: operations["deleteMeFilteringEntriesByEntryId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/filtering/entries/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import allow and deny entries of a mailbox
         * @description All valid rows are added in one transaction; entries that exist already do not change. The body may also be CSV (`text/csv`, UTF-8) whose first line names the columns: `list`, `kind`, `value`, `comment`, `enforced`. Owners can't allow networks or enforce entries (FORBIDDEN).
         */
        post: operations["postMeFilteringEntriesImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/filtering/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what the filter would do with a message
         * @description For a message that is described, or for one of the history (`message_id`), whose client address is not known. The decision is that of the filter itself; it changes nothing and counts no hit. A message to several mailboxes is refused only if all refuse it, and goes to Junk otherwise. In the embedded profile nothing proves an author, and only the test string GTUBE gives a score: allow entries apply by network only, and `score` has no effect.
         */
        post: operations["postMeFilteringTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/forward": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the own forward */
        get: operations["getMeForward"];
        /**
         * Set the own forward
         * @description At most ten destinations; without any the forward is removed. CONFLICT `alias_loop` if mail would come back. Its version is that of the mailbox.
         */
        put: operations["putMeForward"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/junk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List junk of a mailbox
         * @description What the filter filed in the folder Junk, and what it refused, newest first, with the rule that decided. Mail that was moved or deleted since is listed with `can_release` false; so is all mail of an inactive mailbox, and while Dovecot can't be asked.
         */
        get: operations["getMeJunk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/junk/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a message from Junk
         * @description Moves it to the inbox and teaches the filter that it is not spam. Idempotent. With `allow` its author is added to the mailbox's allow list; INVALID_FIELD, and nothing is released, if it has no author or several; if the list is full, the message is released and `warnings` says so. CONFLICT with `details.reason` refused (the server did not keep the message), moved (to another folder), deleted, or inactive (the mailbox or its domain). UNAVAILABLE if the process `node` or Dovecot does not answer.
         */
        post: operations["postMeJunkByIdRelease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in to the own mailbox
         * @description With the mailbox's address and its own password, not an app password. Sets the cookie `svc_mailbox` and replaces the session of the call's cookie. The second step is that of POST /auth/login, here or at /me/passkeys/login/options. FORBIDDEN with `details.reason` self_service if the domain does not allow it. Failed sign-ins count together with those of mail clients (GET /sign-in-blocks).
         */
        post: operations["postMeLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/logins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sign-ins to the own mailbox
         * @description By mail clients and with browsers, newest first: one entry for each day (UTC), protocol, address and program. Kept for `retention.login_days`.
         */
        get: operations["getMeLogins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign out */
        post: operations["postMeLogout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/logout-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End all own sessions
         * @description Including the current one.
         */
        post: operations["postMeLogoutAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List mail for the own mailbox
         * @description What was received, filed in Junk or rejected, newest first. Not what was sent.
         */
        get: operations["getMeMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List own passkeys
         * @description Newest first.
         */
        get: operations["getMePasskeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/passkeys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a passkey
         * @description Ends the other sessions. With the last second factor, the recovery codes are deleted. CONFLICT `last_factor` if the role requires a second factor and this is the last one; `last_way_in` if the account has no password, no identity and no other passkey. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        delete: operations["deleteMePasskeysById"];
        options?: never;
        head?: never;
        /** Rename a passkey */
        patch: operations["patchMePasskeysById"];
        trace?: never;
    };
    "/me/passkeys/login/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to sign in with a passkey
         * @description With the passkey alone, or with the `totp_session` of POST /me/login as second factor. Returns the options for `navigator.credentials.get()`, valid once, for 5 minutes.
         */
        post: operations["postMePasskeysLoginOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/passkeys/login/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a passkey
         * @description Opens a session, as POST /me/login does, with the same response and cookie. Refuses what POST /auth/passkeys/login/verify refuses.
         */
        post: operations["postMePasskeysLoginVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/passkeys/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the recovery codes of an account with passkeys
         * @description The old recovery codes no longer work. Ends the other sessions. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        post: operations["postMePasskeysRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/passkeys/register/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to register a passkey
         * @description Returns the options for `navigator.credentials.create()`, valid once, for 5 minutes. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`). UNAVAILABLE (`public_url`) unless `http.public_url` is https with a host name or localhost.
         */
        post: operations["postMePasskeysRegisterOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/passkeys/register/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a passkey
         * @description With the browser's result. From then on the password alone opens no session. For the account's first second factor, the response has ten recovery codes. Ends the other sessions.
         */
        post: operations["postMePasskeysRegisterVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the own password
         * @description Ends the other sessions, and those of mail clients with the old password; not the current one.
         */
        post: operations["postMePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List own sessions
         * @description Active sessions, newest first.
         */
        get: operations["getMeSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End an own session */
        delete: operations["deleteMeSessionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how to set up a mail client
         * @description The services that the mailbox may use. `format=apple` is a configuration profile, signed with the server's certificate (CONFLICT `no_mail_services` if the mailbox can't both read and send mail); `format=qr` the mailbox's setup link (NOT_FOUND without one). The embedded profile shows what the full one would offer with the same settings.
         */
        get: operations["getMeSetup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/setup-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a setup link
         * @description A page for whoever has the link: the settings, a profile for Apple's devices and a QR code of the link, but no password. It works for 7 days and replaces the mailbox's earlier link.
         */
        post: operations["postMeSetupLink"];
        /**
         * Delete a setup link
         * @description It stops working at once. NOT_FOUND if there is none.
         */
        delete: operations["deleteMeSetupLink"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sieve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the Sieve scripts of a mailbox
         * @description By name, at most 32. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        get: operations["getMeSieve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sieve/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a Sieve script
         * @description Its ETag is a hash of the text, so that it also changes with ManageSieve. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        get: operations["getMeSieveByName"];
        /**
         * Create or replace a Sieve script
         * @description A script that does not compile is not stored: INVALID_FIELD, with the errors and their lines in `details.errors`. An active script stays active. CONFLICT `limit_reached` at the 33rd script. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        put: operations["putMeSieveByName"];
        post?: never;
        /**
         * Delete a Sieve script
         * @description CONFLICT `in_use` if it is active. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        delete: operations["deleteMeSieveByName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sieve/{name}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Activate a Sieve script
         * @description It filters new mail instead of the script that was active. CONFLICT `invalid_script` if another program wrote it and it does not compile. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        post: operations["postMeSieveByNameActivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sieve/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deactivate the active Sieve script of a mailbox
         * @description New mail goes to the inbox. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer in time.
         */
        post: operations["postMeSieveDeactivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disable the authenticator
         * @description With a code, or with a recovery code if the authenticator is lost. Ends the other sessions.
         */
        delete: operations["deleteMeTotp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/totp/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the recovery codes of an account with an authenticator
         * @description With a code. The old recovery codes no longer work. Ends the other sessions.
         */
        post: operations["postMeTotpRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/totp/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set up an authenticator
         * @description Returns the secret for an authenticator. Sign-in requires it only after POST /me/totp/verify with a first code, within 10 minutes; from then on, mail clients need app passwords. A pending setup is replaced. A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`).
         */
        post: operations["postMeTotpSetup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/totp/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable the authenticator
         * @description With a first code. Returns ten recovery codes, shown only once, and ends the other sessions.
         */
        post: operations["postMeTotpVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/vacation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the vacation of a mailbox */
        get: operations["getMeVacation"];
        /**
         * Set the vacation of a mailbox
         * @description From `start_at` to `end_at` each sender gets one reply within `days`: not to spam, lists and automatic mail (RFC 3834), nor if the sender is not authenticated by SPF or DMARC. It applies to the next message, beside the owner's Sieve script. `warnings` says if it sends no replies. In the embedded profile an active vacation is UNAVAILABLE (`details.reason` needs_full_profile).
         */
        put: operations["putMeVacation"];
        post?: never;
        /**
         * Delete the vacation of a mailbox
         * @description Also its text. PUT with `active` false keeps it.
         */
        delete: operations["deleteMeVacation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages
         * @description Sent, received and refused mail, newest first. `from`, `to` and `subject` match substrings case-insensitively, `q` words in any of the three; `message_id`, `queue_id` and `tag` match exactly. `status` also finds `partial` messages with a recipient in that status. Kept for at least `retention.history_days`.
         */
        get: operations["getMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a message
         * @description With an entity tag while it is `scheduled`: only then it can be changed.
         */
        get: operations["getMessagesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Reschedule a message
         * @description Gives a message with status `scheduled` another time. CONFLICT, `details.reason` not_scheduled (with `status`), for a message that does not wait any more.
         */
        patch: operations["patchMessagesById"];
        trace?: never;
    };
    "/messages/{id}/attachments/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an attachment of a message
         * @description The decoded bytes, as a download with the original file name; `number` is that in `attachments`. NOT_FOUND also if the attachment's encoding is invalid or the message can't be parsed. While it is kept, and of a `scheduled` message as it will be sent; NOT_FOUND as for `/raw`. Only admin and above may read inbound mail, and reading it is recorded in the audit log.
         */
        get: operations["getMessagesByIdAttachmentsByNumber"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a scheduled message
         * @description It is not sent, and its content is deleted at once. CONFLICT, `details.reason` not_scheduled (with `status`), for a message that does not wait any more.
         */
        post: operations["postMessagesByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the content of a message, parsed
         * @description Header, text, HTML and attachments. `/raw` has the whole content. While it is kept, and of a `scheduled` message as it will be sent; NOT_FOUND as for `/raw`. Only admin and above may read inbound mail, and reading it is recorded in the audit log.
         */
        get: operations["getMessagesByIdContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the timeline of a message
         * @description Oldest first: `scheduled` and `cancelled`, `submitted` and `accepted`, then each delivery attempt with the reply of the remote server; for inbound mail `received` or `rejected`.
         */
        get: operations["getMessagesByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the HTML of a message
         * @description The HTML, with the images in the message (`cid:`; PNG, JPEG, GIF and WebP, at most 16 MiB) inserted and `<link>` renamed. Show it in a frame: its Content-Security-Policy blocks scripts and requests. NOT_FOUND with `details.reason` no_html if the message has no HTML. While it is kept, and of a `scheduled` message as it will be sent; NOT_FOUND as for `/raw`. Only admin and above may read inbound mail, and reading it is recorded in the audit log.
         */
        get: operations["getMessagesByIdHtml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the content of a message
         * @description As sent or received, for `retention.content_days`; after that NOT_FOUND with `details.reason` expired, or not_kept if it was never stored. Only admin and above may read inbound mail, and reading it is recorded in the audit log.
         */
        get: operations["getMessagesByIdRaw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message again
         * @description Sends the kept content to the recipients that did not get it, as a new message with a new Message-ID. A recipient with status `unknown` may get it twice; suppressed ones get nothing. CONFLICT, `details.reason`: still_open (a recipient has no final status), nothing_undelivered, not_outbound, malformed_address (of a program's message), content_gone.
         */
        post: operations["postMessagesByIdResend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a deferred delivery now
         * @description The mail server attempts the delivery to the deferred recipients now instead of at `next_attempt_at`. CONFLICT, `details.reason` not_deferred, if none is deferred.
         */
        post: operations["postMessagesByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/totals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count messages by status
         * @description How many messages are in each status now, of those created since `since` (absent: all in the history). As in the list with the filter `status`, a `partial` message counts once for each status of its recipients. Counting ends at `most` for each status, so that it takes milliseconds with any history.
         */
        get: operations["getMessagesTotals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get this document
         * @description OpenAPI 3.1, without the envelope.
         */
        get: operations["getOpenapiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow an operation
         * @description For its creator (with a scoped key: for this key) and super_admins. Results are kept for 7 days.
         */
        get: operations["getOperationsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of all services
         * @description The database, the daemons and Mailkeep's processes, and the generation of configuration that the daemons use. The embedded profile has one process, `mailkeep`. UNAVAILABLE with `details.reason` node_agent_away if the process `node` does not answer.
         */
        get: operations["getOrchestrator"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply a plan
         * @description Installs the configuration of the plan, lets the daemons read it, and watches them for `watch_seconds`: they run, greet, and no mail is deferred because of this server. Otherwise the earlier configuration is restored, and the operation ends as `rolled_back`. If the plan changes ports, or the name or certificate of the HTTPS listener, it must be confirmed within 120 seconds (`confirm_until`). Nothing is changed by CONFLICT: `plan_stale` (the configuration has changed, or the plan has expired) with the new plan in `details.plan`, `check_failed` with `details.checks`, `drifted` with `details.files` that were edited by hand and would change, `not_adoptable` with `details.lines` of edits that can't become settings, each with the reason. Adopting edits (`adopt_drift`) adds a revision of the settings `overlays.*`, and needs a sign-in within the last ten minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`. In the embedded profile only a plan without settings can be applied, others take effect at the next start (`restart_required`). One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`.
         */
        post: operations["postOrchestratorApply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm an apply
         * @description CONFLICT `nothing_to_confirm` if no operation has a `confirm_until` in the future; `other_listener`, with `details.url`, if the HTTPS listener changes and the request did not come by the new one.
         */
        post: operations["postOrchestratorConfirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files of the daemons' configuration that were edited by hand
         * @description Each with its difference from the file that was installed, and whether it can be adopted into the settings with POST /orchestrator/apply. Such edits are kept, also at the next start, unless the daemon's own check rejects them. Empty in the embedded profile. UNAVAILABLE with `details.reason` node_agent_away if the process `node` does not answer.
         */
        get: operations["getOrchestratorDrift"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List operations on services */
        get: operations["getOrchestratorOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an operation */
        get: operations["getOrchestratorOperationsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what the newest settings would change
         * @description Compares the daemons' configuration with what Mailkeep would write now: the files that change, what each daemon must do, and the result of the daemons' own checks of the new files. Nothing is changed. Without files in the embedded profile. UNAVAILABLE with `details.reason` node_agent_away if the process `node` does not answer.
         */
        get: operations["getOrchestratorPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll back to an earlier generation
         * @description Adds a revision of the settings in which those that need an apply have the values of that generation, and applies it like POST /orchestrator/apply. FORBIDDEN `recent_sign_in_required` if settings differ that need a recent sign-in. Full profile only. One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`.
         */
        post: operations["postOrchestratorRollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/services/{name}/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reload a service
         * @description Lets a daemon read its configuration again, without a restart. CONFLICT `not_supported` for other services. Returns before it is done. One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`. Full profile only.
         */
        post: operations["postOrchestratorServicesByNameReload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/services/{name}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart a service
         * @description Restarts a service; a stopped one is started. Returns before it is done. One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`. Full profile only.
         */
        post: operations["postOrchestratorServicesByNameRestart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/services/{name}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a service
         * @description Starts a service that was stopped. Returns before it is done. One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`. Full profile only.
         */
        post: operations["postOrchestratorServicesByNameStart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orchestrator/services/{name}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a service
         * @description Stops a service until it is started again, or until the next start of Mailkeep. CONFLICT `needed_by_api` for the database and for the processes that the API needs. Returns before it is done. One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`. Full profile only.
         */
        post: operations["postOrchestratorServicesByNameStop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the mail server's queue
         * @description Messages waiting for delivery, newest first, with the last reason for each recipient. Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer within ten seconds.
         */
        get: operations["getQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/queue/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Flush, hold, release or delete queued mail
         * @description Selects messages by `ids` or by `filter` (`{}`: all). `flush` retries now, `hold` keeps messages until `release`, `delete` removes them, and their remaining recipients fail (`mail.failed`). `dry_run` only counts. `release` with the filter `{}` also releases all else that is held after a full restore, in both profiles (`GET /queue/held`). Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away if the process `node` does not answer within ten seconds.
         */
        post: operations["postQueueActions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/queue/held": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what is held after a full restore
         * @description Mail that was queued in the backup may have been sent since, so it waits until it is released (`POST /queue/actions` with `release` and the filter `{}`). `restored` is null if nothing was restored, or all is released.
         */
        get: operations["getQueueHeld"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether requests can be served
         * @description The database answers and has the schema of this version.
         */
        get: operations["getReadyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a report
         * @description A DMARC, TLS or abuse report that was received elsewhere. It counts like a mailed one; uploading it again changes nothing. A report that can't be read is INVALID_FIELD with the reason; one about a domain that is not managed here is DOMAIN_NOT_FOUND.
         */
        post: operations["postReports"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/routing/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain the routing of an address
         * @description Uses the same SQL as incoming mail. Details of domains that the caller may not see are not shown.
         */
        get: operations["getRoutingExplain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List messages in the sandbox */
        get: operations["getSandboxMessages"];
        put?: never;
        post?: never;
        /**
         * Clear the sandbox
         * @description Messages with waiting recipients are kept.
         */
        delete: operations["deleteSandboxMessages"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a message in the sandbox
         * @description Parsed: header, text, HTML and attachments. `/raw` has the whole content.
         */
        get: operations["getSandboxMessagesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/messages/{id}/attachments/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an attachment of a message in the sandbox
         * @description The decoded bytes, as a download with the original file name; `number` is that in `attachments`. NOT_FOUND also if the attachment's encoding is invalid or the message can't be parsed.
         */
        get: operations["getSandboxMessagesByIdAttachmentsByNumber"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/messages/{id}/html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the HTML of a message in the sandbox
         * @description The HTML, with the images in the message (`cid:`; PNG, JPEG, GIF and WebP, at most 16 MiB) inserted and `<link>` renamed. Show it in a frame: its Content-Security-Policy blocks scripts and requests. NOT_FOUND if the message has no HTML.
         */
        get: operations["getSandboxMessagesByIdHtml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/messages/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a message in the sandbox as it would have been sent */
        get: operations["getSandboxMessagesByIdRaw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message
         * @description 200 means that the mail transfer agent has accepted the message, or that it is stored until `scheduled_at` (`status` scheduled); permissions, domain, suppressions and limits are then checked again, and a message that is not sent has `mail.failed` with the reason. While it restarts, the response waits up to 10 seconds. If an administrator has stopped it, SEND_FAILED comes at once. Suppressed recipients get nothing (`status` suppressed); if none is left, the response is RECIPIENT_SUPPRESSED. With a `template_id` the published version is rendered with `variables`: each missing one is INVALID_FIELD `variables.NAME`, a template that was never published CONFLICT `not_published`, an unknown one NOT_FOUND.
         */
        post: operations["postSend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/send/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send up to 100 messages
         * @description An error in one message does not affect the others; the response is 200 even if all of them fail. While the mail transfer agent restarts, the response waits up to 10 seconds in all.
         */
        post: operations["postSendBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/setup/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page of a setup link
         * @description A page for people. 404 for a link that has ended.
         */
        get: operations["getSetupByToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/setup/{token}/mail.mobileconfig": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the profile of a setup link
         * @description As `GET /mailboxes/{id}/setup?format=apple`. NOT_FOUND for a link that has ended.
         */
        get: operations["getSetupByTokenMailMobileconfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sieve/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a Sieve script with a message
         * @description Returns what the script would do; nothing is stored or sent. A stored message (`message_id`) needs the permissions of reading its content, and reading inbound mail is recorded in the audit log; owners of mailboxes send the message itself. It runs isolated, without network and files. UNAVAILABLE with `details.reason` needs_sievec if Pigeonhole is not installed, no_isolation if this machine can't isolate it.
         */
        post: operations["postSieveTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sieve/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a Sieve script
         * @description With Pigeonhole's compiler, and the extensions that scripts of mailboxes may use. Included scripts are unknown here. It runs isolated, without network and files. UNAVAILABLE with `details.reason` needs_sievec if Pigeonhole is not installed, no_isolation if this machine can't isolate it.
         */
        post: operations["postSieveValidate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in-blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sign-in blocks
         * @description Addresses and accounts whose sign-ins by IMAP, POP3, SMTP, ManageSieve and the API are refused after many wrong passwords. An address is blocked for an hour after 30 failures with at least 3 accounts in 15 minutes, an account for 15 seconds to 15 minutes from the tenth failure on. Addresses that have signed in to the account before are not affected by failures elsewhere, and valid app passwords never.
         */
        get: operations["getSignInBlocks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sign-in-blocks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a sign-in block
         * @description The failures behind it are forgotten too. NOT_FOUND if the block has ended.
         */
        delete: operations["deleteSignInBlocksById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suppressions
         * @description Addresses to which domains send nothing by API. With `group_id` null a suppression holds for all mail of its domain, otherwise for messages of that unsubscribe group.
         */
        get: operations["getSuppressions"];
        put?: never;
        /**
         * Suppress an address
         * @description CONFLICT `exists` if it is suppressed already; `details.suppression_id` names the suppression.
         */
        post: operations["postSuppressions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a suppression */
        get: operations["getSuppressionsById"];
        put?: never;
        post?: never;
        /**
         * Remove a suppression
         * @description The address gets mail again. `note` is kept in the audit log.
         */
        delete: operations["deleteSuppressionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export suppressions as CSV
         * @description With the filters of the list, oldest first. An apostrophe stands before a cell that a spreadsheet would evaluate as a formula; an import takes it off again.
         */
        get: operations["getSuppressionsExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import suppressions
         * @description All valid rows are added in one transaction; addresses that are suppressed already do not change. The body may also be CSV (`text/csv`, UTF-8) whose first line names the columns: `address`, `reason` (default `manual`), `domain` (its name; default `?domain_id=`), `group_id`, `created_at` (ignored): the columns of an export.
         */
        post: operations["postSuppressionsImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List templates
         * @description Those of the caller's domains and those of no domain, without bodies and variables.
         */
        get: operations["getTemplates"];
        put?: never;
        /**
         * Create a template
         * @description Jinja2 in a sandbox: values, conditions, loops, filters and macros; no other templates. In HTML values are escaped. The new template is a draft: publish it before it is sent. CONFLICT has `details.reason`: `name_taken` or `limit_reached` (1,000 in a domain, and 1,000 without).
         */
        post: operations["postTemplates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a template */
        get: operations["getTemplatesById"];
        put?: never;
        post?: never;
        /**
         * Delete a template
         * @description With its versions. Messages that are already accepted, scheduled ones included, are not affected.
         */
        delete: operations["deleteTemplatesById"];
        options?: never;
        head?: never;
        /**
         * Change the draft of a template
         * @description What is published stays as it is until the draft is published.
         */
        patch: operations["patchTemplatesById"];
        trace?: never;
    };
    "/templates/{id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a template
         * @description Messages accepted from now on use the draft, or an older `version` again. CONFLICT `undeclared_variables` lists variables that the draft uses without declaring them. Versions never change; the newest 100 are kept.
         */
        post: operations["postTemplatesByIdPublish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Render a template
         * @description The draft, or a `version`. Nothing is sent. Values that are not in `variables` are the examples. A missing variable is INVALID_FIELD `variables.NAME`; other errors name the part and its line.
         */
        post: operations["postTemplatesByIdRender"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a template
         * @description Published ones, newest first, without bodies.
         */
        get: operations["getTemplatesByIdVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a version of a template */
        get: operations["getTemplatesByIdVersionsByVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Render a template that is not stored
         * @description For previews while a template is edited. Nothing is stored or sent.
         */
        post: operations["postTemplatesRender"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/u/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the page of an unsubscribe link
         * @description A page for people, which changes nothing. 404 for a link that was not made here.
         */
        get: operations["getUByToken"];
        put?: never;
        /**
         * Unsubscribe by a link
         * @description One click (RFC 8058): mail programs send `List-Unsubscribe=One-Click` as a form. Suppresses the recipient for the group. Idempotent. 404 for a link that was not made here.
         */
        post: operations["postUByToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/unsubscribe-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List unsubscribe groups */
        get: operations["getUnsubscribeGroups"];
        put?: never;
        /**
         * Create an unsubscribe group
         * @description A message sent with `unsubscribe: {group_id}` has a link by which its recipient leaves the group. CONFLICT `name_taken`.
         */
        post: operations["postUnsubscribeGroups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/unsubscribe-groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an unsubscribe group */
        get: operations["getUnsubscribeGroupsById"];
        put?: never;
        post?: never;
        /**
         * Delete an unsubscribe group
         * @description Its suppressions are deleted too, and the links of its messages are no longer valid.
         */
        delete: operations["deleteUnsubscribeGroupsById"];
        options?: never;
        head?: never;
        /** Rename an unsubscribe group */
        patch: operations["patchUnsubscribeGroupsById"];
        trace?: never;
    };
    "/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the version */
        get: operations["getVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Newest first. A scoped key sees those of its domains.
         */
        get: operations["getWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Each event is posted to `url` until the response is 2xx within 10 seconds. After the first attempt there are up to five retries, after 30 seconds, 2 minutes, 15 minutes, 1 hour and 2 hours (`webhooks.retry_seconds`). The secret that signs events is shown once. Without `domain_id` the webhook receives the events of all domains. A webhook with a `domain_id` is deleted with its domain.
         */
        post: operations["postWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook */
        get: operations["getWebhooksById"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Its pending deliveries are deleted too.
         */
        delete: operations["deleteWebhooksById"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description While a webhook is inactive, nothing is delivered and no new event is queued. Queued deliveries wait, and missed events can be replayed.
         */
        patch: operations["patchWebhooksById"];
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a webhook's deliveries
         * @description With their attempts and responses, newest event first. Kept for `retention.event_days` days.
         */
        get: operations["getWebhooksByIdDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver an event again
         * @description The event is delivered with the same `webhook-id` and the whole retry schedule, whatever the state of the delivery. A delivery with an attempt in progress is not changed. CONFLICT (`webhook_inactive`) for an inactive webhook.
         */
        post: operations["postWebhooksByIdDeliveriesByDeliveryIdReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver the events of a period again
         * @description All events to which the webhook subscribes, also those from before it was created or while it was inactive; with `only_failed` only abandoned deliveries. One call takes the oldest 10,000; if `next_since` is set, continue from there. CONFLICT (`webhook_inactive`) for an inactive webhook.
         */
        post: operations["postWebhooksByIdReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook
         * @description The new secret is shown once. For 24 hours deliveries are signed with both secrets: `webhook-signature` holds two signatures, and `X-Svc-Signature-Previous` is made with the old secret. After a second rotation within that time, the oldest secret no longer signs.
         */
        post: operations["postWebhooksByIdRotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a webhook
         * @description Posts a signed event of the kind `system.test` once, now, and returns the result.
         */
        post: operations["postWebhooksByIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "domain.dkim_due": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * domain.dkim_due
         * @description DNS records of new DKIM keys must be published, before the keys of a domain can be rotated.
         */
        post: operations["onDomainDkimDue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "domain.dns_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * domain.dns_failed
         * @description A DNS record that the domain's mail needs is missing or wrong, after all were right. Two checks, 5 minutes apart
         *     (`dns.confirm_seconds`), have found that. Name servers that do not answer are no reason for this event.
         */
        post: operations["onDomainDnsFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "domain.dns_recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * domain.dns_recovered
         * @description All DNS records that the domain's mail needs are right again, after `domain.dns_failed`; two checks have found
         *     that.
         */
        post: operations["onDomainDnsRecovered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.bounced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.bounced
         * @description The server of a recipient refused the message, permanently or for now (`temporary`: published once, after the
         *     first attempt).
         */
        post: operations["onMailBounced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.complained": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.complained
         * @description A recipient reported the message as spam; its address is suppressed for the domain.
         */
        post: operations["onMailComplained"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.delivered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.delivered
         * @description The server of a recipient accepted the message: once for each recipient.
         */
        post: operations["onMailDelivered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.failed
         * @description The message did not reach a recipient and is not retried: no server accepted it in time.
         */
        post: operations["onMailFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.received
         * @description An inbound message was delivered to a mailbox: once for each mailbox that it reached.
         */
        post: operations["onMailReceived"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.received.full": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.received.full
         * @description The same as `mail.received`, with the parsed message: emitted while a webhook subscribes to it (`*` does).
         */
        post: operations["onMailReceivedFull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.sent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.sent
         * @description An outbound message was accepted for delivery: once for each message, whatever its recipients.
         */
        post: operations["onMailSent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.spam": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.spam
         * @description An inbound message is spam: it is in its mailbox's Junk folder (`mail.received` is emitted too), or was refused
         *     (`spam_action` `reject`), once for each recipient then.
         */
        post: operations["onMailSpam"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.suppressed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mail.suppressed
         * @description A recipient got nothing because its address is suppressed; the message was sent to the others.
         */
        post: operations["onMailSuppressed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mailbox.quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * mailbox.quota
         * @description The mail in a mailbox has reached 80 or 95 percent of its quota. Once for each, until it is 5 percent lower.
         */
        post: operations["onMailboxQuota"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.alert
         * @description Something that an operator should check. `outcome_unknown`: the outcome of a message can't be determined.
         *     `apply_rolled_back`: an apply of settings did not succeed, and the earlier configuration is in use again.
         *     `apply_failed`: an apply did not succeed, and the earlier configuration may not be in use.
         *     `system_mail_undelivered`: a super_admin did not get mail that Mailkeep itself has written. `antivirus_failed`: the
         *     virus scanner does not work, or its signatures are old. `dns_list_failed`: a list in `filter.dnsbl` fails its test,
         *     and its answers do not count. `antivirus_recovered` and `dns_list_recovered`: that has ended.
         *     `filter_failed`: a part of the filter does not answer, with its effect on mail in `reason`; `filter_recovered`.
         *     `forward_unsealed`: forwarded mail left without an ARC seal. `certificate_failed`: a certificate could not be issued
         *     or renewed, or a file with one is about to expire; `certificate_recovered`. `wal_archive_ended`: a part of the
         *     write-ahead log could not be archived, so that restores to a point in time begin with the next backup.
         */
        post: operations["onSystemAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.backup_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.backup_failed
         * @description A backup could not be made.
         */
        post: operations["onSystemBackupFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.backup_late": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.backup_late
         * @description No backup has succeeded for two intervals of `backup.schedule`.
         */
        post: operations["onSystemBackupLate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.backup_unverified": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.backup_unverified
         * @description A backup is not as it should be, or none was verified for two intervals of `backup.verify_every`.
         */
        post: operations["onSystemBackupUnverified"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.drift
         * @description A file of the daemons' configuration was edited by hand.
         */
        post: operations["onSystemDrift"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.suspension": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.suspension
         * @description Sending was suspended for an address, by the abuse rules or by an administrator.
         */
        post: operations["onSystemSuspension"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "system.webhook_disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * system.webhook_disabled
         * @description A webhook was disabled: no attempt succeeded for `webhooks.disable_after_hours`.
         */
        post: operations["onSystemWebhookDisabled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description The message that an abuse report is about. `feedback_type`: abuse, fraud, virus, not-spam, … (RFC 5965, 6650);
         *         `signed`: the report has the whole message, with a valid DKIM signature of the domain; then abuse and fraud
         *         are a complaint of its recipient.
         */
        AbuseDetails: {
            feedback_type: string;
            mail_from: string;
            message_id: string;
            recipients: string[];
            signed: boolean;
            source_ip: string;
            subject: string;
        };
        /** @description No fields. */
        AccountKeyChange: Record<string, unknown>;
        /** @description The key of the account was replaced. */
        AccountKeyChanged: {
            message: string;
        };
        /** @description The caller: kind and name, and `key_id` for an API key. */
        ActorResponse: {
            /** Format: uuid */
            key_id: string | null;
            label: string;
            type: string;
        };
        /** @description An address with its display name. */
        AddressBody: {
            /** Format: email */
            email: string;
            /** @default  */
            name?: string;
        };
        /**
         * @description An administrator to create, with `password` or `invite`; `domain_ids` are the domains assigned to a domain_admin.
         *         `current_password` is needed if `auth.confirm_admin_changes` is set and the session is older than ten minutes.
         */
        AdminCreate: {
            /**
             * @description False: the account can't sign in, and its API keys are invalid.
             * @default true
             */
            active?: boolean;
            /** @description The caller's current password. */
            current_password?: string;
            domain_ids?: string[];
            /** Format: email */
            email: string;
            /**
             * @description Instead of a password: create a link with which the account's owner sets one.
             * @default false
             */
            invite?: boolean;
            /**
             * Format: email
             * @description Mail the link to this address instead of showing it.
             */
            invite_to?: string;
            /**
             * @description The account may only change its password: all other calls are FORBIDDEN password_change_required.
             * @default false
             */
            must_change_password?: boolean;
            /** @description 8 to 256 characters, not a common password, not the email. Never returned. */
            password?: string;
            /**
             * @default admin
             * @enum {string}
             */
            role?: "domain_admin" | "admin" | "super_admin";
        };
        /**
         * @description A new administrator, with `invitation` if it was invited; that is null when the response is repeated for an
         *         Idempotency-Key.
         */
        AdminCreated: {
            active: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            domain_ids: string[];
            email: string;
            /** Format: uuid */
            id: string;
            invitation?: components["schemas"]["InvitationRecord"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_login_at: string | null;
            must_change_password: boolean;
            oidc_provider: string | null;
            passkeys: number;
            /** @enum {string} */
            role: "domain_admin" | "admin" | "super_admin";
            totp_enabled: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
        };
        /**
         * @description `current_password` is needed to delete others if `auth.confirm_admin_changes` is set and the session is older
         *         than ten minutes.
         */
        AdminDelete: {
            /** @description The caller's current password. */
            current_password?: string;
        };
        /** @description An administrator was deleted. */
        AdminDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /**
         * @description `invite_to`: where to mail the link. `current_password` is needed if `auth.confirm_admin_changes` is set and the
         *         session is older than ten minutes.
         */
        AdminInvite: {
            /** @description The caller's current password. */
            current_password?: string;
            /**
             * Format: email
             * @description Mail the link to this address instead of showing it.
             */
            invite_to?: string;
        };
        /**
         * @description Changes; a new password or role ends the administrator's other sessions. `current_password` is required for
         *         the caller's own email or password, and for changes of others if `auth.confirm_admin_changes` is set and the session
         *         is older than ten minutes.
         */
        AdminPatch: {
            /** @description False: the account can't sign in, and its API keys are invalid. */
            active?: boolean;
            /** @description The caller's current password. */
            current_password?: string;
            domain_ids?: string[];
            /** Format: email */
            email?: string;
            /** @description The account may only change its password: all other calls are FORBIDDEN password_change_required. */
            must_change_password?: boolean;
            /** @description 8 to 256 characters, not a common password, not the email. Never returned. */
            password?: string;
            /** @enum {string} */
            role?: "domain_admin" | "admin" | "super_admin";
        };
        /** @description An administrator. `domain_ids` are the assigned domains that the caller may see. */
        AdminRecord: {
            active: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            domain_ids: string[];
            email: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_login_at: string | null;
            must_change_password: boolean;
            oidc_provider: string | null;
            passkeys: number;
            /** @enum {string} */
            role: "domain_admin" | "admin" | "super_admin";
            totp_enabled: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
        };
        /**
         * @description What adopting the edit would mean: the setting that gets the lines, and all `lines` that it would have for this
         *         file. `refused`: what can't be adopted, each with the reason; then nothing can.
         */
        AdoptionResponse: {
            lines: string;
            refused: string[];
            setting: string | null;
        };
        /** @description A sentence for the administrator; `code` is stable. */
        AdviceRecord: {
            code: string;
            /** @enum {string} */
            level: "info" | "ok" | "warning";
            text: string;
        };
        /** @description An alias to create. */
        AliasCreate: {
            /** @default true */
            active?: boolean;
            /** @description One address, or several separated by commas: at most `limits.alias_destinations` (default 10) */
            destination: string;
            /** Format: uuid */
            domain_id: string;
            /** @description The local part of the alias; empty is the catch-all */
            source_local_part: string;
        };
        /** @description An alias was deleted. */
        AliasDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description An alias with `warnings`: destinations that lead nowhere now, and limits that reject its mail. */
        AliasDetail: {
            active: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            destination: string;
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            id: string;
            source_local_part: string;
            status: components["schemas"]["AliasStatusRecord"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            warnings: string[];
        };
        /** @description Changes of an alias; its source can't change. */
        AliasPatch: {
            active?: boolean;
            /** @description One address, or several separated by commas: at most `limits.alias_destinations` (default 10) */
            destination?: string;
        };
        /** @description An alias. `status`: in lists null without `with_status`, and after many destinations. */
        AliasRecord: {
            active: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            destination: string;
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            id: string;
            source_local_part: string;
            status: components["schemas"]["AliasStatusRecord"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
        };
        /**
         * @description Whether mail for an alias reaches anybody, and in `text` (empty for `ok`) why not. `partial`: it does not reach
         *         all destinations; `unused`: a mailbox has the address; `domain_inactive`, `receiving_disabled`: its own domain.
         */
        AliasStatusRecord: {
            /** @enum {string} */
            state: "domain_inactive" | "inactive" | "nowhere" | "ok" | "partial" | "receiving_disabled" | "unused";
            text: string;
        };
        /** @description Always `ok`; otherwise there is no response, or status 503. */
        Alive: {
            /** @enum {string} */
            status: "ok";
        };
        /** @description A key to create. The default of `rate_limit` is 60. A key passes on its own limits as defaults, if lower. */
        ApiKeyCreate: {
            /** @description Where the key may be used from, in CIDR form; empty: everywhere */
            allowed_networks?: string[];
            /**
             * Format: date-time
             * @description The exact time, with a UTC offset; not with expires_in_days
             */
            expires_at?: string;
            /**
             * @description 0: never expires
             * @default 0
             */
            expires_in_days?: number;
            name: string;
            /**
             * @description Narrows the rights of the owner. `sending`: /send, /send/batch, GET /auth/me, and its own messages: list, get, reschedule, cancel. `read`: every GET of the owner's role, except `/raw` of inbound mail
             * @default full
             * @enum {string}
             */
            permissions?: "full" | "sending" | "read";
            /** @description Requests accepted in any 60 seconds; 0: unlimited */
            rate_limit?: number;
            scoped_domain_ids?: string[];
        };
        /**
         * @description A new key. `key` is shown only once: it is null when the response is repeated for an Idempotency-Key. `smtp` is
         *         null if the key may not send, or no port is open.
         */
        ApiKeyCreateResponse: {
            api_key: components["schemas"]["ApiKeyRecord"];
            key: string | null;
            smtp: components["schemas"]["ApiKeySmtp"] | null;
        };
        /**
         * @description A key was revoked. `scheduled_messages` that were scheduled with it wait and will fail at their time
         *         (`mail.failed`, `reason` permission): cancel them, or schedule them again.
         */
        ApiKeyDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
            scheduled_messages: number;
        };
        /** @description An API key. With `is_scoped`, no `scoped_domain_ids` means that its domains are deleted and it has no access. */
        ApiKeyRecord: {
            /** Format: uuid */
            admin_id: string;
            allowed_networks: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            is_scoped: boolean;
            key_prefix: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_used_at: string | null;
            name: string;
            /** Format: uuid */
            parent_id: string | null;
            /** @enum {string} */
            permissions: "full" | "sending" | "read";
            rate_limit: number;
            scoped_domain_ids: string[];
        };
        /** @description Figures of mail that was sent with an API key; `name` is null if it was deleted. */
        ApiKeyRow: {
            accepted: number;
            /** Format: uuid */
            api_key_id: string;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            name: string | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            received: number;
            rejected: number;
            spam: number;
            suppressed: number;
        };
        /** @description Settings of a program that sends by SMTP; the key is the password. A port is null if it is not open. */
        ApiKeySmtp: {
            host: string;
            starttls_port: number | null;
            tls_port: number | null;
            user: string;
        };
        /**
         * @description `plan_id`: of the plan that was shown. The services are watched for `watch_seconds` afterwards.
         *         `overwrite_drift`: files that were edited by hand (`service/path`) whose edits are dropped. `adopt_drift`: files
         *         whose edits become settings (`overlays.*`), which needs a recent sign-in or `current_password`.
         */
        ApplyBody: {
            adopt_drift?: string[];
            /**
             * Format: password
             * @description The caller's current password.
             */
            current_password?: string;
            overwrite_drift?: string[];
            plan_id: string;
            /** @default 30 */
            watch_seconds?: number;
        };
        /**
         * @description An app password to create. The default of `protocols` is all that the mailbox allows; without `expires_at` it
         *         does not expire.
         */
        AppPasswordCreate: {
            /** Format: date-time */
            expires_at?: string;
            name: string;
            protocols?: ("imap" | "pop3" | "sieve" | "smtp")[];
        };
        /** @description An app password was deleted. */
        AppPasswordDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description An app password. `protocols`: those that it opens; `smtp` is submission. `last_used_ip`: the client's address. */
        AppPasswordRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_used_at: string | null;
            last_used_ip: string | null;
            name: string;
            protocols: string[];
        };
        /**
         * @description A new app password. `password` is shown only once: it is null when the response is repeated for an
         *         Idempotency-Key.
         */
        AppPasswordWithSecret: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_used_at: string | null;
            last_used_ip: string | null;
            name: string;
            password: string | null;
            protocols: string[];
        };
        /** @description A file to attach; with `content_id` and `disposition` inline, an image that the html shows as `cid:…`. */
        AttachmentBody: {
            /** @description Base64 of the file. */
            content: string;
            /** @default  */
            content_id?: string;
            content_type: string;
            /**
             * @default attachment
             * @enum {string}
             */
            disposition?: "attachment" | "inline";
            filename: string;
        };
        /** @description An entry of the audit log. */
        AuditEntryResponse: {
            action: string;
            actor: components["schemas"]["ActorResponse"];
            /** Format: uuid */
            admin_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            details: Record<string, unknown>;
            /** Format: uuid */
            domain_id: string | null;
            domain_name: string | null;
            error_code: string | null;
            /** Format: uuid */
            id: string;
            ip_address: string | null;
            outcome: string;
            /** Format: uuid */
            request_id: string | null;
            resource_id: string | null;
            resource_type: string;
            user_agent: string | null;
        };
        /** @description Results of sender authentication; null if not evaluated. */
        AuthenticationResults: {
            dkim: string | null;
            dmarc: string | null;
            spf: string | null;
        };
        /** @description Which authenticators are preferred. */
        AuthenticatorSelection: {
            requireResidentKey: boolean;
            /** @enum {string} */
            residentKey: "preferred";
            /** @enum {string} */
            userVerification: "preferred";
        };
        /** @description Where the settings are (Autodiscover version 2). */
        AutodiscoverReference: {
            Protocol: string;
            Url: string;
        };
        /**
         * @description What a backup contains. `type`: `domain` (`name`, `mailboxes`, `messages`, `size_bytes`), `mailbox` (`name` is
         *         its address), `folder` of a mailbox, or a `message` that was found, with the mailbox, its address (`name`), its
         *         folder and when it was stored. What a type does not have is null.
         */
        BackupContentsRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            date: string | null;
            /** Format: uuid */
            domain_id: string | null;
            folder: string | null;
            /** Format: uuid */
            mailbox_id: string | null;
            mailboxes: number | null;
            messages: number | null;
            name: string;
            size_bytes: number;
            /** @enum {string} */
            type: "domain" | "folder" | "mailbox" | "message";
        };
        /** @description How much a backup contains. */
        BackupCounts: {
            domains: number;
            mailboxes: number;
            messages: number;
        };
        /** @description An operation: GET /operations/{id} follows it. `phase`: what it does now; `done` of `total` bytes (or steps). */
        BackupOperationRecord: {
            /** Format: uuid */
            backup_id: string | null;
            cancel_requested: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            done: number;
            error: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "create" | "key" | "prune" | "restore" | "verify";
            phase: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            started_at: string | null;
            /** @enum {string} */
            state: "cancelled" | "failed" | "running" | "succeeded" | "waiting";
            total: number;
        };
        /** @description Fields to change; null: the default. `current_password` is needed if the session is older than ten minutes. */
        BackupPolicyPatch: {
            append_only?: boolean | null;
            /**
             * Format: password
             * @description The caller's current password.
             */
            current_password?: string;
            repository?: string | null;
            retention?: components["schemas"]["BackupRetentionPatch"];
            /** @enum {string|null} */
            schedule?: "daily" | "hourly" | "off" | null;
            start_time?: string | null;
            /** @enum {string|null} */
            verify_every?: "daily" | "monthly" | "off" | "weekly" | null;
            wal_archive?: boolean | null;
        };
        /**
         * @description The policy. `repository`: where backups are stored; empty: in the data directory. `start_time` is in UTC.
         *         `append_only`: the repository accepts no deletions, so that `retention` does not apply. `next_backup_at` and
         *         `next_verification_at` are null if none is planned; `last_backup_at` is when the newest one that succeeded began,
         *         `last_verified_at` when one was last verified. `operation`: what waits or runs, on whatever backup. `point_in_time`
         *         is null if `wal_archive` is off.
         */
        BackupPolicyRecord: {
            append_only: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_backup_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_verified_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_backup_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_verification_at: string | null;
            operation: components["schemas"]["BackupOperationRecord"] | null;
            point_in_time: components["schemas"]["PointInTimeRecord"] | null;
            recovery_key: components["schemas"]["RecoveryKeyRecord"] | null;
            repository: string;
            retention: components["schemas"]["BackupRetention"];
            /** @enum {string} */
            schedule: "daily" | "hourly" | "off";
            start_time: string;
            /** @enum {string} */
            verify_every: "daily" | "monthly" | "off" | "weekly";
            wal_archive: boolean;
        };
        /**
         * @description A backup. `trigger`: what it was made for. `size_bytes`: what it contains; `added_bytes`: what it added to the
         *         repository. `verified` is null if it was never verified. `version`: of the Mailkeep that made it. `operation`: what
         *         waits or runs with this backup.
         */
        BackupRecord: {
            added_bytes: number | null;
            counts: components["schemas"]["BackupCounts"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            error: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            operation: components["schemas"]["BackupOperationRecord"] | null;
            size_bytes: number | null;
            /** @enum {string} */
            state: "cancelled" | "failed" | "running" | "succeeded";
            /** @enum {string} */
            trigger: "manual" | "schedule" | "upgrade";
            verified: components["schemas"]["BackupVerification"] | null;
            version: string;
        };
        /** @description The operation that removes a backup from the repository; null if the backup was not there. */
        BackupRemoved: {
            message: string;
            operation: components["schemas"]["BackupOperationRecord"] | null;
        };
        /**
         * @description What to restore. `scope`: `domain` with `domain_id`, `mailbox` with `mailbox_id`: the IDs in the backup.
         *
         *         `into`: `folder`, a new folder `Restored DATE` in each mailbox; `in_place`, the folders that the messages were in,
         *         where only missing ones are added. `dry_run` only counts. `confirm` must be true without it.
         *         `current_password` is needed if the session is older than ten minutes.
         */
        BackupRestore: {
            /** @default false */
            confirm?: boolean;
            /**
             * Format: password
             * @description The caller's current password.
             */
            current_password?: string;
            /** Format: uuid */
            domain_id?: string | null;
            /** @default false */
            dry_run?: boolean;
            /**
             * @default folder
             * @enum {string}
             */
            into?: "folder" | "in_place";
            /** Format: uuid */
            mailbox_id?: string | null;
            /** @enum {string} */
            scope: "all" | "domain" | "mailbox";
        };
        /** @description For how many hours, days, weeks and months the newest backup of each is kept. All 0: every backup is kept. */
        BackupRetention: {
            daily: number;
            hourly: number;
            monthly: number;
            weekly: number;
        };
        /** @description Numbers to change; null: the default. */
        BackupRetentionPatch: {
            daily?: number | null;
            hourly?: number | null;
            monthly?: number | null;
            weekly?: number | null;
        };
        /** @description No fields. */
        BackupStart: Record<string, unknown>;
        /** @description The last verification: whether the backup is as it should be, and what was compared. */
        BackupVerification: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            detail: string;
            ok: boolean;
        };
        /** @description The results in the order of the messages, and their counts. */
        BatchAnswer: {
            failed: number;
            results: components["schemas"]["BatchResult"][];
            succeeded: number;
            total: number;
        };
        /** @description 1 to 100 messages. An error in one does not affect the others. */
        BatchBody: {
            messages: components["schemas"]["SendBody"][];
        };
        /**
         * @description The outcome of the message at `index`: `message_id`, `id`, `status` and `recipients`, or `error`, `code` and
         *         `details`.
         */
        BatchResult: {
            code?: string | null;
            details?: Record<string, unknown> | null;
            error?: string | null;
            /** Format: uuid */
            id?: string | null;
            index: number;
            message_id?: string | null;
            recipients?: components["schemas"]["SentRecipient"][] | null;
            status?: string | null;
        };
        /** @description What a blocklist says about an address. `reason`: the list's own text. */
        BlocklistResult: {
            address: string;
            advice: string | null;
            problem: string | null;
            reason: string | null;
            removal_url: string | null;
            /** @enum {string} */
            status: "listed" | "not_listed" | "unavailable";
            zone: string;
        };
        /** @description Why mail was deferred, bounced or failed: how often, what to do, and the latest reply with its message. */
        BounceRow: {
            advice: string;
            bounced: number;
            /** @enum {string} */
            class: "auth" | "bad_domain" | "content" | "expired" | "greylisted" | "invalid_recipient" | "mailbox_disabled" | "mailbox_full" | "network" | "policy" | "rate_limited" | "relay_denied" | "reputation" | "tls" | "too_large" | "unknown";
            deferred: number;
            failed: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_at: string | null;
            last_reply: string | null;
            /** Format: uuid */
            message_id: string | null;
        };
        /**
         * @description 1 to 1,000 items. An error in one does not affect the others.
         *
         *         An item has the fields of the single call. To create: those of POST; instead of their IDs, a mailbox may have
         *         `address`, and an alias the name of its `domain`. To update: those of PATCH, and `id`, or `address` (mailboxes), or
         *         `domain` and `source_local_part` (aliases). To delete: `id`, or the same names; mailboxes also `purge`.
         *         `dry_run`: check all items and change nothing.
         */
        BulkBody: {
            /** @enum {string} */
            action: "create" | "delete" | "update";
            /** @default false */
            dry_run?: boolean;
            items: {
                [key: string]: unknown;
            }[];
        };
        /** @description The operation, whose progress and results GET /operations/{id} returns. */
        BulkStarted: {
            /** Format: uuid */
            operation_id: string;
        };
        /**
         * @description What was found about a host name: `ok`, it leads to this server; `not_published`, it has no address; `failed`,
         *         with the reason in `problem`. Only names that are `ok` are ordered.
         */
        CertificateName: {
            name: string;
            problem: string;
            /** @enum {string} */
            status: "failed" | "not_published" | "ok";
        };
        /**
         * @description A certificate. `name`: `server` or the domain. `source`: `none` (there is none yet), `acme`, `file`
         *         (`tls.certificate_file`) or `self_signed`. `managed`: ordered and renewed by Mailkeep. `names` are in the
         *         certificate, `checks` what was found about each wanted name. `renew_at`: when it is to be renewed;
         *         `next_attempt_at`: when Mailkeep looks at it again. `failures`: attempts in a row that failed, the last one with
         *         `problem`. `being_revoked`: it is to be replaced and revoked.
         */
        CertificateRecord: {
            being_revoked: boolean;
            checks: components["schemas"]["CertificateName"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            domain_id: string | null;
            failures: number;
            fingerprint_sha256: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            issued_at: string | null;
            issuer: string;
            managed: boolean;
            name: string;
            names: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_attempt_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            not_after: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            not_before: string | null;
            problem: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            renew_at: string | null;
            serial: string;
            /** @enum {string} */
            source: "acme" | "file" | "none" | "self_signed";
        };
        /** @description No fields. */
        CertificateRenewal: Record<string, unknown>;
        /** @description `at_once`: revoke it before it is replaced, so that mail programs may refuse it for a moment. */
        CertificateRevocation: {
            /** @default false */
            at_once?: boolean;
            /**
             * @default unspecified
             * @enum {string}
             */
            reason?: "cessation_of_operation" | "key_compromise" | "superseded" | "unspecified";
        };
        /** @description A problem of an entry, or of the seal with a number (then `id` is that of its last entry). */
        ChainFaultResponse: {
            /** Format: uuid */
            id: string | null;
            /** @enum {string} */
            problem: "altered" | "inserted" | "removed" | "seal_altered" | "seal_removed" | "truncated";
            seal: number | null;
        };
        /** @description The newest seal. */
        ChainHeadResponse: {
            hash: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            sealed_at: string;
            sequence: number;
        };
        /** @description `waiting`: a check was requested and has not begun. */
        CheckProgress: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            checked_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            requested_at: string | null;
            /** @enum {string} */
            state: "idle" | "running" | "waiting";
        };
        /** @description How many messages were removed. */
        ClearResponse: {
            message: string;
            removed: number;
        };
        /**
         * @description How to set up a mail client. `login` is the user name for all services; the preferred ones come first.
         *
         *         `app_password_required`: the mailbox's own password is not accepted by mail clients. `link`: null if there is none
         *         that works.
         */
        ClientSetupResponse: {
            address: string;
            app_password_required: boolean;
            link: components["schemas"]["SetupLinkRecord"] | null;
            login: string;
            services: components["schemas"]["MailServiceRecord"][];
        };
        /** @description A currently valid code. */
        CodeRequest: {
            /** @description Six digits from the authenticator */
            code: string;
        };
        /**
         * @description A component in detail. `since`: when it was first seen to have this status (null: the database does not answer);
         *         `advice`: what to do (null: nothing); `details`: the measured values.
         */
        ComponentResponse: {
            advice: string | null;
            component: string;
            details: Record<string, unknown>;
            latency_ms: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string | null;
            /** @enum {string} */
            status: "degraded" | "disabled" | "down" | "ok";
            version: string | null;
        };
        /**
         * @description The result of a change, or with `dry_run` what it would be: the number of the newest revision, and the changed
         *         settings. `needs_restart`: all stored settings that are not in effect yet. In the full profile the next apply is
         *         enough (POST /orchestrator/apply; its plan says which services restart, if any), in the embedded profile Mailkeep
         *         must be started again. Only with `dry_run`: `plan`, as of GET
         *         /orchestrator/plan, if the changes were stored; null if the process `node` does not answer, which is in `warnings`.
         */
        ConfigChangeResponse: {
            changes: {
                [key: string]: components["schemas"]["SettingChange"];
            };
            dry_run: boolean;
            needs_restart: string[];
            plan?: components["schemas"]["PlanResponse"] | null;
            revision: number;
            warnings: string[];
        };
        /**
         * @description Changes by key; null: the value is no longer stored. A secret that is written as `********` is refused. `dry_run`
         *         only checks them, and returns a plan. `current_password` is needed for
         *         sensitive settings if the session is older than ten minutes.
         */
        ConfigPatch: {
            changes: Record<string, unknown>;
            /** @default  */
            comment?: string;
            /**
             * Format: password
             * @description The caller's current password.
             */
            current_password?: string;
            /** @default false */
            dry_run?: boolean;
        };
        /** @description A comment on the rollback; `current_password` as in a change. */
        ConfigRollback: {
            /** @default  */
            comment?: string;
            /**
             * Format: password
             * @description The caller's current password.
             */
            current_password?: string;
        };
        /** @description For `PublicKeyCredential.parseCreationOptionsFromJSON()`. */
        CreationOptions: {
            /** @enum {string} */
            attestation: "none";
            authenticatorSelection: components["schemas"]["AuthenticatorSelection"];
            /** @description Base64url without padding */
            challenge: string;
            excludeCredentials: components["schemas"]["CredentialDescriptor"][];
            pubKeyCredParams: components["schemas"]["CredentialParameters"][];
            rp: components["schemas"]["RpEntity"];
            timeout: number;
            user: components["schemas"]["UserEntity"];
        };
        /** @description A registered passkey. */
        CredentialDescriptor: {
            /** @description Base64url without padding */
            id: string;
            transports: string[];
            /** @enum {string} */
            type: "public-key";
        };
        /** @description An accepted COSE algorithm. */
        CredentialParameters: {
            alg: number;
            /** @enum {string} */
            type: "public-key";
        };
        /** @description The caller's current password, if it is required. */
        CurrentPasswordRequest: {
            /**
             * Format: password
             * @description The current password; required if the session is older than 15 minutes
             */
            current_password?: string;
        };
        /** @description Whose rule decided, and the list entry if it was one. */
        DecidedBy: {
            /** Format: uuid */
            entry_id: string | null;
            /** @enum {string} */
            rule: "allow_entry" | "deny_entry" | "encrypted" | "junk_score" | "no_verdict" | "reject_score" | "virus";
            /** @enum {string} */
            scope: "domain" | "mailbox" | "server";
        };
        /** @description The rule that decided, its scope, and the list entry if it was one. */
        DecidedByRecord: {
            /** Format: uuid */
            entry_id: string | null;
            /** @enum {string} */
            rule: "allow_entry" | "deny_entry" | "encrypted" | "junk_score" | "no_verdict" | "reject_score" | "virus";
            /** @enum {string} */
            scope: "domain" | "mailbox" | "server";
        };
        /** @description A CNAME record to publish; names without a trailing dot. */
        DelegationCname: {
            /** @enum {string} */
            family: "ed25519" | "rsa";
            name: string;
            /** @enum {string} */
            type: "CNAME";
            value: string;
        };
        /** @description The delivery of an event to a webhook. `event` is the kind; `attempts` holds the last 20, newest last. */
        DeliveryRecord: {
            attempts: components["schemas"]["WebhookAttemptResponse"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            event: string;
            /** Format: uuid */
            event_id: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_attempt_at: string | null;
            /** @enum {string} */
            state: "abandoned" | "delivered" | "pending" | "waiting_for_retry";
        };
        /** @description Figures of the servers of a provider: only outcomes. */
        DestinationRow: {
            accepted: number;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            provider: string;
            received: number;
            rejected: number;
            spam: number;
            suppressed: number;
        };
        /** @description The account is no longer linked to an identity. */
        Disconnected: {
            message: string;
            oidc_provider: string | null;
        };
        /** @description `force`: also if not every name server finds the record. */
        DkimActivation: {
            /** @default false */
            force?: boolean;
        };
        /**
         * @description The records of a delegated domain: publish all four once. `enabled`: the domain's `dkim_delegated`. `problem`:
         *         why there are no records.
         */
        DkimDelegation: {
            enabled: boolean;
            problem: string | null;
            records: components["schemas"]["DelegationCname"][];
        };
        /**
         * @description The record of a key: `value` in one piece (zone files split it at 255 octets). `type`: `TXT`; of a delegated key
         *         `CNAME`, to the name that `target` has. `status` is that of the last check.
         */
        DkimDnsRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            checked_at: string | null;
            name: string;
            /** @enum {string} */
            status: "dns_error" | "mismatch" | "missing" | "multiple" | "not_checked" | "ok";
            target: components["schemas"]["DkimTarget"] | null;
            /** @enum {string} */
            type: "CNAME" | "TXT";
            value: string;
        };
        /**
         * @description A key to create: `algorithm` generates one; `private_key` imports one in PEM (PKCS#1 or PKCS#8, without a
         *         passphrase): RSA with 1024, 2048, 3072 or 4096 bits, or Ed25519. Without `selector` it gets one.
         */
        DkimKeyCreate: {
            /** @enum {string|null} */
            algorithm?: "ed25519" | "rsa2048" | "rsa4096" | null;
            private_key?: string | null;
            selector?: string | null;
        };
        /** @description A DKIM key was deleted. */
        DkimKeyDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /**
         * @description A DKIM key, without its private key. `automatic`: generated by the rotation, which activates it.
         *         `fingerprint_sha256`: of the DER SubjectPublicKeyInfo. `safe_to_remove_from_dns`: no mail needs its record any more.
         */
        DkimKeyRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            activated_at: string | null;
            /** @enum {string} */
            algorithm: "ed25519" | "rsa1024" | "rsa2048" | "rsa3072" | "rsa4096";
            automatic: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            dns: components["schemas"]["DkimDnsRecord"];
            fingerprint_sha256: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            retired_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            retiring_at: string | null;
            safe_to_remove_from_dns: boolean;
            selector: string;
            /** @enum {string} */
            stage: "active" | "pending" | "retired" | "retiring";
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            warnings: string[];
        };
        /** @description A DNS record to publish. */
        DkimRecord: {
            /** @description Without a trailing dot. */
            name: string;
            /** @description `TXT`, or `CNAME` if the domain's records are delegated. */
            type: string;
            /** @description Its value, in one piece. */
            value: string;
        };
        /** @description No fields. */
        DkimRetirement: Record<string, unknown>;
        /** @description The TXT record of a delegated key in the server's own domain. */
        DkimTarget: {
            name: string;
            value: string;
        };
        /** @description Messages of a day. `failed`: of ours, forwarders and other senders; `unknown`: not authenticated at all. */
        DmarcDay: {
            aligned: number;
            /**
             * Format: date
             * @description A UTC day.
             */
            date: string;
            failed: number;
            messages: number;
            quarantined: number;
            rejected: number;
            unknown: number;
        };
        /** @description Which `p=` is safe, and since which day; `published`: what reporters last saw (null: no report yet). */
        DmarcPolicyAdvice: {
            /** @enum {string|null} */
            published: "none" | "quarantine" | "reject" | null;
            /** @enum {string} */
            safe: "none" | "quarantine" | "reject";
            /**
             * Format: date
             * @description A UTC day.
             */
            since: string | null;
        };
        /**
         * @description Messages from one address. `kind`: ours, forwarder, sender (another system of yours, set up correctly), other
         *         (authenticated for `authenticated_for` only), unknown. `name`: the confirmed reverse name; `organisation`: its
         *         domain.
         */
        DmarcSource: {
            aligned: number;
            authenticated_for: string | null;
            dkim_aligned: number;
            ip: string;
            /** @enum {string} */
            kind: "forwarder" | "other" | "ours" | "sender" | "unknown";
            /**
             * Format: date
             * @description A UTC day.
             */
            last_seen: string;
            messages: number;
            name: string | null;
            organisation: string | null;
            ours: boolean;
            quarantined: number;
            rejected: number;
            spf_aligned: number;
        };
        /**
         * @description The DMARC reports about a domain. `advice` rests on the last 90 days, whatever the period. `sources`: the 200
         *         with the most messages. `days`: those with reports, oldest first.
         */
        DmarcSummaryRecord: {
            advice: components["schemas"]["AdviceRecord"][];
            days: components["schemas"]["DmarcDay"][];
            /** @enum {string} */
            period: "24h" | "30d" | "7d" | "90d";
            policy: components["schemas"]["DmarcPolicyAdvice"];
            reporters: components["schemas"]["ReporterRecord"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string;
            sources: components["schemas"]["DmarcSource"][];
            totals: components["schemas"]["DmarcTotals"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            until: string;
        };
        /** @description Messages of the period. `sources`: the number of addresses; `unproved_reports` are in no other figure. */
        DmarcTotals: {
            aligned: number;
            messages: number;
            quarantined: number;
            rejected: number;
            sources: number;
            unproved_reports: number;
        };
        /** @description A required record that is not right. */
        DnsProblem: {
            /** @description Its name. */
            name: string;
            /** @description What is wrong, in words. */
            problem: string;
            /** @description What it is for, as in GET /domains/{id}/dns. */
            purpose: string;
            /** @description `missing`, `mismatch` or `multiple`. */
            status: string;
            /** @description Its type. */
            type: string;
        };
        /** @description A record to publish, and the result of its last check. */
        DnsRecordResult: {
            /** @description What to do; also for a right record that could be better. */
            advice: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            checked_at: string | null;
            /** @description What it does, in a sentence. */
            description: string;
            /** @description What the name servers answered. */
            found: string[];
            /** @description Its name, without a trailing dot. */
            name: string;
            /** @description What is wrong, in words. */
            problem: string | null;
            /**
             * @description What the record is for.
             * @enum {string}
             */
            purpose: "address" | "autoconfig" | "autodiscover" | "caa" | "dkim" | "dmarc" | "dnssec" | "mta_sts" | "mta_sts_host" | "mx" | "ptr" | "report_authorization" | "spf" | "srv" | "tls_rpt" | "tlsa";
            /** @description Whether mail suffers without it. */
            required: boolean;
            /**
             * @description `mismatch`: another value, or only some name servers see it; `multiple`: several where one is allowed; `dns_error`: no name server answered, which says nothing about the record.
             * @enum {string}
             */
            status: "dns_error" | "mismatch" | "missing" | "multiple" | "not_checked" | "ok";
            /** @description Seconds for which name servers may remember it. */
            ttl: number;
            /** @description Its type, such as MX or TXT. */
            type: string;
            /** @description Its value; names without a trailing dot, TXT in one piece. Null: there is none to recommend, or it is not known before `server.hostname` is set. */
            value: string | null;
        };
        /** @description What has to be set before anything can be checked. */
        DnsSetup: {
            advice: string;
            problem: string;
        };
        /** @description What Mailkeep writes for a domain. `state` `off`: nothing; `problem` says in words what is wrong. */
        DnsUpdates: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            attempted_at: string | null;
            managed: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_attempt_at: string | null;
            problem: string;
            records: components["schemas"]["UpdatedRecord"][];
            /** @enum {string} */
            state: "conflict" | "error" | "off" | "ok" | "waiting";
        };
        /**
         * @description A domain to create. Null for `max_*` is unlimited; null for `plus_delimiter` switches tags off; null for
         *         `require_app_passwords`: as the setting. `alias_of` makes it an alias domain of that domain. Only a super_admin sets
         *         `dns_managed`.
         */
        DomainCreate: {
            /** @default true */
            active?: boolean;
            /** Format: uuid */
            alias_of?: string | null;
            /**
             * @description Bytes; 0 is unlimited
             * @default 0
             */
            default_quota_bytes?: number;
            /** @default  */
            description?: string;
            /** @default false */
            dkim_delegated?: boolean;
            /** @default false */
            dns_managed?: boolean;
            max_aliases?: number | null;
            max_mailboxes?: number | null;
            /**
             * @default none
             * @enum {string}
             */
            mta_sts_mode?: "enforce" | "none" | "testing";
            name: string;
            /** @default + */
            plus_delimiter?: string | null;
            /** @default true */
            receiving_enabled?: boolean;
            relay?: components["schemas"]["RelayRequest"] | null;
            require_app_passwords?: boolean | null;
            /** @default true */
            self_service?: boolean;
            /** @default true */
            sending_enabled?: boolean;
        };
        /** @description A domain was deleted. */
        DomainDeletion: {
            cancelled_messages: number;
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description DNS records of new DKIM keys must be published, before the keys of a domain can be rotated. */
        DomainDkimDue: {
            /** @description The domain. */
            domain: string;
            /** @description The records that are missing. */
            records: components["schemas"]["DkimRecord"][];
            /** @description 0 for the first event about these records, then 1, 2 and 3. */
            reminder: number;
        };
        /** @description The result of the last check of the domain's DNS records. */
        DomainDns: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            checked_at: string | null;
            status: string;
        };
        /**
         * @description A DNS record that the domain's mail needs is missing or wrong, after all were right. Two checks, 5 minutes apart
         *         (`dns.confirm_seconds`), have found that. Name servers that do not answer are no reason for this event.
         */
        DomainDnsFailed: {
            /** @description The domain. */
            domain: string;
            /** @description The required records that are not right. */
            problems: components["schemas"]["DnsProblem"][];
        };
        /**
         * @description All DNS records that the domain's mail needs are right again, after `domain.dns_failed`; two checks have found
         *         that.
         */
        DomainDnsRecovered: {
            /** @description The domain. */
            domain: string;
        };
        /** @description The DNS records of a domain. `setup`: null unless something has to be set first. */
        DomainDnsReport: {
            check: components["schemas"]["CheckProgress"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            checked_at: string | null;
            /** Format: uuid */
            domain_id: string;
            /** @description The server's public name. */
            hostname: string | null;
            name: string;
            records: components["schemas"]["DnsRecordResult"][];
            setup: components["schemas"]["DnsSetup"] | null;
            /** @enum {string} */
            status: "attention" | "failing" | "ok" | "unchecked";
        };
        /** @description What the domain's fields inherit while they are null. */
        DomainInherited: {
            require_app_passwords: components["schemas"]["SettingFlag"];
        };
        /**
         * @description Changes of a domain; its name can't change. Null for `require_app_passwords`: as the setting; for `alias_of`: no
         *         alias domain. `self_service` false ends the sessions of owners of its mailboxes. `dkim_delegated` applies to new
         *         keys. Only a super_admin changes `dns_managed`.
         */
        DomainPatch: {
            active?: boolean;
            /** Format: uuid */
            alias_of?: string | null;
            /** @description Bytes; 0 is unlimited */
            default_quota_bytes?: number;
            description?: string;
            dkim_delegated?: boolean;
            dns_managed?: boolean;
            max_aliases?: number | null;
            max_mailboxes?: number | null;
            /** @enum {string} */
            mta_sts_mode?: "enforce" | "none" | "testing";
            plus_delimiter?: string | null;
            receiving_enabled?: boolean;
            relay?: components["schemas"]["RelayRequest"] | null;
            require_app_passwords?: boolean | null;
            self_service?: boolean;
            sending_enabled?: boolean;
        };
        /**
         * @description A domain. `require_app_passwords`: whether mail clients must use app passwords; null: as `inherited` says.
         *         `self_service`: whether owners of its mailboxes may sign in (POST /me/login). `alias_of`: for an alias domain, the
         *         domain as whose addresses its own are routed. `dkim_delegated`: its DKIM records are CNAMEs to names of the server
         *         (GET /domains/{id}/dkim-delegation). `dns_managed`: Mailkeep writes its DNS records by `dns.provider`.
         *         `mta_sts_mode`: the MTA-STS policy that other servers get (RFC 8461).
         */
        DomainRecord: {
            active: boolean;
            /** Format: uuid */
            alias_of: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            default_quota_bytes: number;
            description: string;
            dkim_delegated: boolean;
            dns: components["schemas"]["DomainDns"];
            dns_managed: boolean;
            /** Format: uuid */
            id: string;
            inherited: components["schemas"]["DomainInherited"];
            max_aliases: number | null;
            max_mailboxes: number | null;
            mta_sts_mode: string;
            name: string;
            plus_delimiter: string | null;
            receiving_enabled: boolean;
            relay: components["schemas"]["RelayRecord"] | null;
            require_app_passwords: boolean | null;
            self_service: boolean;
            sending_enabled: boolean;
            unicode_name: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            usage: components["schemas"]["DomainUsageRecord"];
        };
        /** @description Figures of a domain; `domain` is null if it was deleted. */
        DomainRow: {
            accepted: number;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            domain: string | null;
            /** Format: uuid */
            domain_id: string;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            received: number;
            rejected: number;
            spam: number;
            suppressed: number;
        };
        /** @description What the domain contains; `bytes` of mail in its mailboxes. `alias_domains`: their number. */
        DomainUsageRecord: {
            alias_domains: number;
            aliases: number;
            bytes: number;
            mailboxes: number;
        };
        /** @description A file that was edited by hand since it was installed. `owner` is a user ID of the system. */
        DriftResponse: {
            adoption: components["schemas"]["AdoptionResponse"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            changed_at: string | null;
            diff: string;
            /** @enum {string} */
            kind: "added" | "changed" | "deleted";
            owner: number | null;
            path: string;
            service: string;
        };
        /** @description How often a digest is sent, and where that is set. */
        EffectiveDigest: {
            /** @enum {string} */
            scope: "default" | "domain" | "mailbox" | "server";
            /** @enum {string} */
            value: "daily" | "off" | "weekly";
        };
        /** @description The settings in force. */
        EffectiveFiltering: {
            digest: components["schemas"]["EffectiveDigest"];
            junk_score: components["schemas"]["EffectiveScore"];
            learn: components["schemas"]["EffectiveLearn"];
            reject_score: components["schemas"]["EffectiveScore"];
        };
        /** @description Whether the filter learns, and where that is set. */
        EffectiveLearn: {
            /** @enum {string} */
            scope: "default" | "domain" | "mailbox" | "server";
            value: boolean;
        };
        /** @description A score in force, and where it is set; `default`: nowhere. */
        EffectiveScore: {
            /** @enum {string} */
            scope: "default" | "domain" | "mailbox" | "server";
            value: number | "off";
        };
        /** @description An address in a header. */
        EventAddress: {
            email: string;
            name: string;
        };
        /** @description An attachment. */
        EventAttachment: {
            content_base64: string | null;
            content_type: string;
            filename: string | null;
            size: number;
        };
        /** @description The SMTP envelope; `rcpt_to` before aliases are expanded. */
        EventEnvelope: {
            mail_from: string;
            rcpt_to: string[];
        };
        /** @description An event; `message_id` is the ID of a message under /messages, `data` depends on the kind. */
        EventResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            data: Record<string, unknown>;
            /** Format: uuid */
            domain_id: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            /** Format: uuid */
            message_id: string | null;
        };
        /** @description An entry as stored: `admin_id` also of a deleted account, time in microseconds. */
        ExportedEntry: {
            action: string;
            actor: components["schemas"]["ActorResponse"];
            /** Format: uuid */
            admin_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, microseconds
             */
            created_at: string;
            details: Record<string, unknown>;
            /** Format: uuid */
            domain_id: string | null;
            domain_name: string | null;
            error_code: string | null;
            /** Format: uuid */
            id: string;
            ip_address: string | null;
            outcome: string;
            /** Format: uuid */
            request_id: string | null;
            resource_id: string | null;
            resource_type: string;
            transaction: string;
            user_agent: string | null;
        };
        /** @description Figures of a period, and up to the same hour of the period before. */
        FiguresOverview: {
            accepted: number;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            previous: components["schemas"]["PeriodFigures"];
            received: number;
            rejected: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string;
            spam: number;
            suppressed: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            until: string;
        };
        /**
         * @description A new entry. `value`: an address; a domain, which includes its sub-domains; or an IP address or network.
         *         `enforced`: a deny entry of the server or a domain that narrower scopes can't override.
         */
        FilterEntryCreate: {
            /** @default  */
            comment?: string;
            /** @default false */
            enforced?: boolean;
            /** @enum {string} */
            kind: "address" | "domain" | "network";
            /** @enum {string} */
            list: "allow" | "deny";
            value: string;
        };
        /** @description An entry was deleted. */
        FilterEntryDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description 1 to 10,000 rows. An error in one does not affect the others. */
        FilterEntryImport: {
            items: {
                /** @default  */
                comment?: string;
                /** @default false */
                enforced?: boolean;
                /** @enum {string} */
                kind: "address" | "domain" | "network";
                /** @enum {string} */
                list: "allow" | "deny";
                value: string;
            }[];
        };
        /** @description An entry of an allow or deny list. `hits`: messages that it decided, to within a few seconds. */
        FilterEntryRecord: {
            comment: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            created_by: string;
            enforced: boolean;
            hits: number;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "address" | "domain" | "network";
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_hit_at: string | null;
            /** @enum {string} */
            list: "allow" | "deny";
            value: string;
        };
        /** @description The results in the order of the rows, and their counts. */
        FilterImportAnswer: {
            failed: number;
            results: components["schemas"]["FilterImportResult"][];
            succeeded: number;
            total: number;
        };
        /** @description The outcome of the row at `index` (from 0): `id` of its entry, or `error`, `code` and `details`. */
        FilterImportResult: {
            code?: string | null;
            details?: Record<string, unknown> | null;
            error?: string | null;
            /** Format: uuid */
            id?: string | null;
            index: number;
        };
        /** @description Changed filter settings; null: as the wider scope, or the default. */
        FilteringPatch: {
            /** @enum {string|null} */
            digest?: "daily" | "off" | "weekly" | null;
            junk_score?: number | "off" | null;
            learn?: boolean | null;
            reject_score?: number | "off" | null;
        };
        /**
         * @description Filter settings; null: as the wider scope. `junk_score`, `reject_score`: the score from which mail goes to Junk,
         *         or is refused. `digest`: mail about what went to Junk or was refused. `learn`: from moves to and from Junk.
         */
        FilteringRecord: {
            /** @enum {string|null} */
            digest: "daily" | "off" | "weekly" | null;
            effective: components["schemas"]["EffectiveFiltering"];
            junk_score: number | "off" | null;
            learn: boolean | null;
            reject_score: number | "off" | null;
            training: components["schemas"]["TrainingRecord"];
        };
        /**
         * @description A message of the history by its ID, or one that is described: `mail_from` (empty: a bounce), the author in `from`
         *         (absent: none or several), `client_address`, `score` (absent: none) and `auth`.
         */
        FilterTest: {
            auth?: components["schemas"]["TestedAuthentication"] | null;
            client_address?: string | null;
            from?: string | null;
            mail_from?: string | null;
            /** Format: uuid */
            message_id?: string | null;
            score?: number | null;
        };
        /**
         * @description What would happen, and where: at RCPT, at the end of DATA or at delivery. `defer`: refused with 451, because DNS
         *         does not say whether an allow entry applies. `decided_by` null: no rule decided, so it goes to the inbox.
         */
        FilterTestResult: {
            /** @enum {string} */
            action: "defer" | "inbox" | "junk" | "refuse";
            /** @enum {string} */
            at: "data" | "delivery" | "rcpt";
            decided_by: components["schemas"]["DecidedByRecord"] | null;
            steps: components["schemas"]["TestStep"][];
        };
        /** @description Forwarding destinations; `keep_copy`: the mailbox gets the mail too. */
        ForwardRecord: {
            destinations: string[];
            keep_copy: boolean;
        };
        /** @description A forward; an empty list of destinations removes it. */
        ForwardRequest: {
            destinations?: string[];
            keep_copy?: boolean;
        };
        /** @description A forward, which replaces the one before. Without `destinations` there is none any more. */
        ForwardWrite: {
            destinations?: string[];
            /** @default true */
            keep_copy?: boolean;
        };
        /** @description A generation of the daemons' configuration. `revision`: the settings that it was made from. */
        GenerationResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            n: number;
            revision: number;
        };
        /** @description A field of the header, its value decoded. */
        HeaderField: {
            name: string;
            value: string;
        };
        /**
         * @description The status of a service: `database`, `disk`, `mta` (the sandbox); in the full profile also each daemon and
         *         process, and the `supervisor` that reports them.
         */
        HealthCheckResponse: {
            component: string;
            /** @enum {string} */
            status: "degraded" | "down" | "ok";
        };
        /** @description All components. */
        HealthDetails: {
            components: components["schemas"]["ComponentResponse"][];
        };
        /** @description The status of the server and of each service. */
        HealthResponse: {
            checks: components["schemas"]["HealthCheckResponse"][];
            /** @enum {string} */
            status: "degraded" | "down" | "ok";
        };
        /**
         * @description What is held since a full restore, until all is released. `messages` counts all messages on hold in the queue,
         *         `system_mails` mail of Mailkeep itself, `sieve_messages` redirects and replies, `local_submissions` what local
         *         programs have submitted.
         */
        HeldResponse: {
            local_submissions: number;
            messages: number;
            restored: components["schemas"]["RestoredBackupResponse"] | null;
            scheduled_messages: number;
            sieve_messages: number;
            system_mails: number;
            webhook_deliveries: number;
        };
        /** @description The results in the order of the rows, and their counts. */
        ImportAnswer: {
            failed: number;
            results: components["schemas"]["ImportResult"][];
            succeeded: number;
            total: number;
        };
        /** @description The outcome of the row at `index` (from 0): `id` of its suppression, or `error`, `code` and `details`. */
        ImportResult: {
            code?: string | null;
            details?: Record<string, unknown> | null;
            error?: string | null;
            /** Format: uuid */
            id?: string | null;
            index: number;
        };
        /** @description A value of a higher level, and which one: `domain` or `server` (the setting). */
        InheritedFlagRecord: {
            /** @enum {string} */
            source: "domain" | "server";
            value: boolean;
        };
        /** @description The password was set; the link works no more. */
        InvitationAcceptance: {
            address: string;
            message: string;
            /** @enum {string} */
            type: "admin" | "mailbox";
        };
        /** @description The token of a link: what is behind its `#`. */
        InvitationLookup: {
            token: string;
        };
        /** @description The password that the account gets. */
        InvitationPassword: {
            /**
             * Format: password
             * @description 8 to 256 characters, not a common password, not the address of the account.
             */
            password: string;
        };
        /**
         * @description An invitation. `url`, the link, is shown only once; null if it was mailed to `sent_to`. It works once, until
         *         `expires_at`.
         */
        InvitationRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            sent_to: string | null;
            url: string | null;
        };
        /** @description The account of an invitation: an administrator, who signs in to the dashboard with `address`, or a mailbox. */
        InvitedAccountRecord: {
            address: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            /** @enum {string} */
            type: "admin" | "mailbox";
        };
        /**
         * @description The result of an item: its index in the call (of CSV: the first row after the names is 0), and the object, or an
         *         `error` {code, message, details}. Both are null where a dry run would create an object.
         */
        ItemResultRecord: {
            error: Record<string, unknown> | null;
            /** Format: uuid */
            id: string | null;
            index: number;
        };
        /**
         * @description Mail that the filter filed in Junk (`junk`) or refused (`refused`). `decided_by`: the rule that decided; null if
         *         the filter alone did. `reply`: to the other server, of refused mail. `can_release`: it is still in the folder Junk.
         */
        JunkRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            can_release: boolean;
            decided_by: components["schemas"]["SpamRule"] | null;
            from: string;
            /** Format: uuid */
            id: string;
            reply: string | null;
            /** @enum {string} */
            result: "junk" | "refused";
            score: number | null;
            subject: string;
        };
        /** @description `allow`: also add the author to the mailbox's allow list. */
        JunkRelease: {
            /** @default false */
            allow?: boolean;
        };
        /** @description The last login to the mailbox with imap, pop3, sieve or smtp (submission); all null if there was none. */
        LastLoginRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string | null;
            ip: string | null;
            protocol: string | null;
        };
        /** @description Messages of a mailbox in the last hour that the filter learned from, and those that were dropped. */
        LessonsRecord: {
            accepted: number;
            dropped: number;
        };
        /** @description Confirmation that a suspension was lifted. */
        LiftResponse: {
            address: string;
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description A script of a mailbox. At most one is `active`: it filters new mail. */
        ListedScriptResponse: {
            active: boolean;
            name: string;
        };
        /** @description The second step: the token of the first one, and a code of the authenticator. */
        LoginByCode: {
            /** @description Six digits from the authenticator */
            totp_code: string;
            totp_session: string;
        };
        /** @description The first step. Any text is accepted as email; INVALID_CREDENTIALS if no account has it. */
        LoginByPassword: {
            email: string;
            /** Format: password */
            password: string;
        };
        /** @description The second step with a recovery code, which is used up. */
        LoginByRecoveryCode: {
            /** @description One of the account's recovery codes; hyphens and case don't matter */
            recovery_code: string;
            totp_session: string;
        };
        /** @description Options for signing in; valid once, until `expires_at`. */
        LoginOptionsResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            options: components["schemas"]["RequestOptions"];
        };
        /** @description A session was opened; the cookie `svc_session` carries its token. */
        LoginResponse: {
            admin: components["schemas"]["OwnAccount"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            /** Format: uuid */
            session_id: string;
        };
        /** @description The current session was ended. */
        LogoutResponse: {
            message: string;
        };
        /**
         * @description The server of a recipient refused the message, permanently or for now (`temporary`: published once, after the
         *         first attempt).
         */
        MailBounced: {
            /** @description The number of delivery attempts so far. */
            attempts: number;
            /** @description `permanent` or `temporary`. */
            bounce_type: string;
            /** @description Why: one of 16 classes, such as `mailbox_full`. */
            class: string;
            /** @description The text of its reply. */
            diagnostic: string | null;
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description Its enhanced status code (RFC 3463), if it sent one. */
            enhanced_code: string | null;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The metadata that it was sent with, if any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The provider of the other server, such as `google`; null if there was none. */
            provider: string | null;
            /** @description The mail server's queue ID, if it has one. */
            queue_id: string | null;
            /** @description The other server. */
            remote_host: string | null;
            /** @description The other server's reply code (RFC 5321), if it replied. */
            smtp_code: number | null;
            /** @description `system` for a forwarded message, which nobody here sent. */
            source?: string;
            /** @description Its subject, decoded. */
            subject: string;
            /** @description The tags that it was sent with, if any. */
            tags?: string[];
            /** @description The recipient. */
            to: string;
        };
        /**
         * @description A mailbox to create, with `password`, `invite` or, for a migration, `password_hash` in Dovecot's format
         *         ({SCHEME}…). Null for `require_app_passwords`: as the domain.
         */
        MailboxCreate: {
            /** @default true */
            active?: boolean;
            /** Format: uuid */
            domain_id: string;
            forward?: components["schemas"]["ForwardRequest"];
            /**
             * @description Instead of a password: create a link with which the account's owner sets one.
             * @default false
             */
            invite?: boolean;
            /**
             * Format: email
             * @description Mail the link to this address instead of showing it.
             */
            invite_to?: string;
            local_part: string;
            /** @default  */
            name?: string;
            /** Format: password */
            password?: string;
            /** Format: password */
            password_hash?: string;
            protocols?: components["schemas"]["ProtocolsRequest"];
            /** @description Bytes; 0 is unlimited */
            quota_bytes?: number;
            require_app_passwords?: boolean | null;
            /** @description At most 100 addresses and domains */
            send_as?: string[];
            /**
             * @description IANA name, such as Europe/Berlin
             * @default UTC
             */
            time_zone?: string;
        };
        /**
         * @description A new mailbox, with `invitation` if its owner was invited; that is null when the response is repeated for an
         *         Idempotency-Key.
         */
        MailboxCreated: {
            active: boolean;
            address: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            deleted_at: string | null;
            /** Format: uuid */
            domain_id: string;
            forward: components["schemas"]["ForwardRecord"];
            /** Format: uuid */
            id: string;
            inherited: components["schemas"]["MailboxInherited"];
            invitation?: components["schemas"]["InvitationRecord"] | null;
            last_login: components["schemas"]["LastLoginRecord"];
            local_part: string;
            message_count: number;
            name: string;
            protocols: components["schemas"]["ProtocolsRecord"];
            quota_bytes: number;
            require_app_passwords: boolean | null;
            second_factor: boolean;
            send_as: string[];
            suspended: components["schemas"]["SuspendedRecord"] | null;
            time_zone: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            used_bytes: number;
        };
        /** @description A mailbox was deleted; it can be restored until `kept_until`. */
        MailboxDeletion: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            kept_until: string | null;
            message: string;
            purged: boolean;
        };
        /** @description What the mailbox's fields inherit while they are null. */
        MailboxInherited: {
            require_app_passwords: components["schemas"]["InheritedFlagRecord"];
        };
        /** @description `invite_to`: where to mail the link. */
        MailboxInvite: {
            /**
             * Format: email
             * @description Mail the link to this address instead of showing it.
             */
            invite_to?: string;
        };
        /** @description Changes of a mailbox. Null for `require_app_passwords`: as the domain. */
        MailboxPatch: {
            active?: boolean;
            /** Format: uuid */
            domain_id?: string;
            forward?: components["schemas"]["ForwardRequest"];
            local_part?: string;
            name?: string;
            /** Format: password */
            password?: string;
            /** Format: password */
            password_hash?: string;
            protocols?: components["schemas"]["ProtocolsRequest"];
            /** @description Bytes; 0 is unlimited */
            quota_bytes?: number;
            require_app_passwords?: boolean | null;
            /** @description At most 100 addresses and domains */
            send_as?: string[];
            /** @description IANA name, such as Europe/Berlin */
            time_zone?: string;
        };
        /** @description The mail in a mailbox has reached 80 or 95 percent of its quota. Once for each, until it is 5 percent lower. */
        MailboxQuota: {
            /** @description Its address. */
            address: string;
            /** @description Its domain. */
            domain: string;
            /** @description 80 or 95. */
            level: number;
            /** @description Its ID. */
            mailbox_id: string;
            /** @description Its quota in bytes. */
            quota_bytes: number;
            /** @description Bytes in all its folders. */
            used_bytes: number;
        };
        /**
         * @description A mailbox. `used_bytes` and `message_count` cover all its folders; `deleted_at` is set in the trash only.
         *
         *         `time_zone`: for display, of its vacation for example. `require_app_passwords`: whether mail clients must use app
         *         passwords; null: as `inherited` says. If its owner has a `second_factor`, they must in any case. `send_as`: from
         *         which further addresses, or domains, it may send.
         */
        MailboxRecord: {
            active: boolean;
            address: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            deleted_at: string | null;
            /** Format: uuid */
            domain_id: string;
            forward: components["schemas"]["ForwardRecord"];
            /** Format: uuid */
            id: string;
            inherited: components["schemas"]["MailboxInherited"];
            last_login: components["schemas"]["LastLoginRecord"];
            local_part: string;
            message_count: number;
            name: string;
            protocols: components["schemas"]["ProtocolsRecord"];
            quota_bytes: number;
            require_app_passwords: boolean | null;
            second_factor: boolean;
            send_as: string[];
            suspended: components["schemas"]["SuspendedRecord"] | null;
            time_zone: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            used_bytes: number;
        };
        /** @description A mailbox and the suspension of its address, null if it may send. */
        MailboxSuspensionResponse: {
            address: string;
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            id: string;
            suspended: components["schemas"]["SuspensionRecord"] | null;
        };
        /** @description The usage of a mailbox, all folders together. */
        MailboxUsageRecord: {
            message_count: number;
            used_bytes: number;
        };
        /** @description A recipient reported the message as spam; its address is suppressed for the domain. */
        MailComplained: {
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The metadata that it was sent with, if any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The mail server's queue ID, if it has one. */
            queue_id: string | null;
            /** @description Of the suppression: `hard_bounce`, `complaint`, `unsubscribe`, `manual`. */
            reason: string;
            /** @description Its subject, decoded. */
            subject: string;
            /** @description GET /suppressions/{id}; zeros for a test address. */
            suppression_id: string;
            /** @description The tags that it was sent with, if any. */
            tags?: string[];
            /** @description The recipient. */
            to: string;
        };
        /** @description The server of a recipient accepted the message: once for each recipient. */
        MailDelivered: {
            /** @description The number of delivery attempts so far. */
            attempts: number;
            /** @description The text of its reply. */
            diagnostic: string | null;
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description Its enhanced status code (RFC 3463), if it sent one. */
            enhanced_code: string | null;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The metadata that it was sent with, if any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The mail server's queue ID, if it has one. */
            queue_id: string | null;
            /** @description The other server. */
            remote_host: string | null;
            /** @description The other server's reply code (RFC 5321), if it replied. */
            smtp_code: number | null;
            /** @description `system` for a forwarded message, which nobody here sent. */
            source?: string;
            /** @description Its subject, decoded. */
            subject: string;
            /** @description The tags that it was sent with, if any. */
            tags?: string[];
            /** @description The recipient. */
            to: string;
        };
        /** @description The message did not reach a recipient and is not retried: no server accepted it in time. */
        MailFailed: {
            /** @description The number of delivery attempts so far. */
            attempts: number;
            /** @description Why: one of 16 classes, such as `mailbox_full`. */
            class: string;
            /** @description The text of its reply. */
            diagnostic: string | null;
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description Its enhanced status code (RFC 3463), if it sent one. */
            enhanced_code: string | null;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The metadata that it was sent with, if any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The provider of the other server, such as `google`; null if there was none. */
            provider: string | null;
            /** @description The mail server's queue ID, if it has one. */
            queue_id: string | null;
            /** @description Why, in words. Of a scheduled message that was not submitted a code, such as `permission`. */
            reason: string | null;
            /** @description The other server. */
            remote_host: string | null;
            /** @description The other server's reply code (RFC 5321), if it replied. */
            smtp_code: number | null;
            /** @description `system` for a forwarded message, which nobody here sent. */
            source?: string;
            /** @description Its subject, decoded. */
            subject: string;
            /** @description The tags that it was sent with, if any. */
            tags?: string[];
            /** @description The recipient. */
            to: string;
        };
        /** @description A folder by its path, such as `INBOX` or `Archive/2026`; `bytes` as the quota counts them. */
        MailFolderRecord: {
            bytes: number;
            messages: number;
            name: string;
            unseen: number;
        };
        /** @description An inbound message was delivered to a mailbox: once for each mailbox that it reached. */
        MailReceived: {
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The mail server's queue ID. */
            queue_id: string;
            /** @description Bytes. */
            size: number;
            /** @description Its subject, decoded. */
            subject: string;
        };
        /** @description The same as `mail.received`, with the parsed message: emitted while a webhook subscribes to it (`*` does). */
        MailReceivedFull: {
            /** @description `filename`, `content_type`, `size` and `content_base64` of each. */
            attachments: components["schemas"]["EventAttachment"][];
            /** @description Its HTML as received: not sanitized. */
            body_html: string | null;
            /** @description Its text, if it has one. */
            body_text: string | null;
            /** @description `name` and `email` of each address in its Cc field. */
            cc: components["schemas"]["EventAddress"][];
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description `mail_from`, and `rcpt_to` before aliases are expanded. */
            envelope: components["schemas"]["EventEnvelope"];
            /** @description The address in its From field: `name`, `email`. */
            from: components["schemas"]["EventAddress"];
            /** @description All header fields by name; a list if a field is repeated. */
            headers: {
                [key: string]: string | string[];
            } | null;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description Why the message could not be parsed; null if it was. */
            parse_error?: string | null;
            /** @description The mail server's queue ID. */
            queue_id: string;
            /** @description Its Reply-To address, if it has one. */
            reply_to: components["schemas"]["EventAddress"] | null;
            /** @description Bytes. */
            size: number;
            /** @description `add header` for spam in Junk, `reject` for a refused message, `no action` for other mail. */
            spam_action: string;
            /** @description The filter's score. */
            spam_score: number;
            /** @description Its subject, decoded. */
            subject: string;
            /** @description `name` and `email` of each address in its To field. */
            to: components["schemas"]["EventAddress"][];
            /** @description Content is left out: it is over 25 MB, or no longer stored (3 days). */
            truncated: boolean;
        };
        /** @description An outbound message was accepted for delivery: once for each message, whatever its recipients. */
        MailSent: {
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The metadata that it was sent with, if any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Its subject, decoded. */
            subject: string;
            /** @description The tags that it was sent with, if any. */
            tags?: string[];
            /** @description The addresses of its To field. */
            to: string[];
        };
        /** @description A service for mail clients. `security`: `tls` from the start (preferred, RFC 8314), or `starttls`. */
        MailServiceRecord: {
            host: string;
            port: number;
            /** @enum {string} */
            protocol: "imap" | "pop3" | "sieve" | "smtp";
            /** @enum {string} */
            security: "starttls" | "tls";
        };
        /**
         * @description An inbound message is spam: it is in its mailbox's Junk folder (`mail.received` is emitted too), or was refused
         *         (`spam_action` `reject`), once for each recipient then.
         */
        MailSpam: {
            /** @description Whose rule decided, as in the history. */
            decided_by?: components["schemas"]["DecidedBy"] | null;
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description `add header` for spam in Junk, `reject` for a refused message, `no action` for other mail. */
            spam_action: string;
            /** @description The filter's score. */
            spam_score: number;
        };
        /** @description A recipient got nothing because its address is suppressed; the message was sent to the others. */
        MailSuppressed: {
            /** @description The managed domain that it is from, or for. */
            domain: string;
            /** @description The address of its sender. */
            from: string;
            /** @description Its Message-ID header. */
            message_id: string;
            /** @description The metadata that it was sent with, if any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The mail server's queue ID, if it has one. */
            queue_id: string | null;
            /** @description Of the suppression: `hard_bounce`, `complaint`, `unsubscribe`, `manual`. */
            reason: string;
            /** @description Its subject, decoded. */
            subject: string;
            /** @description GET /suppressions/{id}; zeros for a test address. */
            suppression_id: string;
            /** @description The tags that it was sent with, if any. */
            tags?: string[];
            /** @description The recipient. */
            to: string;
        };
        /**
         * @description An attachment; `size` in bytes, decoded.
         *
         *         `number` is its position in the message, from 1; the HTML refers to images by `content_id`.
         */
        MessageAttachment: {
            content_id: string | null;
            content_type: string;
            filename: string;
            number: number;
            size: number;
        };
        /**
         * @description The content of a message. `parse_error`: why it could not be parsed; then only the header is here. `truncated`:
         *         the content is too large, so the text may be cut and the HTML missing.
         */
        MessageContentResponse: {
            attachments: components["schemas"]["MessageAttachment"][];
            body_html: string | null;
            body_text: string | null;
            header: components["schemas"]["HeaderField"][];
            /** Format: uuid */
            id: string;
            parse_error: string | null;
            subject: string;
            truncated: boolean;
        };
        /**
         * @description A recipient and its delivery status; `diagnostic` is the reply of the remote server.
         *
         *         `class` (why, one of 16) and `provider` (of the remote server; null if there was none) are set for the statuses
         *         deferred, bounced and failed, `suppression` for suppressed.
         */
        MessageRecipientResponse: {
            address: string;
            attempts: number;
            /** @enum {string|null} */
            class: "auth" | "bad_domain" | "content" | "expired" | "greylisted" | "invalid_recipient" | "mailbox_disabled" | "mailbox_full" | "network" | "policy" | "rate_limited" | "relay_denied" | "reputation" | "tls" | "too_large" | "unknown" | null;
            diagnostic: string | null;
            enhanced_code: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_attempt_at: string | null;
            provider: string | null;
            remote_host: string | null;
            smtp_code: number | null;
            status: string;
            suppression: components["schemas"]["SuppressionResponse"] | null;
        };
        /** @description A message of the history. */
        MessageResponse: {
            /** Format: uuid */
            api_key_id: string | null;
            auth: components["schemas"]["AuthenticationResults"];
            cc: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** Format: uuid */
            domain_id: string | null;
            from: string;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            mailbox_id: string | null;
            message_id: string;
            metadata: Record<string, unknown>;
            queue_id: string | null;
            recipients: components["schemas"]["MessageRecipientResponse"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            scheduled_at: string | null;
            size: number;
            /** @enum {string} */
            source: "api" | "mailkeep" | "smtp" | "system";
            spam: components["schemas"]["Spam"];
            /** @enum {string} */
            status: "bounced" | "cancelled" | "deferred" | "delivered" | "failed" | "lost" | "partial" | "queued" | "received" | "rejected" | "relayed" | "scheduled" | "submitting" | "suppressed" | "unknown";
            subject: string;
            tags: string[];
            template: components["schemas"]["MessageTemplate"] | null;
            to: string[];
        };
        /** @description The template that a message was rendered from, and its version. */
        MessageTemplate: {
            /** Format: uuid */
            id: string;
            version: number;
        };
        /**
         * @description How many messages are in each status; a `partial` message counts once for each status of its recipients. A total
         *         that is `most` may be larger: counting ends there.
         */
        MessageTotalsResponse: {
            most: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string | null;
            totals: {
                [key: string]: number;
            };
        };
        /** @description Metadata of every response. */
        Meta: {
            /** Format: uuid */
            request_id: string;
            /** Format: date-time */
            timestamp: string;
        };
        /**
         * @description An operation. `service` is null for `apply` and `rollback`; `error` says why it failed or was rolled back.
         *         `confirm_until`: it waits for POST /orchestrator/confirm, and is rolled back without it until then; null once it was
         *         confirmed. `confirm_url`: where that request must be sent, if the HTTPS listener changes.
         */
        OperationResponse: {
            author: string;
            /** Format: uuid */
            author_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            confirm_until: string | null;
            confirm_url: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            error: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "apply" | "reload" | "restart" | "rollback" | "start" | "stop";
            service: string | null;
            /** @enum {string} */
            state: "failed" | "rolled_back" | "running" | "succeeded";
            steps: components["schemas"]["StepResponse"][];
        };
        /** @description The operation, whose progress GET /orchestrator/operations/{id} returns. */
        OperationStarted: {
            /** Format: uuid */
            operation_id: string;
        };
        /**
         * @description An operation. `kind`: `mailbox.create`, …, `alias.delete`, `backup.create`, `backup.verify`, `backup.restore`,
         *         `backup.prune`, `backup.key`, or that of GET /orchestrator/operations.
         *
         *         `succeeded` means for a bulk operation that each item has a result, which may be an error. `results` is empty for
         *         operations on services and backups. `phase`, `error` and `result` are of operations on backups: what it does now,
         *         why it has failed, and what it found; `progress` counts bytes or steps.
         */
        OperationStatusRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            dry_run: boolean;
            error: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            finished_at: string | null;
            /** Format: uuid */
            id: string;
            kind: string;
            phase: string;
            progress: components["schemas"]["ProgressRecord"];
            result: Record<string, unknown> | null;
            results: components["schemas"]["ItemResultRecord"][];
            /** @enum {string} */
            state: "cancelled" | "failed" | "rolled_back" | "running" | "succeeded";
        };
        /**
         * @description All services. `generation`: the configuration that all daemons use, null if they use different ones or there are
         *         none; `generations`: all that are kept, newest first; `operation_id`: the running operation.
         */
        OverviewResponse: {
            generation: components["schemas"]["GenerationResponse"] | null;
            generations: components["schemas"]["GenerationResponse"][];
            /** Format: uuid */
            operation_id: string | null;
            services: components["schemas"]["ServiceResponse"][];
        };
        /**
         * @description The caller's own account.
         *
         *         `passkeys` is their number. `must_change_password`: only POST /auth/password and /auth/logout are allowed besides
         *         this call. `second_factor_required`: no other call is allowed until it has enrolled a second factor.
         */
        OwnAccount: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            domain_ids: string[];
            email: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_login_at: string | null;
            must_change_password: boolean;
            oidc_provider: string | null;
            passkeys: number;
            /** @enum {string} */
            role: "domain_admin" | "admin" | "super_admin";
            second_factor_required: boolean;
            totp_enabled: boolean;
        };
        /** @description An app password of the caller's own mailbox to create. */
        OwnAppPasswordCreate: {
            /**
             * Format: password
             * @description The current password; required if the session is older than 15 minutes
             */
            current_password?: string;
            /** Format: date-time */
            expires_at?: string;
            name: string;
            protocols?: ("imap" | "pop3" | "sieve" | "smtp")[];
        };
        /** @description The first step. Any text is accepted as address; INVALID_CREDENTIALS if no mailbox has it. */
        OwnerLogin: {
            address: string;
            /** Format: password */
            password: string;
        };
        /** @description A session was opened; the cookie `svc_mailbox` carries its token. */
        OwnerLoginResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            mailbox: components["schemas"]["OwnMailboxRecord"];
            /** Format: uuid */
            session_id: string;
        };
        /** @description The caller's own mailbox. `passkeys` is their number. */
        OwnMailboxRecord: {
            active: boolean;
            address: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            deleted_at: string | null;
            /** Format: uuid */
            domain_id: string;
            forward: components["schemas"]["ForwardRecord"];
            /** Format: uuid */
            id: string;
            inherited: components["schemas"]["MailboxInherited"];
            last_login: components["schemas"]["LastLoginRecord"];
            local_part: string;
            message_count: number;
            name: string;
            passkeys: number;
            protocols: components["schemas"]["ProtocolsRecord"];
            quota_bytes: number;
            require_app_passwords: boolean | null;
            second_factor: boolean;
            send_as: string[];
            suspended: components["schemas"]["SuspendedRecord"] | null;
            time_zone: string;
            totp_enabled: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            used_bytes: number;
        };
        /**
         * @description Mail for the caller's mailbox. `junk`: it is in the folder Junk. `reason`: why it was rejected. `spam_score` is
         *         null if the filter did not check it.
         */
        OwnMessage: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            from: string;
            /** Format: uuid */
            id: string;
            reason: string | null;
            /** @enum {string} */
            result: "junk" | "received" | "rejected";
            size: number;
            spam_score: number | null;
            subject: string;
            to: string[];
        };
        /** @description Metadata of a page of a list. */
        PageMeta: {
            pagination: {
                has_more: boolean;
                /** @description Empty on the last page. */
                next_cursor: string;
            };
            /** Format: uuid */
            request_id: string;
            /** Format: date-time */
            timestamp: string;
        };
        /** @description A passkey was deleted. */
        PasskeyDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description The result of `navigator.credentials.get()`; the same `totp_session` as in the request for the options. */
        PasskeyLogin: {
            /** @description The browser's result in the form of `PublicKeyCredential.toJSON()`; unused members are ignored */
            credential: Record<string, unknown>;
            totp_session?: string;
        };
        /** @description Empty to sign in with a passkey alone; `totp_session` of POST /auth/login to use it as the second factor. */
        PasskeyLoginStart: {
            totp_session?: string;
        };
        /**
         * @description A passkey.
         *
         *         `backup_eligible`: it can be on several devices of its owner; `backed_up`: it is. `aaguid` identifies the model of
         *         the authenticator; all zeros if unknown.
         */
        PasskeyRecord: {
            /** Format: uuid */
            aaguid: string;
            backed_up: boolean;
            backup_eligible: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_used_at: string | null;
            name: string;
            transports: string[];
        };
        /** @description Recovery codes, shown only once; each works once in place of the second factor. */
        PasskeyRecoveryCodes: {
            message: string;
            recovery_codes: string[];
        };
        /** @description The result of `navigator.credentials.create()`, and a name for the passkey. */
        PasskeyRegistration: {
            /** @description The browser's result in the form of `PublicKeyCredential.toJSON()`; unused members are ignored */
            credential: Record<string, unknown>;
            /** @default Passkey */
            name?: string;
        };
        /** @description A new passkey. `recovery_codes` are shown only once; null unless it is the account's first second factor. */
        PasskeyRegistrationResponse: {
            passkey: components["schemas"]["PasskeyRecord"];
            recovery_codes: string[] | null;
        };
        /** @description A new name. */
        PasskeyRename: {
            name: string;
        };
        /** @description The current password and the new one (8 to 256 characters). */
        PasswordChange: {
            /** Format: password */
            current_password: string;
            /** Format: password */
            new_password: string;
        };
        /** @description The password was changed; `sessions_ended` is the number of other sessions that were ended. */
        PasswordChangeResponse: {
            message: string;
            sessions_ended: number;
        };
        /** @description Figures of a period. */
        PeriodFigures: {
            accepted: number;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            received: number;
            rejected: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string;
            spam: number;
            suppressed: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            until: string;
        };
        /** @description What a daemon must do, because of which parameters or files, and what users notice. */
        PlannedActionResponse: {
            /** @enum {string} */
            action: "none" | "reload" | "restart";
            because: string[];
            interrupts: string | null;
            service: string;
        };
        /** @description The result of a daemon's own check of the new files. */
        PlannedCheckResponse: {
            ok: boolean;
            output: string;
            service: string;
        };
        /**
         * @description A file that changes: unified diff from the current file, secrets masked, and the SHA-256 of the new file (null:
         *         deleted). `drifted`: it was edited by hand, and stays as it is.
         */
        PlannedFileResponse: {
            /** @enum {string} */
            change: "create" | "delete" | "drifted" | "update";
            diff: string;
            path: string;
            service: string;
            sha256: string | null;
        };
        /**
         * @description What changes from the applied revision of the settings (`base`) to the newest (`target`); `settings` take effect
         *         then. It can be applied until `expires_at`, which is part of the `id`.
         */
        PlanResponse: {
            actions: components["schemas"]["PlannedActionResponse"][];
            base: number;
            checks: components["schemas"]["PlannedCheckResponse"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            files: components["schemas"]["PlannedFileResponse"][];
            id: string;
            settings: string[];
            target: number;
            warnings: string[];
        };
        /**
         * @description The instance can be restored to any time from `from` to `to`; null: to none yet. `spool_bytes`: write-ahead log
         *         that is kept on this machine. `problem`: why less is stored than should be, in words.
         */
        PointInTimeRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            from: string | null;
            problem: string | null;
            spool_bytes: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            to: string | null;
        };
        /** @description How many items (or steps) of `total` are done, and how many of these have failed. */
        ProgressRecord: {
            done: number;
            failed: number;
            total: number;
        };
        /** @description The protocols that may be used with the mailbox; `smtp` is submission. */
        ProtocolsRecord: {
            imap: boolean;
            pop3: boolean;
            sieve: boolean;
            smtp: boolean;
        };
        /** @description Protocols to enable or disable. Those without a value stay unchanged; in a new mailbox they are enabled. */
        ProtocolsRequest: {
            imap?: boolean;
            pop3?: boolean;
            sieve?: boolean;
            smtp?: boolean;
        };
        /** @description An identity provider; open `login_path` in the browser to sign in with it. */
        ProviderRecord: {
            id: string;
            login_path: string;
            name: string;
        };
        /** @description An action on the messages with these IDs, or on those that match the filter. */
        QueueAction: {
            /** @enum {string} */
            action: "delete" | "flush" | "hold" | "release";
            /** @default false */
            dry_run?: boolean;
            filter?: components["schemas"]["QueueFilterRequest"];
            ids?: string[];
        };
        /**
         * @description How many messages in the queue the action applied to, or would in a dry run. `released`: what it released outside
         *         the queue, only if that is something.
         */
        QueueActionResponse: {
            affected: number;
            dry_run: boolean;
            released?: components["schemas"]["Released"];
        };
        /** @description A message in the queue. `next_attempt_at` is null unless the message is deferred, and during an attempt. */
        QueuedMessage: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            arrived_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_attempt_at: string | null;
            queue_id: string;
            recipients: components["schemas"]["QueueRecipientResponse"][];
            sender: string;
            size: number;
            /** @enum {string} */
            state: "active" | "deferred" | "hold" | "incoming";
        };
        /** @description The filters of the list; without filters, all messages match. */
        QueueFilterRequest: {
            domain?: string | null;
            queue_id?: string | null;
            recipient?: string | null;
            sender?: string | null;
            /** Format: date-time */
            since?: string | null;
            /** @enum {string|null} */
            state?: "active" | "deferred" | "hold" | "incoming" | null;
            /** Format: date-time */
            until?: string | null;
        };
        /** @description A recipient who is still waiting; `reason`: of the last deferral, empty before the first attempt. */
        QueueRecipientResponse: {
            address: string;
            reason: string;
        };
        /** @description A recovery code. It works only once. */
        RecoveryCodeRequest: {
            /** @description One of the account's recovery codes; hyphens and case don't matter */
            recovery_code: string;
        };
        /** @description Recovery codes, shown only once; each works once in place of a code of the authenticator. */
        RecoveryCodes: {
            message: string;
            recovery_codes: string[];
            totp_enabled: boolean;
        };
        /**
         * @description The recovery key of the repository; the key itself is not stored. `verified_at`: when `mailkeep backup key
         *         verify` last showed that somebody has it.
         */
        RecoveryKeyRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            verified_at: string | null;
        };
        /** @description Every error response. */
        Refusal: {
            data: null;
            error: {
                code: string;
                details: Record<string, unknown> | null;
                message: string;
            };
            meta: components["schemas"]["Meta"];
        };
        /** @description Options for creating a passkey; valid once, until `expires_at`. */
        RegistrationOptionsResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            options: components["schemas"]["CreationOptions"];
        };
        /** @description The server that delivers the domain's outbound mail. The password is never shown, only whether there is one. */
        RelayRecord: {
            has_password: boolean;
            host: string;
            port: number;
            tls: string;
            username: string;
        };
        /**
         * @description The server that delivers mail from senders in the domain. With a username, `tls` must be `starttls` or `tls`, and
         *         the certificate must be valid for the host.
         */
        RelayRequest: {
            host: string;
            password?: string | null;
            /** @default 587 */
            port?: number;
            /**
             * @default starttls
             * @enum {string}
             */
            tls?: "none" | "starttls" | "tls";
            /** @default  */
            username?: string;
        };
        /**
         * @description What an action released that a full restore held: scheduled messages, webhook deliveries, mail of Mailkeep
         *         itself, messages that Sieve sends, and what local programs have submitted.
         */
        Released: {
            local_submissions: number;
            scheduled_messages: number;
            sieve_messages: number;
            system_mails: number;
            webhook_deliveries: number;
        };
        /**
         * @description The message is in the inbox. `allow_entry_id`: the entry of the allow list; null if none was wanted, or if the
         *         list is full. `warnings` says that, and why the entry would not apply to this message.
         */
        ReleaseResponse: {
            /** Format: uuid */
            allow_entry_id: string | null;
            /** Format: uuid */
            id: string;
            warnings: string[];
        };
        /** @description Confirmation that a block was removed. */
        RemovedBlock: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description A rendered message; `text_derived`: the text is made from the HTML. `version` is null for what is not stored. */
        RenderedTemplate: {
            html_body: string | null;
            subject: string;
            text_body: string | null;
            text_derived: boolean;
            version: number | null;
        };
        /** @description Replay events from `since` until before `until` (default: now); `only_failed`: only abandoned deliveries. */
        ReplayRequest: {
            /** @default false */
            only_failed?: boolean;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until?: string;
        };
        /** @description How many deliveries were queued. `next_since`: set if events remain; repeat the call with it as `since`. */
        ReplayResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_since: string | null;
            queued: number;
        };
        /** @description An organisation whose reports count. `sender_domain`: the domain of its mail; null for uploads. */
        ReporterRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_report_at: string;
            messages: number;
            organisation: string;
            reports: number;
            sender_domain: string | null;
        };
        /**
         * @description A report. `proved`: it counts, because its sender passed DMARC or an administrator uploaded it. `messages`: for
         *         TLS reports sessions, for abuse reports incidents. `abuse`: only of abuse reports (kind `arf`).
         */
        ReportRecord: {
            abuse: components["schemas"]["AbuseDetails"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            begin_at: string;
            contact: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            domain_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            end_at: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "arf" | "dmarc" | "tls";
            messages: number;
            organisation: string;
            proved: boolean;
            report_id: string;
            sender_domain: string | null;
            /** @enum {string} */
            source: "mail" | "upload";
        };
        /**
         * @description A report as a file: XML or JSON, also in gzip or in a zip archive with one file, or the message with such an
         *         attachment. The content decides on its kind, not the name.
         */
        ReportUpload: {
            /** @description The file, in base64. */
            content: string;
            filename: string;
        };
        /** @description For `PublicKeyCredential.parseRequestOptionsFromJSON()`; empty `allowCredentials`: any passkey of this site. */
        RequestOptions: {
            allowCredentials: components["schemas"]["CredentialDescriptor"][];
            /** @description Base64url without padding */
            challenge: string;
            rpId: string;
            timeout: number;
            /** @enum {string} */
            userVerification: "preferred" | "required";
        };
        /** @description The last full restore. The backup has everything until `began_at`. */
        RestoredBackupResponse: {
            /** Format: uuid */
            backup_id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            began_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            restored_at: string;
        };
        /** @description A revision. `state`: `desired` until the next apply or start, `applied` or `superseded`. */
        RevisionResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            author: string;
            /** Format: uuid */
            author_id: string | null;
            changes: {
                [key: string]: components["schemas"]["SettingChange"];
            };
            comment: string;
            n: number;
            /** @enum {string} */
            state: "applied" | "desired" | "superseded";
        };
        /** @description The generation whose settings are applied again. */
        RollbackBody: {
            generation: number;
            /** @default 30 */
            watch_seconds?: number;
        };
        /**
         * @description Where mail is delivered: `type` mailbox, external (also for domains that the caller may not see), or report: it
         *         is read as a report of another server.
         */
        RouteDeliveryRecord: {
            address: string;
            /** Format: uuid */
            mailbox_id: string | null;
            type: string;
        };
        /** @description Where mail for an address is delivered, and why. */
        RouteExplanationRecord: {
            /** @description deliver, bounce (reports about sent mail; no delivery), unknown_user, mailbox_inactive, receiving_disabled, domain_inactive, no_administrator (of postmaster and abuse), expansion_limit, too_many_destinations, not_managed */
            decision: string;
            deliveries: components["schemas"]["RouteDeliveryRecord"][];
            steps: components["schemas"]["RouteStepRecord"][];
            warnings: string[];
        };
        /**
         * @description One lookup. `step`: bounce, domain_alias, domain, mailbox, alias, plus (the tag), catch_all, forward, postmaster,
         *         report, reject; `row`: the matching record. The steps after domain_alias are about the target of the alias domain.
         */
        RouteStepRecord: {
            address: string;
            result: string;
            row: Record<string, unknown> | null;
            step: string;
        };
        /** @description The relying party: the domain of `http.public_url`. */
        RpEntity: {
            id: string;
            name: string;
        };
        /** @description A message in the sandbox: envelope, subject and size. */
        SandboxMessageResponse: {
            /** Format: uuid */
            id: string;
            mail_from: string;
            message_id: string;
            queue_id: string;
            rcpt_to: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            received_at: string;
            size: number;
            subject: string;
        };
        /** @description The new time of a scheduled message. */
        ScheduleBody: {
            /**
             * Format: date-time
             * @description With a UTC offset, at most 30 days ahead. Up to 60 seconds in the past means now.
             */
            scheduled_at: string;
        };
        /**
         * @description What a script does with the message. Only the fields of its `action` have a value; `text` is that of a reply.
         *
         *         `folder`, `create` (if it does not exist) and `flags`: keep, fileinto; `address`: redirect; `text`: reject and
         *         vacation; `subject`: vacation. `description` is what Pigeonhole prints.
         */
        ScriptActionResponse: {
            /** @enum {string} */
            action: "discard" | "fileinto" | "keep" | "other" | "redirect" | "reject" | "vacation";
            address: string | null;
            create: boolean;
            description: string;
            flags: string[];
            folder: string | null;
            subject: string | null;
            text: string | null;
        };
        /** @description A script was deleted. */
        ScriptDeletion: {
            message: string;
            name: string;
        };
        /** @description An error or warning about a script; `line` is null if it concerns no line. */
        ScriptMessageResponse: {
            line: number | null;
            message: string;
        };
        /** @description A script with its text. */
        ScriptResponse: {
            active: boolean;
            name: string;
            script: string;
        };
        /** @description No script of the mailbox is active. */
        ScriptsDeactivation: {
            message: string;
        };
        /**
         * @description A script and a message: `message` is its text, `message_id` that of a stored one.
         *
         *         `sender` and `recipient` are the envelope; by default they are taken from the message's header fields.
         */
        ScriptTest: {
            message?: string;
            /** Format: uuid */
            message_id?: string;
            /** Format: email */
            recipient?: string;
            /** @description At most 256 KiB */
            script: string;
            /** Format: email */
            sender?: string;
        };
        /**
         * @description What a script does with a message. `implicit_keep`: the message also stays in the inbox, because no action
         *         replaces that. With errors `ok` is false: the script is invalid, or failed with this message.
         */
        ScriptTestResponse: {
            actions: components["schemas"]["ScriptActionResponse"][];
            errors: components["schemas"]["ScriptMessageResponse"][];
            implicit_keep: boolean;
            ok: boolean;
            warnings: components["schemas"]["ScriptMessageResponse"][];
        };
        /** @description A script to check. */
        ScriptValidate: {
            /** @description At most 256 KiB */
            script: string;
        };
        /** @description Whether a script is valid; if not, the errors with their lines. */
        ScriptValidation: {
            errors: components["schemas"]["ScriptMessageResponse"][];
            ok: boolean;
            warnings: components["schemas"]["ScriptMessageResponse"][];
        };
        /** @description The text of a script. */
        ScriptWrite: {
            /** @description At most 256 KiB */
            script: string;
        };
        /** @description The stored script, and warnings of its compiler. */
        ScriptWriteResponse: {
            active: boolean;
            name: string;
            script: string;
            warnings: components["schemas"]["ScriptMessageResponse"][];
        };
        /**
         * @description The password was right. Complete the sign-in until `expires_at`, with `totp_session` and one of the `methods`, in
         *         at most 5 attempts.
         */
        SecondFactorResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            methods: ("passkey" | "recovery_code" | "totp")[];
            /** @enum {boolean} */
            requires_totp: true;
            totp_session: string;
        };
        /**
         * @description A message to send; at least one of text_body and html_body, or a template_id. Fields that are given take
         *         precedence over the template's.
         */
        SendBody: {
            attachments?: components["schemas"]["AttachmentBody"][];
            bcc?: components["schemas"]["AddressBody"][];
            cc?: components["schemas"]["AddressBody"][];
            from: components["schemas"]["AddressBody"];
            /** @description Custom headers; every key starts with `X-`. At most 200, with 64 KiB of names and values. */
            headers?: {
                [key: string]: string;
            };
            html_body?: string | null;
            /** @default  */
            in_reply_to?: string;
            list_unsubscribe?: components["schemas"]["UnsubscribeBody"] | null;
            metadata?: {
                [key: string]: string;
            };
            references?: string[];
            reply_to?: components["schemas"]["AddressBody"] | null;
            /**
             * Format: date-time
             * @description When to send, with a UTC offset, at most 30 days ahead. Up to 60 s in the past means now.
             */
            scheduled_at?: string | null;
            /**
             * @description Required without template_id.
             * @default
             */
            subject?: string;
            tags?: string[];
            /**
             * Format: uuid
             * @description A template: its published version is sent.
             */
            template_id?: string | null;
            text_body?: string | null;
            to: components["schemas"]["AddressBody"][];
            unsubscribe?: components["schemas"]["UnsubscribeGroupBody"] | null;
            /** @description Values of the template's variables: an object, nested for dotted names; at most 256 KiB. */
            variables?: Record<string, unknown>;
        };
        /** @description A message that was accepted for delivery; `message_id` is the Message-ID header's value. */
        SentMessage: {
            /** Format: uuid */
            id: string;
            message_id: string;
            recipients: components["schemas"]["SentRecipient"][];
            status: string;
        };
        /** @description A recipient and its first status. */
        SentRecipient: {
            address: string;
            status: string;
        };
        /** @description Figures of the hour or day that begins at `at`. */
        SeriesRow: {
            accepted: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            received: number;
            rejected: number;
            spam: number;
            suppressed: number;
        };
        /** @description The DNS records of the server's own name and addresses, and what blocklists say about its addresses. */
        ServerDnsReport: {
            /** @description Its public addresses: of `server.addresses`, else those of its name in DNS. */
            addresses: string[];
            blocklists: components["schemas"]["BlocklistResult"][];
            check: components["schemas"]["CheckProgress"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            checked_at: string | null;
            /** @description The server's public name. */
            hostname: string | null;
            /** @description Those that are asked: `dns.servers`, or the system's. */
            name_servers: string[];
            records: components["schemas"]["DnsRecordResult"][];
            setup: components["schemas"]["DnsSetup"] | null;
            /** @enum {string} */
            status: "attention" | "failing" | "ok" | "unchecked";
        };
        /**
         * @description A daemon or process. `since`: when it started; `actions`: what can be done with it; `consequences`: what users
         *         notice of each action. Only daemons with files of configuration have `config_hash`, and `drift`: whether a file was
         *         edited by hand.
         */
        ServiceResponse: {
            actions: ("reload" | "restart" | "start" | "stop")[];
            config_hash: string | null;
            consequences: {
                [key: string]: string;
            };
            drift: boolean | null;
            memory_bytes: number | null;
            name: string;
            pid: number | null;
            restarts: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string | null;
            /** @enum {string} */
            state: "running" | "starting" | "stopped";
            version: string;
        };
        /** @description A session was ended. */
        SessionEndResponse: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description An active session; `current`: it is the session of this call. The `id` grants no access. */
        SessionRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            current: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            /** Format: uuid */
            id: string;
            ip_address: string | null;
            user_agent: string | null;
        };
        /** @description Sessions were ended; `sessions_ended` is their number. */
        SessionsEndResponse: {
            message: string;
            sessions_ended: number;
        };
        /** @description A changed setting: what was stored before and after (null: nothing); secrets are masked. */
        SettingChange: {
            after: unknown;
            before: unknown;
        };
        /** @description The value of a setting of the server. */
        SettingFlag: {
            /** @enum {string} */
            source: "server";
            value: boolean;
        };
        /**
         * @description A setting. `source`: who set `value`; options of the command line count as `env`. `pending`: the stored value
         *         that applies with the next apply or start, absent without one. `effect`: what `services` must do before a stored
         *         change applies, the strongest if they differ; `mailkeep`: all of Mailkeep. `storable`: whether PATCH accepts it if
         *         neither file nor environment sets it.
         */
        SettingResponse: {
            default: unknown;
            description: string;
            /** @enum {string} */
            effect: "none" | "reload" | "restart";
            expected: string;
            key: string;
            pending?: unknown;
            secret: boolean;
            services: string[];
            /** @enum {string} */
            source: "database" | "default" | "env" | "file";
            storable: boolean;
            value: unknown;
        };
        /** @description The link was deleted. */
        SetupLinkDeletion: {
            /** Format: uuid */
            mailbox_id: string;
            message: string;
        };
        /** @description The link to a mailbox's setup page. */
        SetupLinkRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            /** @description Whoever has it sees the page, which has no password. */
            url: string;
        };
        /**
         * @description Sign-ins that are refused until `until`, after `failures` wrong passwords.
         *
         *         Only `address` (an IPv4 address or an IPv6 /64 network): all sign-ins from it, except to accounts that have signed
         *         in from it before. Only `account`: sign-ins to it from addresses that have never signed in to it. Both: sign-ins to
         *         the account from an address that has signed in to it. `account_kind` is null without an account.
         */
        SignInBlockResponse: {
            account: string | null;
            /** @enum {string|null} */
            account_kind: "admin" | "mailbox" | null;
            address: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            failures: number;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            until: string;
        };
        /**
         * @description Sign-ins on one day (UTC) with one protocol (`web`: with a browser), address and program: the first and the last.
         *
         *         `program`: the name of the app password or the browser's user agent; empty for a mail client that uses the mailbox's
         *         own password.
         */
        SignInRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            first_at: string;
            /** Format: uuid */
            id: string;
            ip: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            last_at: string;
            program: string;
            /** @enum {string} */
            protocol: "imap" | "pop3" | "sieve" | "smtp" | "web";
        };
        /**
         * @description The result of the spam filter; null if it did not check the message.
         *
         *         `action`: `no action` (inbox), `add header` (Junk), `reject`. `decided_by`: the rule that decided; null if none did.
         */
        Spam: {
            action: string | null;
            decided_by: components["schemas"]["SpamRule"] | null;
            score: number | null;
            symbols: string[];
        };
        /** @description The rule that decided, its scope, and the list entry if it was one (it may be deleted since). */
        SpamRule: {
            /** Format: uuid */
            entry_id: string | null;
            /** @enum {string} */
            rule: "allow_entry" | "deny_entry" | "encrypted" | "junk_score" | "no_verdict" | "reject_score" | "virus";
            /** @enum {string} */
            scope: "domain" | "mailbox" | "server";
        };
        /** @description A step of an operation. */
        StepResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            finished_at: string | null;
            name: string;
            output: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            started_at: string;
            /** @enum {string} */
            state: "failed" | "running" | "succeeded";
        };
        /** @description An address to suppress for mail from a domain; `group_id`: only for messages of this unsubscribe group. */
        SuppressionCreate: {
            /** Format: email */
            address: string;
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            group_id?: string | null;
            /**
             * @default manual
             * @enum {string}
             */
            reason?: "complaint" | "hard_bounce" | "manual" | "unsubscribe";
        };
        /** @description A suppression was removed. */
        SuppressionDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description 1 to 10,000 rows. An error in one does not affect the others. */
        SuppressionImport: {
            items: {
                /** Format: email */
                address: string;
                /** @description Ignored */
                created_at?: string;
                /** @description Its name; or `domain_id` */
                domain?: string;
                /** Format: uuid */
                domain_id?: string;
                /** Format: uuid */
                group_id?: string;
                /**
                 * @default manual
                 * @enum {string}
                 */
                reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
            }[];
        };
        /** @description An address to which the domain sends nothing by API: no mail at all, or (`group_id`) none of a group. */
        SuppressionRecord: {
            address: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            group_id: string | null;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            reason: "complaint" | "hard_bounce" | "manual" | "unsubscribe";
            /** Format: uuid */
            source_message_id: string | null;
        };
        /** @description The suppression because of which a recipient got nothing. */
        SuppressionResponse: {
            /** Format: uuid */
            id: string;
            reason: string;
        };
        /** @description The reason of a suspension, shown on the mailbox. */
        SuspendBody: {
            /** @default  */
            reason?: string;
        };
        /**
         * @description Why, by whom (an administrator, or `rules`: the abuse rules) and since when sending is suspended for the address.
         *
         *         `by` is the administrator's name for callers that see all administrators; for a domain_admin or a scoped key it is
         *         the role.
         */
        SuspendedRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            by: string;
            reason: string;
        };
        /** @description Who suspended: the abuse rules, or an administrator (email, key name, or role for scoped keys). */
        SuspensionAuthor: {
            /** @enum {string} */
            kind: "admin" | "rules";
            label: string;
        };
        /**
         * @description Why, by whom (`rules` or an administrator) and since when sending is suspended.
         *
         *         `by` is the name of the administrator for callers who see all administrators, otherwise the role.
         */
        SuspensionRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            by: string;
            reason: string;
        };
        /** @description The suspension of a sender address, with or without a mailbox. */
        SuspensionResponse: {
            address: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            by: components["schemas"]["SuspensionAuthor"];
            /** Format: uuid */
            domain_id: string | null;
            /** Format: uuid */
            id: string;
            reason: string;
        };
        /**
         * @description Something that an operator should check. `outcome_unknown`: the outcome of a message can't be determined.
         *         `apply_rolled_back`: an apply of settings did not succeed, and the earlier configuration is in use again.
         *         `apply_failed`: an apply did not succeed, and the earlier configuration may not be in use.
         *         `system_mail_undelivered`: a super_admin did not get mail that Mailkeep itself has written. `antivirus_failed`: the
         *         virus scanner does not work, or its signatures are old. `dns_list_failed`: a list in `filter.dnsbl` fails its test,
         *         and its answers do not count. `antivirus_recovered` and `dns_list_recovered`: that has ended.
         *         `filter_failed`: a part of the filter does not answer, with its effect on mail in `reason`; `filter_recovered`.
         *         `forward_unsealed`: forwarded mail left without an ARC seal. `certificate_failed`: a certificate could not be issued
         *         or renewed, or a file with one is about to expire; `certificate_recovered`. `wal_archive_ended`: a part of the
         *         write-ahead log could not be archived, so that restores to a point in time begin with the next backup.
         */
        SystemAlert: {
            /** @description The address, domain or component that the alert is about. */
            about?: string | null;
            /** @description `outcome_unknown`, `apply_rolled_back`, `apply_failed`, `system_mail_undelivered`, `antivirus_failed`, `antivirus_recovered`, `dns_list_failed`, `dns_list_recovered`, `filter_failed`, `filter_recovered`, `forward_unsealed`, `certificate_failed`, `certificate_recovered` or `wal_archive_ended`. */
            alert: string;
            /** @description The alert that lasts until it is resolved. */
            alert_id?: string | null;
            /** @description The managed domain that it is from, or for. */
            domain?: string | null;
            /** @description The address of its sender. */
            from?: string | null;
            /** @description The Message-ID header of the message. */
            message_id?: string | null;
            /** @description The apply: GET /orchestrator/operations/{id}. */
            operation_id?: string | null;
            /** @description The mail server's queue ID, if it has one. */
            queue_id?: string | null;
            /** @description Why, in words. */
            reason: string;
            /** @description Its subject, decoded. */
            subject?: string | null;
            /** @description Recipients that did not get it, as far as is known. */
            to?: string[] | null;
        };
        /** @description A backup could not be made. */
        SystemBackupFailed: {
            /** @description Its ID: GET /backups/{id}. */
            backup_id: string;
            /** @description Why, in words. */
            reason: string;
        };
        /** @description No backup has succeeded for two intervals of `backup.schedule`. */
        SystemBackupLate: {
            /** @description When the newest one began; null if there is none. */
            last_backup_at: string | null;
            /** @description `hourly` or `daily`. */
            schedule: string;
        };
        /** @description A backup is not as it should be, or none was verified for two intervals of `backup.verify_every`. */
        SystemBackupUnverified: {
            /** @description The backup that is not as it should be; null if a verification is overdue. */
            backup_id: string | null;
            /** @description What is wrong, in words. */
            reason: string;
        };
        /** @description A file of the daemons' configuration was edited by hand. */
        SystemDrift: {
            /** @description All files that differ from what Mailkeep installed. */
            files: string[];
        };
        /** @description Sending was suspended for an address, by the abuse rules or by an administrator. */
        SystemSuspension: {
            /** @description The suspended sender. */
            address: string;
            /** @description `rules` or `admin`. */
            by: string;
            /** @description Its domain. */
            domain: string;
            /** @description Why, in words. */
            reason: string;
        };
        /** @description A webhook was disabled: no attempt succeeded for `webhooks.disable_after_hours`. */
        SystemWebhookDisabled: {
            /** @description When it was disabled. */
            disabled_at: string | null;
            /** @description Its domain; null for all domains. */
            domain: string | null;
            /** @description When the first of these attempts failed. */
            failing_since: string | null;
            /** @description Its URL. */
            url: string;
            /** @description Its ID. */
            webhook_id: string;
        };
        /** @description Figures of mail with a tag. A domain has counters for 200 tags a day; `other` has the rest. */
        TagRow: {
            accepted: number;
            /** @description From 0 to 1; null if nothing was counted. */
            bounce_rate: number | null;
            bounced: number;
            complained: number;
            /** @description From 0 to 1; null if nothing was counted. */
            complaint_rate: number | null;
            deferred: number;
            delivered: number;
            /** @description From 0 to 1; null if nothing was counted. */
            delivery_rate: number | null;
            failed: number;
            /** @description From 0 to 1; null if nothing was counted. */
            first_attempt_rate: number | null;
            /** @description From the acceptance here to the other server's; within 6 %. */
            median_seconds: number | null;
            messages: number;
            /** @description From the acceptance here to the other server's; within 6 %. */
            p95_seconds: number | null;
            received: number;
            rejected: number;
            spam: number;
            suppressed: number;
            tag: string;
        };
        /** @description A template to create: its draft. Without `domain_id` all domains use it. */
        TemplateCreate: {
            /** Format: uuid */
            domain_id?: string | null;
            /** @description A Jinja2 template. */
            html_body?: string | null;
            /** @default false */
            inline_css?: boolean;
            name: string;
            /** @description A Jinja2 template of one line. */
            subject: string;
            /** @description A Jinja2 template. */
            text_body?: string | null;
            variables?: components["schemas"]["VariableBody"][];
        };
        /** @description A template was deleted. */
        TemplateDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /** @description A template with its draft. `warnings`: variables that are used but not declared, or declared but not used. */
        TemplateDetail: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            domain_id: string | null;
            html_body: string | null;
            /** Format: uuid */
            id: string;
            inline_css: boolean;
            name: string;
            published_version: number | null;
            subject: string;
            text_body: string | null;
            unpublished_changes: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            variables: components["schemas"]["VariableRecord"][];
            version: number;
            warnings: string[];
        };
        /** @description Changes of the draft. A body may be null if the other one is there. */
        TemplatePatch: {
            /** @description A Jinja2 template. */
            html_body?: string | null;
            inline_css?: boolean;
            name?: string;
            subject?: string;
            /** @description A Jinja2 template. */
            text_body?: string | null;
            variables?: components["schemas"]["VariableBody"][];
        };
        /** @description Which version to publish; without it the draft. */
        TemplatePublication: {
            version?: number | null;
        };
        /**
         * @description A template in a list. `version` is the number of the draft, `published_version` of what is sent (null: never
         *         published). `unpublished_changes`: the draft is not published yet.
         */
        TemplateRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            domain_id: string | null;
            /** Format: uuid */
            id: string;
            inline_css: boolean;
            name: string;
            published_version: number | null;
            subject: string;
            unpublished_changes: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            version: number;
        };
        /** @description A template to render without storing it; `values` as `variables` of a stored one. */
        TemplateTrial: {
            /** @description A Jinja2 template. */
            html_body?: string | null;
            /** @default false */
            inline_css?: boolean;
            /** @description A Jinja2 template of one line. */
            subject: string;
            /** @description A Jinja2 template. */
            text_body?: string | null;
            /** @description Values of variables: an object, nested for dotted names; at most 256 KiB. */
            values?: Record<string, unknown>;
            variables?: components["schemas"]["VariableBody"][];
        };
        /** @description What to render: a version (without it the draft), and values. Examples stand for those that are not given. */
        TemplateValues: {
            /** @description Values of variables: an object, nested for dotted names; at most 256 KiB. */
            variables?: Record<string, unknown>;
            version?: number | null;
        };
        /** @description A published version. */
        TemplateVersionDetail: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            html_body: string | null;
            inline_css: boolean;
            published: boolean;
            subject: string;
            text_body: string | null;
            variables: components["schemas"]["VariableRecord"][];
            version: number;
        };
        /** @description A published version in a list; `published`: it is what is sent. */
        TemplateVersionRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            published: boolean;
            subject: string;
            version: number;
        };
        /**
         * @description Results of sender authentication (RFC 8601): `pass`, `fail`, `none`, `temperror` and others. `dkim`: of a
         *         signature of the author's domain.
         */
        TestedAuthentication: {
            /** @default none */
            dkim?: string;
            /** @default none */
            dmarc?: string;
            /** @default none */
            spf?: string;
        };
        /** @description The result of a test: the response, or in `error` why there is none. */
        TestResult: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            delivered: boolean;
            duration_ms: number | null;
            error: string | null;
            /** Format: uuid */
            event_id: string;
            response_excerpt: string | null;
            status: number | null;
        };
        /** @description A step in plain words: what was compared, and with which result. `scope`, `rule` and `entry_id` name the rule. */
        TestStep: {
            /** @enum {string} */
            at: "data" | "delivery" | "rcpt";
            /** Format: uuid */
            entry_id: string | null;
            is_deciding: boolean;
            result: string;
            /** @enum {string|null} */
            rule: "allow_entry" | "deny_entry" | "encrypted" | "junk_score" | "no_verdict" | "reject_score" | "virus" | null;
            /** @enum {string|null} */
            scope: "domain" | "mailbox" | "server" | null;
            step: string;
        };
        /**
         * @description Recipients per hour; `source`: where the value is set (`global`: in the settings).
         *
         *         `used`: the domain's recipients or copies in the last hour; null for the limit of a sender, and without a domain.
         */
        Threshold: {
            /** @enum {string} */
            source: "global";
            used: number | null;
            value: number;
        };
        /** @description The hourly limits for sending and forwarding. */
        Thresholds: {
            /** Format: uuid */
            id: string | null;
            /** @enum {string} */
            scope: "domain" | "global";
            values: components["schemas"]["ThresholdValues"];
        };
        /** @description Limits for one sender address, for all mail of a domain, and for the external copies that it forwards. */
        ThresholdValues: {
            domain_per_hour: components["schemas"]["Threshold"];
            forward_per_hour: components["schemas"]["Threshold"];
            sender_per_hour: components["schemas"]["Threshold"];
        };
        /** @description Details: number of the attempt, reply of the remote server, time of the next attempt. */
        TimelineDetail: {
            attempt: number | null;
            diagnostic: string | null;
            enhanced_code: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            next_attempt_at: string | null;
            queue_id: string | null;
            remote_host: string | null;
            smtp_code: number | null;
        };
        /** @description An entry of the timeline; `recipient` is null if it concerns the whole message. */
        TimelineEntryResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            detail: components["schemas"]["TimelineDetail"];
            /** @enum {string} */
            kind: "accepted" | "bounced" | "cancelled" | "complained" | "deferred" | "delivered" | "failed" | "lost" | "received" | "rejected" | "relayed" | "scheduled" | "submitted" | "suppressed" | "unknown";
            recipient: string | null;
        };
        /** @description Sessions of a day. */
        TlsDay: {
            /**
             * Format: date
             * @description A UTC day.
             */
            date: string;
            failed: number;
            successful: number;
        };
        /** @description Failed sessions with the same result (RFC 8460 §4.3) and receiving host. */
        TlsFailureRecord: {
            receiving_host: string | null;
            result_type: string;
            sessions: number;
        };
        /** @description Sessions under a type of policy: sts (MTA-STS), tlsa (DANE), no-policy-found. */
        TlsPolicyRecord: {
            failed: number;
            successful: number;
            type: string;
        };
        /** @description The TLS reports about a domain. */
        TlsSummaryRecord: {
            advice: components["schemas"]["AdviceRecord"][];
            days: components["schemas"]["TlsDay"][];
            failures: components["schemas"]["TlsFailureRecord"][];
            /** @enum {string} */
            period: "24h" | "30d" | "7d" | "90d";
            policies: components["schemas"]["TlsPolicyRecord"][];
            reporters: components["schemas"]["ReporterRecord"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            since: string;
            totals: components["schemas"]["TlsTotals"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            until: string;
        };
        /** @description Sessions of the period; `unproved_reports` are in no other figure. */
        TlsTotals: {
            failed: number;
            successful: number;
            unproved_reports: number;
        };
        /**
         * @description A secret for an authenticator. Show `provisioning_uri` as a QR code; enable it with a first code until
         *         `expires_at`.
         */
        TotpSetupResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            expires_at: string;
            provisioning_uri: string;
        };
        /** @description Whether the account's authenticator is enabled. */
        TotpState: {
            message: string;
            totp_enabled: boolean;
        };
        /**
         * @description What the filter has learned from moves to and from Junk. It uses it (`active`) when it has learned `required`
         *         messages of spam and as many others. `unavailable`: there is no filter (embedded profile), or it does not answer.
         *         `lessons`: null except for a mailbox.
         */
        TrainingRecord: {
            ham_learned: number;
            lessons: components["schemas"]["LessonsRecord"] | null;
            required: number;
            spam_learned: number;
            /** @enum {string} */
            state: "active" | "collecting" | "unavailable";
        };
        /** @description List-Unsubscribe (RFC 2369) and its one-click form (RFC 8058). */
        UnsubscribeBody: {
            /** @default  */
            mailto?: string;
            /** @default false */
            one_click?: boolean;
            /** @default  */
            url?: string;
        };
        /** @description The unsubscribe group of the message: adds List-Unsubscribe with a link for its only recipient (RFC 8058). */
        UnsubscribeGroupBody: {
            /** Format: uuid */
            group_id: string;
        };
        /** @description A group to create; its name is unique in the domain. */
        UnsubscribeGroupCreate: {
            /** Format: uuid */
            domain_id: string;
            /** @description Recipients see it on the page of the link. */
            name: string;
        };
        /** @description A group was deleted, with this number of suppressions. */
        UnsubscribeGroupDeletion: {
            /** Format: uuid */
            id: string;
            message: string;
            suppressions: number;
        };
        /** @description Changes of a group. */
        UnsubscribeGroupPatch: {
            /** @description Recipients see it on the page of the link. */
            name?: string;
        };
        /** @description Messages of a domain from which recipients can unsubscribe. */
        UnsubscribeGroupRecord: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
        };
        /**
         * @description A record that Mailkeep writes. `written`: by Mailkeep; `present`: somebody else had published it before;
         *         `conflict`: others have published other values, which are left as they are; `waiting`: not written yet.
         */
        UpdatedRecord: {
            name: string;
            problem: string;
            /** @enum {string} */
            state: "conflict" | "present" | "waiting" | "written";
            type: string;
            value: string;
        };
        /** @description The report, which may have been stored before. */
        UploadedReport: {
            /** Format: uuid */
            domain_id: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "arf" | "dmarc" | "tls";
        };
        /** @description The passkey's owner; `id` is the account's id in base64url. */
        UserEntity: {
            displayName: string;
            id: string;
            name: string;
        };
        /** @description The mailbox sends no vacation replies any more. */
        VacationDeletion: {
            message: string;
        };
        /**
         * @description The vacation of a mailbox. Without one, `active` is false and the other fields are null.
         *
         *         `subject` null: `Auto:` and the subject of the message. `start_at`: the first moment with replies (null: at once);
         *         `end_at`: the first moment without (null: until it is changed). `days`: a sender gets one reply in this time.
         */
        VacationRecord: {
            active: boolean;
            days: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            end_at: string | null;
            html: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            start_at: string | null;
            subject: string | null;
            text: string | null;
        };
        /**
         * @description A vacation, with `text`, `html` or both; it replaces the one before. Without `subject`, a reply has `Auto:` and
         *         the subject of the message.
         */
        VacationWrite: {
            /** @default true */
            active?: boolean;
            /** @default 7 */
            days?: number;
            /** Format: date-time */
            end_at?: string;
            html?: string;
            /** Format: date-time */
            start_at?: string;
            subject?: string;
            text?: string;
        };
        /** @description The stored vacation, and why it sends no replies although it is active. */
        VacationWriteResponse: {
            active: boolean;
            days: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            end_at: string | null;
            html: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            start_at: string | null;
            subject: string | null;
            text: string | null;
            warnings: string[];
        };
        /**
         * @description A variable that the template uses. `name` may be dotted (`order.id`) and covers what is below it; `example` is
         *         any JSON value, for previews.
         */
        VariableBody: {
            /** @description At most 10,000 bytes of JSON. */
            example?: unknown;
            name: string;
            /** @default true */
            required?: boolean;
        };
        /** @description A declared variable. */
        VariableRecord: {
            example: unknown;
            name: string;
            required: boolean;
        };
        /** @description The result of a verification: the first of `bad_count` faults; `first_bad` is the ID of the first. */
        VerificationResponse: {
            bad: components["schemas"]["ChainFaultResponse"][];
            bad_count: number;
            checked: number;
            /** Format: uuid */
            first_bad: string | null;
            head: components["schemas"]["ChainHeadResponse"] | null;
            ok: boolean;
            public_key: string;
            unsealed: number;
        };
        /**
         * @description The version of the program, its commit (null if unknown), the version of the API, and the profile: only `full`
         *         has a mail server and a queue. `sandbox`: outbound mail goes to the sandbox, so that test addresses work.
         */
        VersionResponse: {
            /** @enum {string} */
            api: "v1";
            commit: string | null;
            /** @enum {string} */
            profile: "embedded" | "full";
            sandbox: boolean;
            version: string;
        };
        /** @description An attempt: the response, or in `error` why there is none. In progress, only `at` is set. */
        WebhookAttemptResponse: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            at: string;
            duration_ms: number | null;
            error: string | null;
            response_excerpt: string | null;
            status: number | null;
        };
        /** @description Changes to a webhook. */
        WebhookChange: {
            active?: boolean;
            /** @description `*`: all kinds except those that begin with `system.` */
            events?: ("*" | "domain.dkim_due" | "domain.dns_failed" | "domain.dns_recovered" | "mail.bounced" | "mail.complained" | "mail.delivered" | "mail.failed" | "mail.received" | "mail.received.full" | "mail.sent" | "mail.spam" | "mail.suppressed" | "mailbox.quota" | "system.alert" | "system.backup_failed" | "system.backup_late" | "system.backup_unverified" | "system.drift" | "system.suspension" | "system.webhook_disabled")[];
            /** @description https only */
            url?: string;
        };
        /** @description A webhook to create; without `domain_id` it receives the events of all domains. */
        WebhookCreate: {
            /** Format: uuid */
            domain_id?: string | null;
            /** @description `*`: all kinds except those that begin with `system.` */
            events: ("*" | "domain.dkim_due" | "domain.dns_failed" | "domain.dns_recovered" | "mail.bounced" | "mail.complained" | "mail.delivered" | "mail.failed" | "mail.received" | "mail.received.full" | "mail.sent" | "mail.spam" | "mail.suppressed" | "mailbox.quota" | "system.alert" | "system.backup_failed" | "system.backup_late" | "system.backup_unverified" | "system.drift" | "system.suspension" | "system.webhook_disabled")[];
            /** @description https only */
            url: string;
        };
        /** @description Confirmation of a deletion. */
        WebhookDeleteResponse: {
            /** Format: uuid */
            id: string;
            message: string;
        };
        /**
         * @description A webhook; `domain_id` is null if it is for all domains. `rotating_until`: until then the previous secret also
         *         signs. `failing_since`: no attempt has succeeded since; `disabled_at`: when it was disabled because of that.
         */
        WebhookRecord: {
            active: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            disabled_at: string | null;
            /** Format: uuid */
            domain_id: string | null;
            events: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            failing_since: string | null;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            rotating_until: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            url: string;
        };
        /** @description A webhook with its secret, which is shown only once: null if the response is repeated for an Idempotency-Key. */
        WebhookWithSecret: {
            active: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            created_at: string;
            /** Format: uuid */
            created_by: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            disabled_at: string | null;
            /** Format: uuid */
            domain_id: string | null;
            events: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            failing_since: string | null;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            rotating_until: string | null;
            secret: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, milliseconds
             */
            updated_at: string;
            url: string;
        };
        /** @description A record of a zone file. */
        ZoneRecord: {
            name: string;
            ttl: number;
            type: string;
            value: string;
        };
    };
    responses: {
        /**
         * @description `BATCH_TOO_LARGE` The batch has too many items.
         *
         *     `EMPTY_BATCH` The batch is empty.
         *
         *     `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `MISSING_FIELDS` Required fields are missing.
         */
        "400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "BATCH_TOO_LARGE" | "EMPTY_BATCH" | "INVALID_FIELD" | "INVALID_JSON" | "MISSING_FIELDS";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_HEADER` A custom header is not allowed.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `INVALID_RECIPIENT` A recipient address is malformed.
         *
         *     `INVALID_SENDER` The sender address is malformed.
         *
         *     `MISSING_FIELDS` Required fields are missing.
         */
        "400.INVALID_FIELD.INVALID_HEADER.INVALID_JSON.INVALID_RECIPIENT.INVALID_SENDER.MISSING_FIELDS": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_HEADER" | "INVALID_JSON" | "INVALID_RECIPIENT" | "INVALID_SENDER" | "MISSING_FIELDS";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         */
        "400.INVALID_FIELD.INVALID_JSON": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `INVALID_PAGINATION` cursor, limit, sort or order is malformed.
         */
        "400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "INVALID_PAGINATION";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `INVALID_PAGINATION` cursor, limit, sort or order is malformed.
         *
         *     `MISSING_FIELDS` Required fields are missing.
         */
        "400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION.MISSING_FIELDS": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "INVALID_PAGINATION" | "MISSING_FIELDS";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `INVALID_PERIOD` period is malformed.
         */
        "400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "INVALID_PERIOD";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `INVALID_URL` The URL is not allowed.
         */
        "400.INVALID_FIELD.INVALID_JSON.INVALID_URL": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "INVALID_URL";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `INVALID_URL` The URL is not allowed.
         *
         *     `MISSING_FIELDS` Required fields are missing.
         */
        "400.INVALID_FIELD.INVALID_JSON.INVALID_URL.MISSING_FIELDS": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "INVALID_URL" | "MISSING_FIELDS";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `MISSING_FIELDS` Required fields are missing.
         */
        "400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "MISSING_FIELDS";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `MISSING_FIELDS` Required fields are missing.
         *
         *     `WEAK_PASSWORD` The password is too weak.
         */
        "400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS.WEAK_PASSWORD": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "MISSING_FIELDS" | "WEAK_PASSWORD";
                    };
                };
            };
        };
        /**
         * @description `INVALID_FIELD` A field has an invalid value.
         *
         *     `INVALID_JSON` The body is not valid JSON.
         *
         *     `WEAK_PASSWORD` The password is too weak.
         */
        "400.INVALID_FIELD.INVALID_JSON.WEAK_PASSWORD": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_FIELD" | "INVALID_JSON" | "WEAK_PASSWORD";
                    };
                };
            };
        };
        /**
         * @description `API_KEY_INVALID` The API key is unknown, revoked or expired.
         *
         *     `AUTH_REQUIRED` This call needs a session cookie or an API key.
         *
         *     `INVALID_CREDENTIALS` Wrong email or password.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         */
        "401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_INVALID" | "AUTH_REQUIRED" | "INVALID_CREDENTIALS" | "SESSION_INVALID";
                    };
                };
            };
        };
        /**
         * @description `API_KEY_INVALID` The API key is unknown, revoked or expired.
         *
         *     `AUTH_REQUIRED` This call needs a session cookie or an API key.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         */
        "401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_INVALID" | "AUTH_REQUIRED" | "SESSION_INVALID";
                    };
                };
            };
        };
        /**
         * @description `API_KEY_INVALID` The API key is unknown, revoked or expired.
         *
         *     `AUTH_REQUIRED` This call needs a session cookie or an API key.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         *
         *     `TOTP_INVALID` The code is wrong, too old, or was used before.
         */
        "401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_INVALID" | "AUTH_REQUIRED" | "SESSION_INVALID" | "TOTP_INVALID";
                    };
                };
            };
        };
        /**
         * @description `AUTH_REQUIRED` This call needs a session cookie or an API key.
         *
         *     `INVALID_CREDENTIALS` Wrong email or password.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         */
        "401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "AUTH_REQUIRED" | "INVALID_CREDENTIALS" | "SESSION_INVALID";
                    };
                };
            };
        };
        /**
         * @description `AUTH_REQUIRED` This call needs a session cookie or an API key.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         */
        "401.AUTH_REQUIRED.SESSION_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "AUTH_REQUIRED" | "SESSION_INVALID";
                    };
                };
            };
        };
        /**
         * @description `AUTH_REQUIRED` This call needs a session cookie or an API key.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         *
         *     `TOTP_INVALID` The code is wrong, too old, or was used before.
         */
        "401.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "AUTH_REQUIRED" | "SESSION_INVALID" | "TOTP_INVALID";
                    };
                };
            };
        };
        /**
         * @description `INVALID_CREDENTIALS` Wrong email or password.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         */
        "401.INVALID_CREDENTIALS.SESSION_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_CREDENTIALS" | "SESSION_INVALID";
                    };
                };
            };
        };
        /**
         * @description `INVALID_CREDENTIALS` Wrong email or password.
         *
         *     `SESSION_INVALID` The session is unknown, ended or expired.
         *
         *     `TOTP_INVALID` The code is wrong, too old, or was used before.
         */
        "401.INVALID_CREDENTIALS.SESSION_INVALID.TOTP_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INVALID_CREDENTIALS" | "SESSION_INVALID" | "TOTP_INVALID";
                    };
                };
            };
        };
        /** @description `SESSION_INVALID` The session is unknown, ended or expired. */
        "401.SESSION_INVALID": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "SESSION_INVALID";
                    };
                };
            };
        };
        /** @description `API_KEY_DOMAIN_SCOPE` The API key is limited to other domains. */
        "403.API_KEY_DOMAIN_SCOPE": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_DOMAIN_SCOPE";
                    };
                };
            };
        };
        /**
         * @description `API_KEY_DOMAIN_SCOPE` The API key is limited to other domains.
         *
         *     `DOMAIN_INACTIVE` The domain is inactive.
         *
         *     `DOMAIN_NOT_FOUND` The sender's domain does not exist on this server.
         *
         *     `FORBIDDEN` Your role or domains do not allow this.
         *
         *     `MAILBOX_SUSPENDED` Sending is suspended for this address.
         *
         *     `RECIPIENT_SUPPRESSED` Every recipient of the message is suppressed.
         */
        "403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.DOMAIN_NOT_FOUND.FORBIDDEN.MAILBOX_SUSPENDED.RECIPIENT_SUPPRESSED": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_DOMAIN_SCOPE" | "DOMAIN_INACTIVE" | "DOMAIN_NOT_FOUND" | "FORBIDDEN" | "MAILBOX_SUSPENDED" | "RECIPIENT_SUPPRESSED";
                    };
                };
            };
        };
        /**
         * @description `API_KEY_DOMAIN_SCOPE` The API key is limited to other domains.
         *
         *     `DOMAIN_INACTIVE` The domain is inactive.
         *
         *     `FORBIDDEN` Your role or domains do not allow this.
         */
        "403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.FORBIDDEN": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_DOMAIN_SCOPE" | "DOMAIN_INACTIVE" | "FORBIDDEN";
                    };
                };
            };
        };
        /**
         * @description `API_KEY_DOMAIN_SCOPE` The API key is limited to other domains.
         *
         *     `FORBIDDEN` Your role or domains do not allow this.
         */
        "403.API_KEY_DOMAIN_SCOPE.FORBIDDEN": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "API_KEY_DOMAIN_SCOPE" | "FORBIDDEN";
                    };
                };
            };
        };
        /** @description `FORBIDDEN` Your role or domains do not allow this. */
        "403.FORBIDDEN": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "FORBIDDEN";
                    };
                };
            };
        };
        /** @description `DOMAIN_NOT_FOUND` No domain has this ID. */
        "404.DOMAIN_NOT_FOUND": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "DOMAIN_NOT_FOUND";
                    };
                };
            };
        };
        /**
         * @description `DOMAIN_NOT_FOUND` No domain has this ID.
         *
         *     `NOT_FOUND` No such resource.
         */
        "404.DOMAIN_NOT_FOUND.NOT_FOUND": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "DOMAIN_NOT_FOUND" | "NOT_FOUND";
                    };
                };
            };
        };
        /** @description `NOT_FOUND` No such resource. */
        "404.NOT_FOUND": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "NOT_FOUND";
                    };
                };
            };
        };
        /** @description `CONFLICT` The change conflicts with an existing object. */
        "409.CONFLICT": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "CONFLICT";
                    };
                };
            };
        };
        /**
         * @description `CONFLICT` The change conflicts with an existing object.
         *
         *     `DOMAIN_EXISTS` The domain is already registered.
         *
         *     `IDEMPOTENCY_IN_PROGRESS` The outcome of the first call with this key is not known yet.
         *
         *     `IDEMPOTENCY_MISMATCH` The Idempotency-Key was used for another request.
         */
        "409.CONFLICT.DOMAIN_EXISTS.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "CONFLICT" | "DOMAIN_EXISTS" | "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_MISMATCH";
                    };
                };
            };
        };
        /**
         * @description `CONFLICT` The change conflicts with an existing object.
         *
         *     `IDEMPOTENCY_IN_PROGRESS` The outcome of the first call with this key is not known yet.
         *
         *     `IDEMPOTENCY_MISMATCH` The Idempotency-Key was used for another request.
         */
        "409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "CONFLICT" | "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_MISMATCH";
                    };
                };
            };
        };
        /**
         * @description `CONFLICT` The change conflicts with an existing object.
         *
         *     `ORCHESTRATOR_BUSY` Another operation is running; wait until it has finished.
         */
        "409.CONFLICT.ORCHESTRATOR_BUSY": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "CONFLICT" | "ORCHESTRATOR_BUSY";
                    };
                };
            };
        };
        /**
         * @description `IDEMPOTENCY_IN_PROGRESS` The outcome of the first call with this key is not known yet.
         *
         *     `IDEMPOTENCY_MISMATCH` The Idempotency-Key was used for another request.
         */
        "409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_MISMATCH";
                    };
                };
            };
        };
        /**
         * @description `IDEMPOTENCY_IN_PROGRESS` The outcome of the first call with this key is not known yet.
         *
         *     `IDEMPOTENCY_MISMATCH` The Idempotency-Key was used for another request.
         *
         *     `ORCHESTRATOR_BUSY` Another operation is running; wait until it has finished.
         */
        "409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH.ORCHESTRATOR_BUSY": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_MISMATCH" | "ORCHESTRATOR_BUSY";
                    };
                };
            };
        };
        /** @description `PRECONDITION_FAILED` The object has changed since it was read; read it again, and repeat the change. */
        "412.PRECONDITION_FAILED": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "PRECONDITION_FAILED";
                    };
                };
            };
        };
        /** @description `PAYLOAD_TOO_LARGE` The request body is too large. */
        "413.PAYLOAD_TOO_LARGE": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "PAYLOAD_TOO_LARGE";
                    };
                };
            };
        };
        /** @description `UNSUPPORTED_MEDIA_TYPE` The body must be application/json in UTF-8, without Content-Encoding. */
        "415.UNSUPPORTED_MEDIA_TYPE": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "UNSUPPORTED_MEDIA_TYPE";
                    };
                };
            };
        };
        /** @description `RATE_LIMIT_EXCEEDED` Too many requests; try again later. */
        "429.RATE_LIMIT_EXCEEDED": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "RATE_LIMIT_EXCEEDED";
                    };
                };
            };
        };
        /** @description `INTERNAL_ERROR` An internal error occurred; the server's log has the details. */
        "500.INTERNAL_ERROR": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INTERNAL_ERROR";
                    };
                };
            };
        };
        /**
         * @description `INTERNAL_ERROR` An internal error occurred; the server's log has the details.
         *
         *     `SEND_FAILED` The mail transfer agent did not accept the message.
         */
        "500.INTERNAL_ERROR.SEND_FAILED": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "INTERNAL_ERROR" | "SEND_FAILED";
                    };
                };
            };
        };
        /**
         * @description `SEND_UNAVAILABLE` Sending is not configured on this server.
         *
         *     `UNAVAILABLE` The service is temporarily unavailable.
         */
        "503.SEND_UNAVAILABLE.UNAVAILABLE": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "SEND_UNAVAILABLE" | "UNAVAILABLE";
                    };
                };
            };
        };
        /** @description `UNAVAILABLE` The service is temporarily unavailable. */
        "503.UNAVAILABLE": {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"] & {
                    error?: {
                        /** @enum {unknown} */
                        code?: "UNAVAILABLE";
                    };
                };
            };
        };
    };
    parameters: {
        /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
        cursor: string;
        /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
        idempotencyKey: string;
        /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
        ifMatch: string;
        /** @description Items per page. */
        limit: number;
        /** @description Default: `desc` for times (newest first), `asc` for other fields. */
        order: "asc" | "desc";
    };
    requestBodies: never;
    headers: {
        /** @description The version of the object, for If-Match. A replayed response has none. */
        ETag: string;
        /** @description Requests allowed in the window; absent without a limit. */
        "RateLimit-Limit": number;
        /** @description Remaining requests in the window. */
        "RateLimit-Remaining": number;
        /** @description With an API key, or after 429: seconds until the next request is accepted (0: now). Otherwise: seconds until all requests of the limit are available again. */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before the next attempt. */
        "Retry-After": number;
        /** @description The id of the request, as in `meta.request_id`. */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getWellKnownAcmeChallengeByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getWellKnownAutoconfigMailConfigV11Xml: {
        parameters: {
            query?: {
                emailaddress?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/xml": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getWellKnownMtaStsTxt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getAbuseSuspensions: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at" | "address";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SuspensionResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAbuseSuspensionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SuspensionResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteAbuseSuspensionsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LiftResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAbuseThresholds: {
        parameters: {
            query?: {
                id?: string;
                scope?: "domain" | "global";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Thresholds"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAdmins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AdminRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAdmins: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdminCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AdminCreated"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS.WEAK_PASSWORD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAdminsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AdminRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteAdminsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AdminDelete"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AdminDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchAdminsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdminPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AdminRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.WEAK_PASSWORD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAdminsByIdInvite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AdminInvite"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["InvitationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAliases: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at" | "updated_at" | "source_local_part";
                with_status?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AliasRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAliases: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AliasCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AliasDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAliasesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AliasDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteAliasesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AliasDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchAliasesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AliasPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AliasDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAliasesBulk: {
        parameters: {
            query?: {
                /** @description With CSV: what to do; required */
                action?: "create" | "delete" | "update";
                /** @description With CSV: check all rows and change nothing */
                dry_run?: boolean;
            };
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkBody"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BulkStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAliasesExport: {
        parameters: {
            query?: {
                domain_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsApiKeys: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKeyRow"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsBounces: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BounceRow"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsDestinations: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DestinationRow"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsDomains: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainRow"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsOverview: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FiguresOverview"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsTags: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TagRow"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAnalyticsTimeseries: {
        parameters: {
            query?: {
                api_key_id?: string;
                domain_id?: string;
                format?: "csv" | "json";
                interval?: "day" | "hour";
                /** @description Required. */
                period?: "24h" | "7d" | "30d" | "90d";
                previous?: boolean;
                /** @description Such as `google`; `other`: unknown ones. */
                provider?: string;
                tag?: string;
                /** @description The IANA name of the time zone of days. */
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SeriesRow"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKeyRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postApiKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKeyCreateResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND.NOT_FOUND"];
            409: components["responses"]["409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteApiKeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ApiKeyDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAudit: {
        parameters: {
            query?: {
                action?: string;
                admin_id?: string;
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                resource_id?: string;
                resource_type?: string;
                since?: string;
                sort?: "created_at";
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntryResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAuditExport: {
        parameters: {
            query?: {
                action?: string;
                admin_id?: string;
                domain_id?: string;
                format?: "csv" | "json" | "ndjson";
                resource_id?: string;
                resource_type?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ExportedEntry"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAuditVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VerificationResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginByPassword"] | components["schemas"]["LoginByCode"] | components["schemas"]["LoginByRecoveryCode"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LoginResponse"] | components["schemas"]["SecondFactorResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.INVALID_CREDENTIALS.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthLogout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LogoutResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthLogoutAll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionsEndResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAuthMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnAccount"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAuthOidcCallbackByProvider: {
        parameters: {
            query?: {
                /** @description The code that is exchanged for the ID token */
                code?: string;
                /** @description Why there is no code (RFC 6749 §4.1.2.1) */
                error?: string;
                /** @description The provider's issuer (RFC 9207) */
                iss?: string;
                /** @description The `state` of the authorization request (RFC 6749 §4.1.1) */
                state?: string;
            };
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    deleteAuthOidcDisconnect: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Disconnected"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAuthOidcLoginByProvider: {
        parameters: {
            query?: {
                /** @description 1: link the identity to the account of the session, instead of signing in */
                link?: number;
                /** @description The local path that the browser opens after sign-in; anything else is ignored */
                next?: string;
            };
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found */
            302: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getAuthOidcProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ProviderRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getAuthPasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteAuthPasskeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchAuthPasskeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyRename"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthPasskeysLoginOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PasskeyLoginStart"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LoginOptionsResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthPasskeysLoginVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyLogin"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LoginResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthPasskeysRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRecoveryCodes"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthPasskeysRegisterOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RegistrationOptionsResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthPasskeysRegisterVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyRegistration"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRegistrationResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasswordChangeResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS.WEAK_PASSWORD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAuthSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteAuthSessionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionEndResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteAuthTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeRequest"] | components["schemas"]["RecoveryCodeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TotpState"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthTotpRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RecoveryCodes"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthTotpSetup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TotpSetupResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postAuthTotpVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RecoveryCodes"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getAutodiscoverAutodiscoverJson: {
        parameters: {
            query?: {
                Email?: string;
                Protocol?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutodiscoverReference"];
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getAutodiscoverAutodiscoverJsonV10ByAddress: {
        parameters: {
            query?: {
                Email?: string;
                Protocol?: string;
            };
            header?: never;
            path: {
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutodiscoverReference"];
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    postAutodiscoverAutodiscoverXml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/xml": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getBackups: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postBackups: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackupStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            409: components["responses"]["409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getBackupsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteBackupsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupRemoved"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postBackupsByIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackupStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getBackupsByIdContents: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The mailboxes of this domain. */
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description The folders of this mailbox. */
                mailbox_id?: string;
                /** @description The messages with this Message-ID header. */
                message_id?: string;
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "name";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupContentsRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postBackupsByIdRestore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackupRestore"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupOperationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postBackupsByIdVerify: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackupStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupOperationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getBackupsPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupPolicyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchBackupsPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackupPolicyPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BackupPolicyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getCertificates: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "name" | "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CertificateRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getCertificatesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CertificateRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postCertificatesByIdRenew: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CertificateRenewal"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CertificateRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postCertificatesByIdRevoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CertificateRevocation"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CertificateRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postCertificatesAccountKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AccountKeyChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AccountKeyChanged"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SettingResponse"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchConfig: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ConfigChangeResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getConfigRevisions: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RevisionResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postConfigRevisionsByNRollback: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                n: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConfigRollback"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ConfigChangeResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getConfigSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: Record<string, unknown>;
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDnsServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ServerDnsReport"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDnsServerCheck: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CheckProgress"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDnsServerZoneFile: {
        parameters: {
            query?: {
                format?: "bind" | "json";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ZoneRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                    "text/plain": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getDomains: {
        parameters: {
            query?: {
                active?: boolean;
                alias_of?: string;
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                dns_status?: "attention" | "failing" | "ok" | "unchecked";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                name?: string;
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at" | "updated_at" | "name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomains: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.DOMAIN_EXISTS.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteDomainsById: {
        parameters: {
            query?: {
                /** @description Cancel the domain's scheduled messages. */
                cancel_scheduled?: boolean;
            };
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchDomainsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdDkimDelegation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimDelegation"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdDkimKeys: {
        parameters: {
            query?: {
                algorithm?: "ed25519" | "rsa1024" | "rsa2048" | "rsa3072" | "rsa4096";
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
                stage?: "active" | "pending" | "retired" | "retiring";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimKeyRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdDkimKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DkimKeyCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimKeyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdDkimKeysByKeyId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimKeyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteDomainsByIdDkimKeysByKeyId: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimKeyDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdDkimKeysByKeyIdActivate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DkimActivation"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimKeyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdDkimKeysByKeyIdRetire: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DkimRetirement"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DkimKeyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdDmarc: {
        parameters: {
            query?: {
                period?: "24h" | "30d" | "7d" | "90d";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DmarcSummaryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdDns: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DomainDnsReport"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdDnsUpdates: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DnsUpdates"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdDnsCheck: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CheckProgress"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdFiltering: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchDomainsByIdFiltering: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilteringPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdFilteringEntries: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                kind?: "address" | "domain" | "network";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                list?: "allow" | "deny";
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdFilteringEntries: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteDomainsByIdFilteringEntriesByEntryId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdFilteringEntriesImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryImport"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterImportAnswer"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postDomainsByIdFilteringTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterTestResult"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdReports: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                kind?: "arf" | "dmarc" | "tls";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                proved?: boolean;
                sort?: "created_at";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReportRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdTlsReports: {
        parameters: {
            query?: {
                period?: "24h" | "30d" | "7d" | "90d";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TlsSummaryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PERIOD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getDomainsByIdZoneFile: {
        parameters: {
            query?: {
                format?: "bind" | "json";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ZoneRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                    "text/plain": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getEvents: {
        parameters: {
            query?: {
                after?: string;
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                kind?: "domain.dkim_due" | "domain.dns_failed" | "domain.dns_recovered" | "mail.bounced" | "mail.complained" | "mail.delivered" | "mail.failed" | "mail.received" | "mail.received.full" | "mail.sent" | "mail.spam" | "mail.suppressed" | "mailbox.quota" | "system.alert" | "system.backup_failed" | "system.backup_late" | "system.backup_unverified" | "system.drift" | "system.suspension" | "system.webhook_disabled";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                since?: string;
                sort?: "sequence";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EventResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getEventsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EventResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getEventsStream: {
        parameters: {
            query?: {
                after?: string;
                domain_id?: string;
                duration?: number;
                kind?: "domain.dkim_due" | "domain.dns_failed" | "domain.dns_recovered" | "mail.bounced" | "mail.complained" | "mail.delivered" | "mail.failed" | "mail.received" | "mail.received.full" | "mail.sent" | "mail.spam" | "mail.suppressed" | "mailbox.quota" | "system.alert" | "system.backup_failed" | "system.backup_late" | "system.backup_unverified" | "system.drift" | "system.suspension" | "system.webhook_disabled";
            };
            header?: {
                /** @description The ID of the last event seen. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getFiltering: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchFiltering: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilteringPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getFilteringEntries: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                kind?: "address" | "domain" | "network";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                list?: "allow" | "deny";
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postFilteringEntries: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteFilteringEntriesByEntryId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postFilteringEntriesImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryImport"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterImportAnswer"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postFilteringTest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterTestResult"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HealthResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getHealthDetails: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HealthDetails"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getHealthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Alive"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    postInvitationsByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationPassword"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["InvitationAcceptance"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS.WEAK_PASSWORD"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postInvitationsLookup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationLookup"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["InvitedAccountRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailConfigV11Xml: {
        parameters: {
            query?: {
                emailaddress?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/xml": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getMailboxes: {
        parameters: {
            query?: {
                active?: boolean;
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at" | "updated_at" | "address";
                trashed?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxes: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailboxCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxCreated"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS.WEAK_PASSWORD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMailboxesById: {
        parameters: {
            query?: {
                purge?: boolean;
            };
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchMailboxesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailboxPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.WEAK_PASSWORD"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdAppPasswords: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AppPasswordRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdAppPasswords: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppPasswordCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AppPasswordWithSecret"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMailboxesByIdAppPasswordsByAppPasswordId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_password_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AppPasswordDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdFiltering: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchMailboxesByIdFiltering: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilteringPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdFilteringEntries: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                kind?: "address" | "domain" | "network";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                list?: "allow" | "deny";
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdFilteringEntries: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMailboxesByIdFilteringEntriesByEntryId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdFilteringEntriesImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryImport"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterImportAnswer"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdFilteringTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterTestResult"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdFolders: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailFolderRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdInvite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MailboxInvite"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["InvitationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdJunk: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                result?: "junk" | "refused";
                since?: string;
                sort?: "created_at";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["JunkRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdJunkByMessageIdRelease: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JunkRelease"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReleaseResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdRecalculate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxUsageRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdRestore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdSetup: {
        parameters: {
            query?: {
                format?: "apple" | "json" | "qr";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ClientSetupResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                    "application/x-apple-aspen-config": string;
                    "image/svg+xml": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdSetupLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SetupLinkRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMailboxesByIdSetupLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SetupLinkDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdSieve: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedScriptResponse"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdSieveByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    putMailboxesByIdSieveByName: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScriptWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptWriteResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMailboxesByIdSieveByName: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdSieveByNameActivate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedScriptResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdSieveDeactivate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptsDeactivation"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdSuspend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SuspendBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxSuspensionResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesByIdUnsuspend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MailboxSuspensionResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesByIdVacation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VacationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    putMailboxesByIdVacation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VacationWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VacationWriteResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMailboxesByIdVacation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VacationDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMailboxesBulk: {
        parameters: {
            query?: {
                /** @description With CSV: what to do; required */
                action?: "create" | "delete" | "update";
                /** @description With CSV: check all rows and change nothing */
                dry_run?: boolean;
            };
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkBody"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BulkStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMailboxesExport: {
        parameters: {
            query?: {
                domain_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnMailboxRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeAppPasswords: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AppPasswordRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeAppPasswords: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnAppPasswordCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AppPasswordWithSecret"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeAppPasswordsByAppPasswordId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_password_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AppPasswordDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeFiltering: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchMeFiltering: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilteringPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilteringRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeFilteringEntries: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                kind?: "address" | "domain" | "network";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                list?: "allow" | "deny";
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeFilteringEntries: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeFilteringEntriesByEntryId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterEntryDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeFilteringEntriesImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterEntryImport"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterImportAnswer"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeFilteringTest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["FilterTestResult"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeForward: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ForwardRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    putMeForward: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ForwardWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ForwardRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeJunk: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                result?: "junk" | "refused";
                since?: string;
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["JunkRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeJunkByIdRelease: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JunkRelease"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReleaseResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnerLogin"] | components["schemas"]["LoginByCode"] | components["schemas"]["LoginByRecoveryCode"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnerLoginResponse"] | components["schemas"]["SecondFactorResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.INVALID_CREDENTIALS.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeLogins: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SignInRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeLogout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LogoutResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeLogoutAll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionsEndResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeMessages: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                result?: "junk" | "received" | "rejected";
                since?: string;
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnMessage"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMePasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMePasskeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchMePasskeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyRename"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMePasskeysLoginOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PasskeyLoginStart"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["LoginOptionsResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMePasskeysLoginVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyLogin"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OwnerLoginResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMePasskeysRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRecoveryCodes"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMePasskeysRegisterOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RegistrationOptionsResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMePasskeysRegisterVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyRegistration"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasskeyRegistrationResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PasswordChangeResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS.WEAK_PASSWORD"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeSessionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SessionEndResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeSetup: {
        parameters: {
            query?: {
                format?: "apple" | "json" | "qr";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ClientSetupResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                    "application/x-apple-aspen-config": string;
                    "image/svg+xml": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeSetupLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SetupLinkRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeSetupLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SetupLinkDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeSieve: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedScriptResponse"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeSieveByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    putMeSieveByName: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScriptWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptWriteResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeSieveByName: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeSieveByNameActivate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedScriptResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeSieveDeactivate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptsDeactivation"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeTotp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeRequest"] | components["schemas"]["RecoveryCodeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TotpState"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeTotpRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RecoveryCodes"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeTotpSetup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CurrentPasswordRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TotpSetupResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMeTotpVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CodeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RecoveryCodes"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID.TOTP_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMeVacation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VacationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    putMeVacation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VacationWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VacationWriteResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteMeVacation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VacationDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessages: {
        parameters: {
            query?: {
                api_key_id?: string;
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                direction?: "inbound" | "outbound";
                domain_id?: string;
                from?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                mailbox_id?: string;
                message_id?: string;
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                queue_id?: string;
                since?: string;
                sort?: "created_at";
                status?: "bounced" | "cancelled" | "deferred" | "delivered" | "failed" | "lost" | "partial" | "queued" | "received" | "rejected" | "relayed" | "scheduled" | "submitting" | "suppressed" | "unknown";
                subject?: string;
                tag?: string;
                to?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchMessagesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesByIdAttachmentsByNumber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMessagesByIdCancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesByIdContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageContentResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesByIdEvents: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "at";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TimelineEntryResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesByIdHtml: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesByIdRaw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postMessagesByIdResend: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.DOMAIN_NOT_FOUND.FORBIDDEN.MAILBOX_SUSPENDED.RECIPIENT_SUPPRESSED"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR.SEND_FAILED"];
            503: components["responses"]["503.SEND_UNAVAILABLE.UNAVAILABLE"];
        };
    };
    postMessagesByIdRetry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getMessagesTotals: {
        parameters: {
            query?: {
                domain_id?: string;
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageTotalsResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getOpenapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getOperationsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStatusRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getOrchestrator: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OverviewResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorApply: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.INVALID_CREDENTIALS.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorConfirm: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getOrchestratorDrift: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DriftResponse"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getOrchestratorOperations: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getOrchestratorOperationsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getOrchestratorPlan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PlanResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorRollback: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RollbackBody"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorServicesByNameReload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorServicesByNameRestart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorServicesByNameStart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postOrchestratorServicesByNameStop: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["OperationStarted"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.ORCHESTRATOR_BUSY"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getQueue: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                queue_id?: string;
                recipient?: string;
                sender?: string;
                since?: string;
                sort?: "arrived_at";
                state?: "active" | "deferred" | "hold" | "incoming";
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["QueuedMessage"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postQueueActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QueueAction"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["QueueActionResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getQueueHeld: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HeldResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Alive"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postReports: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportUpload"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UploadedReport"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getRoutingExplain: {
        parameters: {
            query: {
                /** @description local@domain, with any tag */
                address: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RouteExplanationRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSandboxMessages: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "received_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SandboxMessageResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteSandboxMessages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ClearResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSandboxMessagesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["MessageContentResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSandboxMessagesByIdAttachmentsByNumber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSandboxMessagesByIdHtml: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSandboxMessagesByIdRaw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postSend: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SentMessage"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_HEADER.INVALID_JSON.INVALID_RECIPIENT.INVALID_SENDER.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.DOMAIN_INACTIVE.DOMAIN_NOT_FOUND.FORBIDDEN.MAILBOX_SUSPENDED.RECIPIENT_SUPPRESSED"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR.SEND_FAILED"];
            503: components["responses"]["503.SEND_UNAVAILABLE.UNAVAILABLE"];
        };
    };
    postSendBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BatchAnswer"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            409: components["responses"]["409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.SEND_UNAVAILABLE.UNAVAILABLE"];
        };
    };
    getSetupByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            /** @description `NOT_FOUND` No such resource. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        error?: {
                            /** @enum {unknown} */
                            code?: "NOT_FOUND";
                        };
                    };
                    "text/html": string;
                };
            };
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getSetupByTokenMailMobileconfig: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-apple-aspen-config": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postSieveTest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScriptTest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptTestResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postSieveValidate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScriptValidate"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ScriptValidation"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSignInBlocks: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SignInBlockResponse"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteSignInBlocksById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RemovedBlock"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSuppressions: {
        parameters: {
            query?: {
                address?: string;
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                group_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                reason?: "complaint" | "hard_bounce" | "manual" | "unsubscribe";
                sort?: "created_at" | "address";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SuppressionRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postSuppressions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuppressionCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SuppressionRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSuppressionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SuppressionRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteSuppressionsById: {
        parameters: {
            query?: {
                note?: string;
            };
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SuppressionDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getSuppressionsExport: {
        parameters: {
            query?: {
                address?: string;
                domain_id?: string;
                group_id?: string;
                reason?: "complaint" | "hard_bounce" | "manual" | "unsubscribe";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postSuppressionsImport: {
        parameters: {
            query?: {
                domain_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuppressionImport"];
                "text/csv": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ImportAnswer"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.BATCH_TOO_LARGE.EMPTY_BATCH.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getTemplates: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                q?: string;
                sort?: "created_at" | "updated_at" | "name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postTemplates: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getTemplatesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteTemplatesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchTemplatesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplatePatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postTemplatesByIdPublish: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TemplatePublication"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postTemplatesByIdRender: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TemplateValues"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RenderedTemplate"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getTemplatesByIdVersions: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateVersionRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getTemplatesByIdVersionsByVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TemplateVersionDetail"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postTemplatesRender: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateTrial"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RenderedTemplate"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getUByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            /** @description `NOT_FOUND` No such resource. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        error?: {
                            /** @enum {unknown} */
                            code?: "NOT_FOUND";
                        };
                    };
                    "text/html": string;
                };
            };
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    postUByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            403: components["responses"]["403.FORBIDDEN"];
            /** @description `NOT_FOUND` No such resource. */
            404: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"] & {
                        error?: {
                            /** @enum {unknown} */
                            code?: "NOT_FOUND";
                        };
                    };
                    "text/html": string;
                };
            };
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getUnsubscribeGroups: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                domain_id?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UnsubscribeGroupRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postUnsubscribeGroups: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UnsubscribeGroupCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UnsubscribeGroupRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.CONFLICT.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getUnsubscribeGroupsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UnsubscribeGroupRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteUnsubscribeGroupsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UnsubscribeGroupDeletion"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchUnsubscribeGroupsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UnsubscribeGroupPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UnsubscribeGroupRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getVersion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["VersionResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
        };
    };
    getWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookRecord"][];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.FORBIDDEN"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Requests with the same key and body have their effect once; keys are stored for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookCreate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_URL.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.DOMAIN_NOT_FOUND"];
            409: components["responses"]["409.IDEMPOTENCY_IN_PROGRESS.IDEMPOTENCY_MISMATCH"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getWebhooksById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    deleteWebhooksById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookDeleteResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    patchWebhooksById: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED. */
                "If-Match"?: components["parameters"]["ifMatch"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChange"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_URL"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            412: components["responses"]["412.PRECONDITION_FAILED"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    getWebhooksByIdDeliveries: {
        parameters: {
            query?: {
                /** @description `meta.pagination.next_cursor` of the previous page; empty or absent: the first page. */
                cursor?: components["parameters"]["cursor"];
                event?: "domain.dkim_due" | "domain.dns_failed" | "domain.dns_recovered" | "mail.bounced" | "mail.complained" | "mail.delivered" | "mail.failed" | "mail.received" | "mail.received.full" | "mail.sent" | "mail.spam" | "mail.suppressed" | "mailbox.quota" | "system.alert" | "system.backup_failed" | "system.backup_late" | "system.backup_unverified" | "system.drift" | "system.suspension" | "system.webhook_disabled";
                /** @description Items per page. */
                limit?: components["parameters"]["limit"];
                /** @description Default: `desc` for times (newest first), `asc` for other fields. */
                order?: components["parameters"]["order"];
                sort?: "created_at";
                state?: "abandoned" | "delivered" | "pending" | "waiting_for_retry";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DeliveryRecord"][];
                        error: null;
                        meta: components["schemas"]["PageMeta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.INVALID_PAGINATION"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postWebhooksByIdDeliveriesByDeliveryIdReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DeliveryRecord"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postWebhooksByIdReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReplayResponse"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON.MISSING_FIELDS"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            409: components["responses"]["409.CONFLICT"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postWebhooksByIdRotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WebhookWithSecret"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    postWebhooksByIdTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["TestResult"];
                        error: null;
                        meta: components["schemas"]["Meta"];
                    };
                };
            };
            400: components["responses"]["400.INVALID_FIELD.INVALID_JSON"];
            401: components["responses"]["401.API_KEY_INVALID.AUTH_REQUIRED.SESSION_INVALID"];
            403: components["responses"]["403.API_KEY_DOMAIN_SCOPE.FORBIDDEN"];
            404: components["responses"]["404.NOT_FOUND"];
            413: components["responses"]["413.PAYLOAD_TOO_LARGE"];
            415: components["responses"]["415.UNSUPPORTED_MEDIA_TYPE"];
            429: components["responses"]["429.RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["500.INTERNAL_ERROR"];
            503: components["responses"]["503.UNAVAILABLE"];
        };
    };
    onDomainDkimDue: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["DomainDkimDue"];
                    /** @constant */
                    event: "domain.dkim_due";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onDomainDnsFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["DomainDnsFailed"];
                    /** @constant */
                    event: "domain.dns_failed";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onDomainDnsRecovered: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["DomainDnsRecovered"];
                    /** @constant */
                    event: "domain.dns_recovered";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailBounced: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailBounced"];
                    /** @constant */
                    event: "mail.bounced";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailComplained: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailComplained"];
                    /** @constant */
                    event: "mail.complained";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailDelivered: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailDelivered"];
                    /** @constant */
                    event: "mail.delivered";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailFailed"];
                    /** @constant */
                    event: "mail.failed";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailReceived: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailReceived"];
                    /** @constant */
                    event: "mail.received";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailReceivedFull: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailReceivedFull"];
                    /** @constant */
                    event: "mail.received.full";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailSent: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailSent"];
                    /** @constant */
                    event: "mail.sent";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailSpam: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailSpam"];
                    /** @constant */
                    event: "mail.spam";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailSuppressed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailSuppressed"];
                    /** @constant */
                    event: "mail.suppressed";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailboxQuota: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["MailboxQuota"];
                    /** @constant */
                    event: "mailbox.quota";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemAlert: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemAlert"];
                    /** @constant */
                    event: "system.alert";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemBackupFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemBackupFailed"];
                    /** @constant */
                    event: "system.backup_failed";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemBackupLate: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemBackupLate"];
                    /** @constant */
                    event: "system.backup_late";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemBackupUnverified: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemBackupUnverified"];
                    /** @constant */
                    event: "system.backup_unverified";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemDrift: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemDrift"];
                    /** @constant */
                    event: "system.drift";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemSuspension: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemSuspension"];
                    /** @constant */
                    event: "system.suspension";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSystemWebhookDisabled: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's id, the same in every attempt. */
                "webhook-id": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, base64-decoded. */
                "webhook-signature": string;
                /** @description Time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description The kind of the event. */
                "X-Svc-Event": string;
                /** @description The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included. */
                "X-Svc-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    data: components["schemas"]["SystemWebhookDisabled"];
                    /** @constant */
                    event: "system.webhook_disabled";
                    /** Format: uuid */
                    event_id: string;
                    /**
                     * Format: uuid
                     * @description The message's id, or the event's id if there is no message.
                     */
                    id: string;
                    /** Format: date-time */
                    timestamp: string;
                };
            };
        };
        responses: {
            /** @description Delivered. After any other response the delivery is retried. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
