-- The local part before the first delimiter; NULL where there is no delimiter, no tag, or nothing before it that
-- could be a local part. Twin of mailkeep.core.address.strip_tag, for folded local parts.
CREATE OR REPLACE FUNCTION route_base(p_local_key text, p_delimiter text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN strpos(p_local_key, p_delimiter) > 1
                 AND substr(p_local_key, strpos(p_local_key, p_delimiter) - 1, 1) <> '.'
                THEN left(p_local_key, strpos(p_local_key, p_delimiter) - 1) END
$$;

-- What the keys become without their tag, for every character that may be a delimiter (ASCII atext but letters and
-- digits): so an index can answer which aliases have a destination `name+tag`, whatever the domain's delimiter.
CREATE OR REPLACE FUNCTION route_bases(p_keys text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    bases text[] := '{}';
    place integer;
BEGIN
    FOR k IN 1..cardinality(p_keys) LOOP
        CONTINUE WHEN translate(split_part(p_keys[k], '@', 1), '!#$%&''*+/=?^_`{|}~-', '') = split_part(p_keys[k], '@', 1);
        FOR c IN 1..19 LOOP
            place := strpos(split_part(p_keys[k], '@', 1), substr('!#$%&''*+/=?^_`{|}~-', c, 1));
            IF place > 1 THEN
                bases := bases || (left(p_keys[k], place - 1) || '@' || split_part(p_keys[k], '@', 2));
            END IF;
        END LOOP;
    END LOOP;
    RETURN bases;
END
$$;

-- The index stores what route_bases returns: a migration that comes with a change of the function drops the index.
CREATE INDEX IF NOT EXISTS aliases_by_destination_base ON aliases USING gin (route_bases(destination_keys));

-- The row that answers for a folded local part in a domain: mailbox (1), alias (2), both without the tag (3, 4),
-- catch-all (5). No row: unknown user. A deactivated mailbox answers too. A catch-all that a lower rank changed last does
-- not match the address of an administrator, unless that is postmaster or abuse, which lead to the administrators anyway.
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

-- The local parts that lead to the administrators where nothing else matches (RFC 5321 §4.5.1, RFC 2142).
CREATE OR REPLACE FUNCTION route_is_postmaster(p_local_key text, p_delimiter text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(route_base(p_local_key, p_delimiter), p_local_key) IN ('postmaster', 'abuse')
$$;

-- The rank of the administrator that a folded address belongs to (0 domain_admin, 1 admin, 2 super_admin), the highest
-- where there are several; NULL: none. With and without the tag: whoever has x@ gets mail for x+tag@ as well.
CREATE OR REPLACE FUNCTION address_rank(p_key text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT max(CASE a.role WHEN 'domain_admin' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END)
      FROM (SELECT split_part(p_key, '@', 1) AS local, split_part(p_key, '@', 2) AS domain) p
      LEFT JOIN domains d ON d.name = p.domain
      JOIN admins a ON a.email_key = p_key
                    OR a.email_key = route_base(p.local, d.plus_delimiter) || '@' || p.domain
                    OR (right(a.email_key, length(p.domain) + 1) = '@' || p.domain
                        AND route_base(split_part(a.email_key, '@', 1), d.plus_delimiter) = p.local)
$$;

-- Whether an address of this domain may lead to somebody here: it is managed, or the server's own name.
CREATE OR REPLACE FUNCTION route_is_ours(p_domain text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C"))
        OR EXISTS (SELECT FROM routing_settings s WHERE s.hostname = lower(p_domain COLLATE "C"));
END
$$;

-- Such a mailbox, in a domain that receives: its address as it was asked for, and its room. NULL for all others. A
-- mailbox of exactly this address comes before everything else (route_match), so nothing more has to be known.
-- Folding is left to the long way, but for ASCII, where it is lower(): mailkeep_fold takes a connection 1 ms to load.
CREATE OR REPLACE FUNCTION route_plain(p_local text, p_domain text, OUT address text, OUT quota_bytes bigint, OUT used_bytes bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan TO off AS $$
BEGIN
    IF octet_length(p_local) = length(p_local) THEN
        SELECT p_local || '@' || d.name, m.quota_bytes, m.used_bytes INTO address, quota_bytes, used_bytes
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active AND d.receiving_enabled
           AND m.local_key = lower(p_local COLLATE "C") AND m.deleted_at IS NULL AND m.active AND m.forward_keys = '{}';
    END IF;
END
$$;
