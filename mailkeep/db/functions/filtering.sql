-- Filtering of incoming mail (mailkeep/features/mailflow/filtering).

-- The policy of a mailbox, or (p_mailbox_id NULL) of the external copies that a domain forwards: thresholds, where they are
-- set, and the list entries with one of these values, as [id, scope, list, kind, value, enforced]. Also used in other
-- statements, so that one of them reads the mailboxes of a message and their policies. Each part of `entries` reads the
-- unique index of filter_entries, however many entries there are.
CREATE OR REPLACE FUNCTION filter_policy(p_domain_id uuid, p_mailbox_id uuid, p_values text[])
RETURNS TABLE (junk_score double precision, junk_scope text, reject_score double precision, reject_scope text, entries jsonb)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(m.junk_score, d.junk_score, g.junk_score),
           CASE WHEN m.junk_score IS NOT NULL THEN 'mailbox' WHEN d.junk_score IS NOT NULL THEN 'domain' ELSE 'server' END,
           coalesce(m.reject_score, d.reject_score, g.reject_score),
           CASE WHEN m.reject_score IS NOT NULL THEN 'mailbox' WHEN d.reject_score IS NOT NULL THEN 'domain' ELSE 'server' END,
           coalesce((
               SELECT jsonb_agg(jsonb_build_array(e.id, e.scope, e.list, e.kind, e.value, e.enforced)) FROM (
                   SELECT id, 'server' AS scope, list, kind, value, enforced FROM filter_entries
                    WHERE mailbox_id IS NULL AND domain_id IS NULL AND value = ANY (p_values)
                   UNION ALL
                   SELECT id, 'domain', list, kind, value, enforced FROM filter_entries
                    WHERE mailbox_id IS NULL AND domain_id = p_domain_id AND value = ANY (p_values)
                   UNION ALL
                   SELECT id, 'mailbox', list, kind, value, enforced FROM filter_entries
                    WHERE mailbox_id = p_mailbox_id AND domain_id IS NULL AND value = ANY (p_values)
               ) e), '[]')
      FROM filter_settings g
      LEFT JOIN filter_settings d ON d.domain_id = p_domain_id AND d.mailbox_id IS NULL
      LEFT JOIN filter_settings m ON m.mailbox_id = p_mailbox_id AND m.domain_id IS NULL
     WHERE g.domain_id IS NULL AND g.mailbox_id IS NULL
$$;
