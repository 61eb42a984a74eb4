-- Messages, events, the audit log, counters and the tasks of nodes.
--
-- Messages with all that belongs to them, events and audit entries are partitioned by the month in their UUIDv7. Months
-- are created and dropped by functions/partitions.sql. A row whose month does not exist goes to the default partition.

CREATE TABLE messages (
    id           uuid PRIMARY KEY,
    direction    text NOT NULL CONSTRAINT messages_direction CHECK (direction IN ('outbound', 'inbound')),
    message_id   text NOT NULL,                                                     -- the header's value, with < >
    queue_id     text,
    domain_id    uuid,
    domain_name  text NOT NULL,
    mailbox_id   uuid,
    source       text NOT NULL CONSTRAINT messages_source CHECK (source IN ('api', 'smtp', 'system', 'mailkeep')),
    admin_id     uuid,
    api_key_id   uuid,
    request_id   uuid,                                                              -- the API request that sent the message
    batch_index  integer,                                                           -- its position in that request
    template_id  uuid,                                                              -- the template it was rendered from
    template_version integer,
    unsubscribe_group_id uuid,                                                      -- whose suppressions hold for it
    client_address text,                                                            -- of the server that sent it to us
    mail_from    text NOT NULL,                                                     -- envelope
    from_address text NOT NULL,                                                     -- header
    to_addresses text[] NOT NULL,
    cc_addresses text[] NOT NULL,
    subject      text NOT NULL,
    size         bigint NOT NULL,
    tags         text[] NOT NULL DEFAULT '{}',
    metadata     jsonb NOT NULL DEFAULT '{}',
    status       text NOT NULL,
    spam_score   double precision,
    spam_action  text,
    spam_symbols text[] NOT NULL DEFAULT '{}',
    spam_decided_by jsonb,                                                          -- {scope, rule, entry_id}; NULL: by no rule
    auth         jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL,
    accepted_at  timestamptz,                                                       -- the MTA accepted the message
    answered_at  timestamptz,                                                       -- the MTA's reply was recorded
    scheduled_at timestamptz,                                                       -- of a scheduled message, also later
    submitted_at timestamptz                                                        -- its latest submission
) PARTITION BY RANGE (id);
CREATE TABLE messages_default PARTITION OF messages DEFAULT;
CREATE INDEX messages_by_domain ON messages (domain_id, id);
CREATE INDEX messages_by_message_id ON messages (message_id);
CREATE INDEX messages_by_queue_id ON messages (queue_id) WHERE queue_id IS NOT NULL;
CREATE INDEX messages_by_mailbox ON messages (mailbox_id, id) WHERE mailbox_id IS NOT NULL;
CREATE INDEX messages_by_spam ON messages (mailbox_id, id) WHERE spam_action IN ('add header', 'reject');
CREATE INDEX messages_by_api_key ON messages (api_key_id, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX messages_by_status ON messages (status, id);
CREATE INDEX messages_by_domain_and_status ON messages (domain_id, status, id);
CREATE INDEX messages_by_request ON messages (request_id) WHERE request_id IS NOT NULL;

CREATE TABLE message_recipients (
    message_id      uuid NOT NULL,
    position        integer NOT NULL,
    address         text NOT NULL,
    address_key     text NOT NULL,
    status          text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    smtp_code       integer,
    enhanced_code   text,
    diagnostic      text,
    remote_host     text,
    next_attempt_at timestamptz,
    suppression     jsonb,                                                          -- {id, reason} of a suppressed recipient
    PRIMARY KEY (message_id, position)
) PARTITION BY RANGE (message_id);
CREATE TABLE message_recipients_default PARTITION OF message_recipients DEFAULT;
CREATE INDEX message_recipients_by_address ON message_recipients (address_key, message_id);

-- The folded text that message searches match by substring. A separate table, because messages are updated and each
-- update would write the trigrams again.
CREATE TABLE message_search (
    message_id uuid PRIMARY KEY,
    domain_id  uuid,
    subject    text NOT NULL,
    sender     text NOT NULL,
    recipients text NOT NULL                                                        -- envelope, To and Cc
) PARTITION BY RANGE (message_id);
CREATE TABLE message_search_default PARTITION OF message_search DEFAULT;
CREATE INDEX message_search_trigrams ON message_search
    USING gin (domain_id, subject gin_trgm_ops, sender gin_trgm_ops, recipients gin_trgm_ops);

CREATE TABLE message_tags (
    tag        text NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (tag, message_id)
) PARTITION BY RANGE (message_id);
CREATE TABLE message_tags_default PARTITION OF message_tags DEFAULT;

-- The statuses of the recipients of messages with status `partial`, so that a list filtered by status finds these
-- messages too, in order and without reading others. A trigger maintains it.
CREATE TABLE message_statuses (
    status     text NOT NULL,
    message_id uuid NOT NULL,
    domain_id  uuid,
    PRIMARY KEY (status, message_id)
) PARTITION BY RANGE (message_id);
CREATE TABLE message_statuses_default PARTITION OF message_statuses DEFAULT;
CREATE INDEX message_statuses_by_domain ON message_statuses (domain_id, status, message_id);
CREATE INDEX message_statuses_by_message ON message_statuses (message_id);

-- Delivery attempts for a recipient, and submissions that the MTA did not accept. A recipient that a relay accepted is
-- `relayed`: its delivery is not known.
CREATE TABLE message_attempts (
    message_id      uuid NOT NULL,
    id              uuid NOT NULL,
    at              timestamptz NOT NULL,
    kind            text NOT NULL CONSTRAINT message_attempts_kind
                    CHECK (kind IN ('delivered', 'relayed', 'deferred', 'bounced', 'failed', 'lost', 'unknown',
                                     'scheduled', 'cancelled', 'complained')),
    recipient       text,
    attempt         integer NOT NULL,
    smtp_code       integer,
    enhanced_code   text,
    diagnostic      text,
    remote_host     text,
    next_attempt_at timestamptz,
    domain_id       uuid,                                                           -- the message's, if one of these is set:
    provider        text,                                                           -- of the server
    bounce_class    text,                                                           -- why it was deferred, bounced or failed
    PRIMARY KEY (message_id, id)
) PARTITION BY RANGE (message_id);
CREATE TABLE message_attempts_default PARTITION OF message_attempts DEFAULT;
CREATE INDEX message_attempts_by_provider ON message_attempts (provider, kind, message_id) WHERE provider IS NOT NULL;
CREATE INDEX message_attempts_by_domain_and_provider ON message_attempts (domain_id, provider, kind, message_id)
    WHERE provider IS NOT NULL;
CREATE INDEX message_attempts_by_class ON message_attempts (bounce_class, kind, message_id) WHERE bounce_class IS NOT NULL;
CREATE INDEX message_attempts_by_domain_and_class ON message_attempts (domain_id, bounce_class, kind, message_id)
    WHERE bounce_class IS NOT NULL;

-- Published events. `tx` orders them by transaction, so that a reader can wait for older transactions to end.
CREATE TABLE events (
    id         uuid PRIMARY KEY,
    tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
    kind       text NOT NULL,
    domain_id  uuid,
    message_id uuid,
    data       jsonb NOT NULL,
    created_at timestamptz NOT NULL
) PARTITION BY RANGE (id);
CREATE TABLE events_default PARTITION OF events DEFAULT;
CREATE INDEX events_by_transaction ON events (tx, id);
CREATE INDEX events_by_message ON events (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX events_by_domain ON events (domain_id, tx, id);

-- The content that `mail.received.full` adds to its event: one row per message, kept for 3 days.
CREATE TABLE event_payloads (
    queue_id   text PRIMARY KEY,
    content    bytea NOT NULL,                                                      -- a JSON object
    created_at timestamptz NOT NULL
);
-- Mostly base64, which hardly compresses.
ALTER TABLE event_payloads ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX event_payloads_by_age ON event_payloads (created_at);

-- Insert-only for the application's role (functions/grants.sql). `tx` shows the sealer which entries are committed.
CREATE TABLE audit_entries (
    id            uuid PRIMARY KEY,
    tx            xid8 NOT NULL DEFAULT pg_current_xact_id(),
    created_at    timestamptz NOT NULL,
    admin_id      uuid,                                                             -- no foreign key: the row never changes
    actor_type    text NOT NULL CONSTRAINT audit_entries_actor CHECK (actor_type IN ('session', 'api_key', 'system', 'cli', 'mailbox')),
    actor_label   text NOT NULL,
    key_id        uuid,
    action        text NOT NULL,
    resource_type text NOT NULL,
    resource_id   text,
    domain_id     uuid,
    domain_name   text,
    ip_address    text,
    user_agent    text,
    request_id    uuid,
    outcome       text NOT NULL CONSTRAINT audit_entries_outcome CHECK (outcome IN ('success', 'denied', 'failed')),
    error_code    text,
    details       jsonb NOT NULL
) PARTITION BY RANGE (id);
CREATE TABLE audit_entries_default PARTITION OF audit_entries DEFAULT;
CREATE INDEX audit_entries_by_domain ON audit_entries (domain_id, id);
CREATE INDEX audit_entries_by_admin ON audit_entries (admin_id, id);
CREATE INDEX audit_entries_by_resource ON audit_entries (resource_type, resource_id, id);
CREATE INDEX audit_entries_by_request ON audit_entries (request_id);
CREATE INDEX audit_entries_by_transaction ON audit_entries (tx, id);
CREATE INDEX audit_entries_by_action ON audit_entries (action, id);

-- The seals that chain the audit log. Each covers the entries after the (last_tx, last_id) of the seal before it, up to
-- its own.
CREATE TABLE audit_seals (
    sequence       bigint PRIMARY KEY CONSTRAINT audit_seals_sequence_range CHECK (sequence > 0),
    sealed_at      timestamptz NOT NULL,
    entries        integer NOT NULL,
    last_tx        xid8 NOT NULL,
    last_id        uuid NOT NULL,
    latest_id      uuid,                                                            -- the greatest ID among its entries
    leaves         bytea NOT NULL,                                                  -- ID and SHA-256 of each entry
    first_sequence bigint NOT NULL,                                                 -- older seals are dropped
    dropped_before timestamptz,                                                     -- older entries are dropped
    previous       bytea NOT NULL,
    hash           bytea NOT NULL,
    signature      bytea NOT NULL
);
ALTER TABLE audit_seals ALTER COLUMN leaves SET STORAGE EXTERNAL;
CREATE INDEX audit_seals_by_position ON audit_seals (last_tx, last_id);

-- By partitioned table: the first of two clock checks a day apart, and the latest time that such a pair has confirmed.
CREATE TABLE prune_checks (
    parent       text PRIMARY KEY,
    first_at     timestamptz NOT NULL,
    confirmed_at timestamptz
);

-- Counters for the metrics, of all processes (features/record/metrics). They only increase.
CREATE TABLE counters (
    name   text NOT NULL,
    labels text[] NOT NULL,
    count  bigint NOT NULL,
    PRIMARY KEY (name, labels)
) WITH (fillfactor = 50);

-- When background jobs last succeeded, since the instance was started (features/record/job_runs).
CREATE TABLE job_runs (
    job           text PRIMARY KEY,
    every_seconds double precision NOT NULL,
    succeeded_at  timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The status of each component of the health, and since when (features/operations/health).
CREATE TABLE component_states (
    component text PRIMARY KEY,
    status    text NOT NULL CONSTRAINT component_states_status CHECK (status IN ('ok', 'degraded', 'down', 'disabled')),
    since     timestamptz NOT NULL
);

-- The use of the data directory's disk, once an hour (features/operations/machine).
CREATE TABLE disk_measurements (
    hour         timestamptz PRIMARY KEY,
    used_bytes   bigint NOT NULL,
    total_bytes  bigint NOT NULL,
    used_inodes  bigint NOT NULL,
    total_inodes bigint NOT NULL
);

-- Figures about mail (features/record/analytics): of a domain (zeros: all domains), of all its mail, a tag or an API key,
-- at a provider (empty: all), in the `step` minutes from `slot` on: in each quarter of an hour, and again in each hour and day
-- (UTC). `delays`: deliveries by bucket of time.
CREATE TABLE analytics_counters (
    domain_id     uuid NOT NULL,
    dimension     text NOT NULL CONSTRAINT analytics_counters_dimension CHECK (dimension IN ('', 'tag', 'api_key')),
    value         text NOT NULL,
    provider      text NOT NULL,
    step          smallint NOT NULL CONSTRAINT analytics_counters_step CHECK (step IN (15, 60, 1440)),
    slot          timestamptz NOT NULL,
    messages      bigint NOT NULL,
    accepted      bigint NOT NULL,
    delivered     bigint NOT NULL,
    first_attempt bigint NOT NULL,
    deferred      bigint NOT NULL,
    bounced       bigint NOT NULL,
    failed        bigint NOT NULL,
    suppressed    bigint NOT NULL,
    complained    bigint NOT NULL,
    received      bigint NOT NULL,
    rejected      bigint NOT NULL,
    spam          bigint NOT NULL,
    delays        bigint[],
    CONSTRAINT analytics_counters_pkey PRIMARY KEY (domain_id, dimension, value, provider, step, slot)
) WITH (fillfactor = 70);
CREATE INDEX analytics_counters_by_domain ON analytics_counters (domain_id, dimension, step, slot);
CREATE INDEX analytics_counters_by_value ON analytics_counters (dimension, value, provider, step, slot);
CREATE INDEX analytics_counters_by_age ON analytics_counters USING brin (slot);

-- Why mail was deferred, bounced or failed, with the latest reply.
CREATE TABLE analytics_bounces (
    domain_id  uuid NOT NULL,
    dimension  text NOT NULL,
    value      text NOT NULL,
    provider   text NOT NULL,
    step       smallint NOT NULL,
    slot       timestamptz NOT NULL,
    class      text NOT NULL,
    deferred   bigint NOT NULL,
    bounced    bigint NOT NULL,
    failed     bigint NOT NULL,
    reply      text,
    reply_at   timestamptz,
    message_id uuid,
    CONSTRAINT analytics_bounces_pkey PRIMARY KEY (domain_id, dimension, value, provider, step, slot, class)
) WITH (fillfactor = 70);
CREATE INDEX analytics_bounces_by_age ON analytics_bounces USING brin (slot);

-- Up to where a feature has read the feed of events.
CREATE TABLE event_positions (
    reader   text NOT NULL CONSTRAINT event_positions_pkey PRIMARY KEY,
    tx       xid8 NOT NULL,
    event_id uuid NOT NULL
);
INSERT INTO event_positions VALUES
    ('analytics', '0', '00000000-0000-0000-0000-000000000000'),
    ('sender_checks', '0', '00000000-0000-0000-0000-000000000000');

-- Tasks for a node agent: what needs root or a daemon's tool.
CREATE TABLE node_tasks (
    id           uuid PRIMARY KEY,
    kind         text NOT NULL,
    argument     jsonb NOT NULL,
    state        text NOT NULL CONSTRAINT node_tasks_state
                 CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'withdrawn')),
    result       jsonb,
    error        text,
    requested_at timestamptz NOT NULL,
    claimed_at   timestamptz,
    finished_at  timestamptz
);
CREATE INDEX node_tasks_open ON node_tasks (id) WHERE state IN ('waiting', 'running');
CREATE INDEX node_tasks_by_age ON node_tasks (requested_at);

-- Revisions of the stored settings. `changes` has the changed values, secrets masked; `stored` is the whole map after the change,
-- sealed with the master secret. Settings of daemons and of the start of processes have the values of the applied revision until the
-- desired one is applied. `use_at_start`: whether a start applies the desired one, which it does not after a rollback.
CREATE TABLE settings_revisions (
    n          integer PRIMARY KEY CONSTRAINT settings_revisions_n CHECK (n > 0),
    author_id  uuid,
    author     text NOT NULL,
    comment    text NOT NULL,
    changes    jsonb NOT NULL,
    stored     bytea NOT NULL,
    state      text NOT NULL CONSTRAINT settings_revisions_state CHECK (state IN ('applied', 'desired', 'superseded')),
    use_at_start boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX settings_revisions_current ON settings_revisions (state) WHERE state <> 'superseded';

-- Operations on the daemons and processes. At most one is running, on all nodes together. `steps` is a list of
-- {name, state, started_at, finished_at, output}; `started_at` is set when the process `node` begins. An apply may have to be confirmed
-- before `confirm_until`, over the HTTPS listener `confirm_listener` at `confirm_url` if they are set.
CREATE TABLE orchestrator_operations (
    id          uuid PRIMARY KEY,
    kind        text NOT NULL CONSTRAINT orchestrator_operations_kind
        CHECK (kind IN ('start', 'stop', 'restart', 'reload', 'apply', 'rollback')),
    service     text CONSTRAINT orchestrator_operations_service CHECK ((service IS NULL) = (kind IN ('apply', 'rollback'))),
    state       text NOT NULL CONSTRAINT orchestrator_operations_state
        CHECK (state IN ('running', 'succeeded', 'failed', 'rolled_back')),
    steps       jsonb NOT NULL,
    error       text,
    author_id   uuid,
    author      text NOT NULL,
    created_at  timestamptz NOT NULL,
    started_at  timestamptz,
    finished_at timestamptz,
    confirm_until timestamptz,
    confirm_listener text,
    confirm_url text,
    confirmed_at timestamptz
);
CREATE UNIQUE INDEX orchestrator_operations_running ON orchestrator_operations ((true)) WHERE state = 'running';

-- Mail that Mailkeep itself writes: one row per mail, which is its record and its job (features/record/system_mail).
-- A row with `collects` takes further items of its kind until it is claimed. Its ID is that of the message in the history.
CREATE TABLE system_mail (
    id              uuid PRIMARY KEY,
    kind            text NOT NULL,
    recipient       text NOT NULL,
    items           jsonb NOT NULL,                                                 -- what it reports; the first 50
    item_count      integer NOT NULL,
    collects        boolean NOT NULL,
    created_at      timestamptz NOT NULL,
    next_attempt_at timestamptz,                                                    -- NULL: finished
    claims          integer NOT NULL DEFAULT 0,
    held            boolean NOT NULL DEFAULT false                                  -- after a restore, until released
);
CREATE UNIQUE INDEX system_mail_collecting ON system_mail (kind, recipient) WHERE collects AND claims = 0;
CREATE INDEX system_mail_due ON system_mail (next_attempt_at) WHERE next_attempt_at IS NOT NULL AND NOT held;
CREATE INDEX system_mail_held ON system_mail (id) WHERE held;
CREATE INDEX system_mail_recent ON system_mail (kind, recipient, created_at);
CREATE INDEX system_mail_by_age ON system_mail (created_at);

-- Messages that wait for their time (features/record/scheduled). `due_at`: when a worker may claim the message, also after
-- a failed attempt and at the end of a lease; NULL while it is submitted. `claims` is the fencing token, `process` (a
-- liveness lock) the worker that claimed or submits it. The row is deleted when the MTA has accepted the message or it has
-- ended.
CREATE TABLE scheduled_messages (
    message_id   uuid PRIMARY KEY,
    domain_id    uuid NOT NULL,
    admin_id     uuid,                                                              -- whose rights it needs
    key_id       uuid,
    creator      jsonb NOT NULL,                                                    -- label, role, actor, address, program
    scheduled_at timestamptz NOT NULL,
    due_at       timestamptz,
    claims       integer NOT NULL DEFAULT 0,
    process      uuid,
    failures     integer NOT NULL DEFAULT 0,                                        -- attempts that ended without acceptance
    recipients   integer NOT NULL,
    size         bigint NOT NULL,
    held         boolean NOT NULL DEFAULT false,                                    -- after a restore, until released
    changed_at   timestamptz NOT NULL
);
CREATE INDEX scheduled_messages_due ON scheduled_messages (due_at) WHERE due_at IS NOT NULL AND NOT held;
CREATE INDEX scheduled_messages_submitting ON scheduled_messages (message_id) WHERE due_at IS NULL;
CREATE INDEX scheduled_messages_claimed ON scheduled_messages (process) WHERE process IS NOT NULL;
CREATE INDEX scheduled_messages_by_key ON scheduled_messages (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX scheduled_messages_by_domain ON scheduled_messages (domain_id);

-- Their contents in parts of at most 1 MiB, each sealed with the master secret.
CREATE TABLE scheduled_contents (
    message_id uuid NOT NULL REFERENCES scheduled_messages ON DELETE CASCADE,
    number     integer NOT NULL,
    sealed     bytea NOT NULL,
    PRIMARY KEY (message_id, number)
);
ALTER TABLE scheduled_contents ALTER COLUMN sealed SET STORAGE EXTERNAL;

-- The certificates of the server (`name` `server`) and of each hosted domain. A row is also a job of the worker, which orders and
-- renews; `claims` is the fencing token. `chain` (PEM) and `key_sealed` (bound to the row's ID) are those that were ordered by
-- ACME; of files (`source` `file`, `self_signed`) only the properties are stored. `checks`: what was found about each wanted name.
-- `revoke_reason`: the certificate is to be replaced and then revoked, when it is in `revoking`.
CREATE TABLE certificates (
    id              uuid PRIMARY KEY,
    name            text NOT NULL CONSTRAINT certificates_name_unique UNIQUE,
    domain_id       uuid CONSTRAINT certificates_domain_unique UNIQUE REFERENCES domains ON DELETE CASCADE,
    source          text NOT NULL DEFAULT 'none'
                    CONSTRAINT certificates_source CHECK (source IN ('none', 'acme', 'file', 'self_signed')),
    checks          jsonb NOT NULL DEFAULT '[]',
    chain           text,
    key_sealed      bytea,
    names           text[] NOT NULL DEFAULT '{}',
    issuer          text NOT NULL DEFAULT '',
    serial          text NOT NULL DEFAULT '',
    fingerprint     text NOT NULL DEFAULT '',
    not_before      timestamptz,
    not_after       timestamptz,
    issued_at       timestamptz,
    renew_at        timestamptz,
    problem         text NOT NULL DEFAULT '',
    failures        integer NOT NULL DEFAULT 0,
    alerted         boolean NOT NULL DEFAULT false,
    forced          boolean NOT NULL DEFAULT false,
    revoke_reason   smallint CONSTRAINT certificates_revoke_reason CHECK (revoke_reason BETWEEN 0 AND 10),
    revoking        text,
    attempted_at    timestamptz,
    next_attempt_at timestamptz NOT NULL,
    claims          integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    CONSTRAINT certificates_complete CHECK ((source = 'acme') = (chain IS NOT NULL) AND (chain IS NULL) = (key_sealed IS NULL)),
    CONSTRAINT certificates_of_domain CHECK ((name = 'server') = (domain_id IS NULL))
);
CREATE INDEX certificates_due ON certificates (next_attempt_at);

-- The account at each authority. `next_key_sealed`: the key that replaces `key_sealed` while the authority is asked to.
CREATE TABLE acme_accounts (
    directory       text PRIMARY KEY,
    url             text NOT NULL DEFAULT '',
    key_sealed      bytea NOT NULL,
    next_key_sealed bytea,
    created_at      timestamptz NOT NULL
);

-- What GET /.well-known/acme-challenge/{token} answers.
CREATE TABLE acme_tokens (
    token      text PRIMARY KEY,
    content    text NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Backups (features/operations/backups). `snapshot` is restic's ID; `verified_*` the last verification. `began_at`: what was acknowledged
-- before it is in the backup.
CREATE TABLE backups (
    id              uuid PRIMARY KEY,
    state           text NOT NULL CONSTRAINT backups_state CHECK (state IN ('running', 'succeeded', 'failed', 'cancelled')),
    trigger         text NOT NULL CONSTRAINT backups_trigger CHECK (trigger IN ('manual', 'schedule', 'upgrade')),
    created_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    snapshot        text NOT NULL DEFAULT '',
    size_bytes      bigint,
    added_bytes     bigint,
    domains         integer,
    mailboxes       integer,
    messages        bigint,
    verified_at     timestamptz,
    verified_ok     boolean,
    verified_detail text NOT NULL DEFAULT '',
    error           text,
    version         text NOT NULL,
    CONSTRAINT backups_verified CHECK ((verified_at IS NULL) = (verified_ok IS NULL))
);
CREATE INDEX backups_by_age ON backups (created_at, id);
CREATE UNIQUE INDEX backups_snapshot ON backups (snapshot) WHERE snapshot <> '';

-- Operations on backups: a row is the record and the job of the process `backup`, which holds the liveness lock `process`. At most one
-- waits or runs.
CREATE TABLE backup_operations (
    id               uuid PRIMARY KEY,
    kind             text NOT NULL
                     CONSTRAINT backup_operations_kind CHECK (kind IN ('create', 'verify', 'restore', 'prune', 'key')),
    state            text NOT NULL
                     CONSTRAINT backup_operations_state CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'cancelled')),
    backup_id        uuid REFERENCES backups ON DELETE SET NULL,
    argument         jsonb NOT NULL DEFAULT '{}',
    phase            text NOT NULL DEFAULT '',
    done             bigint NOT NULL DEFAULT 0,
    total            bigint NOT NULL DEFAULT 0,
    cancel_requested boolean NOT NULL DEFAULT false,
    result           jsonb,
    error            text,
    author_id        uuid,
    author           text NOT NULL,
    process          uuid,
    created_at       timestamptz NOT NULL,
    started_at       timestamptz,
    finished_at      timestamptz
);
CREATE UNIQUE INDEX backup_operations_open ON backup_operations ((true)) WHERE state IN ('waiting', 'running');
CREATE INDEX backup_operations_by_age ON backup_operations (created_at, id);

-- The recovery key of the repository (features/operations/recovery_key): `key_id` is restic's; the key itself is not stored.
CREATE TABLE recovery_key (
    only_row    boolean PRIMARY KEY DEFAULT true CONSTRAINT recovery_key_only_row CHECK (only_row),
    key_id      text NOT NULL,
    repository  text NOT NULL,
    created_at  timestamptz NOT NULL,
    verified_at timestamptz
);

-- The archive of the write-ahead log (features/operations/wal_archive): the chain in progress, or the last one.
CREATE TABLE wal_archive (
    only_row     boolean PRIMARY KEY DEFAULT true CONSTRAINT wal_archive_only_row CHECK (only_row),
    chain        uuid NOT NULL,
    repository   text NOT NULL,
    began_at     timestamptz NOT NULL,
    stored_to    timestamptz,
    next_segment text NOT NULL DEFAULT '',
    spool_bytes  bigint NOT NULL DEFAULT 0,
    error        text,
    ended        text
);

-- What an administrator should look at (features/record/alerts). Only one alert of a kind about a subject is unresolved.
-- `changed_at`: of state, severity or note; `unmailed`: the change that is to be mailed; `mailed_at`: when it was last mailed.
CREATE TABLE alerts (
    id             uuid PRIMARY KEY,
    area           text NOT NULL CONSTRAINT alerts_area CHECK (area IN ('health', 'abuse')),
    kind           text NOT NULL,
    subject        text NOT NULL,
    domain_id      uuid REFERENCES domains ON DELETE CASCADE,
    severity       text NOT NULL CONSTRAINT alerts_severity CHECK (severity IN ('warning', 'critical')),
    reason         text NOT NULL,
    observed       double precision,
    baseline       double precision,
    state          text NOT NULL CONSTRAINT alerts_state CHECK (state IN ('open', 'acknowledged', 'resolved')),
    created_at     timestamptz NOT NULL,
    seen_at        timestamptz NOT NULL,
    reported_at    timestamptz NOT NULL,
    in_order_since timestamptz,
    resolved_at    timestamptz,
    note           text,
    changed_at     timestamptz NOT NULL,
    unmailed       text CONSTRAINT alerts_unmailed CHECK (unmailed IN ('opened', 'worse', 'reminder', 'resolved')),
    mailed_at      timestamptz
);
CREATE UNIQUE INDEX alerts_unresolved ON alerts (area, kind, subject) WHERE state <> 'resolved';
CREATE INDEX alerts_by_area ON alerts (area, id);
CREATE INDEX alerts_by_domain ON alerts (domain_id, id);
CREATE INDEX alerts_by_end ON alerts (resolved_at) WHERE state = 'resolved';
CREATE INDEX alerts_to_mail ON alerts (id) WHERE unmailed IS NOT NULL;

-- What is wrong with backups and was reported (features/operations/backup_alerts): `subject` tells one case from the next.
CREATE TABLE backup_alerts (
    kind        text PRIMARY KEY CONSTRAINT backup_alerts_kind CHECK (kind IN ('failed', 'unverified', 'late')),
    subject     text NOT NULL,
    reported_at timestamptz NOT NULL
);

-- The last full restore of this instance: what had been queued in the backup is held until it is released.
CREATE TABLE restored_backup (
    only_row    boolean PRIMARY KEY DEFAULT true CONSTRAINT restored_backup_only_row CHECK (only_row),
    backup_id   uuid NOT NULL,
    began_at    timestamptz NOT NULL,
    restored_at timestamptz NOT NULL,
    released_at timestamptz
);
