-- What a send writes before the MTA is asked, and once it has taken the message: a statement each, for as many calls as
-- come at the same time. Transactions of several took the time of as many round trips.

-- Messages with their recipients, and what they are searched by; of those with an id in p_only, where that is given.
CREATE FUNCTION insert_messages(p_messages jsonb, p_recipients jsonb, p_search jsonb, p_tags jsonb, p_only uuid[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO messages (
        id, direction, message_id, queue_id, domain_id, domain_name, mailbox_id, source, admin_id, api_key_id, mail_from,
        from_address, to_addresses, cc_addresses, subject, size, tags, metadata, status, spam_score, spam_action,
        spam_symbols, auth, created_at, accepted_at, request_id, batch_index)
    SELECT r.id, r.direction, r.message_id, r.queue_id, r.domain_id, r.domain_name, r.mailbox_id, r.source, r.admin_id,
           r.api_key_id, r.mail_from, r.from_address, r.to_addresses, r.cc_addresses, r.subject, r.size, r.tags, r.metadata,
           r.status, r.spam_score, r.spam_action, r.spam_symbols, r.auth, r.created_at, r.accepted_at, r.request_id,
           r.batch_index
      FROM jsonb_to_recordset(p_messages) r(
               id uuid, direction text, message_id text, queue_id text, domain_id uuid, domain_name text, mailbox_id uuid,
               source text, admin_id uuid, api_key_id uuid, mail_from text, from_address text, to_addresses text[],
               cc_addresses text[], subject text, size bigint, tags text[], metadata jsonb, status text,
               spam_score double precision, spam_action text, spam_symbols text[], auth jsonb, created_at timestamptz,
               accepted_at timestamptz, request_id uuid, batch_index integer)
     WHERE p_only IS NULL OR r.id = ANY (p_only);
    INSERT INTO message_recipients (message_id, position, address, address_key, status, attempts, smtp_code, enhanced_code,
                                    diagnostic, remote_host, next_attempt_at)
    SELECT r.message_id, r.position, r.address, mailkeep_fold(r.address), r.status, r.attempts, r.smtp_code,
           r.enhanced_code, r.diagnostic, r.remote_host, r.next_attempt_at
      FROM jsonb_to_recordset(p_recipients) r(
               message_id uuid, position integer, address text, status text, attempts integer, smtp_code integer,
               enhanced_code text, diagnostic text, remote_host text, next_attempt_at timestamptz)
     WHERE p_only IS NULL OR r.message_id = ANY (p_only);
    INSERT INTO message_search (message_id, domain_id, subject, sender, recipients)
    SELECT r.message_id, r.domain_id, mailkeep_fold(r.subject), mailkeep_fold(r.sender), mailkeep_fold(r.recipients)
      FROM jsonb_to_recordset(p_search) r(message_id uuid, domain_id uuid, subject text, sender text, recipients text)
     WHERE p_only IS NULL OR r.message_id = ANY (p_only);
    IF p_tags <> '[]' THEN
        INSERT INTO message_tags (tag, message_id)
        SELECT DISTINCT r.tag, r.message_id FROM jsonb_to_recordset(p_tags) r(tag text, message_id uuid)
         WHERE p_only IS NULL OR r.message_id = ANY (p_only);
    END IF;
END
$$;

-- count_sends of messages (p_ids), and insert_messages of those that were counted: their attempts, which are on disk before
-- the MTA is asked. Where a sender is to be suspended nothing is counted and nothing written, of none of them.
CREATE FUNCTION begin_sends(
    p_at timestamptz, p_ids uuid[], p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint,
    p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb)
RETURNS TABLE (verdict text, retry_after integer) LANGUAGE plpgsql AS $$
DECLARE
    durable constant text := current_setting('synchronous_commit');
    counted uuid[];
    place   integer := 0;
    crossed boolean := false;
BEGIN
    FOR verdict, retry_after IN
        SELECT c.verdict, c.retry_after FROM count_sends(p_at, p_senders, p_recipients, p_sender_limit, p_domain_limit, false) c
    LOOP
        place := place + 1;
        crossed := crossed OR verdict = 'sender_rate';
        IF verdict = 'counted' THEN
            counted := counted || p_ids[place];
        END IF;
        RETURN NEXT;
    END LOOP;
    IF NOT crossed AND counted IS NOT NULL THEN
        PERFORM set_config('synchronous_commit', durable, true);  -- counts alone would wait for no disk
        PERFORM insert_messages(p_messages, p_rows, p_search, p_tags, counted);
    END IF;
END
$$;

-- Events, [{id, kind, domain_id, message_id, data}], and their deliveries are born here, in the transaction of the change.
DROP FUNCTION emit_event(uuid, text, uuid, uuid, jsonb, timestamptz);
CREATE FUNCTION emit_events(p_at timestamptz, p_events jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (id, kind, domain_id, message_id, data, created_at)
    SELECT e.id, e.kind, e.domain_id, e.message_id, e.data, p_at
      FROM jsonb_to_recordset(p_events) e(id uuid, kind text, domain_id uuid, message_id uuid, data jsonb);
    INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
    SELECT webhook_delivery_id(e.id, w.id), w.id, e.id, e.kind, 'pending', p_at, p_at
      FROM webhooks w
      JOIN jsonb_to_recordset(p_events) e(id uuid, kind text, domain_id uuid)
        ON (w.domain_id IS NULL OR w.domain_id = e.domain_id) AND webhook_wants(w.events, e.kind)
     WHERE w.active;
    IF FOUND THEN
        PERFORM wake_workers('webhooks');
    END IF;
END
$$;

-- Messages that were accepted: their unsettled recipients get p_status, and theirs is what all recipients say. p_accepted
-- is [{id, queue_id, event}]: event is mail.sent as emit_events takes it, told where nobody knew of the acceptance so far.
-- p_answered: that we were told so ourselves. Answers the messages of which that is news. Locked in the order of ids. Each is
-- found by its id, by one plan at every size of the table and of p_accepted: to make one costs more than what it finds.
CREATE OR REPLACE FUNCTION accept_messages(p_at timestamptz, p_status text, p_answered boolean, p_accepted jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan
SET enable_seqscan TO off SET enable_hashjoin TO off SET enable_mergejoin TO off AS $$
DECLARE
    taken  record;
    known  timestamptz;
    told   uuid[] := '{}';   -- by the log, before us
    fresh  uuid[] := '{}';
    queued text[] := '{}';
    events jsonb[] := '{}';
BEGIN
    FOR taken IN SELECT DISTINCT ON (a.id) a.id, a.queue_id, a.event
                   FROM jsonb_to_recordset(p_accepted) a(id uuid, queue_id text, event jsonb) ORDER BY a.id
    LOOP
        SELECT m.accepted_at INTO known FROM messages m
         WHERE m.id = taken.id AND m.answered_at IS NULL AND (p_answered OR m.accepted_at IS NULL) FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        RETURN NEXT taken.id;
        IF known IS NULL THEN
            fresh := fresh || taken.id;
            queued := queued || taken.queue_id;
            events := events || taken.event;
        ELSE
            told := told || taken.id;
        END IF;
    END LOOP;
    IF told <> '{}' THEN
        UPDATE messages m SET answered_at = p_at FROM unnest(told) t(id) WHERE m.id = t.id;
    END IF;
    IF fresh <> '{}' THEN
        UPDATE message_recipients r SET status = p_status FROM unnest(fresh) t(id)
         WHERE r.message_id = t.id AND r.status IN ('submitting', 'unknown', 'lost');
        UPDATE messages m
           SET queue_id = coalesce(m.queue_id, t.queue_id), accepted_at = p_at,
               answered_at = CASE WHEN p_answered THEN p_at END,
               status = (SELECT CASE WHEN min(r.status) = max(r.status) THEN min(r.status) ELSE 'partial' END
                           FROM message_recipients r WHERE r.message_id = t.id)
          FROM unnest(fresh, queued) t(id, queue_id)
         WHERE m.id = t.id;
        PERFORM emit_events(p_at, to_jsonb(events));
    END IF;
END
$$;

-- Entries of the audit log, by the names of their columns.
DROP FUNCTION record_audit(jsonb);
CREATE FUNCTION record_audits(p_entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_entries (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type, resource_id,
                               domain_id, domain_name, ip_address, user_agent, request_id, outcome, error_code, details)
    SELECT e.id, e.created_at, e.admin_id, e.actor_type, e.actor_label, e.key_id, e.action, e.resource_type, e.resource_id,
           e.domain_id, e.domain_name, e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code, e.details
      FROM jsonb_to_recordset(p_entries) e(
               id uuid, created_at timestamptz, admin_id uuid, actor_type text, actor_label text, key_id uuid, action text,
               resource_type text, resource_id text, domain_id uuid, domain_name text, ip_address text, user_agent text,
               request_id uuid, outcome text, error_code text, details jsonb);
END
$$;

-- accept_messages as the MTA's answer, of several calls: each has an entry in the audit log where any of its messages is
-- news. p_calls is [{ids, entry}].
DROP FUNCTION settle_sends(timestamptz, text, jsonb, jsonb);
CREATE FUNCTION settle_sends(p_at timestamptz, p_status text, p_accepted jsonb, p_calls jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    news constant uuid[] := ARRAY(SELECT accept_messages(p_at, p_status, true, p_accepted));
BEGIN
    PERFORM record_audits(jsonb_agg(c.entry))
       FROM jsonb_to_recordset(p_calls) c(ids uuid[], entry jsonb) WHERE c.ids && news;
END
$$;

-- What Dovecot asks for every delivery and login, in plpgsql, which keeps its plans for as long as Dovecot keeps the
-- connection.
CREATE OR REPLACE FUNCTION mta_user(p_local text, p_domain text)
RETURNS TABLE (login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key, m.id, m.quota_bytes, d.plus_delimiter
          FROM domains d
          CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
          JOIN mailboxes m ON m.id = r.id
         WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3) AND m.active AND d.active;
END
$$;

CREATE OR REPLACE FUNCTION mta_login(p_local text, p_domain text, p_protocol text)
RETURNS TABLE (login text, password text, mailbox_id uuid, quota_bytes bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key, m.password_hash, m.id, m.quota_bytes
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active
           AND m.local_key = mailkeep_fold(p_local) AND m.deleted_at IS NULL AND m.active
           AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                               WHEN 'smtp' THEN m.smtp ELSE false END;
END
$$;
