-- Wakes the processes that serve event streams (GET /events/stream). A process holds this lock while it sleeps. If none
-- does, NOTIFY is skipped: transactions with a NOTIFY commit one after the other.
CREATE OR REPLACE FUNCTION wake_event_streams() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    asleep bigint := hashtextextended('mailkeep.asleep events', 0);
BEGIN
    IF pg_try_advisory_lock(asleep) THEN
        PERFORM pg_advisory_unlock(asleep);
    ELSE
        PERFORM pg_notify('mailkeep_events', '');
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER events_wake_streams AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION wake_event_streams();

-- Wakes the sleeping workers of a queue. A worker holds this lock while it sleeps, and checks the queue before it
-- goes to sleep. If none sleeps, NOTIFY is skipped: transactions with a NOTIFY commit one after the other.
CREATE OR REPLACE FUNCTION wake_workers(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asleep bigint := hashtextextended('mailkeep.asleep ' || p_queue, 0);
BEGIN
    IF pg_try_advisory_lock(asleep) THEN
        PERFORM pg_advisory_unlock(asleep);
    ELSE
        PERFORM pg_notify('mailkeep_' || p_queue, '');
    END IF;
END
$$;

-- Inserts events, [{id, kind, domain_id, message_id, data}], and their webhook deliveries, in the transaction of the
-- change that they report.
CREATE OR REPLACE FUNCTION emit_events(p_at timestamptz, p_events jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (id, kind, domain_id, message_id, data, created_at)
    SELECT e.id, e.kind, e.domain_id, e.message_id, e.data, p_at
      FROM jsonb_to_recordset(p_events) e(id uuid, kind text, domain_id uuid, message_id uuid, data jsonb);
    INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
    SELECT webhook_delivery_id(e.id, w.id), w.id, e.id, e.kind, 'pending', p_at, p_at
      FROM webhooks w
      JOIN jsonb_to_recordset(p_events) e(id uuid, kind text, domain_id uuid)
        ON (w.domain_id IS NULL OR w.domain_id = e.domain_id) AND webhook_subscribes(w.events, e.kind)
     WHERE w.active;
    IF FOUND THEN
        PERFORM wake_workers('webhooks');
    END IF;
END
$$;

-- Whether mail for p_domain_id is published in full (`mail.received.full`). p_always: the setting events.received_full.
CREATE OR REPLACE FUNCTION publishes_full_mail(p_domain_id uuid, p_always boolean) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p_domain_id IS NOT NULL AND (p_always OR EXISTS (
        SELECT FROM webhooks w
         WHERE w.active AND (w.domain_id IS NULL OR w.domain_id = p_domain_id)
           AND webhook_subscribes(w.events, 'mail.received.full')))
$$;
