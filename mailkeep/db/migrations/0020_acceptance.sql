-- What a send writes once the MTA has taken it, in one statement: a transaction of six took the time of six round trips.

-- Messages that were accepted: their unsettled recipients get p_status, and theirs is what all recipients say. p_accepted
-- is [{id, queue_id, event}]: event is mail.sent {id, domain_id, data}, told where nobody knew of the acceptance so far.
-- p_answered: that we were told so ourselves. Answers the messages of which that is news. Each is found by its id alone,
-- so that the plan is the same at every size of the table; locked in the order of ids.
CREATE FUNCTION accept_messages(p_at timestamptz, p_status text, p_answered boolean, p_accepted jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
DECLARE
    taken record;
    known timestamptz;
BEGIN
    FOR taken IN SELECT a.id, a.queue_id, a.event FROM jsonb_to_recordset(p_accepted) a(id uuid, queue_id text, event jsonb)
                  ORDER BY a.id
    LOOP
        SELECT m.accepted_at INTO known FROM messages m
         WHERE m.id = taken.id AND m.answered_at IS NULL AND (p_answered OR m.accepted_at IS NULL) FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        UPDATE message_recipients r SET status = p_status
         WHERE r.message_id = taken.id AND r.status IN ('submitting', 'unknown', 'lost');
        UPDATE messages m
           SET queue_id = coalesce(m.queue_id, taken.queue_id), accepted_at = coalesce(m.accepted_at, p_at),
               answered_at = CASE WHEN p_answered THEN p_at ELSE m.answered_at END,
               status = (SELECT CASE WHEN min(r.status) = max(r.status) THEN min(r.status) ELSE 'partial' END
                           FROM message_recipients r WHERE r.message_id = taken.id)
         WHERE m.id = taken.id;
        IF known IS NULL THEN
            PERFORM emit_event((taken.event->>'id')::uuid, 'mail.sent', (taken.event->>'domain_id')::uuid, taken.id,
                               taken.event->'data', p_at);
        END IF;
        RETURN NEXT taken.id;
    END LOOP;
END
$$;

-- An entry of the audit log, by the names of its columns.
CREATE FUNCTION record_audit(p_entry jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_entries (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type, resource_id,
                               domain_id, domain_name, ip_address, user_agent, request_id, outcome, error_code, details)
    SELECT e.id, e.created_at, e.admin_id, e.actor_type, e.actor_label, e.key_id, e.action, e.resource_type, e.resource_id,
           e.domain_id, e.domain_name, e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code, e.details
      FROM jsonb_to_record(p_entry) e(
               id uuid, created_at timestamptz, admin_id uuid, actor_type text, actor_label text, key_id uuid, action text,
               resource_type text, resource_id text, domain_id uuid, domain_name text, ip_address text, user_agent text,
               request_id uuid, outcome text, error_code text, details jsonb);
END
$$;

-- accept_messages as the MTA's answer, and its one entry in the audit log where any of it is news.
CREATE FUNCTION settle_sends(p_at timestamptz, p_status text, p_accepted jsonb, p_entry jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT accept_messages(p_at, p_status, true, p_accepted);
    IF FOUND THEN
        PERFORM record_audit(p_entry);
    END IF;
END
$$;

-- One plan for all, rather than one for each call: making it costs more than what it finds.
ALTER FUNCTION count_sends(timestamptz, text[], integer[], bigint, bigint, boolean) SET plan_cache_mode TO force_generic_plan;
