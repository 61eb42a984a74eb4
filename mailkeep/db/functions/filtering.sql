-- Filtering of incoming mail (mailkeep/features/mailflow/filtering).

-- The policy of a mailbox, or (p_mailbox_id NULL) of the external copies that a domain forwards: thresholds, where they are
-- set, and the list entries with one of these values, as [id, scope, list, kind, value, enforced]. Used in the statements
-- that find the mailboxes of a message. In plpgsql with generic plans, because planning takes several times as long as
-- looking up. Lists without entries are not searched. The unique index of filter_entries is read once for each value:
-- OFFSET 0 prevents other joins.
CREATE OR REPLACE FUNCTION filter_policy(
    p_domain_id uuid, p_mailbox_id uuid, p_values text[], OUT junk_score double precision, OUT junk_scope text,
    OUT reject_score double precision, OUT reject_scope text, OUT entries jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode TO force_generic_plan SET enable_seqscan TO off AS $$
DECLARE
    of_server  boolean;
    of_domain  boolean;
    of_mailbox boolean;
BEGIN
    SELECT coalesce(m.junk_score, d.junk_score, g.junk_score),
           CASE WHEN m.junk_score IS NOT NULL THEN 'mailbox' WHEN d.junk_score IS NOT NULL THEN 'domain' ELSE 'server' END,
           coalesce(m.reject_score, d.reject_score, g.reject_score),
           CASE WHEN m.reject_score IS NOT NULL THEN 'mailbox' WHEN d.reject_score IS NOT NULL THEN 'domain' ELSE 'server' END,
           EXISTS (SELECT FROM filter_entries e WHERE e.domain_id IS NULL AND e.mailbox_id IS NULL),
           EXISTS (SELECT FROM filter_entries e WHERE e.domain_id = p_domain_id AND e.mailbox_id IS NULL),
           EXISTS (SELECT FROM filter_entries e WHERE e.domain_id IS NULL AND e.mailbox_id = p_mailbox_id)
      INTO junk_score, junk_scope, reject_score, reject_scope, of_server, of_domain, of_mailbox
      FROM filter_settings g
      LEFT JOIN filter_settings d ON d.domain_id = p_domain_id AND d.mailbox_id IS NULL
      LEFT JOIN filter_settings m ON m.mailbox_id = p_mailbox_id AND m.domain_id IS NULL
     WHERE g.domain_id IS NULL AND g.mailbox_id IS NULL;
    IF of_server OR of_domain OR of_mailbox THEN
        SELECT jsonb_agg(jsonb_build_array(e.id, e.scope, e.list, e.kind, e.value, e.enforced)) INTO entries
          FROM unnest(p_values) AS k(value)
         CROSS JOIN LATERAL (
            SELECT id, 'server' AS scope, list, kind, value, enforced FROM filter_entries
             WHERE of_server AND domain_id IS NULL AND mailbox_id IS NULL AND value = k.value
            UNION ALL
            SELECT id, 'domain', list, kind, value, enforced FROM filter_entries
             WHERE of_domain AND domain_id = p_domain_id AND mailbox_id IS NULL AND value = k.value
            UNION ALL
            SELECT id, 'mailbox', list, kind, value, enforced FROM filter_entries
             WHERE of_mailbox AND domain_id IS NULL AND mailbox_id = p_mailbox_id AND value = k.value
            OFFSET 0
         ) e;
    END IF;
    entries := coalesce(entries, '[]');
END
$$;

-- Whose filter settings and lists apply to a recipient: its mailboxes with their domains, and, if it has external
-- destinations, the domain that forwards to them (NULL: of the server's hostname). An alias domain has those of its
-- target. Nobody's, if no mail is delivered to the recipient.
CREATE OR REPLACE FUNCTION route_filters(
    p_address text, OUT mailbox_ids uuid[], OUT domain_ids uuid[], OUT is_forwarded boolean, OUT forwarding_id uuid)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    domain_name text := split_part(p_address, '@', -1);
    plain       record := route_plain(left(p_address, -1 - length(domain_name)), domain_name);
    route       record;
BEGIN
    mailbox_ids := '{}';
    domain_ids := '{}';
    is_forwarded := false;
    IF plain.mailbox_id IS NOT NULL THEN
        mailbox_ids := ARRAY[plain.mailbox_id];
        domain_ids := ARRAY[plain.domain_id];
        RETURN;
    END IF;
    SELECT r.decision, r.deliveries, r.external INTO route FROM route_address(p_address) r;
    IF route.decision <> 'deliver' THEN
        RETURN;
    END IF;
    SELECT coalesce(array_agg(m.id ORDER BY m.id), '{}'), coalesce(array_agg(m.domain_id ORDER BY m.id), '{}')
      INTO mailbox_ids, domain_ids
      FROM jsonb_array_elements(route.deliveries) e
      JOIN mailboxes m ON m.id = (e->>'mailbox_id')::uuid;
    IF route.external > 0 THEN
        is_forwarded := true;
        forwarding_id := (SELECT coalesce(d.alias_of, d.id) FROM domains d WHERE d.name = lower(domain_name COLLATE "C"));
    END IF;
END
$$;

-- Whether a deny entry may refuse mail for a recipient at RCPT: one of its mailboxes, of their domains, of the domain that
-- forwards, or of the server.
CREATE OR REPLACE FUNCTION route_has_deny_entries(p_mailbox_ids uuid[], p_domain_ids uuid[]) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan TO off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM filter_entries e
                    WHERE e.list = 'deny' AND e.domain_id IS NULL AND e.mailbox_id IS NULL)
        OR EXISTS (SELECT FROM filter_entries e WHERE e.list = 'deny' AND e.domain_id = ANY (p_domain_ids))
        OR EXISTS (SELECT FROM filter_entries e WHERE e.list = 'deny' AND e.mailbox_id = ANY (p_mailbox_ids));
END
$$;
