-- Inserts messages with their recipients, search texts and tags: rows of these tables as JSON. p_only: insert only
-- the messages with these IDs.
CREATE OR REPLACE FUNCTION insert_messages(
    p_messages jsonb, p_recipients jsonb, p_search jsonb, p_tags jsonb, p_only uuid[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO messages SELECT r.* FROM jsonb_populate_recordset(NULL::messages, p_messages) r
     WHERE p_only IS NULL OR r.id = ANY (p_only);
    INSERT INTO message_recipients (message_id, position, address, address_key, status, attempts, smtp_code, enhanced_code,
                                    diagnostic, remote_host, next_attempt_at, suppression)
    SELECT r.message_id, r.position, r.address, mailkeep_fold(r.address), r.status, r.attempts, r.smtp_code,
           r.enhanced_code, r.diagnostic, r.remote_host, r.next_attempt_at, r.suppression
      FROM jsonb_to_recordset(p_recipients) r(
               message_id uuid, position integer, address text, status text, attempts integer, smtp_code integer,
               enhanced_code text, diagnostic text, remote_host text, next_attempt_at timestamptz, suppression jsonb)
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

-- Checks and counts messages (p_ids) by count_sends, and inserts those that it counted. The rows are on disk before the
-- messages are submitted to the MTA. If a sender has to be suspended, nothing is counted or inserted.
CREATE OR REPLACE FUNCTION begin_sends(
    p_at timestamptz, p_ids uuid[], p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint,
    p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb)
RETURNS TABLE (verdict text, retry_after integer, exceeded bigint) LANGUAGE plpgsql AS $$
DECLARE
    durable  constant text := current_setting('synchronous_commit');
    counted  uuid[];
    number   integer := 0;
    suspends boolean := false;
BEGIN
    FOR verdict, retry_after, exceeded IN
        SELECT c.verdict, c.retry_after, c.exceeded
          FROM count_sends(p_at, p_senders, p_recipients, p_sender_limit, p_domain_limit, false) c
    LOOP
        number := number + 1;
        suspends := suspends OR verdict = 'sender_rate';
        IF verdict = 'counted' THEN
            counted := counted || p_ids[number];
        END IF;
        RETURN NEXT;
    END LOOP;
    IF NOT suspends AND counted IS NOT NULL THEN
        PERFORM set_config('synchronous_commit', durable, true);  -- count_sends has turned it off for the counts
        PERFORM insert_messages(p_messages, p_rows, p_search, p_tags, counted);
    END IF;
END
$$;

-- Begins the submission of scheduled messages (p_ids, each with the p_claims of the worker that claimed it): checks and
-- counts them by count_sends, of which only a wait follows, never a suspension. p_messages and p_rows have the envelope sender and
-- the size of each, and the statuses and suppressions of its recipients, as insert_messages gets them. The verdict is that of count_sends, or `gone` if the message is not
-- claimed by this worker any more. Rows are locked in the order of cancelling: scheduled_messages, messages.
CREATE OR REPLACE FUNCTION begin_scheduled(
    p_at timestamptz, p_ids uuid[], p_claims integer[], p_senders text[], p_recipients integer[], p_sender_limit bigint,
    p_domain_limit bigint, p_messages jsonb, p_rows jsonb)
RETURNS TABLE (verdict text, retry_after integer, exceeded bigint) LANGUAGE plpgsql AS $$
DECLARE
    claimed   uuid[];
    positions integer[];
    begun     uuid[] := '{}';
    verdicts  text[] := array_fill('gone'::text, ARRAY[cardinality(p_ids)]);
    waits     integer[] := array_fill(NULL::integer, ARRAY[cardinality(p_ids)]);
    limits    bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(p_ids)]);
    number    integer := 0;
    sender    text;
BEGIN
    PERFORM FROM scheduled_messages s JOIN unnest(p_ids, p_claims) c (id, claims) ON c.id = s.message_id
      WHERE s.due_at IS NOT NULL AND s.claims = c.claims ORDER BY s.message_id FOR UPDATE OF s;
    claimed := ARRAY(
        SELECT m.id FROM messages m
          JOIN scheduled_messages s ON s.message_id = m.id
          JOIN unnest(p_ids, p_claims) c (id, claims) ON c.id = m.id
         WHERE m.id = ANY (p_ids) AND m.status = 'scheduled' AND s.due_at IS NOT NULL AND s.claims = c.claims
         ORDER BY m.id FOR UPDATE OF m);
    positions := ARRAY(SELECT i FROM generate_subscripts(p_ids, 1) i WHERE p_ids[i] = ANY (claimed) ORDER BY i);
    IF positions <> '{}' THEN
        FOR verdict, retry_after, exceeded IN
            SELECT c.verdict, c.retry_after, c.exceeded
              FROM count_sends(p_at, ARRAY(SELECT p_senders[i] FROM unnest(positions) WITH ORDINALITY u (i, n) ORDER BY n),
                               ARRAY(SELECT p_recipients[i] FROM unnest(positions) WITH ORDINALITY u (i, n) ORDER BY n),
                               p_sender_limit, p_domain_limit, true) c
        LOOP
            number := number + 1;
            sender := p_senders[positions[number]];
            IF verdict = 'suspended' AND NOT EXISTS (
                SELECT FROM suspensions s WHERE s.address_key = ANY (sender || counted_senders(ARRAY[sender])))
            THEN
                -- count_sends expects the suspension of a sender beyond its limit, which is not made here.
                verdict := 'sender_rate';
                SELECT waits[i], limits[i] INTO retry_after, exceeded FROM generate_subscripts(p_ids, 1) i
                 WHERE p_senders[i] = sender AND verdicts[i] = 'sender_rate' LIMIT 1;
            END IF;
            verdicts[positions[number]] := verdict;
            waits[positions[number]] := retry_after;
            limits[positions[number]] := exceeded;
            IF verdict = 'counted' THEN
                begun := begun || p_ids[positions[number]];
            END IF;
        END LOOP;
    END IF;
    IF begun <> '{}' THEN
        UPDATE scheduled_messages s SET due_at = NULL, changed_at = p_at WHERE s.message_id = ANY (begun);
        UPDATE message_recipients r
           SET status = t.status, next_attempt_at = NULL, diagnostic = NULL, suppression = t.suppression
          FROM jsonb_to_recordset(p_rows) t(message_id uuid, address text, status text, suppression jsonb)
         WHERE r.message_id = t.message_id AND r.address = t.address AND t.message_id = ANY (begun);
        UPDATE messages m SET status = t.status, mail_from = t.mail_from, size = t.size, submitted_at = p_at
          FROM jsonb_to_recordset(p_messages) t(id uuid, status text, mail_from text, size bigint)
         WHERE m.id = t.id AND t.id = ANY (begun);
    END IF;
    RETURN QUERY SELECT v.verdict, v.wait, v.most
                   FROM unnest(verdicts, waits, limits) WITH ORDINALITY v (verdict, wait, most, n) ORDER BY v.n;
