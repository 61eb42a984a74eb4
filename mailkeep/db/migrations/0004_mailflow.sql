-- Sending, receiving, delivery status and webhooks.

-- Templates of messages. The columns after is_draft_published are the draft, whose number is `version`. `uses`: the
-- variables that each of its parts uses.
CREATE TABLE templates (
    id                uuid PRIMARY KEY,
    domain_id         uuid REFERENCES domains ON DELETE CASCADE,                    -- NULL: for all domains
    name              text NOT NULL,
    version           integer NOT NULL CONSTRAINT templates_version_positive CHECK (version > 0),
    published_version integer CONSTRAINT templates_published_version_range CHECK (published_version BETWEEN 1 AND version),
    is_draft_published boolean NOT NULL,                                            -- it is stored as a version
    subject           text NOT NULL,
    text_body         text,
    html_body         text,
    variables         jsonb NOT NULL,
    inline_css        boolean NOT NULL,
    uses              jsonb NOT NULL,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    CONSTRAINT templates_name_unique UNIQUE NULLS NOT DISTINCT (domain_id, name),
    CONSTRAINT templates_body CHECK (num_nonnulls(text_body, html_body) > 0)
);
CREATE INDEX templates_by_domain ON templates (domain_id, id);
CREATE INDEX templates_by_name ON templates (name, id);
CREATE INDEX templates_by_update ON templates (updated_at, id);

-- Published versions; a row never changes.
CREATE TABLE template_versions (
    template_id uuid NOT NULL REFERENCES templates ON DELETE CASCADE,
    version     integer NOT NULL,
    id          uuid NOT NULL CONSTRAINT template_versions_id_unique UNIQUE,
    subject     text NOT NULL,
    text_body   text,
    html_body   text,
    variables   jsonb NOT NULL,
    inline_css  boolean NOT NULL,
    created_at  timestamptz NOT NULL,                                               -- published
    PRIMARY KEY (template_id, version)
);
CREATE INDEX template_versions_by_age ON template_versions (template_id, id);

-- Sending suspended for an address, by the abuse rules (by_rank NULL) or by an administrator. domain_id is NULL for
-- senders at the server's host name, which need not be a managed domain (`mailkeep sendmail`).
CREATE TABLE suspensions (
    id          uuid PRIMARY KEY,
    domain_id   uuid REFERENCES domains ON DELETE CASCADE,
    address     text NOT NULL,
    address_key text NOT NULL CONSTRAINT suspensions_address_unique UNIQUE,
    reason      text NOT NULL,
    by_kind     text NOT NULL CONSTRAINT suspensions_by_kind CHECK (by_kind IN ('rules', 'admin')),
    by_label    text NOT NULL,
    by_rank     integer,
    created_at  timestamptz NOT NULL
);
CREATE INDEX suspensions_by_domain ON suspensions (domain_id, id);
CREATE INDEX suspensions_by_address ON suspensions (address, id);

-- MTA-STS policies of other domains (RFC 8461), kept until they expire.
CREATE TABLE mta_sts_policies (
    domain     text PRIMARY KEY,                                                    -- A-labels, lower case
    policy_id  text NOT NULL,
    mode       text NOT NULL CONSTRAINT mta_sts_policies_mode CHECK (mode IN ('none', 'testing', 'enforce')),
    mx         text[] NOT NULL,
    max_age    integer NOT NULL,
    fetched_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    tried_at   timestamptz NOT NULL,                                                -- when it was last fetched, or could not be
    used_at    timestamptz NOT NULL                                                 -- a day of the last delivery
);
CREATE INDEX mta_sts_policies_by_age ON mta_sts_policies (tried_at);
-- Groups of messages from which recipients can unsubscribe.
CREATE TABLE unsubscribe_groups (
    id         uuid PRIMARY KEY,
    domain_id  uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    name       text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT unsubscribe_groups_name_unique UNIQUE (domain_id, name),
    CONSTRAINT unsubscribe_groups_in_domain UNIQUE (domain_id, id)
);

