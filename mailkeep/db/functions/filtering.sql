-- Filtering of incoming mail (mailkeep/features/mailflow/filtering).

-- The policy of a mailbox, or (p_mailbox_id NULL) of the external copies that a domain forwards: thresholds, where they are
-- set, and the list entries with one of these values, as [id, scope, list, kind, value, enforced]. Also used in other
-- statements, so that one of them reads the mailboxes of a message and their policies. `entries` reads the unique
-- index of filter_entries once for each value: OFFSET 0 prevents other joins.
CREATE OR REPLACE FUNCTION filter_policy(p_domain_id uuid, p_mailbox_id uuid, p_values text[])
RETURNS TABLE (junk_score double precision, junk_scope text, reject_score double precision, reject_scope text, entries jsonb)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(m.junk_score, d.junk_score, g.junk_score),
           CASE WHEN m.junk_score IS NOT NULL THEN 'mailbox' WHEN d.junk_score IS NOT NULL THEN 'domain' ELSE 'server' END,
           coalesce(m.reject_score, d.reject_score, g.reject_score),
           CASE WHEN m.reject_score IS NOT NULL THEN 'mailbox' WHEN d.reject_score IS NOT NULL THEN 'domain' ELSE 'server' END,
           coalesce((
               -- Reads the unique index of filter_entries once for each value: OFFSET 0 prevents other joins.
               SELECT jsonb_agg(jsonb_build_array(e.id, e.scope, e.list, e.kind, e.value, e.enforced))
                 FROM unnest(p_values) AS k(value)
                CROSS JOIN LATERAL (
                   SELECT id, 'server' AS scope, list, kind, value, enforced FROM filter_entries
                    WHERE domain_id IS NULL AND mailbox_id IS NULL AND value = k.value
                   UNION ALL
                   SELECT id, 'domain', list, kind, value, enforced FROM filter_entries
                    WHERE domain_id = p_domain_id AND mailbox_id IS NULL AND value = k.value
                   UNION ALL
                   SELECT id, 'mailbox', list, kind, value, enforced FROM filter_entries
                    WHERE domain_id IS NULL AND mailbox_id = p_mailbox_id AND value = k.value
                   OFFSET 0
               ) e), '[]')
      FROM filter_settings g
      LEFT JOIN filter_settings d ON d.domain_id = p_domain_id AND d.mailbox_id IS NULL
      LEFT JOIN filter_settings m ON m.mailbox_id = p_mailbox_id AND m.domain_id IS NULL
     WHERE g.domain_id IS NULL AND g.mailbox_id IS NULL
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