END
$$;

-- Records that the MTA accepted messages. Recipients without a final status get p_status, and the message gets the
-- status of its recipients (`partial` if they differ). p_accepted is [{id, queue_id, events}]. The events are `mail.sent`
-- and `mail.suppressed` as emit_events expects them; they are published unless the acceptance was already known. p_answered: the
-- MTA's reply was received, not read from its log. Returns the messages for which this was new. Messages are locked
-- in the order of their IDs. The planner settings enforce one plan by ID for every size of the table and of
-- p_accepted: planning each call costs more.
CREATE OR REPLACE FUNCTION accept_messages(p_at timestamptz, p_status text, p_answered boolean, p_accepted jsonb)
RETURNS SETOF uuid
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan
SET enable_seqscan TO off SET enable_hashjoin TO off SET enable_mergejoin TO off AS $$
DECLARE
    accepted    record;
    logged_at   timestamptz;
    logged      uuid[] := '{}';  -- the log has reported the acceptance before
    fresh       uuid[] := '{}';
    queue_ids   text[] := '{}';
    events      jsonb := '[]';
BEGIN
    FOR accepted IN SELECT DISTINCT ON (a.id) a.id, a.queue_id, a.events
                      FROM jsonb_to_recordset(p_accepted) a(id uuid, queue_id text, events jsonb) ORDER BY a.id
    LOOP
        SELECT m.accepted_at INTO logged_at FROM messages m
         WHERE m.id = accepted.id AND m.answered_at IS NULL AND (p_answered OR m.accepted_at IS NULL) FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        RETURN NEXT accepted.id;
        IF logged_at IS NULL THEN
            fresh := fresh || accepted.id;
            queue_ids := queue_ids || accepted.queue_id;
            events := events || accepted.events;
        ELSE
            logged := logged || accepted.id;
        END IF;
    END LOOP;
    IF logged <> '{}' THEN
        UPDATE messages m SET answered_at = p_at FROM unnest(logged) t(id) WHERE m.id = t.id;
    END IF;
    IF fresh <> '{}' THEN
        UPDATE message_recipients r SET status = p_status FROM unnest(fresh) t(id)
         WHERE r.message_id = t.id AND r.status IN ('submitting', 'unknown', 'lost', 'scheduled');
        UPDATE messages m
           SET queue_id = coalesce(m.queue_id, t.queue_id), accepted_at = p_at,
               answered_at = CASE WHEN p_answered THEN p_at END,
               status = (SELECT CASE WHEN min(r.status) = max(r.status) THEN min(r.status) ELSE 'partial' END
                           FROM message_recipients r WHERE r.message_id = t.id)
          FROM unnest(fresh, queue_ids) t(id, queue_id)
         WHERE m.id = t.id;
        PERFORM emit_events(p_at, events);
    END IF;
END
$$;

-- Records the MTA's replies to API calls by accept_messages. p_calls is [{ids, entry}]: the call's audit entry is
-- recorded if one of its messages is newly accepted.
CREATE OR REPLACE FUNCTION mark_sends_accepted(p_at timestamptz, p_status text, p_accepted jsonb, p_calls jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    fresh constant uuid[] := ARRAY(SELECT accept_messages(p_at, p_status, true, p_accepted));
BEGIN
    PERFORM record_audit_entries(jsonb_agg(c.entry))
       FROM jsonb_to_recordset(p_calls) c(ids uuid[], entry jsonb) WHERE c.ids && fresh;
END
$$;

-- Records mail that mailboxes accepted, or rejected permanently: claims it, [{queue_id, recipient, message_id}],
-- inserts its messages and emits its events, once per (queue ID, recipient). Returns the messages that were not recorded
-- before.
CREATE OR REPLACE FUNCTION record_inbound(
    p_at timestamptz, p_claims jsonb, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb, p_events jsonb)
RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
    fresh  uuid[];
    events jsonb;
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
    SELECT jsonb_agg(e.event ORDER BY e.number) INTO events
      FROM jsonb_array_elements(p_events) WITH ORDINALITY e (event, number)
     WHERE (e.event->>'message_id')::uuid = ANY (fresh);
    IF events IS NOT NULL THEN
        PERFORM emit_events(p_at, events);
    END IF;
    RETURN QUERY SELECT f FROM unnest(fresh) f;
END
$$;

-- Maintains message_statuses.
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
