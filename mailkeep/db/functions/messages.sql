-- Messages with their recipients, and what they are searched by; of those with an id in p_only, where that is given.
CREATE OR REPLACE FUNCTION insert_messages(p_messages jsonb, p_recipients jsonb, p_search jsonb, p_tags jsonb, p_only uuid[] DEFAULT NULL)
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
CREATE OR REPLACE FUNCTION begin_sends(
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

-- accept_messages as the MTA's answer, and its one entry in the audit log where any of it is news.
CREATE OR REPLACE FUNCTION settle_sends(p_at timestamptz, p_status text, p_accepted jsonb, p_calls jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    news constant uuid[] := ARRAY(SELECT accept_messages(p_at, p_status, true, p_accepted));
BEGIN
    PERFORM record_audit_entries(jsonb_agg(c.entry))
       FROM jsonb_to_recordset(p_calls) c(ids uuid[], entry jsonb) WHERE c.ids && news;
END
$$;

-- What mailboxes took, or refused for good: claimed, [{queue_id, recipient, message_id}], written by insert_messages, and
-- told by emit_events, each once for a (queue id, recipient). Answers the messages that were not filed before.
CREATE OR REPLACE FUNCTION file_messages(
    p_at timestamptz, p_claims jsonb, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb, p_events jsonb)
RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
    fresh uuid[];
    told  jsonb;
BEGIN
    WITH claimed AS (
        INSERT INTO inbound_claims (queue_id, recipient, message_id, claimed_at)
        SELECT c.queue_id, c.recipient, c.message_id, p_at
          FROM jsonb_to_recordset(p_claims) c(queue_id text, recipient text, message_id uuid)
        ON CONFLICT (queue_id, recipient) DO NOTHING
        RETURNING message_id)
    SELECT array_agg(c.message_id) INTO fresh FROM claimed c;
    IF fresh IS NULL THEN
        RETURN;
    END IF;
    PERFORM insert_messages(p_messages, p_rows, p_search, p_tags, fresh);
    SELECT jsonb_agg(e.event ORDER BY e.place) INTO told
      FROM jsonb_array_elements(p_events) WITH ORDINALITY e (event, place)
     WHERE (e.event->>'message_id')::uuid = ANY (fresh);
    IF told IS NOT NULL THEN
        PERFORM emit_events(p_at, told);
    END IF;
    RETURN QUERY SELECT f FROM unnest(fresh) f;
END
$$;

CREATE OR REPLACE FUNCTION update_message_statuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM message_statuses s
     WHERE s.message_id = NEW.id
       AND (NEW.status <> 'partial' OR NOT EXISTS (
            SELECT FROM message_recipients r WHERE r.message_id = NEW.id AND r.status = s.status));
    IF NEW.status = 'partial' THEN
        INSERT INTO message_statuses (status, message_id, domain_id)
        SELECT DISTINCT r.status, NEW.id, NEW.domain_id FROM message_recipients r WHERE r.message_id = NEW.id
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER messages_update_statuses AFTER UPDATE OF status ON messages FOR EACH ROW
    WHEN (OLD.status = 'partial' OR NEW.status = 'partial') EXECUTE FUNCTION update_message_statuses();