-- Addresses to which a domain sends nothing by API: no mail at all (group_id NULL), or no mail of a group.
CREATE TABLE suppressions (
    id                uuid PRIMARY KEY,
    domain_id         uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    address           text NOT NULL,
    address_key       text NOT NULL,
    reason            text NOT NULL CONSTRAINT suppressions_reason
                      CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
    group_id          uuid,
    source_message_id uuid,                                                         -- no foreign key: it outlives the message
    created_at        timestamptz NOT NULL,
    CONSTRAINT suppressions_group FOREIGN KEY (domain_id, group_id) REFERENCES unsubscribe_groups (domain_id, id) ON DELETE CASCADE,
    CONSTRAINT suppressions_unique UNIQUE NULLS NOT DISTINCT (domain_id, address_key, group_id)
);
CREATE INDEX suppressions_by_domain ON suppressions (domain_id, id);
CREATE INDEX suppressions_by_address ON suppressions (address, id);
CREATE INDEX suppressions_by_group ON suppressions (domain_id, group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX suppressions_trigrams ON suppressions USING gin (address_key gin_trgm_ops);

-- Recipients of all sent mail, by sender and by domain: one row for each minute with mail. `subject` is a sender's
-- address key, a domain's name, or forward_subject() of a domain.
CREATE TABLE send_counts (
    subject    text NOT NULL,
    minute     timestamptz NOT NULL,
    recipients integer NOT NULL CONSTRAINT send_counts_positive CHECK (recipients >= 0),
    PRIMARY KEY (subject, minute)
) WITH (fillfactor = 70);

-- Thresholds of a domain or a mailbox that differ from the settings `abuse.*`. `highest`: what an administrator of all
-- domains has set here; a domain_admin's value stays below it.
CREATE TABLE thresholds (
    domain_id  uuid REFERENCES domains ON DELETE CASCADE,
    mailbox_id uuid REFERENCES mailboxes ON DELETE CASCADE,
    name       text NOT NULL,
    value      double precision NOT NULL,
    highest    double precision,
    CONSTRAINT thresholds_of_one CHECK (num_nonnulls(domain_id, mailbox_id) = 1),
    CONSTRAINT thresholds_of_domain UNIQUE (domain_id, name),
    CONSTRAINT thresholds_of_mailbox UNIQUE (mailbox_id, name)
);

-- What became of sent mail (features/mailflow/sender_checks), by sender (address key, or forward_subject() of a domain),
-- in the 15 minutes from `slot` on. `unknown`: refused because the recipient does not exist.
CREATE TABLE sender_outcomes (
    sender     text NOT NULL,
    slot       timestamptz NOT NULL,
    domain_id  uuid REFERENCES domains ON DELETE CASCADE,
    outcomes   bigint NOT NULL,
    unknown    bigint NOT NULL,
    delivered  bigint NOT NULL,
    complaints bigint NOT NULL,
    CONSTRAINT sender_outcomes_pkey PRIMARY KEY (sender, slot)
) WITH (fillfactor = 70);
CREATE INDEX sender_outcomes_by_slot ON sender_outcomes (slot);
CREATE INDEX sender_outcomes_by_domain ON sender_outcomes (domain_id);

-- To whom a sender wrote on a day (UTC): a bitmap of 2,048 bits.
CREATE TABLE sender_recipients (
    sender    text NOT NULL,
    day       date NOT NULL,
    domain_id uuid REFERENCES domains ON DELETE CASCADE,
    seen      bit(2048) NOT NULL,
    CONSTRAINT sender_recipients_pkey PRIMARY KEY (sender, day)
) WITH (fillfactor = 70);
CREATE INDEX sender_recipients_by_day ON sender_recipients (day);
CREATE INDEX sender_recipients_by_domain ON sender_recipients (domain_id);

-- Forwarded copies counted for a message, by queue ID, kept until the counts leave the hour: they are subtracted again
-- if the message is not accepted after all.
CREATE TABLE forward_charges (
    queue_id   text PRIMARY KEY,
    charged_at timestamptz NOT NULL,
    domains    text[] NOT NULL,
    copies     integer[] NOT NULL
);
CREATE INDEX forward_charges_by_age ON forward_charges (charged_at);

-- (queue ID, recipient) pairs whose message is recorded. A repeated delivery finds the message here.
CREATE TABLE inbound_claims (
    queue_id   text NOT NULL,
    recipient  text NOT NULL,
    message_id uuid NOT NULL,
    claimed_at timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
);
CREATE INDEX inbound_claims_by_age ON inbound_claims (claimed_at);

-- External copies of messages whose copies all go to the agent, because some are spam. Kept while Postfix may deliver the
-- message again, and the copy may be in its queue.
CREATE TABLE external_copies (
    queue_id     text NOT NULL,                                                     -- of the incoming message
    recipient    text NOT NULL,
    original     text NOT NULL,                                                     -- the recipient that forwards to it
    domain_name  text NOT NULL,                                                     -- that forwards it (empty: none), or refuses to
    state        text NOT NULL
                 CONSTRAINT external_copies_state CHECK (state IN ('returning', 'returned', 'refused')),
    marker       uuid NOT NULL,                                                     -- of the attempt to return it, in the log
    returned_as  text,                                                              -- its queue ID
    attempted_at timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX external_copies_by_marker ON external_copies (marker);
CREATE INDEX external_copies_by_age ON external_copies (attempted_at);

-- Mail to forward to external addresses, until the MTA accepts it. The content is in a file named by the queue ID.
CREATE TABLE forwards (
    queue_id        text NOT NULL,
    recipient       text NOT NULL,
    mail_from       text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
);
CREATE INDEX forwards_due ON forwards (next_attempt_at);

-- Messages that the sandbox (the built-in MTA) has accepted, and their open recipients.
CREATE TABLE sandbox_messages (
    id          uuid PRIMARY KEY,
    queue_id    text NOT NULL CONSTRAINT sandbox_messages_queue_id_unique UNIQUE,
    mail_from   text NOT NULL,
    rcpt_to     text[] NOT NULL,
    message_id  text NOT NULL,
    size        bigint NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX sandbox_messages_by_message_id ON sandbox_messages (message_id);

CREATE TABLE sandbox_queue (
    message_id      uuid NOT NULL REFERENCES sandbox_messages ON DELETE CASCADE,
    recipient       text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    PRIMARY KEY (message_id, recipient)
);
CREATE INDEX sandbox_queue_due ON sandbox_queue (next_attempt_at);

-- The mail logs that are followed. caught_up_at: when the end was last reached; everything written before is known.
CREATE TABLE mail_logs (
    name         text PRIMARY KEY,
    caught_up_at timestamptz
);

-- Read positions in the files of a log. Inode numbers are reused, so the SHA-256 of the first line identifies a file
-- too.
CREATE TABLE mail_log_positions (
    log        text NOT NULL,
    inode      bigint NOT NULL,
    first_line bytea NOT NULL,
    read_to    bigint NOT NULL,
    read_at    timestamptz NOT NULL,
    PRIMARY KEY (log, inode)
);

-- Mail in Postfix's queue, by queue ID: what the log has reported about it so far. Deleted with the end of the queue entry.
-- `inbound` and `reinjection` are forwarded mail: copies that aliases and mailboxes send to external addresses, and
-- mail that Dovecot submits (Sieve).
CREATE TABLE queued_mail (
    queue_id            text PRIMARY KEY,
    origin              text NOT NULL
                        CONSTRAINT queued_mail_origin
                        CHECK (origin IN ('api', 'submission', 'inbound', 'reinjection', 'returned')),
    login               text,                                                       -- of the mail client
    header_id           text NOT NULL,                                              -- Message-ID
    head                jsonb NOT NULL,                                             -- header fields that cleanup logs
    sender              text NOT NULL,
    size                bigint NOT NULL,
    message_id          uuid,                                                       -- the row in messages, once accepted
    queue_recipients    integer,                                                    -- recipients in the queue
    original_recipients integer NOT NULL,                                           -- recipients of the envelope
    envelope_known      boolean NOT NULL,                                           -- all original recipients are known
    expanded_recipients jsonb NOT NULL,                                             -- delivery outcomes behind aliases
    decided_aliases     text[] NOT NULL,                                            -- aliases whose outcome is decided
    forwarded_messages  jsonb NOT NULL DEFAULT '{}',                                -- forwarding domain: row in messages
    first_seen_at       timestamptz NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX queued_mail_by_age ON queued_mail (first_seen_at);

-- Envelopes of mail that clients submit, recorded before Postfix accepts it: the log does not have them. A row is deleted if
-- the log shows that Postfix did not accept the message.
-- Of a message submitted with an API key it has the row for the history, and the claim of its Idempotency-Key.
CREATE TABLE submission_envelopes (
    queue_id        text PRIMARY KEY,
    login           text NOT NULL,
    sender          text NOT NULL,
    recipients      text[] NOT NULL,
    client          text NOT NULL,
    created_at      timestamptz NOT NULL,
    accepted_at     timestamptz,                                                    -- when the log's line of qmgr was read
    message         jsonb,                                                          -- the row to insert into messages then
    api_key_id      uuid,
    idempotency_key text,
    body_hash       bytea,                                                          -- of what was submitted with it
    CONSTRAINT submission_envelopes_claim CHECK (num_nulls(idempotency_key, body_hash) IN (0, 2)
                                                 AND (idempotency_key IS NULL OR api_key_id IS NOT NULL))
);
CREATE INDEX submission_envelopes_by_age ON submission_envelopes (created_at);
CREATE INDEX submission_envelopes_open ON submission_envelopes (created_at) WHERE accepted_at IS NULL;
CREATE UNIQUE INDEX submission_envelopes_claims ON submission_envelopes (api_key_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE webhooks (
    id                    uuid PRIMARY KEY,
    url                   text NOT NULL,
    events                text[] NOT NULL CONSTRAINT webhooks_events_some CHECK (cardinality(events) > 0),
    domain_id             uuid REFERENCES domains ON DELETE CASCADE,                -- NULL: all domains; set at creation
    active                boolean NOT NULL,
    secret                bytea NOT NULL,                                           -- sealed, bound to the ID
    previous_secret       bytea,                                                    -- signs too until previous_secret_until
    previous_secret_until timestamptz,
    failing_since         timestamptz,                                              -- no attempt has succeeded since
    disabled_at           timestamptz,                                              -- disabled automatically after long failure
    created_by            uuid NOT NULL,                                            -- no foreign key: it outlives the admin
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    CONSTRAINT webhooks_previous_secret_whole CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
    CONSTRAINT webhooks_disabled_inactive CHECK (disabled_at IS NULL OR NOT active)
);
CREATE INDEX webhooks_by_domain ON webhooks (domain_id);

-- Deliveries of an event to a webhook. The content is in the event's row. No foreign keys: a webhook with a million
-- deliveries is deleted at once, its deliveries later.
-- next_attempt_at: when a worker may claim the delivery; while claimed, the end of the lease; NULL if it is delivered or
-- abandoned.
-- lease: number of claims. A worker that was paused compares it to detect that another worker has claimed the delivery.
CREATE TABLE webhook_deliveries (
    id              uuid PRIMARY KEY,
    webhook_id      uuid NOT NULL,
    event_id        uuid NOT NULL,
    kind            text NOT NULL,
    state           text NOT NULL CONSTRAINT webhook_deliveries_state
                    CHECK (state IN ('pending', 'waiting_for_retry', 'delivered', 'abandoned')),
    failures        integer NOT NULL DEFAULT 0,                                     -- since creation or replay
    lease           bigint NOT NULL DEFAULT 0,
    claimed_at      timestamptz,                                                    -- start of the current attempt
    next_attempt_at timestamptz,
    attempts        jsonb NOT NULL DEFAULT '[]',                                    -- finished attempts, oldest first
    held            boolean NOT NULL DEFAULT false,                                 -- after a restore, until released
    created_at      timestamptz NOT NULL,
    CONSTRAINT webhook_deliveries_next_attempt CHECK ((next_attempt_at IS NULL) = (state IN ('delivered', 'abandoned')))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL AND NOT held;
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (id) WHERE held;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_abandoned ON webhook_deliveries (webhook_id, id) WHERE state = 'abandoned';

-- Mail to the report addresses that no worker has read yet; the row is deleted in the transaction that stores the report.
-- sender_domain: the From domain if the message passed DMARC, else empty.
CREATE TABLE report_mail (
    id            uuid PRIMARY KEY,
    queue_id      text NOT NULL CONSTRAINT report_mail_queue_id UNIQUE,
    content       bytea NOT NULL,
    sender_domain text NOT NULL,
    attempts      integer NOT NULL DEFAULT 0,
    claimed_until timestamptz NOT NULL,                                             -- no worker may claim it before
    received_at   timestamptz NOT NULL
);
CREATE INDEX report_mail_due ON report_mail (claimed_until);

-- Reports of other servers about a domain: DMARC aggregates, TLS reports, abuse reports (ARF). A domain that is added again
-- has another ID, and starts empty. Reports that are not proved count nowhere.
CREATE TABLE reports (
    id            uuid PRIMARY KEY,
    domain_id     uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    kind          text NOT NULL CONSTRAINT reports_kind CHECK (kind IN ('dmarc', 'tls', 'arf')),
    source        text NOT NULL CONSTRAINT reports_source CHECK (source IN ('mail', 'upload')),
    proved        boolean NOT NULL,
    sender_domain text NOT NULL,                                                    -- that passed DMARC; else empty
    organisation  text NOT NULL,
    report_id     text NOT NULL,
    contact       text NOT NULL,
    begin_at      timestamptz NOT NULL,
    end_at        timestamptz NOT NULL,
    messages      bigint NOT NULL,                                                  -- or TLS sessions, or incidents
    rows          integer NOT NULL,
    content       jsonb NOT NULL,                                                   -- policy; TLS policies; abuse report
    received_at   timestamptz NOT NULL,
    CONSTRAINT reports_proved CHECK (proved = (source = 'upload' OR sender_domain <> ''))
);
CREATE UNIQUE INDEX reports_once ON reports (domain_id, kind, report_id, organisation, sender_domain, proved);
CREATE INDEX reports_by_domain ON reports (domain_id, id);
CREATE INDEX reports_by_end ON reports (domain_id, kind, end_at) WHERE proved;
CREATE INDEX reports_by_age ON reports (received_at);

-- The records of proved DMARC reports. own_key: signed with a DKIM key of ours; other_domain: the domain for which SPF or DKIM
-- passed instead of an aligned one; forwarded: the reporter says so.
CREATE TABLE dmarc_rows (
    report       uuid NOT NULL REFERENCES reports ON DELETE CASCADE,
    domain_id    uuid NOT NULL,
    day          date NOT NULL,
    end_at       timestamptz NOT NULL,                                              -- of the report
    source_ip    inet NOT NULL,
    messages     bigint NOT NULL,
    disposition  text NOT NULL,
    dkim         boolean NOT NULL,                                                  -- aligned
    spf          boolean NOT NULL,
    own_key      boolean NOT NULL,
    forwarded    boolean NOT NULL,
    other_domain text NOT NULL
);
CREATE INDEX dmarc_rows_by_domain ON dmarc_rows (domain_id, end_at);
CREATE INDEX dmarc_rows_by_report ON dmarc_rows (report);

-- Reverse names of sources, looked up in the background. name: confirmed by a query of its addresses, or empty.
CREATE TABLE source_names (
    ip           inet PRIMARY KEY,
    name         text NOT NULL DEFAULT '',
    looked_up_at timestamptz,
    created_at   timestamptz NOT NULL
);
CREATE INDEX source_names_due ON source_names (created_at) WHERE looked_up_at IS NULL;

-- Filtering of incoming mail, for the server (both IDs NULL), a domain or a mailbox. NULL: as the wider scope. The server's
-- row has all values; it is written at start and when its settings change.
CREATE TABLE filter_settings (
    domain_id    uuid REFERENCES domains ON DELETE CASCADE,
    mailbox_id   uuid REFERENCES mailboxes ON DELETE CASCADE,
    junk_score   double precision,                                                  -- 0: off
    reject_score double precision,                                                  -- 0: off
    digest       text CONSTRAINT filter_settings_digest CHECK (digest IN ('off', 'daily', 'weekly')),
    learn        boolean,                                                           -- from moves to and from Junk
    updated_at   timestamptz NOT NULL,
    CONSTRAINT filter_settings_unique UNIQUE NULLS NOT DISTINCT (domain_id, mailbox_id),
    CONSTRAINT filter_settings_scope CHECK (num_nonnulls(domain_id, mailbox_id) <= 1),
    CONSTRAINT filter_settings_scores CHECK (junk_score BETWEEN 0 AND 1000 AND reject_score BETWEEN 0 AND 1000),
    CONSTRAINT filter_settings_server CHECK (num_nonnulls(domain_id, mailbox_id) = 1
        OR num_nonnulls(junk_score, reject_score, digest, learn) = 4)
);
CREATE INDEX filter_settings_by_mailbox ON filter_settings (mailbox_id) WHERE mailbox_id IS NOT NULL;
INSERT INTO filter_settings (junk_score, reject_score, digest, learn, updated_at) VALUES (6, 0, 'off', true, 'epoch');

-- Up to when the digests of a mailbox have listed its mail (features/mailflow/junk): a row for each mailbox with digests.
CREATE TABLE junk_digests (
    mailbox_id   uuid PRIMARY KEY REFERENCES mailboxes ON DELETE CASCADE,
    listed_until timestamptz NOT NULL
);

-- Allow and deny lists, of the server (both IDs NULL), a domain or a mailbox.
CREATE TABLE filter_entries (
    id          uuid PRIMARY KEY,
    domain_id   uuid REFERENCES domains ON DELETE CASCADE,
    mailbox_id  uuid REFERENCES mailboxes ON DELETE CASCADE,
    list        text NOT NULL CONSTRAINT filter_entries_list CHECK (list IN ('allow', 'deny')),
    kind        text NOT NULL CONSTRAINT filter_entries_kind CHECK (kind IN ('address', 'domain', 'network')),
    value       text NOT NULL,                                                      -- canonical: of one kind only
    enforced    boolean NOT NULL DEFAULT false,
    comment     text NOT NULL DEFAULT '',
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    hits        bigint NOT NULL DEFAULT 0,
    last_hit_at timestamptz,
    CONSTRAINT filter_entries_scope CHECK (num_nonnulls(domain_id, mailbox_id) <= 1),
    CONSTRAINT filter_entries_unique UNIQUE NULLS NOT DISTINCT (domain_id, mailbox_id, value, list)
);
CREATE INDEX filter_entries_by_mailbox ON filter_entries (mailbox_id) WHERE mailbox_id IS NOT NULL;
CREATE INDEX filter_entries_deny ON filter_entries (domain_id, mailbox_id) WHERE list = 'deny';
-- For lists. An expression, so that no lookup by value reads all entries of an owner through it.
CREATE INDEX filter_entries_by_owner ON filter_entries
    ((coalesce(mailbox_id, domain_id, '00000000-0000-0000-0000-000000000000')), id);

-- What the filter said about messages that it has refused at the end of their data, until Postfix's log shows the
-- refusal: then each recipient gets its row in the history.
CREATE TABLE refused_mail (
    queue_id   text PRIMARY KEY,
    verdict    jsonb NOT NULL,                                                      -- verdicts/model.RefusedMail
    refused_at timestamptz NOT NULL
);
CREATE INDEX refused_mail_by_time ON refused_mail (refused_at);

-- Which deny entries have refused recipients at RCPT, until Postfix's log shows it.
CREATE TABLE denials (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        text NOT NULL,                                                       -- hash of client, sender, recipient
    mailbox_id uuid,                                                                -- NULL: not of one mailbox
    decided_by jsonb NOT NULL,                                                      -- filtering/model.DecidedBy
    denied_at  timestamptz NOT NULL
);
CREATE INDEX denials_by_key ON denials (key);

-- Lessons of a mailbox for the filter by minute, for the limit of an hour. Older minutes are deleted with the next lesson.
CREATE TABLE filter_lessons (
    mailbox_id uuid REFERENCES mailboxes ON DELETE CASCADE,
    minute     timestamptz,
    accepted   integer NOT NULL,
    dropped    integer NOT NULL,
    PRIMARY KEY (mailbox_id, minute)
);

-- Incidents (features/mailflow/incidents): what was done at once about a mailbox, an API key or an administrator.
CREATE TABLE incidents (
    id           uuid PRIMARY KEY,
    domain_id    uuid REFERENCES domains ON DELETE CASCADE,                         -- of a mailbox; NULL for the others
    subject_type text NOT NULL CONSTRAINT incidents_subject_type CHECK (subject_type IN ('mailbox', 'api_key', 'admin')),
    subject_id   uuid NOT NULL,
    subject      text NOT NULL,                                                     -- its address, name or email then
    note         text NOT NULL,
    by_label     text NOT NULL,
    by_rank      integer NOT NULL,
    created_at   timestamptz NOT NULL,
    undone_at    timestamptz,
    undone_by    text,
    undone_rank  integer
);
CREATE INDEX incidents_by_domain ON incidents (domain_id, id);
CREATE INDEX incidents_by_subject ON incidents (subject_id, id);

-- Their actions, in the order in which they are carried out.
CREATE TABLE incident_actions (
    incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
    position    integer NOT NULL,
    action      text NOT NULL,
    result      text NOT NULL CONSTRAINT incident_actions_result CHECK (result IN ('pending', 'done', 'unchanged', 'failed')),
    affected    integer NOT NULL DEFAULT 0,
    error       jsonb,                                                              -- {code, message, details}
    undo        text CONSTRAINT incident_actions_undo
                CHECK (undo IN ('restored', 'unchanged', 'changed_since', 'not_restorable', 'failed')),
    PRIMARY KEY (incident_id, position)
);

-- What is restricted because of an incident that is not undone (features/record/restrictions). `subject` is an ID: of a
-- mailbox, app password, key, administrator, suspension, scheduled message, or Postfix's queue ID.
CREATE TABLE restrictions (
    kind        text NOT NULL,
    subject     text NOT NULL,
    incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
    PRIMARY KEY (kind, subject, incident_id)
);
CREATE INDEX restrictions_by_incident ON restrictions (incident_id, kind);
