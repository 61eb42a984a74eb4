-- Generated from migrations/ and functions/ by `make generate`; do not edit.
-- Not shown: function bodies (functions/*.sql), privileges of the owner, default partitions and their indexes.

EXTENSION btree_gin
EXTENSION pg_trgm
SEQUENCE access_versions, USAGE TO mailkeep_app
SEQUENCE denials_id_seq

TABLE acme_accounts
    directory text NOT NULL
    url text NOT NULL DEFAULT ''::text
    key_sealed bytea NOT NULL
    next_key_sealed bytea
    created_at timestamp with time zone NOT NULL
    CONSTRAINT acme_accounts_pkey PRIMARY KEY (directory)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE acme_tokens
    token text NOT NULL
    content text NOT NULL
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT acme_tokens_pkey PRIMARY KEY (token)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE admin_domains
    admin_id uuid NOT NULL
    domain_id uuid NOT NULL
    CONSTRAINT admin_domains_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT admin_domains_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT admin_domains_pkey PRIMARY KEY (admin_id, domain_id)
    CREATE INDEX admin_domains_by_domain ON admin_domains USING btree (domain_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE admins
    id uuid NOT NULL
    email text NOT NULL
    email_key text NOT NULL
    password_hash text NOT NULL
    role text NOT NULL
    totp_enabled boolean NOT NULL DEFAULT false
    oidc_provider text
    active boolean NOT NULL DEFAULT true
    must_change_password boolean NOT NULL DEFAULT false
    credentials_epoch integer NOT NULL DEFAULT 0
    surviving_session_id uuid
    last_login_at timestamp with time zone
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT admins_email_unique UNIQUE (email_key)
    CONSTRAINT admins_pkey PRIMARY KEY (id)
    CONSTRAINT admins_role CHECK ((role = ANY (ARRAY['domain_admin'::text, 'admin'::text, 'super_admin'::text])))
    CREATE INDEX admins_by_domain ON admins USING btree (split_part(email_key, '@'::text, 2))
    CREATE TRIGGER admins_end_invitation AFTER UPDATE OF password_hash, active ON admins FOR EACH ROW WHEN (((old.password_hash IS DISTINCT FROM new.password_hash) OR (old.active AND (NOT new.active)))) EXECUTE FUNCTION end_invitation()
    CREATE TRIGGER admins_end_key_sessions AFTER UPDATE OF active ON admins FOR EACH ROW WHEN ((old.active AND (NOT new.active))) EXECUTE FUNCTION end_key_sessions()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE alerts
    id uuid NOT NULL
    area text NOT NULL
    kind text NOT NULL
    subject text NOT NULL
    domain_id uuid
    severity text NOT NULL
    reason text NOT NULL
    observed double precision
    baseline double precision
    state text NOT NULL
    created_at timestamp with time zone NOT NULL
    seen_at timestamp with time zone NOT NULL
    reported_at timestamp with time zone NOT NULL
    in_order_since timestamp with time zone
    resolved_at timestamp with time zone
    note text
    changed_at timestamp with time zone NOT NULL
    unmailed text
    mailed_at timestamp with time zone
    CONSTRAINT alerts_area CHECK ((area = ANY (ARRAY['health'::text, 'abuse'::text])))
    CONSTRAINT alerts_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT alerts_pkey PRIMARY KEY (id)
    CONSTRAINT alerts_severity CHECK ((severity = ANY (ARRAY['warning'::text, 'critical'::text])))
    CONSTRAINT alerts_state CHECK ((state = ANY (ARRAY['open'::text, 'acknowledged'::text, 'resolved'::text])))
    CONSTRAINT alerts_unmailed CHECK ((unmailed = ANY (ARRAY['opened'::text, 'worse'::text, 'reminder'::text, 'resolved'::text])))
    CREATE INDEX alerts_by_area ON alerts USING btree (area, id)
    CREATE INDEX alerts_by_domain ON alerts USING btree (domain_id, id)
    CREATE INDEX alerts_by_end ON alerts USING btree (resolved_at) WHERE (state = 'resolved'::text)
    CREATE INDEX alerts_to_mail ON alerts USING btree (id) WHERE (unmailed IS NOT NULL)
    CREATE UNIQUE INDEX alerts_unresolved ON alerts USING btree (area, kind, subject) WHERE (state <> 'resolved'::text)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE aliases
    id uuid NOT NULL
    domain_id uuid NOT NULL
    source_local_part text NOT NULL
    source_key text NOT NULL
    destinations text[] NOT NULL
    destination_keys text[] NOT NULL
    active boolean NOT NULL
    changed_rank smallint NOT NULL DEFAULT 2
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT aliases_changed_rank_range CHECK (((changed_rank >= 0) AND (changed_rank <= 2)))
    CONSTRAINT aliases_destinations_count CHECK (((cardinality(destinations) >= 1) AND (cardinality(destinations) <= 1000)))
    CONSTRAINT aliases_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id)
    CONSTRAINT aliases_pkey PRIMARY KEY (id)
    CONSTRAINT aliases_source_unique UNIQUE (domain_id, source_key)
    CREATE INDEX aliases_by_destination ON aliases USING gin (destination_keys)
    CREATE INDEX aliases_by_destination_base ON aliases USING gin (route_bases(destination_keys))
    CREATE INDEX aliases_by_domain ON aliases USING btree (domain_id, id)
    CREATE INDEX aliases_by_domain_and_source ON aliases USING btree (domain_id, source_local_part, id)
    CREATE INDEX aliases_by_domain_and_update ON aliases USING btree (domain_id, updated_at, id)
    CREATE INDEX aliases_by_source ON aliases USING btree (source_local_part, id)
    CREATE INDEX aliases_by_update ON aliases USING btree (updated_at, id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE analytics_bounces WITH (fillfactor=70)
    domain_id uuid NOT NULL
    dimension text NOT NULL
    value text NOT NULL
    provider text NOT NULL
    step smallint NOT NULL
    slot timestamp with time zone NOT NULL
    class text NOT NULL
    deferred bigint NOT NULL
    bounced bigint NOT NULL
    failed bigint NOT NULL
    reply text
    reply_at timestamp with time zone
    message_id uuid
    CONSTRAINT analytics_bounces_pkey PRIMARY KEY (domain_id, dimension, value, provider, step, slot, class)
    CREATE INDEX analytics_bounces_by_age ON analytics_bounces USING brin (slot)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE analytics_counters WITH (fillfactor=70)
    domain_id uuid NOT NULL
    dimension text NOT NULL
    value text NOT NULL
    provider text NOT NULL
    step smallint NOT NULL
    slot timestamp with time zone NOT NULL
    messages bigint NOT NULL
    accepted bigint NOT NULL
    delivered bigint NOT NULL
    first_attempt bigint NOT NULL
    deferred bigint NOT NULL
    bounced bigint NOT NULL
    failed bigint NOT NULL
    suppressed bigint NOT NULL
    complained bigint NOT NULL
    received bigint NOT NULL
    rejected bigint NOT NULL
    spam bigint NOT NULL
    delays bigint[]
    CONSTRAINT analytics_counters_dimension CHECK ((dimension = ANY (ARRAY[''::text, 'tag'::text, 'api_key'::text])))
    CONSTRAINT analytics_counters_pkey PRIMARY KEY (domain_id, dimension, value, provider, step, slot)
    CONSTRAINT analytics_counters_step CHECK ((step = ANY (ARRAY[15, 60, 1440])))
    CREATE INDEX analytics_counters_by_age ON analytics_counters USING brin (slot)
    CREATE INDEX analytics_counters_by_domain ON analytics_counters USING btree (domain_id, dimension, step, slot)
    CREATE INDEX analytics_counters_by_value ON analytics_counters USING btree (dimension, value, provider, step, slot)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE api_key_domains
    key_id uuid NOT NULL
    domain_id uuid NOT NULL
    CONSTRAINT api_key_domains_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT api_key_domains_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE
    CONSTRAINT api_key_domains_pkey PRIMARY KEY (key_id, domain_id)
    CREATE INDEX api_key_domains_by_domain ON api_key_domains USING btree (domain_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE api_key_rates UNLOGGED WITH (fillfactor=50)
    key_id uuid NOT NULL
    newest bigint NOT NULL
    counts integer[] NOT NULL
    CONSTRAINT api_key_rates_pkey PRIMARY KEY (key_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE api_keys
    id uuid NOT NULL
    admin_id uuid NOT NULL
    parent_id uuid
    name text NOT NULL
    key_prefix text NOT NULL
    token_hash bytea NOT NULL
    is_scoped boolean NOT NULL
    rate_limit integer NOT NULL
    allowed_networks text[] NOT NULL DEFAULT '{}'::text[]
    permissions text NOT NULL DEFAULT 'full'::text
    last_used_at timestamp with time zone
    expires_at timestamp with time zone
    created_at timestamp with time zone NOT NULL
    CONSTRAINT api_keys_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT api_keys_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES api_keys(id) ON DELETE CASCADE
    CONSTRAINT api_keys_permissions CHECK ((permissions = ANY (ARRAY['full'::text, 'sending'::text, 'read'::text])))
    CONSTRAINT api_keys_pkey PRIMARY KEY (id)
    CONSTRAINT api_keys_rate_range CHECK ((rate_limit >= 0))
    CONSTRAINT api_keys_token_unique UNIQUE (token_hash)
    CREATE INDEX api_keys_by_admin ON api_keys USING btree (admin_id)
    CREATE INDEX api_keys_by_parent ON api_keys USING btree (parent_id) WHERE (parent_id IS NOT NULL)
    CREATE TRIGGER api_keys_end_sessions AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION end_key_sessions()
    CREATE TRIGGER api_keys_revoked AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION remember_revoked_api_key()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE app_passwords
    id uuid NOT NULL
    mailbox_id uuid NOT NULL
    number bigint NOT NULL DEFAULT nextval('access_versions'::regclass)
    name text NOT NULL
    digest bytea NOT NULL
    protocols text[] NOT NULL
    expires_at timestamp with time zone
    expired boolean NOT NULL DEFAULT false
    last_used_at timestamp with time zone
    last_used_ip text
    created_at timestamp with time zone NOT NULL
    CONSTRAINT app_passwords_digest_length CHECK ((length(digest) = 32))
    CONSTRAINT app_passwords_digest_unique UNIQUE (mailbox_id, digest)
    CONSTRAINT app_passwords_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT app_passwords_number_unique UNIQUE (number)
    CONSTRAINT app_passwords_pkey PRIMARY KEY (id)
    CONSTRAINT app_passwords_protocols CHECK (((protocols <> '{}'::text[]) AND (protocols <@ '{imap,pop3,smtp,sieve}'::text[])))
    CREATE INDEX app_passwords_by_expiry ON app_passwords USING btree (expires_at) WHERE ((NOT expired) AND (expires_at IS NOT NULL))
    CREATE TRIGGER app_passwords_notify AFTER INSERT ON app_passwords FOR EACH ROW WHEN ((new.expires_at IS NOT NULL)) EXECUTE FUNCTION notify_nodes()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE audit_entries PARTITION BY RANGE (id)
    id uuid NOT NULL
    tx xid8 NOT NULL DEFAULT pg_current_xact_id()
    created_at timestamp with time zone NOT NULL
    admin_id uuid
    actor_type text NOT NULL
    actor_label text NOT NULL
    key_id uuid
    action text NOT NULL
    resource_type text NOT NULL
    resource_id text
    domain_id uuid
    domain_name text
    ip_address text
    user_agent text
    request_id uuid
    outcome text NOT NULL
    error_code text
    details jsonb NOT NULL
    CONSTRAINT audit_entries_actor CHECK ((actor_type = ANY (ARRAY['session'::text, 'api_key'::text, 'system'::text, 'cli'::text, 'mailbox'::text])))
    CONSTRAINT audit_entries_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text, 'failed'::text])))
    CONSTRAINT audit_entries_pkey PRIMARY KEY (id)
    CREATE INDEX audit_entries_by_action ON ONLY audit_entries USING btree (action, id)
    CREATE INDEX audit_entries_by_admin ON ONLY audit_entries USING btree (admin_id, id)
    CREATE INDEX audit_entries_by_domain ON ONLY audit_entries USING btree (domain_id, id)
    CREATE INDEX audit_entries_by_request ON ONLY audit_entries USING btree (request_id)
    CREATE INDEX audit_entries_by_resource ON ONLY audit_entries USING btree (resource_type, resource_id, id)
    CREATE INDEX audit_entries_by_transaction ON ONLY audit_entries USING btree (tx, id)
    GRANT INSERT (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type, resource_id, domain_id, domain_name, ip_address, user_agent, request_id, outcome, error_code, details), SELECT TO mailkeep_app
    GRANT INSERT (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type, resource_id, domain_id, domain_name, ip_address, user_agent, request_id, outcome, error_code, details), SELECT TO mailkeep_audit

TABLE audit_seals
    sequence bigint NOT NULL
    sealed_at timestamp with time zone NOT NULL
    entries integer NOT NULL
    last_tx xid8 NOT NULL
    last_id uuid NOT NULL
    latest_id uuid
    leaves bytea NOT NULL STORAGE EXTERNAL
    first_sequence bigint NOT NULL
    dropped_before timestamp with time zone
    previous bytea NOT NULL
    hash bytea NOT NULL
    signature bytea NOT NULL
    CONSTRAINT audit_seals_pkey PRIMARY KEY (sequence)
    CONSTRAINT audit_seals_sequence_range CHECK ((sequence > 0))
    CREATE INDEX audit_seals_by_position ON audit_seals USING btree (last_tx, last_id)
    GRANT SELECT TO mailkeep_app
    GRANT INSERT, SELECT TO mailkeep_audit

TABLE backup_alerts
    kind text NOT NULL
    subject text NOT NULL
    reported_at timestamp with time zone NOT NULL
    CONSTRAINT backup_alerts_kind CHECK ((kind = ANY (ARRAY['failed'::text, 'unverified'::text, 'late'::text])))
    CONSTRAINT backup_alerts_pkey PRIMARY KEY (kind)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE backup_operations
    id uuid NOT NULL
    kind text NOT NULL
    state text NOT NULL
    backup_id uuid
    argument jsonb NOT NULL DEFAULT '{}'::jsonb
    phase text NOT NULL DEFAULT ''::text
    done bigint NOT NULL DEFAULT 0
    total bigint NOT NULL DEFAULT 0
    cancel_requested boolean NOT NULL DEFAULT false
    result jsonb
    error text
    author_id uuid
    author text NOT NULL
    process uuid
    created_at timestamp with time zone NOT NULL
    started_at timestamp with time zone
    finished_at timestamp with time zone
    CONSTRAINT backup_operations_backup_id_fkey FOREIGN KEY (backup_id) REFERENCES backups(id) ON DELETE SET NULL
    CONSTRAINT backup_operations_kind CHECK ((kind = ANY (ARRAY['create'::text, 'verify'::text, 'restore'::text, 'prune'::text, 'key'::text])))
    CONSTRAINT backup_operations_pkey PRIMARY KEY (id)
    CONSTRAINT backup_operations_state CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
    CREATE INDEX backup_operations_by_age ON backup_operations USING btree (created_at, id)
    CREATE UNIQUE INDEX backup_operations_open ON backup_operations USING btree ((true)) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]))
    CREATE TRIGGER backup_operations_notify AFTER INSERT OR UPDATE OF cancel_requested ON backup_operations FOR EACH ROW EXECUTE FUNCTION notify_backup()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE backups
    id uuid NOT NULL
    state text NOT NULL
    trigger text NOT NULL
    created_at timestamp with time zone NOT NULL
    finished_at timestamp with time zone
    snapshot text NOT NULL DEFAULT ''::text
    size_bytes bigint
    added_bytes bigint
    domains integer
    mailboxes integer
    messages bigint
    verified_at timestamp with time zone
    verified_ok boolean
    verified_detail text NOT NULL DEFAULT ''::text
    error text
    version text NOT NULL
    CONSTRAINT backups_pkey PRIMARY KEY (id)
    CONSTRAINT backups_state CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
    CONSTRAINT backups_trigger CHECK ((trigger = ANY (ARRAY['manual'::text, 'schedule'::text, 'upgrade'::text])))
    CONSTRAINT backups_verified CHECK (((verified_at IS NULL) = (verified_ok IS NULL)))
    CREATE INDEX backups_by_age ON backups USING btree (created_at, id)
    CREATE UNIQUE INDEX backups_snapshot ON backups USING btree (snapshot) WHERE (snapshot <> ''::text)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE bulk_items
    operation_id uuid NOT NULL
    index integer NOT NULL
    sealed bytea
    object_id uuid
    error bytea
    domain_id uuid
    object_key text
    CONSTRAINT bulk_items_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES bulk_operations(id) ON DELETE CASCADE
    CONSTRAINT bulk_items_pkey PRIMARY KEY (operation_id, index)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE bulk_operations
    id uuid NOT NULL
    resource text NOT NULL
    action text NOT NULL
    dry_run boolean NOT NULL
    state text NOT NULL
    total integer NOT NULL
    author_id uuid
    author text NOT NULL
    author_role text NOT NULL
    actor text NOT NULL
    key_id uuid
    key_scope uuid[]
    ip_address text
    user_agent text
    request_id uuid
    created_at timestamp with time zone NOT NULL
    finished_at timestamp with time zone
    claimed_until timestamp with time zone NOT NULL
    CONSTRAINT bulk_operations_action CHECK ((action = ANY (ARRAY['create'::text, 'update'::text, 'delete'::text])))
    CONSTRAINT bulk_operations_pkey PRIMARY KEY (id)
    CONSTRAINT bulk_operations_request_unique UNIQUE (request_id)
    CONSTRAINT bulk_operations_resource CHECK ((resource = ANY (ARRAY['mailbox'::text, 'alias'::text])))
    CONSTRAINT bulk_operations_state CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text])))
    CREATE INDEX bulk_operations_by_end ON bulk_operations USING btree (finished_at) WHERE (finished_at IS NOT NULL)
    CREATE INDEX bulk_operations_unfinished ON bulk_operations USING btree (author_id, id) WHERE (state = 'running'::text)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE certificates
    id uuid NOT NULL
    name text NOT NULL
    domain_id uuid
    source text NOT NULL DEFAULT 'none'::text
    checks jsonb NOT NULL DEFAULT '[]'::jsonb
    chain text
    key_sealed bytea
    names text[] NOT NULL DEFAULT '{}'::text[]
    issuer text NOT NULL DEFAULT ''::text
    serial text NOT NULL DEFAULT ''::text
    fingerprint text NOT NULL DEFAULT ''::text
    not_before timestamp with time zone
    not_after timestamp with time zone
    issued_at timestamp with time zone
    renew_at timestamp with time zone
    problem text NOT NULL DEFAULT ''::text
    failures integer NOT NULL DEFAULT 0
    alerted boolean NOT NULL DEFAULT false
    forced boolean NOT NULL DEFAULT false
    revoke_reason smallint
    revoking text
    attempted_at timestamp with time zone
    next_attempt_at timestamp with time zone NOT NULL
    claims integer NOT NULL DEFAULT 0
    created_at timestamp with time zone NOT NULL
    CONSTRAINT certificates_complete CHECK ((((source = 'acme'::text) = (chain IS NOT NULL)) AND ((chain IS NULL) = (key_sealed IS NULL))))
    CONSTRAINT certificates_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT certificates_domain_unique UNIQUE (domain_id)
    CONSTRAINT certificates_name_unique UNIQUE (name)
    CONSTRAINT certificates_of_domain CHECK (((name = 'server'::text) = (domain_id IS NULL)))
    CONSTRAINT certificates_pkey PRIMARY KEY (id)
    CONSTRAINT certificates_revoke_reason CHECK (((revoke_reason >= 0) AND (revoke_reason <= 10)))
    CONSTRAINT certificates_source CHECK ((source = ANY (ARRAY['none'::text, 'acme'::text, 'file'::text, 'self_signed'::text])))
    CREATE INDEX certificates_due ON certificates USING btree (next_attempt_at)
    CREATE TRIGGER certificates_notify AFTER INSERT OR DELETE OR UPDATE OF chain, names ON certificates FOR EACH ROW EXECUTE FUNCTION notify_nodes()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE component_states
    component text NOT NULL
    status text NOT NULL
    since timestamp with time zone NOT NULL
    CONSTRAINT component_states_pkey PRIMARY KEY (component)
    CONSTRAINT component_states_status CHECK ((status = ANY (ARRAY['ok'::text, 'degraded'::text, 'down'::text, 'disabled'::text])))
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE counters WITH (fillfactor=50)
    name text NOT NULL
    labels text[] NOT NULL
    count bigint NOT NULL
    CONSTRAINT counters_pkey PRIMARY KEY (name, labels)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE denials
    id bigint NOT NULL
    key text NOT NULL
    mailbox_id uuid
    decided_by jsonb NOT NULL
    denied_at timestamp with time zone NOT NULL
    CONSTRAINT denials_pkey PRIMARY KEY (id)
    CREATE INDEX denials_by_key ON denials USING btree (key)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE disk_measurements
    hour timestamp with time zone NOT NULL
    used_bytes bigint NOT NULL
    total_bytes bigint NOT NULL
    used_inodes bigint NOT NULL
    total_inodes bigint NOT NULL
    CONSTRAINT disk_measurements_pkey PRIMARY KEY (hour)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE dkim_keys
    id uuid NOT NULL
    domain_id uuid NOT NULL
    selector text NOT NULL
    cname text
    algorithm text NOT NULL
    stage text NOT NULL
    private_key bytea NOT NULL
    public_key bytea NOT NULL
    for_rotation boolean NOT NULL DEFAULT false
    dns_status text NOT NULL DEFAULT 'not_checked'::text
    dns_checked_at timestamp with time zone
    published_since timestamp with time zone
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    activated_at timestamp with time zone
    retiring_at timestamp with time zone
    retired_at timestamp with time zone
    claimed_until timestamp with time zone NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone
    claims integer NOT NULL DEFAULT 0
    next_check_at timestamp with time zone
    checks integer NOT NULL DEFAULT 0
    requests integer NOT NULL DEFAULT 0
    CONSTRAINT dkim_keys_algorithm CHECK ((algorithm = ANY (ARRAY['rsa1024'::text, 'rsa2048'::text, 'rsa3072'::text, 'rsa4096'::text, 'ed25519'::text])))
    CONSTRAINT dkim_keys_dns_status CHECK ((dns_status = ANY (ARRAY['ok'::text, 'missing'::text, 'mismatch'::text, 'multiple'::text, 'dns_error'::text, 'not_checked'::text])))
    CONSTRAINT dkim_keys_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT dkim_keys_pkey PRIMARY KEY (id)
    CONSTRAINT dkim_keys_stage CHECK ((stage = ANY (ARRAY['pending'::text, 'active'::text, 'retiring'::text, 'retired'::text])))
    CREATE INDEX dkim_keys_active ON dkim_keys USING btree (activated_at) WHERE (stage = 'active'::text)
    CREATE INDEX dkim_keys_by_domain ON dkim_keys USING btree (domain_id, id)
    CREATE INDEX dkim_keys_delegated ON dkim_keys USING btree (split_part(cname, '._domainkey.'::text, 2)) WHERE ((cname IS NOT NULL) AND (stage <> 'retired'::text))
    CREATE INDEX dkim_keys_pending ON dkim_keys USING btree (next_check_at) WHERE ((stage = 'pending'::text) AND for_rotation)
    CREATE INDEX dkim_keys_retiring ON dkim_keys USING btree (retiring_at) WHERE (stage = 'retiring'::text)
    CREATE UNIQUE INDEX dkim_keys_selector_unique ON dkim_keys USING btree (domain_id, selector) WHERE (stage <> 'retired'::text)
    CREATE TRIGGER dkim_keys_update_dns AFTER INSERT OR DELETE OR UPDATE OF stage ON dkim_keys FOR EACH ROW EXECUTE FUNCTION dkim_keys_update_dns()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE dmarc_rows
    report uuid NOT NULL
    domain_id uuid NOT NULL
    day date NOT NULL
    end_at timestamp with time zone NOT NULL
    source_ip inet NOT NULL
    messages bigint NOT NULL
    disposition text NOT NULL
    dkim boolean NOT NULL
    spf boolean NOT NULL
    own_key boolean NOT NULL
    forwarded boolean NOT NULL
    other_domain text NOT NULL
    CONSTRAINT dmarc_rows_report_fkey FOREIGN KEY (report) REFERENCES reports(id) ON DELETE CASCADE
    CREATE INDEX dmarc_rows_by_domain ON dmarc_rows USING btree (domain_id, end_at)
    CREATE INDEX dmarc_rows_by_report ON dmarc_rows USING btree (report)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE dns_checks
    id uuid NOT NULL
    domain_id uuid
    due_at timestamp with time zone NOT NULL
    claims bigint NOT NULL DEFAULT 0
    running boolean NOT NULL DEFAULT false
    requested_at timestamp with time zone
    checked_at timestamp with time zone
    status text NOT NULL DEFAULT 'unchecked'::text
    results jsonb NOT NULL DEFAULT '[]'::jsonb
    addresses text[] NOT NULL DEFAULT '{}'::text[]
    blocklists jsonb NOT NULL DEFAULT '[]'::jsonb
    confirmed_failing boolean
    differs_since timestamp with time zone
    CONSTRAINT dns_checks_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT dns_checks_domain_unique UNIQUE (domain_id)
    CONSTRAINT dns_checks_pkey PRIMARY KEY (id)
    CONSTRAINT dns_checks_status CHECK ((status = ANY (ARRAY['unchecked'::text, 'ok'::text, 'attention'::text, 'failing'::text])))
    CREATE INDEX dns_checks_due ON dns_checks USING btree (due_at)
    CREATE INDEX dns_checks_requested ON dns_checks USING btree (requested_at) WHERE (requested_at IS NOT NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE dns_lookup_budget
    only_row boolean NOT NULL DEFAULT true
    spent_until timestamp with time zone NOT NULL
    CONSTRAINT dns_lookup_budget_one CHECK (only_row)
    CONSTRAINT dns_lookup_budget_pkey PRIMARY KEY (only_row)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE dns_update_records
    update_id uuid NOT NULL
    name text NOT NULL
    type text NOT NULL
    value text NOT NULL
    zone text NOT NULL
    state text NOT NULL
    problem text NOT NULL DEFAULT ''::text
    CONSTRAINT dns_update_records_pkey PRIMARY KEY (update_id, name, type, value)
    CONSTRAINT dns_update_records_state CHECK ((state = ANY (ARRAY['waiting'::text, 'written'::text, 'present'::text, 'conflict'::text])))
    CONSTRAINT dns_update_records_update_id_fkey FOREIGN KEY (update_id) REFERENCES dns_updates(id) ON DELETE CASCADE
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE dns_updates
    id uuid NOT NULL
    subject text NOT NULL
    state text NOT NULL
    problem text NOT NULL DEFAULT ''::text
    next_attempt_at timestamp with time zone NOT NULL
    claims integer NOT NULL DEFAULT 0
    failures integer NOT NULL DEFAULT 0
    attempted_at timestamp with time zone
    CONSTRAINT dns_updates_pkey PRIMARY KEY (id)
    CONSTRAINT dns_updates_state CHECK ((state = ANY (ARRAY['waiting'::text, 'ok'::text, 'conflict'::text, 'error'::text])))
    CONSTRAINT dns_updates_subject_unique UNIQUE (subject)
    CREATE INDEX dns_updates_due ON dns_updates USING btree (next_attempt_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE domains
    id uuid NOT NULL
    name text NOT NULL
    alias_of uuid
    active boolean NOT NULL
    sending_enabled boolean NOT NULL
    receiving_enabled boolean NOT NULL
    description text NOT NULL
    max_mailboxes integer
    max_aliases integer
    default_quota_bytes bigint NOT NULL
    plus_delimiter text
    require_app_passwords boolean
    self_service boolean NOT NULL DEFAULT true
    dkim_delegated boolean NOT NULL DEFAULT false
    dns_managed boolean NOT NULL DEFAULT false
    mta_sts_mode text NOT NULL DEFAULT 'none'::text
    mta_sts_ended_at timestamp with time zone
    mta_sts_served_at timestamp with time zone
    dns_status text NOT NULL
    dns_checked_at timestamp with time zone
    access_version bigint NOT NULL DEFAULT nextval('access_versions'::regclass)
    relay_host text
    relay_port integer
    relay_tls text
    relay_username text
    relay_password bytea
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT domains_alias_of_domain FOREIGN KEY (alias_of) REFERENCES domains(id)
    CONSTRAINT domains_alias_of_other CHECK ((alias_of <> id))
    CONSTRAINT domains_dns_status CHECK ((dns_status = ANY (ARRAY['unchecked'::text, 'ok'::text, 'attention'::text, 'failing'::text])))
    CONSTRAINT domains_max_aliases_range CHECK ((max_aliases >= 0))
    CONSTRAINT domains_max_mailboxes_range CHECK ((max_mailboxes >= 0))
    CONSTRAINT domains_mta_sts_mode CHECK ((mta_sts_mode = ANY (ARRAY['none'::text, 'testing'::text, 'enforce'::text])))
    CONSTRAINT domains_name_unique UNIQUE (name)
    CONSTRAINT domains_pkey PRIMARY KEY (id)
    CONSTRAINT domains_plus_delimiter_one CHECK ((length(plus_delimiter) = 1))
    CONSTRAINT domains_quota_range CHECK ((default_quota_bytes >= 0))
    CONSTRAINT domains_relay_password_of_user CHECK (((relay_password IS NULL) OR (COALESCE(relay_username, ''::text) <> ''::text)))
    CONSTRAINT domains_relay_port CHECK (((relay_port >= 1) AND (relay_port <= 65535)))
    CONSTRAINT domains_relay_secret CHECK (((relay_username IS NULL) OR (relay_username = ''::text) OR (relay_tls <> 'none'::text)))
    CONSTRAINT domains_relay_tls CHECK ((relay_tls = ANY (ARRAY['none'::text, 'starttls'::text, 'tls'::text])))
    CONSTRAINT domains_relay_whole CHECK ((num_nulls(relay_host, relay_port, relay_tls, relay_username) = ANY (ARRAY[0, 4])))
    CREATE INDEX domains_by_dns_status ON domains USING btree (dns_status, id)
    CREATE INDEX domains_by_name ON domains USING btree (name, id)
    CREATE INDEX domains_by_target ON domains USING btree (alias_of) WHERE (alias_of IS NOT NULL)
    CREATE INDEX domains_by_update ON domains USING btree (updated_at, id)
    CREATE TRIGGER domains_add_dns_check AFTER INSERT ON domains FOR EACH ROW EXECUTE FUNCTION domains_add_dns_check()
    CREATE TRIGGER domains_drop_trash BEFORE DELETE ON domains FOR EACH ROW EXECUTE FUNCTION domains_drop_trash()
    CREATE TRIGGER domains_end_owner_sessions AFTER UPDATE OF active, self_service ON domains FOR EACH ROW WHEN (((old.active AND (NOT new.active)) OR (old.self_service AND (NOT new.self_service)))) EXECUTE FUNCTION domains_end_owner_sessions()
    CREATE TRIGGER domains_end_sessions BEFORE UPDATE OF active ON domains FOR EACH ROW WHEN ((old.active AND (NOT new.active))) EXECUTE FUNCTION domains_end_sessions()
    CREATE TRIGGER domains_forget_name AFTER DELETE ON domains FOR EACH ROW EXECUTE FUNCTION domains_forget_name()
    CREATE TRIGGER domains_notify AFTER INSERT OR DELETE ON domains FOR EACH STATEMENT EXECUTE FUNCTION notify_nodes()
    CREATE TRIGGER domains_notify_update AFTER UPDATE ON domains FOR EACH ROW WHEN (((old.active IS DISTINCT FROM new.active) OR (old.receiving_enabled IS DISTINCT FROM new.receiving_enabled))) EXECUTE FUNCTION notify_nodes()
    CREATE TRIGGER domains_require_app_passwords AFTER UPDATE OF require_app_passwords ON domains FOR EACH ROW EXECUTE FUNCTION domains_require_app_passwords()
    CREATE TRIGGER domains_update_dns AFTER INSERT OR DELETE OR UPDATE OF dns_managed, dkim_delegated, sending_enabled, receiving_enabled ON domains FOR EACH ROW EXECUTE FUNCTION domains_update_dns()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE event_payloads
    queue_id text NOT NULL
    content bytea NOT NULL STORAGE EXTERNAL
    created_at timestamp with time zone NOT NULL
    CONSTRAINT event_payloads_pkey PRIMARY KEY (queue_id)
    CREATE INDEX event_payloads_by_age ON event_payloads USING btree (created_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE event_positions
    reader text NOT NULL
    tx xid8 NOT NULL
    event_id uuid NOT NULL
    CONSTRAINT event_positions_pkey PRIMARY KEY (reader)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE events PARTITION BY RANGE (id)
    id uuid NOT NULL
    tx xid8 NOT NULL DEFAULT pg_current_xact_id()
    kind text NOT NULL
    domain_id uuid
    message_id uuid
    data jsonb NOT NULL
    created_at timestamp with time zone NOT NULL
    CONSTRAINT events_pkey PRIMARY KEY (id)
    CREATE INDEX events_by_domain ON ONLY events USING btree (domain_id, tx, id)
    CREATE INDEX events_by_message ON ONLY events USING btree (message_id) WHERE (message_id IS NOT NULL)
    CREATE INDEX events_by_transaction ON ONLY events USING btree (tx, id)
    CREATE TRIGGER events_wake_streams AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION wake_event_streams()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE external_copies WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    queue_id text NOT NULL
    recipient text NOT NULL
    original text NOT NULL
    domain_name text NOT NULL
    state text NOT NULL
    marker uuid NOT NULL
    returned_as text
    attempted_at timestamp with time zone NOT NULL
    CONSTRAINT external_copies_pkey PRIMARY KEY (queue_id, recipient)
    CONSTRAINT external_copies_state CHECK ((state = ANY (ARRAY['returning'::text, 'returned'::text, 'refused'::text])))
    CREATE INDEX external_copies_by_age ON external_copies USING btree (attempted_at)
    CREATE INDEX external_copies_by_marker ON external_copies USING btree (marker)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE filter_entries
    id uuid NOT NULL
    domain_id uuid
    mailbox_id uuid
    list text NOT NULL
    kind text NOT NULL
    value text NOT NULL
    enforced boolean NOT NULL DEFAULT false
    comment text NOT NULL DEFAULT ''::text
    created_by text NOT NULL
    created_at timestamp with time zone NOT NULL
    hits bigint NOT NULL DEFAULT 0
    last_hit_at timestamp with time zone
    CONSTRAINT filter_entries_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT filter_entries_kind CHECK ((kind = ANY (ARRAY['address'::text, 'domain'::text, 'network'::text])))
    CONSTRAINT filter_entries_list CHECK ((list = ANY (ARRAY['allow'::text, 'deny'::text])))
    CONSTRAINT filter_entries_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT filter_entries_pkey PRIMARY KEY (id)
    CONSTRAINT filter_entries_scope CHECK ((num_nonnulls(domain_id, mailbox_id) <= 1))
    CONSTRAINT filter_entries_unique UNIQUE NULLS NOT DISTINCT (domain_id, mailbox_id, value, list)
    CREATE INDEX filter_entries_by_mailbox ON filter_entries USING btree (mailbox_id) WHERE (mailbox_id IS NOT NULL)
    CREATE INDEX filter_entries_by_owner ON filter_entries USING btree (COALESCE(mailbox_id, domain_id, '00000000-0000-0000-0000-000000000000'::uuid), id)
    CREATE INDEX filter_entries_deny ON filter_entries USING btree (domain_id, mailbox_id) WHERE (list = 'deny'::text)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE filter_lessons
    mailbox_id uuid NOT NULL
    minute timestamp with time zone NOT NULL
    accepted integer NOT NULL
    dropped integer NOT NULL
    CONSTRAINT filter_lessons_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT filter_lessons_pkey PRIMARY KEY (mailbox_id, minute)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE filter_settings
    domain_id uuid
    mailbox_id uuid
    junk_score double precision
    reject_score double precision
    digest text
    learn boolean
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT filter_settings_digest CHECK ((digest = ANY (ARRAY['off'::text, 'daily'::text, 'weekly'::text])))
    CONSTRAINT filter_settings_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT filter_settings_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT filter_settings_scope CHECK ((num_nonnulls(domain_id, mailbox_id) <= 1))
    CONSTRAINT filter_settings_scores CHECK ((((junk_score >= (0)::double precision) AND (junk_score <= (1000)::double precision)) AND ((reject_score >= (0)::double precision) AND (reject_score <= (1000)::double precision))))
    CONSTRAINT filter_settings_server CHECK (((num_nonnulls(domain_id, mailbox_id) = 1) OR (num_nonnulls(junk_score, reject_score, digest, learn) = 4)))
    CONSTRAINT filter_settings_unique UNIQUE NULLS NOT DISTINCT (domain_id, mailbox_id)
    CREATE INDEX filter_settings_by_mailbox ON filter_settings USING btree (mailbox_id) WHERE (mailbox_id IS NOT NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE forward_charges
    queue_id text NOT NULL
    charged_at timestamp with time zone NOT NULL
    domains text[] NOT NULL
    copies integer[] NOT NULL
    CONSTRAINT forward_charges_pkey PRIMARY KEY (queue_id)
    CREATE INDEX forward_charges_by_age ON forward_charges USING btree (charged_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE forwards
    queue_id text NOT NULL
    recipient text NOT NULL
    mail_from text NOT NULL
    attempts integer NOT NULL DEFAULT 0
    next_attempt_at timestamp with time zone NOT NULL
    created_at timestamp with time zone NOT NULL
    CONSTRAINT forwards_pkey PRIMARY KEY (queue_id, recipient)
    CREATE INDEX forwards_due ON forwards USING btree (next_attempt_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE host_dkim_keys
    host_name text NOT NULL
    id uuid NOT NULL
    selector text NOT NULL
    algorithm text NOT NULL
    private_key bytea NOT NULL
    public_key bytea NOT NULL
    created_at timestamp with time zone NOT NULL
    CONSTRAINT host_dkim_keys_algorithm CHECK ((algorithm = ANY (ARRAY['rsa2048'::text, 'ed25519'::text])))
    CONSTRAINT host_dkim_keys_pkey PRIMARY KEY (host_name, algorithm)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE idempotency_keys
    caller_id uuid NOT NULL
    route text NOT NULL
    key text NOT NULL
    body_hash bytea NOT NULL
    request_id uuid NOT NULL
    process uuid NOT NULL
    claimed_at timestamp with time zone NOT NULL
    status integer
    answer bytea
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller_id, route, key)
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (claimed_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE inbound_claims
    queue_id text NOT NULL
    recipient text NOT NULL
    message_id uuid NOT NULL
    claimed_at timestamp with time zone NOT NULL
    CONSTRAINT inbound_claims_pkey PRIMARY KEY (queue_id, recipient)
    CREATE INDEX inbound_claims_by_age ON inbound_claims USING btree (claimed_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE incident_actions
    incident_id uuid NOT NULL
    position integer NOT NULL
    action text NOT NULL
    result text NOT NULL
    affected integer NOT NULL DEFAULT 0
    error jsonb
    undo text
    CONSTRAINT incident_actions_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE
    CONSTRAINT incident_actions_pkey PRIMARY KEY (incident_id, "position")
    CONSTRAINT incident_actions_result CHECK ((result = ANY (ARRAY['pending'::text, 'done'::text, 'unchanged'::text, 'failed'::text])))
    CONSTRAINT incident_actions_undo CHECK ((undo = ANY (ARRAY['restored'::text, 'unchanged'::text, 'changed_since'::text, 'not_restorable'::text, 'failed'::text])))
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE incidents
    id uuid NOT NULL
    domain_id uuid
    subject_type text NOT NULL
    subject_id uuid NOT NULL
    subject text NOT NULL
    note text NOT NULL
    by_label text NOT NULL
    by_rank integer NOT NULL
    created_at timestamp with time zone NOT NULL
    undone_at timestamp with time zone
    undone_by text
    undone_rank integer
    CONSTRAINT incidents_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT incidents_pkey PRIMARY KEY (id)
    CONSTRAINT incidents_subject_type CHECK ((subject_type = ANY (ARRAY['mailbox'::text, 'api_key'::text, 'admin'::text])))
    CREATE INDEX incidents_by_domain ON incidents USING btree (domain_id, id)
    CREATE INDEX incidents_by_subject ON incidents USING btree (subject_id, id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE invitations
    id uuid NOT NULL
    admin_id uuid
    mailbox_id uuid
    token_hash bytea NOT NULL
    sent_to text
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT invitations_account CHECK ((num_nonnulls(admin_id, mailbox_id) = 1))
    CONSTRAINT invitations_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT invitations_admin_unique UNIQUE (admin_id)
    CONSTRAINT invitations_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT invitations_mailbox_unique UNIQUE (mailbox_id)
    CONSTRAINT invitations_pkey PRIMARY KEY (id)
    CONSTRAINT invitations_token_unique UNIQUE (token_hash)
    CREATE INDEX invitations_by_expiry ON invitations USING btree (expires_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE job_runs WITH (fillfactor=50)
    job text NOT NULL
    every_seconds double precision NOT NULL
    succeeded_at timestamp with time zone NOT NULL
    CONSTRAINT job_runs_pkey PRIMARY KEY (job)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE junk_digests
    mailbox_id uuid NOT NULL
    listed_until timestamp with time zone NOT NULL
    CONSTRAINT junk_digests_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT junk_digests_pkey PRIMARY KEY (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE key_sessions
    key_id uuid NOT NULL
    client text NOT NULL
    pid integer NOT NULL
    opened_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone
    CONSTRAINT key_sessions_pkey PRIMARY KEY (key_id, client, pid)
    CREATE INDEX key_sessions_by_expiry ON key_sessions USING btree (expires_at) WHERE (expires_at IS NOT NULL)
    CREATE UNIQUE INDEX key_sessions_by_pid ON key_sessions USING btree (pid) WHERE (pid > 0)
    CREATE TRIGGER key_sessions_notify AFTER INSERT OR UPDATE ON key_sessions FOR EACH ROW WHEN ((new.expires_at IS NOT NULL)) EXECUTE FUNCTION notify_nodes()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE login_failures UNLOGGED
    email_key text NOT NULL
    window_started_at timestamp with time zone NOT NULL
    failures integer NOT NULL
    last_failed_at timestamp with time zone NOT NULL
    CONSTRAINT login_failures_pkey PRIMARY KEY (email_key)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE login_sources
    admin_id uuid NOT NULL
    ip_address text NOT NULL
    seen_at timestamp with time zone NOT NULL
    CONSTRAINT login_sources_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT login_sources_pkey PRIMARY KEY (admin_id, ip_address)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mail_log_positions
    log text NOT NULL
    inode bigint NOT NULL
    first_line bytea NOT NULL
    read_to bigint NOT NULL
    read_at timestamp with time zone NOT NULL
    CONSTRAINT mail_log_positions_pkey PRIMARY KEY (log, inode)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mail_logs
    name text NOT NULL
    caught_up_at timestamp with time zone
    CONSTRAINT mail_logs_pkey PRIMARY KEY (name)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mail_removals
    mailbox_id uuid NOT NULL
    CONSTRAINT mail_removals_pkey PRIMARY KEY (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mailbox_logins
    id uuid NOT NULL
    mailbox_id uuid NOT NULL
    day date NOT NULL
    protocol text NOT NULL
    ip text NOT NULL
    program text NOT NULL
    first_at timestamp with time zone NOT NULL
    last_at timestamp with time zone NOT NULL
    CONSTRAINT mailbox_logins_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT mailbox_logins_pkey PRIMARY KEY (id)
    CONSTRAINT mailbox_logins_protocol CHECK ((protocol = ANY (ARRAY['imap'::text, 'pop3'::text, 'smtp'::text, 'sieve'::text, 'web'::text])))
    CONSTRAINT mailbox_logins_unique UNIQUE (mailbox_id, day, protocol, ip, program)
    CREATE INDEX mailbox_logins_by_day ON mailbox_logins USING btree (day)
    CREATE INDEX mailbox_logins_by_mailbox ON mailbox_logins USING btree (mailbox_id, id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mailbox_sources
    mailbox_id uuid NOT NULL
    source text NOT NULL
    seen_at timestamp with time zone NOT NULL
    CONSTRAINT mailbox_sources_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT mailbox_sources_pkey PRIMARY KEY (mailbox_id, source)
    CREATE INDEX mailbox_sources_by_time ON mailbox_sources USING btree (seen_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mailboxes
    id uuid NOT NULL
    domain_id uuid NOT NULL
    local_part text NOT NULL
    local_key text NOT NULL
    address_key text NOT NULL
    address_since timestamp with time zone NOT NULL
    name text NOT NULL
    password_hash text NOT NULL
    active boolean NOT NULL
    quota_bytes bigint NOT NULL
    used_bytes bigint NOT NULL DEFAULT 0
    message_count bigint NOT NULL DEFAULT 0
    usage_reported_at timestamp with time zone
    usage_counted_at timestamp with time zone
    usage_count_due_at timestamp with time zone
    quota_level smallint NOT NULL DEFAULT 0
    quota_level_changed boolean NOT NULL DEFAULT false
    imap boolean NOT NULL
    pop3 boolean NOT NULL
    smtp boolean NOT NULL
    sieve boolean NOT NULL
    require_app_passwords boolean
    totp_enabled boolean NOT NULL DEFAULT false
    second_factor boolean NOT NULL DEFAULT false
    credentials_epoch integer NOT NULL DEFAULT 0
    surviving_session_id uuid
    time_zone text NOT NULL DEFAULT 'UTC'::text
    access_version bigint NOT NULL DEFAULT nextval('access_versions'::regclass)
    password_version bigint NOT NULL DEFAULT nextval('access_versions'::regclass)
    forward_destinations text[] NOT NULL DEFAULT '{}'::text[]
    forward_keys text[] NOT NULL DEFAULT '{}'::text[]
    forward_keep_copy boolean NOT NULL DEFAULT true
    last_login_at timestamp with time zone
    last_login_protocol text
    last_login_ip text
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    deleted_at timestamp with time zone
    CONSTRAINT mailboxes_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id)
    CONSTRAINT mailboxes_pkey PRIMARY KEY (id)
    CONSTRAINT mailboxes_quota_range CHECK ((quota_bytes >= 0))
    CREATE UNIQUE INDEX mailboxes_address_unique ON mailboxes USING btree (domain_id, local_key) WHERE (deleted_at IS NULL)
    CREATE INDEX mailboxes_by_address ON mailboxes USING btree (address_key, id)
    CREATE INDEX mailboxes_by_domain ON mailboxes USING btree (domain_id, id)
    CREATE INDEX mailboxes_by_domain_and_address ON mailboxes USING btree (domain_id, address_key, id)
    CREATE INDEX mailboxes_by_domain_and_update ON mailboxes USING btree (domain_id, updated_at, id)
    CREATE INDEX mailboxes_by_update ON mailboxes USING btree (updated_at, id)
    CREATE INDEX mailboxes_forwarding ON mailboxes USING gin (forward_keys) WHERE (forward_keys <> '{}'::text[])
    CREATE INDEX mailboxes_quota_level_changed ON mailboxes USING btree (id) WHERE quota_level_changed
    CREATE INDEX mailboxes_trash ON mailboxes USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
    CREATE INDEX mailboxes_usage_count_due ON mailboxes USING btree (usage_count_due_at) WHERE (usage_count_due_at IS NOT NULL)
    CREATE TRIGGER mailboxes_address_key BEFORE INSERT OR UPDATE OF domain_id, local_key, deleted_at ON mailboxes FOR EACH ROW EXECUTE FUNCTION mailboxes_set_address_key()
    CREATE TRIGGER mailboxes_end_invitation AFTER UPDATE OF password_hash, active, deleted_at ON mailboxes FOR EACH ROW WHEN (((old.password_hash IS DISTINCT FROM new.password_hash) OR (old.active AND (NOT new.active)) OR ((old.deleted_at IS NULL) AND (new.deleted_at IS NOT NULL)))) EXECUTE FUNCTION end_invitation()
    CREATE TRIGGER mailboxes_end_sessions BEFORE UPDATE OF active, deleted_at, password_hash, local_key, domain_id, imap, pop3, sieve, smtp, require_app_passwords, second_factor ON mailboxes FOR EACH ROW EXECUTE FUNCTION mailboxes_end_sessions()
    CREATE TRIGGER mailboxes_quota_level BEFORE UPDATE OF used_bytes, quota_bytes ON mailboxes FOR EACH ROW WHEN ((NOT new.quota_level_changed)) EXECUTE FUNCTION mailboxes_mark_quota_level()
    CREATE TRIGGER mailboxes_remove_mail AFTER DELETE ON mailboxes FOR EACH ROW EXECUTE FUNCTION mailboxes_remove_mail()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE message_attempts PARTITION BY RANGE (message_id)
    message_id uuid NOT NULL
    id uuid NOT NULL
    at timestamp with time zone NOT NULL
    kind text NOT NULL
    recipient text
    attempt integer NOT NULL
    smtp_code integer
    enhanced_code text
    diagnostic text
    remote_host text
    next_attempt_at timestamp with time zone
    domain_id uuid
    provider text
    bounce_class text
    CONSTRAINT message_attempts_kind CHECK ((kind = ANY (ARRAY['delivered'::text, 'relayed'::text, 'deferred'::text, 'bounced'::text, 'failed'::text, 'lost'::text, 'unknown'::text, 'scheduled'::text, 'cancelled'::text, 'complained'::text])))
    CONSTRAINT message_attempts_pkey PRIMARY KEY (message_id, id)
    CREATE INDEX message_attempts_by_class ON ONLY message_attempts USING btree (bounce_class, kind, message_id) WHERE (bounce_class IS NOT NULL)
    CREATE INDEX message_attempts_by_domain_and_class ON ONLY message_attempts USING btree (domain_id, bounce_class, kind, message_id) WHERE (bounce_class IS NOT NULL)
    CREATE INDEX message_attempts_by_domain_and_provider ON ONLY message_attempts USING btree (domain_id, provider, kind, message_id) WHERE (provider IS NOT NULL)
    CREATE INDEX message_attempts_by_provider ON ONLY message_attempts USING btree (provider, kind, message_id) WHERE (provider IS NOT NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE message_recipients PARTITION BY RANGE (message_id)
    message_id uuid NOT NULL
    position integer NOT NULL
    address text NOT NULL
    address_key text NOT NULL
    status text NOT NULL
    attempts integer NOT NULL DEFAULT 0
    smtp_code integer
    enhanced_code text
    diagnostic text
    remote_host text
    next_attempt_at timestamp with time zone
    suppression jsonb
    CONSTRAINT message_recipients_pkey PRIMARY KEY (message_id, "position")
    CREATE INDEX message_recipients_by_address ON ONLY message_recipients USING btree (address_key, message_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE message_search PARTITION BY RANGE (message_id)
    message_id uuid NOT NULL
    domain_id uuid
    subject text NOT NULL
    sender text NOT NULL
    recipients text NOT NULL
    CONSTRAINT message_search_pkey PRIMARY KEY (message_id)
    CREATE INDEX message_search_trigrams ON ONLY message_search USING gin (domain_id, subject gin_trgm_ops, sender gin_trgm_ops, recipients gin_trgm_ops)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE message_statuses PARTITION BY RANGE (message_id)
    status text NOT NULL
    message_id uuid NOT NULL
    domain_id uuid
    CONSTRAINT message_statuses_pkey PRIMARY KEY (status, message_id)
    CREATE INDEX message_statuses_by_domain ON ONLY message_statuses USING btree (domain_id, status, message_id)
    CREATE INDEX message_statuses_by_message ON ONLY message_statuses USING btree (message_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE message_tags PARTITION BY RANGE (message_id)
    tag text NOT NULL
    message_id uuid NOT NULL
    CONSTRAINT message_tags_pkey PRIMARY KEY (tag, message_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE messages PARTITION BY RANGE (id)
    id uuid NOT NULL
    direction text NOT NULL
    message_id text NOT NULL
    queue_id text
    domain_id uuid
    domain_name text NOT NULL
    mailbox_id uuid
    source text NOT NULL
    admin_id uuid
    api_key_id uuid
    request_id uuid
    batch_index integer
    template_id uuid
    template_version integer
    unsubscribe_group_id uuid
    client_address text
    mail_from text NOT NULL
    from_address text NOT NULL
    to_addresses text[] NOT NULL
    cc_addresses text[] NOT NULL
    subject text NOT NULL
    size bigint NOT NULL
    tags text[] NOT NULL DEFAULT '{}'::text[]
    metadata jsonb NOT NULL DEFAULT '{}'::jsonb
    status text NOT NULL
    spam_score double precision
    spam_action text
    spam_symbols text[] NOT NULL DEFAULT '{}'::text[]
    spam_decided_by jsonb
    auth jsonb NOT NULL DEFAULT '{}'::jsonb
    created_at timestamp with time zone NOT NULL
    accepted_at timestamp with time zone
    answered_at timestamp with time zone
    scheduled_at timestamp with time zone
    submitted_at timestamp with time zone
    CONSTRAINT messages_direction CHECK ((direction = ANY (ARRAY['outbound'::text, 'inbound'::text])))
    CONSTRAINT messages_pkey PRIMARY KEY (id)
    CONSTRAINT messages_source CHECK ((source = ANY (ARRAY['api'::text, 'smtp'::text, 'system'::text, 'mailkeep'::text])))
    CREATE INDEX messages_by_api_key ON ONLY messages USING btree (api_key_id, id) WHERE (api_key_id IS NOT NULL)
    CREATE INDEX messages_by_domain ON ONLY messages USING btree (domain_id, id)
    CREATE INDEX messages_by_domain_and_status ON ONLY messages USING btree (domain_id, status, id)
    CREATE INDEX messages_by_mailbox ON ONLY messages USING btree (mailbox_id, id) WHERE (mailbox_id IS NOT NULL)
    CREATE INDEX messages_by_message_id ON ONLY messages USING btree (message_id)
    CREATE INDEX messages_by_queue_id ON ONLY messages USING btree (queue_id) WHERE (queue_id IS NOT NULL)
    CREATE INDEX messages_by_request ON ONLY messages USING btree (request_id) WHERE (request_id IS NOT NULL)
    CREATE INDEX messages_by_spam ON ONLY messages USING btree (mailbox_id, id) WHERE (spam_action = ANY (ARRAY['add header'::text, 'reject'::text]))
    CREATE INDEX messages_by_status ON ONLY messages USING btree (status, id)
    CREATE TRIGGER messages_update_statuses AFTER UPDATE OF status ON messages FOR EACH ROW WHEN (((old.status = 'partial'::text) OR (new.status = 'partial'::text))) EXECUTE FUNCTION update_message_statuses()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE mta_sieve_scripts
    login text
    name text
    script_id text
    script text
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app
    GRANT SELECT TO mailkeep_dovecot

TABLE mta_sts_policies
    domain text NOT NULL
    policy_id text NOT NULL
    mode text NOT NULL
    mx text[] NOT NULL
    max_age integer NOT NULL
    fetched_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone NOT NULL
    tried_at timestamp with time zone NOT NULL
    used_at timestamp with time zone NOT NULL
    CONSTRAINT mta_sts_policies_mode CHECK ((mode = ANY (ARRAY['none'::text, 'testing'::text, 'enforce'::text])))
    CONSTRAINT mta_sts_policies_pkey PRIMARY KEY (domain)
    CREATE INDEX mta_sts_policies_by_age ON mta_sts_policies USING btree (tried_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE node_tasks
    id uuid NOT NULL
    kind text NOT NULL
    argument jsonb NOT NULL
    state text NOT NULL
    result jsonb
    error text
    requested_at timestamp with time zone NOT NULL
    claimed_at timestamp with time zone
    finished_at timestamp with time zone
    CONSTRAINT node_tasks_pkey PRIMARY KEY (id)
    CONSTRAINT node_tasks_state CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'withdrawn'::text])))
    CREATE INDEX node_tasks_by_age ON node_tasks USING btree (requested_at)
    CREATE INDEX node_tasks_open ON node_tasks USING btree (id) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]))
    CREATE TRIGGER node_tasks_notify AFTER INSERT ON node_tasks FOR EACH STATEMENT EXECUTE FUNCTION notify_nodes()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE oidc_identities
    admin_id uuid NOT NULL
    issuer text NOT NULL
    subject text NOT NULL
    linked_at timestamp with time zone NOT NULL
    CONSTRAINT oidc_identities_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT oidc_identities_pkey PRIMARY KEY (admin_id)
    CONSTRAINT oidc_identities_unique UNIQUE (issuer, subject)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE oidc_logins UNLOGGED
    state_hash bytea NOT NULL
    browser_hash bytea NOT NULL
    provider text NOT NULL
    next_path text NOT NULL
    link_session_id uuid
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT oidc_logins_link_session_id_fkey FOREIGN KEY (link_session_id) REFERENCES sessions(id) ON DELETE CASCADE
    CONSTRAINT oidc_logins_pkey PRIMARY KEY (state_hash)
    CREATE INDEX oidc_logins_by_expiry ON oidc_logins USING btree (expires_at)
    CREATE INDEX oidc_logins_by_session ON oidc_logins USING btree (link_session_id) WHERE (link_session_id IS NOT NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE orchestrator_operations
    id uuid NOT NULL
    kind text NOT NULL
    service text
    state text NOT NULL
    steps jsonb NOT NULL
    error text
    author_id uuid
    author text NOT NULL
    created_at timestamp with time zone NOT NULL
    started_at timestamp with time zone
    finished_at timestamp with time zone
    confirm_until timestamp with time zone
    confirm_listener text
    confirm_url text
    confirmed_at timestamp with time zone
    CONSTRAINT orchestrator_operations_kind CHECK ((kind = ANY (ARRAY['start'::text, 'stop'::text, 'restart'::text, 'reload'::text, 'apply'::text, 'rollback'::text])))
    CONSTRAINT orchestrator_operations_pkey PRIMARY KEY (id)
    CONSTRAINT orchestrator_operations_service CHECK (((service IS NULL) = (kind = ANY (ARRAY['apply'::text, 'rollback'::text]))))
    CONSTRAINT orchestrator_operations_state CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text, 'rolled_back'::text])))
    CREATE UNIQUE INDEX orchestrator_operations_running ON orchestrator_operations USING btree ((true)) WHERE (state = 'running'::text)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE owner_sessions
    id uuid NOT NULL
    mailbox_id uuid NOT NULL
    token_hash bytea NOT NULL
    credentials_epoch integer NOT NULL
    ip_address text
    user_agent text
    created_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT owner_sessions_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT owner_sessions_pkey PRIMARY KEY (id)
    CONSTRAINT owner_sessions_token_unique UNIQUE (token_hash)
    CREATE INDEX owner_sessions_by_expiry ON owner_sessions USING btree (expires_at)
    CREATE INDEX owner_sessions_by_mailbox ON owner_sessions USING btree (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE passkey_challenges UNLOGGED
    challenge_hash bytea NOT NULL
    purpose text NOT NULL
    bound_to bytea NOT NULL
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge_hash)
    CONSTRAINT passkey_challenges_purpose CHECK ((purpose = ANY (ARRAY['register'::text, 'login'::text, 'second_factor'::text])))
    CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges USING btree (expires_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE passkeys
    id uuid NOT NULL
    account_id uuid NOT NULL DEFAULT COALESCE(admin_id, mailbox_id)
    admin_id uuid
    mailbox_id uuid
    credential_id bytea NOT NULL
    public_key bytea NOT NULL
    sign_count bigint NOT NULL
    name text NOT NULL
    aaguid uuid NOT NULL
    transports text[] NOT NULL
    backup_eligible boolean NOT NULL
    backed_up boolean NOT NULL
    created_at timestamp with time zone NOT NULL
    last_used_at timestamp with time zone
    CONSTRAINT passkeys_account CHECK ((num_nonnulls(admin_id, mailbox_id) = 1))
    CONSTRAINT passkeys_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT passkeys_credential_length CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023)))
    CONSTRAINT passkeys_credential_unique UNIQUE (credential_id)
    CONSTRAINT passkeys_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT passkeys_pkey PRIMARY KEY (id)
    CREATE INDEX passkeys_by_account ON passkeys USING btree (account_id)
    CREATE INDEX passkeys_by_admin ON passkeys USING btree (admin_id)
    CREATE INDEX passkeys_by_mailbox ON passkeys USING btree (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE pending_logins
    token_hash bytea NOT NULL
    account_id uuid NOT NULL DEFAULT COALESCE(admin_id, mailbox_id)
    admin_id uuid
    mailbox_id uuid
    credentials_epoch integer NOT NULL
    attempts integer NOT NULL DEFAULT 0
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT pending_logins_account CHECK ((num_nonnulls(admin_id, mailbox_id) = 1))
    CONSTRAINT pending_logins_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT pending_logins_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT pending_logins_pkey PRIMARY KEY (token_hash)
    CREATE INDEX pending_logins_by_admin ON pending_logins USING btree (admin_id)
    CREATE INDEX pending_logins_by_expiry ON pending_logins USING btree (expires_at)
    CREATE INDEX pending_logins_by_mailbox ON pending_logins USING btree (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE prune_checks
    parent text NOT NULL
    first_at timestamp with time zone NOT NULL
    confirmed_at timestamp with time zone
    CONSTRAINT prune_checks_pkey PRIMARY KEY (parent)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_audit

TABLE queued_mail WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    queue_id text NOT NULL
    origin text NOT NULL
    login text
    header_id text NOT NULL
    head jsonb NOT NULL
    sender text NOT NULL
    size bigint NOT NULL
    message_id uuid
    queue_recipients integer
    original_recipients integer NOT NULL
    envelope_known boolean NOT NULL
    expanded_recipients jsonb NOT NULL
    decided_aliases text[] NOT NULL
    forwarded_messages jsonb NOT NULL DEFAULT '{}'::jsonb
    first_seen_at timestamp with time zone NOT NULL
    CONSTRAINT queued_mail_origin CHECK ((origin = ANY (ARRAY['api'::text, 'submission'::text, 'inbound'::text, 'reinjection'::text, 'returned'::text])))
    CONSTRAINT queued_mail_pkey PRIMARY KEY (queue_id)
    CREATE INDEX queued_mail_by_age ON queued_mail USING btree (first_seen_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE recovery_codes
    account_id uuid NOT NULL DEFAULT COALESCE(admin_id, mailbox_id)
    admin_id uuid
    mailbox_id uuid
    code_hash bytea NOT NULL
    CONSTRAINT recovery_codes_account CHECK ((num_nonnulls(admin_id, mailbox_id) = 1))
    CONSTRAINT recovery_codes_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT recovery_codes_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (account_id, code_hash)
    CREATE INDEX recovery_codes_by_admin ON recovery_codes USING btree (admin_id)
    CREATE INDEX recovery_codes_by_mailbox ON recovery_codes USING btree (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE recovery_key
    only_row boolean NOT NULL DEFAULT true
    key_id text NOT NULL
    repository text NOT NULL
    created_at timestamp with time zone NOT NULL
    verified_at timestamp with time zone
    CONSTRAINT recovery_key_only_row CHECK (only_row)
    CONSTRAINT recovery_key_pkey PRIMARY KEY (only_row)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE refused_mail
    queue_id text NOT NULL
    verdict jsonb NOT NULL
    refused_at timestamp with time zone NOT NULL
    CONSTRAINT refused_mail_pkey PRIMARY KEY (queue_id)
    CREATE INDEX refused_mail_by_time ON refused_mail USING btree (refused_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE report_mail
    id uuid NOT NULL
    queue_id text NOT NULL
    content bytea NOT NULL
    sender_domain text NOT NULL
    attempts integer NOT NULL DEFAULT 0
    claimed_until timestamp with time zone NOT NULL
    received_at timestamp with time zone NOT NULL
    CONSTRAINT report_mail_pkey PRIMARY KEY (id)
    CONSTRAINT report_mail_queue_id UNIQUE (queue_id)
    CREATE INDEX report_mail_due ON report_mail USING btree (claimed_until)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE reports
    id uuid NOT NULL
    domain_id uuid NOT NULL
    kind text NOT NULL
    source text NOT NULL
    proved boolean NOT NULL
    sender_domain text NOT NULL
    organisation text NOT NULL
    report_id text NOT NULL
    contact text NOT NULL
    begin_at timestamp with time zone NOT NULL
    end_at timestamp with time zone NOT NULL
    messages bigint NOT NULL
    rows integer NOT NULL
    content jsonb NOT NULL
    received_at timestamp with time zone NOT NULL
    CONSTRAINT reports_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT reports_kind CHECK ((kind = ANY (ARRAY['dmarc'::text, 'tls'::text, 'arf'::text])))
    CONSTRAINT reports_pkey PRIMARY KEY (id)
    CONSTRAINT reports_proved CHECK ((proved = ((source = 'upload'::text) OR (sender_domain <> ''::text))))
    CONSTRAINT reports_source CHECK ((source = ANY (ARRAY['mail'::text, 'upload'::text])))
    CREATE INDEX reports_by_age ON reports USING btree (received_at)
    CREATE INDEX reports_by_domain ON reports USING btree (domain_id, id)
    CREATE INDEX reports_by_end ON reports USING btree (domain_id, kind, end_at) WHERE proved
    CREATE UNIQUE INDEX reports_once ON reports USING btree (domain_id, kind, report_id, organisation, sender_domain, proved)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE restored_backup
    only_row boolean NOT NULL DEFAULT true
    backup_id uuid NOT NULL
    began_at timestamp with time zone NOT NULL
    restored_at timestamp with time zone NOT NULL
    released_at timestamp with time zone
    CONSTRAINT restored_backup_only_row CHECK (only_row)
    CONSTRAINT restored_backup_pkey PRIMARY KEY (only_row)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE restrictions
    kind text NOT NULL
    subject text NOT NULL
    incident_id uuid NOT NULL
    CONSTRAINT restrictions_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id) ON DELETE CASCADE
    CONSTRAINT restrictions_pkey PRIMARY KEY (kind, subject, incident_id)
    CREATE INDEX restrictions_by_incident ON restrictions USING btree (incident_id, kind)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE revoked_api_keys
    token_hash bytea NOT NULL
    CONSTRAINT revoked_api_keys_pkey PRIMARY KEY (token_hash)
    GRANT INSERT, SELECT TO mailkeep_app

TABLE routing_settings
    only_row boolean NOT NULL DEFAULT true
    hostname text NOT NULL
    external_expansion integer NOT NULL
    message_size bigint NOT NULL
    require_app_passwords boolean NOT NULL DEFAULT false
    applied_at timestamp with time zone
    CONSTRAINT routing_settings_one_row CHECK (only_row)
    CONSTRAINT routing_settings_pkey PRIMARY KEY (only_row)
    CREATE TRIGGER settings_require_app_passwords AFTER UPDATE ON routing_settings FOR EACH ROW WHEN ((new.require_app_passwords AND (NOT old.require_app_passwords))) EXECUTE FUNCTION settings_require_app_passwords()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sandbox_messages
    id uuid NOT NULL
    queue_id text NOT NULL
    mail_from text NOT NULL
    rcpt_to text[] NOT NULL
    message_id text NOT NULL
    size bigint NOT NULL
    received_at timestamp with time zone NOT NULL
    CONSTRAINT sandbox_messages_pkey PRIMARY KEY (id)
    CONSTRAINT sandbox_messages_queue_id_unique UNIQUE (queue_id)
    CREATE INDEX sandbox_messages_by_message_id ON sandbox_messages USING btree (message_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sandbox_queue
    message_id uuid NOT NULL
    recipient text NOT NULL
    attempts integer NOT NULL DEFAULT 0
    next_attempt_at timestamp with time zone NOT NULL
    CONSTRAINT sandbox_queue_message_id_fkey FOREIGN KEY (message_id) REFERENCES sandbox_messages(id) ON DELETE CASCADE
    CONSTRAINT sandbox_queue_pkey PRIMARY KEY (message_id, recipient)
    CREATE INDEX sandbox_queue_due ON sandbox_queue USING btree (next_attempt_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE scheduled_contents
    message_id uuid NOT NULL
    number integer NOT NULL
    sealed bytea NOT NULL STORAGE EXTERNAL
    CONSTRAINT scheduled_contents_message_id_fkey FOREIGN KEY (message_id) REFERENCES scheduled_messages(message_id) ON DELETE CASCADE
    CONSTRAINT scheduled_contents_pkey PRIMARY KEY (message_id, number)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE scheduled_messages
    message_id uuid NOT NULL
    domain_id uuid NOT NULL
    admin_id uuid
    key_id uuid
    creator jsonb NOT NULL
    scheduled_at timestamp with time zone NOT NULL
    due_at timestamp with time zone
    claims integer NOT NULL DEFAULT 0
    process uuid
    failures integer NOT NULL DEFAULT 0
    recipients integer NOT NULL
    size bigint NOT NULL
    held boolean NOT NULL DEFAULT false
    changed_at timestamp with time zone NOT NULL
    CONSTRAINT scheduled_messages_pkey PRIMARY KEY (message_id)
    CREATE INDEX scheduled_messages_by_domain ON scheduled_messages USING btree (domain_id)
    CREATE INDEX scheduled_messages_by_key ON scheduled_messages USING btree (key_id) WHERE (key_id IS NOT NULL)
    CREATE INDEX scheduled_messages_claimed ON scheduled_messages USING btree (process) WHERE (process IS NOT NULL)
    CREATE INDEX scheduled_messages_due ON scheduled_messages USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (NOT held))
    CREATE INDEX scheduled_messages_submitting ON scheduled_messages USING btree (message_id) WHERE (due_at IS NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE schema_functions
    only_row boolean NOT NULL DEFAULT true
    checksum text NOT NULL
    applied_at timestamp with time zone NOT NULL
    program_version text NOT NULL
    CONSTRAINT schema_functions_one_row CHECK (only_row)
    CONSTRAINT schema_functions_pkey PRIMARY KEY (only_row)
    GRANT SELECT TO mailkeep_app

TABLE schema_migrations
    number integer NOT NULL
    name text NOT NULL
    checksum text NOT NULL
    applied_at timestamp with time zone NOT NULL
    program_version text NOT NULL
    oldest_program text
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
    GRANT SELECT TO mailkeep_app

TABLE send_as
    mailbox_id uuid NOT NULL
    domain_id uuid NOT NULL
    local_part text NOT NULL
    local_key text NOT NULL
    granted_rank smallint NOT NULL
    CONSTRAINT send_as_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT send_as_granted_rank_range CHECK (((granted_rank >= 0) AND (granted_rank <= 2)))
    CONSTRAINT send_as_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT send_as_pkey PRIMARY KEY (mailbox_id, domain_id, local_key)
    CREATE INDEX send_as_by_address ON send_as USING btree (domain_id, local_key)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE send_counts WITH (fillfactor=70)
    subject text NOT NULL
    minute timestamp with time zone NOT NULL
    recipients integer NOT NULL
    CONSTRAINT send_counts_pkey PRIMARY KEY (subject, minute)
    CONSTRAINT send_counts_positive CHECK ((recipients >= 0))
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sender_outcomes WITH (fillfactor=70)
    sender text NOT NULL
    slot timestamp with time zone NOT NULL
    domain_id uuid
    outcomes bigint NOT NULL
    unknown bigint NOT NULL
    delivered bigint NOT NULL
    complaints bigint NOT NULL
    CONSTRAINT sender_outcomes_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT sender_outcomes_pkey PRIMARY KEY (sender, slot)
    CREATE INDEX sender_outcomes_by_domain ON sender_outcomes USING btree (domain_id)
    CREATE INDEX sender_outcomes_by_slot ON sender_outcomes USING btree (slot)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sender_recipients WITH (fillfactor=70)
    sender text NOT NULL
    day date NOT NULL
    domain_id uuid
    seen bit(2048) NOT NULL
    CONSTRAINT sender_recipients_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT sender_recipients_pkey PRIMARY KEY (sender, day)
    CREATE INDEX sender_recipients_by_day ON sender_recipients USING btree (day)
    CREATE INDEX sender_recipients_by_domain ON sender_recipients USING btree (domain_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE session_ends
    id bigint NOT NULL
    subject text NOT NULL
    protocols text[] NOT NULL
    changed_at timestamp with time zone NOT NULL
    password_only boolean NOT NULL DEFAULT false
    CONSTRAINT session_ends_pkey PRIMARY KEY (id)
    CREATE TRIGGER session_ends_notify AFTER INSERT ON session_ends FOR EACH ROW EXECUTE FUNCTION notify_nodes()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sessions
    id uuid NOT NULL
    admin_id uuid NOT NULL
    token_hash bytea NOT NULL
    credentials_epoch integer NOT NULL
    ip_address text
    user_agent text
    created_at timestamp with time zone NOT NULL
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT sessions_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT sessions_pkey PRIMARY KEY (id)
    CONSTRAINT sessions_token_unique UNIQUE (token_hash)
    CREATE INDEX sessions_by_admin ON sessions USING btree (admin_id)
    CREATE INDEX sessions_by_expiry ON sessions USING btree (expires_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE settings_revisions
    n integer NOT NULL
    author_id uuid
    author text NOT NULL
    comment text NOT NULL
    changes jsonb NOT NULL
    stored bytea NOT NULL
    state text NOT NULL
    use_at_start boolean NOT NULL DEFAULT true
    created_at timestamp with time zone NOT NULL
    CONSTRAINT settings_revisions_n CHECK ((n > 0))
    CONSTRAINT settings_revisions_pkey PRIMARY KEY (n)
    CONSTRAINT settings_revisions_state CHECK ((state = ANY (ARRAY['applied'::text, 'desired'::text, 'superseded'::text])))
    CREATE UNIQUE INDEX settings_revisions_current ON settings_revisions USING btree (state) WHERE (state <> 'superseded'::text)
    CREATE TRIGGER settings_revisions_notify AFTER INSERT OR UPDATE ON settings_revisions FOR EACH STATEMENT EXECUTE FUNCTION notify_settings()
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE setup_links
    mailbox_id uuid NOT NULL
    id uuid NOT NULL
    token_hash bytea NOT NULL
    expires_at timestamp with time zone NOT NULL
    CONSTRAINT setup_links_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT setup_links_pkey PRIMARY KEY (mailbox_id)
    CONSTRAINT setup_links_token_unique UNIQUE (token_hash)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sign_in_blocks
    id uuid NOT NULL
    account text
    source text
    failures integer NOT NULL
    failure_id uuid NOT NULL
    created_at timestamp with time zone NOT NULL
    until timestamp with time zone NOT NULL
    CONSTRAINT sign_in_blocks_pkey PRIMARY KEY (id)
    CONSTRAINT sign_in_blocks_subject CHECK (((account IS NOT NULL) OR (source IS NOT NULL)))
    CONSTRAINT sign_in_blocks_unique UNIQUE NULLS NOT DISTINCT (account, source)
    CREATE INDEX sign_in_blocks_by_source ON sign_in_blocks USING btree (source)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE sign_in_failures UNLOGGED
    account text NOT NULL
    source text NOT NULL
    tag text NOT NULL
    known_source boolean NOT NULL
    id uuid NOT NULL
    at timestamp with time zone NOT NULL
    CONSTRAINT sign_in_failures_pkey PRIMARY KEY (account, source, tag)
    CREATE INDEX sign_in_failures_by_source ON sign_in_failures USING btree (source, at)
    CREATE INDEX sign_in_failures_by_time ON sign_in_failures USING btree (at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE source_names
    ip inet NOT NULL
    name text NOT NULL DEFAULT ''::text
    looked_up_at timestamp with time zone
    created_at timestamp with time zone NOT NULL
    CONSTRAINT source_names_pkey PRIMARY KEY (ip)
    CREATE INDEX source_names_due ON source_names USING btree (created_at) WHERE (looked_up_at IS NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE submission_envelopes
    queue_id text NOT NULL
    login text NOT NULL
    sender text NOT NULL
    recipients text[] NOT NULL
    client text NOT NULL
    created_at timestamp with time zone NOT NULL
    accepted_at timestamp with time zone
    message jsonb
    api_key_id uuid
    idempotency_key text
    body_hash bytea
    CONSTRAINT submission_envelopes_claim CHECK (((num_nulls(idempotency_key, body_hash) = ANY (ARRAY[0, 2])) AND ((idempotency_key IS NULL) OR (api_key_id IS NOT NULL))))
    CONSTRAINT submission_envelopes_pkey PRIMARY KEY (queue_id)
    CREATE INDEX submission_envelopes_by_age ON submission_envelopes USING btree (created_at)
    CREATE UNIQUE INDEX submission_envelopes_claims ON submission_envelopes USING btree (api_key_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)
    CREATE INDEX submission_envelopes_open ON submission_envelopes USING btree (created_at) WHERE (accepted_at IS NULL)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE suppressions
    id uuid NOT NULL
    domain_id uuid NOT NULL
    address text NOT NULL
    address_key text NOT NULL
    reason text NOT NULL
    group_id uuid
    source_message_id uuid
    created_at timestamp with time zone NOT NULL
    CONSTRAINT suppressions_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT suppressions_group FOREIGN KEY (domain_id, group_id) REFERENCES unsubscribe_groups(domain_id, id) ON DELETE CASCADE
    CONSTRAINT suppressions_pkey PRIMARY KEY (id)
    CONSTRAINT suppressions_reason CHECK ((reason = ANY (ARRAY['hard_bounce'::text, 'complaint'::text, 'unsubscribe'::text, 'manual'::text])))
    CONSTRAINT suppressions_unique UNIQUE NULLS NOT DISTINCT (domain_id, address_key, group_id)
    CREATE INDEX suppressions_by_address ON suppressions USING btree (address, id)
    CREATE INDEX suppressions_by_domain ON suppressions USING btree (domain_id, id)
    CREATE INDEX suppressions_by_group ON suppressions USING btree (domain_id, group_id, id) WHERE (group_id IS NOT NULL)
    CREATE INDEX suppressions_trigrams ON suppressions USING gin (address_key gin_trgm_ops)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE suspensions
    id uuid NOT NULL
    domain_id uuid
    address text NOT NULL
    address_key text NOT NULL
    reason text NOT NULL
    by_kind text NOT NULL
    by_label text NOT NULL
    by_rank integer
    created_at timestamp with time zone NOT NULL
    CONSTRAINT suspensions_address_unique UNIQUE (address_key)
    CONSTRAINT suspensions_by_kind CHECK ((by_kind = ANY (ARRAY['rules'::text, 'admin'::text])))
    CONSTRAINT suspensions_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT suspensions_pkey PRIMARY KEY (id)
    CREATE INDEX suspensions_by_address ON suspensions USING btree (address, id)
    CREATE INDEX suspensions_by_domain ON suspensions USING btree (domain_id, id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE system_mail
    id uuid NOT NULL
    kind text NOT NULL
    recipient text NOT NULL
    items jsonb NOT NULL
    item_count integer NOT NULL
    collects boolean NOT NULL
    created_at timestamp with time zone NOT NULL
    next_attempt_at timestamp with time zone
    claims integer NOT NULL DEFAULT 0
    held boolean NOT NULL DEFAULT false
    CONSTRAINT system_mail_pkey PRIMARY KEY (id)
    CREATE INDEX system_mail_by_age ON system_mail USING btree (created_at)
    CREATE UNIQUE INDEX system_mail_collecting ON system_mail USING btree (kind, recipient) WHERE (collects AND (claims = 0))
    CREATE INDEX system_mail_due ON system_mail USING btree (next_attempt_at) WHERE ((next_attempt_at IS NOT NULL) AND (NOT held))
    CREATE INDEX system_mail_held ON system_mail USING btree (id) WHERE held
    CREATE INDEX system_mail_recent ON system_mail USING btree (kind, recipient, created_at)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE template_versions
    template_id uuid NOT NULL
    version integer NOT NULL
    id uuid NOT NULL
    subject text NOT NULL
    text_body text
    html_body text
    variables jsonb NOT NULL
    inline_css boolean NOT NULL
    created_at timestamp with time zone NOT NULL
    CONSTRAINT template_versions_id_unique UNIQUE (id)
    CONSTRAINT template_versions_pkey PRIMARY KEY (template_id, version)
    CONSTRAINT template_versions_template_id_fkey FOREIGN KEY (template_id) REFERENCES templates(id) ON DELETE CASCADE
    CREATE INDEX template_versions_by_age ON template_versions USING btree (template_id, id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE templates
    id uuid NOT NULL
    domain_id uuid
    name text NOT NULL
    version integer NOT NULL
    published_version integer
    is_draft_published boolean NOT NULL
    subject text NOT NULL
    text_body text
    html_body text
    variables jsonb NOT NULL
    inline_css boolean NOT NULL
    uses jsonb NOT NULL
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT templates_body CHECK ((num_nonnulls(text_body, html_body) > 0))
    CONSTRAINT templates_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT templates_name_unique UNIQUE NULLS NOT DISTINCT (domain_id, name)
    CONSTRAINT templates_pkey PRIMARY KEY (id)
    CONSTRAINT templates_published_version_range CHECK (((published_version >= 1) AND (published_version <= version)))
    CONSTRAINT templates_version_positive CHECK ((version > 0))
    CREATE INDEX templates_by_domain ON templates USING btree (domain_id, id)
    CREATE INDEX templates_by_name ON templates USING btree (name, id)
    CREATE INDEX templates_by_update ON templates USING btree (updated_at, id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE thresholds
    domain_id uuid
    mailbox_id uuid
    name text NOT NULL
    value double precision NOT NULL
    highest double precision
    CONSTRAINT thresholds_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT thresholds_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT thresholds_of_domain UNIQUE (domain_id, name)
    CONSTRAINT thresholds_of_mailbox UNIQUE (mailbox_id, name)
    CONSTRAINT thresholds_of_one CHECK ((num_nonnulls(domain_id, mailbox_id) = 1))
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE totp_secrets
    account_id uuid NOT NULL DEFAULT COALESCE(admin_id, mailbox_id)
    admin_id uuid
    mailbox_id uuid
    secret bytea NOT NULL
    created_at timestamp with time zone NOT NULL
    enabled_at timestamp with time zone
    last_step bigint
    CONSTRAINT totp_secrets_account CHECK ((num_nonnulls(admin_id, mailbox_id) = 1))
    CONSTRAINT totp_secrets_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES admins(id) ON DELETE CASCADE
    CONSTRAINT totp_secrets_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT totp_secrets_pkey PRIMARY KEY (account_id)
    CREATE INDEX totp_secrets_by_admin ON totp_secrets USING btree (admin_id)
    CREATE INDEX totp_secrets_by_mailbox ON totp_secrets USING btree (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE unsubscribe_groups
    id uuid NOT NULL
    domain_id uuid NOT NULL
    name text NOT NULL
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT unsubscribe_groups_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT unsubscribe_groups_in_domain UNIQUE (domain_id, id)
    CONSTRAINT unsubscribe_groups_name_unique UNIQUE (domain_id, name)
    CONSTRAINT unsubscribe_groups_pkey PRIMARY KEY (id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE vacations
    mailbox_id uuid NOT NULL
    active boolean NOT NULL
    subject text
    text_body text
    html_body text
    start_at timestamp with time zone
    end_at timestamp with time zone
    days integer NOT NULL
    script text NOT NULL
    script_id text NOT NULL DEFAULT md5(script)
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT vacations_body CHECK ((num_nonnulls(text_body, html_body) > 0))
    CONSTRAINT vacations_days_range CHECK (((days >= 1) AND (days <= 30)))
    CONSTRAINT vacations_mailbox_id_fkey FOREIGN KEY (mailbox_id) REFERENCES mailboxes(id) ON DELETE CASCADE
    CONSTRAINT vacations_period CHECK ((start_at < end_at))
    CONSTRAINT vacations_pkey PRIMARY KEY (mailbox_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE wal_archive
    only_row boolean NOT NULL DEFAULT true
    chain uuid NOT NULL
    repository text NOT NULL
    began_at timestamp with time zone NOT NULL
    stored_to timestamp with time zone
    next_segment text NOT NULL DEFAULT ''::text
    spool_bytes bigint NOT NULL DEFAULT 0
    error text
    ended text
    CONSTRAINT wal_archive_only_row CHECK (only_row)
    CONSTRAINT wal_archive_pkey PRIMARY KEY (only_row)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE webhook_deliveries WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000)
    id uuid NOT NULL
    webhook_id uuid NOT NULL
    event_id uuid NOT NULL
    kind text NOT NULL
    state text NOT NULL
    failures integer NOT NULL DEFAULT 0
    lease bigint NOT NULL DEFAULT 0
    claimed_at timestamp with time zone
    next_attempt_at timestamp with time zone
    attempts jsonb NOT NULL DEFAULT '[]'::jsonb
    held boolean NOT NULL DEFAULT false
    created_at timestamp with time zone NOT NULL
    CONSTRAINT webhook_deliveries_next_attempt CHECK (((next_attempt_at IS NULL) = (state = ANY (ARRAY['delivered'::text, 'abandoned'::text]))))
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id)
    CONSTRAINT webhook_deliveries_state CHECK ((state = ANY (ARRAY['pending'::text, 'waiting_for_retry'::text, 'delivered'::text, 'abandoned'::text])))
    CREATE INDEX webhook_deliveries_abandoned ON webhook_deliveries USING btree (webhook_id, id) WHERE (state = 'abandoned'::text)
    CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries USING btree (webhook_id, id)
    CREATE INDEX webhook_deliveries_held ON webhook_deliveries USING btree (id) WHERE held
    CREATE INDEX webhook_deliveries_open ON webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE ((next_attempt_at IS NOT NULL) AND (NOT held))
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

TABLE webhooks
    id uuid NOT NULL
    url text NOT NULL
    events text[] NOT NULL
    domain_id uuid
    active boolean NOT NULL
    secret bytea NOT NULL
    previous_secret bytea
    previous_secret_until timestamp with time zone
    failing_since timestamp with time zone
    disabled_at timestamp with time zone
    created_by uuid NOT NULL
    created_at timestamp with time zone NOT NULL
    updated_at timestamp with time zone NOT NULL
    CONSTRAINT webhooks_disabled_inactive CHECK (((disabled_at IS NULL) OR (NOT active)))
    CONSTRAINT webhooks_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE
    CONSTRAINT webhooks_events_some CHECK ((cardinality(events) > 0))
    CONSTRAINT webhooks_pkey PRIMARY KEY (id)
    CONSTRAINT webhooks_previous_secret_whole CHECK (((previous_secret IS NULL) = (previous_secret_until IS NULL)))
    CREATE INDEX webhooks_by_domain ON webhooks USING btree (domain_id)
    GRANT DELETE, INSERT, SELECT, UPDATE TO mailkeep_app

FUNCTION accept_messages(p_at timestamp with time zone, p_status text, p_answered boolean, p_accepted jsonb) RETURNS SETOF uuid; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION address_rank(p_key text) RETURNS integer; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION alias_state(p_alias_id uuid, p_visible uuid[], OUT state text, OUT warnings jsonb, OUT walked integer) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION alias_states(p_ids uuid[], p_visible uuid[]) RETURNS TABLE(id uuid, state text, warnings jsonb); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION append_webhook_attempt(p_attempts jsonb, p_attempt jsonb) RETURNS jsonb; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION begin_scheduled(p_at timestamp with time zone, p_ids uuid[], p_claims integer[], p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_messages jsonb, p_rows jsonb) RETURNS TABLE(verdict text, retry_after integer, exceeded bigint); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION begin_sends(p_at timestamp with time zone, p_ids uuid[], p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb) RETURNS TABLE(verdict text, retry_after integer, exceeded bigint); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION begin_submission(p_at timestamp with time zone, p_since timestamp with time zone, p_envelope jsonb, p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint) RETURNS TABLE(outcome text, retry_after integer, exceeded bigint); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION claim_dns_checks(p_at timestamp with time zone, p_until timestamp with time zone, p_limit integer, p_rate integer, p_cost integer, p_regular boolean) RETURNS SETOF dns_checks; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION claim_outcome(claim submission_envelopes, p_body_hash bytea) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION claim_webhook_deliveries(p_at timestamp with time zone, p_until timestamp with time zone, p_after uuid, p_limit integer, p_webhook_limit integer, p_webhook_limits jsonb) RETURNS SETOF webhook_deliveries; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION confirm_prune_time(p_parent text, p_at timestamp with time zone) RETURNS timestamp with time zone; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION count_api_call(p_key_id uuid, p_limit integer, p_at timestamp with time zone, OUT accepted boolean, OUT used integer, OUT wait integer) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION count_forwards(p_at timestamp with time zone, p_queue_id text, p_domains text[], p_copies integer[], p_limit bigint) RETURNS TABLE(domain text, retry_after integer, exceeded bigint); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION count_sends(p_at timestamp with time zone, p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_may_suspend boolean) RETURNS TABLE(verdict text, retry_after integer, exceeded bigint); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION counted_domain(p_name text) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION counted_senders(p_senders text[]) RETURNS text[]; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION delete_orphaned_deliveries(p_limit integer) RETURNS integer; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION dkim_keys_update_dns() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION dmarc_source_kind(p_row dmarc_rows, p_addresses inet[], p_relays boolean) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_add_dns_check() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_drop_trash() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_end_owner_sessions() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_end_sessions() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_forget_name() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_require_app_passwords() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION domains_update_dns() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION drop_audit_months() RETURNS integer SECURITY DEFINER; EXECUTE TO mailkeep_audit
FUNCTION drop_months(p_parent text, p_before timestamp with time zone) RETURNS integer; owner only
FUNCTION drop_partitions(p_at timestamp with time zone, p_messages_before timestamp with time zone, p_events_before timestamp with time zone) RETURNS integer SECURITY DEFINER; EXECUTE TO mailkeep_app
FUNCTION effective_thresholds(p_sender text, p_domain text, p_names text[], p_values double precision[]) RETURNS TABLE(name text, value double precision, source text, highest double precision); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION emit_events(p_at timestamp with time zone, p_events jsonb) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION end_invitation() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION end_key_sessions() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION end_password_sessions(p_domain uuid, p_at timestamp with time zone) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION ensure_partition(p_parent text, p_month timestamp with time zone) RETURNS void; owner only
FUNCTION ensure_partitions(p_at timestamp with time zone) RETURNS void SECURITY DEFINER; EXECUTE TO mailkeep_app
FUNCTION filter_policy(p_domain_id uuid, p_mailbox_id uuid, p_values text[], OUT junk_score double precision, OUT junk_scope text, OUT reject_score double precision, OUT reject_scope text, OUT entries jsonb) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION forward_limit(p_domain text, p_limit bigint) RETURNS bigint; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION forward_subject(p_domain text) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION forwarded_copies(p_at timestamp with time zone, p_domain text) RETURNS bigint; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION insert_messages(p_messages jsonb, p_recipients jsonb, p_search jsonb, p_tags jsonb, p_only uuid[]) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION is_bounce_address(p_local text, p_domain text) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION is_bounce_form(p_local text) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION is_clock_ahead(p_parent text, p_at timestamp with time zone) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION is_restricted(p_kind text, p_subject uuid) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION lock_routes() RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION lock_send_counts(p_senders text[]) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION lock_sender(p_address_key text) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mailboxes_end_sessions() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mailboxes_mark_quota_level() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mailboxes_remove_mail() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mailboxes_set_address_key() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mailkeep_fold(p_text text) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mark_sends_accepted(p_at timestamp with time zone, p_status text, p_accepted jsonb, p_calls jsonb) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION monthly_tables() RETURNS text[]; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mta_app_login(p_local text, p_domain text, p_protocol text, p_digest text) RETURNS TABLE(login text, mailbox_id uuid, quota_bytes bigint, access text) SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_dovecot
FUNCTION mta_decode(p_text text) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app, mailkeep_postfix
FUNCTION mta_domain(p_domain text) RETURNS SETOF integer SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_domain_inactive(p_local text, p_domain text) RETURNS SETOF text SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_encode(p_text text) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app, mailkeep_postfix
FUNCTION mta_key_login(p_user text, p_protocol text, p_digest text, p_address text) RETURNS TABLE(login text, access text) SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_dovecot
FUNCTION mta_login(p_local text, p_domain text, p_protocol text) RETURNS TABLE(login text, password text, mailbox_id uuid, quota_bytes bigint, access text) SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_dovecot
FUNCTION mta_login_mailbox(p_local text, p_domain text, p_protocol text) RETURNS TABLE(mailbox mailboxes, access_version bigint, app_passwords_only boolean); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mta_mailbox(p_local text, p_domain text) RETURNS SETOF integer SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_mailbox_of(p_local text, p_domain text) RETURNS SETOF mailboxes; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mta_recipient(p_local text, p_domain text) RETURNS SETOF text SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_relay(p_local text, p_domain text) RETURNS SETOF integer SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_route(p_local text, p_domain text) RETURNS SETOF text SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_senders(p_local text, p_domain text) RETURNS SETOF text SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_postfix
FUNCTION mta_time() RETURNS timestamp with time zone; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION mta_user(p_local text, p_domain text, p_protocol text, p_access text) RETURNS TABLE(login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text) SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_dovecot
FUNCTION mta_users() RETURNS TABLE(login text) SECURITY DEFINER; EXECUTE TO mailkeep_app, mailkeep_dovecot
FUNCTION newest_row_at(p_parent text) RETURNS timestamp with time zone; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION notify_backup() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION notify_nodes() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION notify_settings() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION partition_column(p_table regclass) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION publishes_full_mail(p_domain_id uuid, p_always boolean) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION queue_system_mail(p_at timestamp with time zone, p_kind text, p_mails jsonb, p_limit integer, p_delay interval, p_max_items integer) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION quota_level_of(p_used bigint, p_quota bigint, p_level smallint) RETURNS smallint; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION record_audit_entries(p_entries jsonb) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION record_inbound(p_at timestamp with time zone, p_claims jsonb, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb, p_events jsonb) RETURNS SETOF uuid; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION remember_revoked_api_key() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION request_dns_update(p_subject text) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION requires_app_passwords(p_mailbox boolean, p_domain boolean, p_factor boolean) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_address(p_address text, p_visible uuid[]) RETURNS TABLE(decision text, steps jsonb, deliveries jsonb, warnings jsonb, external integer); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_administrators(p_domain_id uuid, OUT own boolean, OUT addresses text[], OUT keys text[]) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_base(p_local_key text, p_delimiter text) RETURNS text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_bases(p_keys text[]) RETURNS text[]; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_chain_ahead(p_alias_id uuid) RETURNS TABLE(source text); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_chain_behind(p_alias_id uuid) RETURNS TABLE(source text); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_chain_behind_catch_all(p_alias_id uuid) RETURNS TABLE(source text); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_delivers(p_address text, p_key text) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_delivery(p_type text, p_address text, p_mailbox_id uuid, p_hidden text) RETURNS jsonb; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_destinations(p_node uuid) RETURNS TABLE(key text); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_filters(p_address text, OUT mailbox_ids uuid[], OUT domain_ids uuid[], OUT is_forwarded boolean, OUT forwarding_id uuid) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_has_deny_entries(p_mailbox_ids uuid[], p_domain_ids uuid[]) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_hide_dead_ends(p_dead_ends jsonb[], p_reached text[]) RETURNS jsonb[]; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_is_ours(p_domain text) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_is_postmaster(p_local_key text, p_delimiter text) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_limit_warnings(p_external integer, p_too_many boolean) RETURNS jsonb; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_loop(p_node uuid) RETURNS TABLE(key text); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_loops_through(p_domain text) RETURNS TABLE(address text); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_match(p_domain_id uuid, p_delimiter text, p_local_key text) RETURNS TABLE(rank integer, id uuid, active boolean, source text, texts text[], keys text[], keep_copy boolean); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_nodes(p_key text) RETURNS TABLE(node uuid); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_plain(p_local text, p_domain text, OUT address text, OUT quota_bytes bigint, OUT used_bytes bigint, OUT mailbox_id uuid, OUT domain_id uuid) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_recipient(p_address text, p_size bigint, OUT decision text, OUT deliveries jsonb, OUT external integer, OUT depends_on_size boolean) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_step(p_step text, p_result text, p_address text, p_row jsonb) RETURNS jsonb; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_steps(p_address text, p_base text, p_rank integer, p_row jsonb, p_active boolean) RETURNS jsonb[]; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_walk(p_texts text[], p_keys text[], p_visible uuid[], p_postmaster boolean, OUT steps jsonb[], OUT deliveries jsonb[], OUT dead_ends jsonb[], OUT external integer, OUT too_many boolean, OUT walked integer) RETURNS record; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION route_warnings(p_dead_ends jsonb[], p_own boolean) RETURNS jsonb; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION send_minutes(p_at timestamp with time zone) RETURNS tstzrange; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION send_retry_after(p_subject text, p_at timestamp with time zone, p_surplus bigint) RETURNS integer; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION sender_logins(p_local text, p_domain text) RETURNS SETOF text SECURITY DEFINER; EXECUTE TO mailkeep_app
FUNCTION session_accesses(p_mailbox uuid, p_protocol text, p_at timestamp with time zone) RETURNS SETOF text; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION settings_require_app_passwords() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION sign_in_history(p_account text, p_source text, p_tag text, p_at timestamp with time zone) RETURNS TABLE(is_known boolean, blocked_until timestamp with time zone, repeated boolean, account_failures integer, source_failures integer, source_accounts integer); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION submission_key(p_digest text, p_address text, p_at timestamp with time zone) RETURNS SETOF uuid; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION suspendable_domain(p_domain_id uuid) RETURNS TABLE(id uuid); EXECUTE TO PUBLIC, mailkeep_app
FUNCTION uncount_forwards(p_queue_ids text[]) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION uncount_sends(p_at timestamp with time zone[], p_senders text[], p_recipients integer[]) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION update_message_statuses() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION uuid7_floor(p_at timestamp with time zone) RETURNS uuid; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION wake_event_streams() RETURNS trigger; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION wake_workers(p_queue text) RETURNS void; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION webhook_delivery_id(p_event_id uuid, p_webhook_id uuid) RETURNS uuid; EXECUTE TO PUBLIC, mailkeep_app
FUNCTION webhook_subscribes(p_events text[], p_kind text) RETURNS boolean; EXECUTE TO PUBLIC, mailkeep_app
