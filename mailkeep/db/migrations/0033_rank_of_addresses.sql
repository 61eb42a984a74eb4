-- The address of an administrator is not captured by what a lower rank controls: aliases, catch-alls, senders.

-- The rank of the administrator that a folded address belongs to (0 domain_admin, 1 admin, 2 super_admin), the highest
-- where there are several; NULL: none. With and without the tag: whoever has x@ gets mail for x+tag@ as well.
CREATE FUNCTION address_rank(p_key text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT max(CASE a.role WHEN 'domain_admin' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END)
      FROM (SELECT split_part(p_key, '@', 1) AS local, split_part(p_key, '@', 2) AS domain) p
      LEFT JOIN domains d ON d.name = p.domain
      JOIN admins a ON a.email_key = p_key
                    OR a.email_key = route_base(p.local, d.plus_delimiter) || '@' || p.domain
                    OR (right(a.email_key, length(p.domain) + 1) = '@' || p.domain
                        AND route_base(split_part(a.email_key, '@', 1), d.plus_delimiter) = p.local)
$$;

-- As in migration 0003, but for the catch-all: one that a lower rank changed last does not match the address of an
-- administrator, unless that is postmaster or abuse, which lead to the administrators anyway.
CREATE OR REPLACE FUNCTION route_match(p_domain_id uuid, p_delimiter text, p_local_key text)
RETURNS TABLE (rank integer, id uuid, active boolean, source text, texts text[], keys text[], keep_copy boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT 1, m.id, m.active, m.local_part, m.forward_destinations, m.forward_keys, m.forward_keep_copy
      FROM mailboxes m
     WHERE m.domain_id = p_domain_id AND m.local_key = p_local_key AND m.deleted_at IS NULL
    UNION ALL
    SELECT 2, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = p_local_key AND a.source_key <> '' AND a.active
    UNION ALL
    SELECT 3, m.id, m.active, m.local_part, m.forward_destinations, m.forward_keys, m.forward_keep_copy
      FROM mailboxes m
     WHERE m.domain_id = p_domain_id AND m.local_key = route_base(p_local_key, p_delimiter) AND m.deleted_at IS NULL
    UNION ALL
    SELECT 4, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = route_base(p_local_key, p_delimiter) AND a.active
    UNION ALL
    SELECT 5, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = '' AND a.active
       AND (a.changed_rank = 2 OR route_is_postmaster(p_local_key, p_delimiter)
            OR NOT EXISTS (SELECT FROM domains d JOIN admins o
                               ON o.email_key = p_local_key || '@' || d.name
                               OR o.email_key = route_base(p_local_key, p_delimiter) || '@' || d.name
                            WHERE d.id = p_domain_id
                              AND CASE o.role WHEN 'domain_admin' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END > a.changed_rank))
    ORDER BY 1
    LIMIT 1
$$;

-- As mta_senders of migration 0013 (renamed in 0031), but an alias that a lower rank changed last than the address belongs to lets nobody send from it.
CREATE OR REPLACE FUNCTION sender_logins(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    found_rank integer;
    found_id   uuid;
    key        text := mailkeep_fold(p_local) || '@' || lower(p_domain COLLATE "C");
BEGIN
    SELECT r.rank, r.id INTO found_rank, found_id
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
     WHERE d.name = lower(p_domain COLLATE "C") AND d.active;
    IF found_rank IN (1, 3) THEN
        RETURN QUERY SELECT m.address_key FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active;
    ELSIF found_rank IN (2, 4)
          AND (SELECT a.changed_rank FROM aliases a WHERE a.id = found_id) >= coalesce(address_rank(key), 0) THEN
        RETURN QUERY
            SELECT string_agg(m.address_key, ',')
              FROM route_address(p_local || '@' || p_domain) r,
                   jsonb_array_elements(r.deliveries) e
              JOIN mailboxes m ON m.id = (e->>'mailbox_id')::uuid
             WHERE m.active
            HAVING count(*) > 0;
    END IF;
END
$$;
