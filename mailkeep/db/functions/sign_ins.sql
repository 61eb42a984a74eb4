-- Sign-in protection (features/access/sign_in_protection).

-- What is known about a sign-in attempt: the failures of the last 15 minutes, and the end of a block that applies to it.
-- From an unknown source, `account_failures` are those from all unknown sources; from a known one, those from it alone.
-- Attempts that count together are serialised until the transaction ends. Locks are taken in one order: account, source.
CREATE OR REPLACE FUNCTION sign_in_history(p_account text, p_source text, p_tag text, p_at timestamptz)
RETURNS TABLE (is_known boolean, blocked_until timestamptz, repeated boolean, account_failures integer,
               source_failures integer, source_accounts integer)
LANGUAGE plpgsql AS $$
DECLARE
    kind CONSTANT text := split_part(p_account, ':', 1);
    address CONSTANT text := substr(p_account, length(kind) + 2);
    -- Times after p_at: the clock was set back.
    period CONSTANT tstzrange := tstzrange(p_at - interval '15 minutes', p_at + interval '15 minutes', '()');
BEGIN
    is_known := CASE kind
        WHEN 'mailbox' THEN EXISTS (
            SELECT FROM mailboxes m JOIN mailbox_sources s ON s.mailbox_id = m.id AND s.source = p_source
             WHERE m.address_key = address AND m.deleted_at IS NULL)
        ELSE EXISTS (
            SELECT FROM admins a JOIN login_sources s ON s.admin_id = a.id AND s.ip_address = p_source
             WHERE a.email_key = address) END;
    -- The account's owner does not queue behind a flood from elsewhere.
    PERFORM pg_advisory_xact_lock(hashtextextended(
        'mailkeep.sign-in account ' || p_account || CASE WHEN is_known THEN ' ' || p_source ELSE '' END, 0));
    PERFORM pg_advisory_xact_lock(hashtextextended('mailkeep.sign-in source ' || p_source, 0)) WHERE NOT is_known;

    SELECT max(b.until) INTO blocked_until FROM sign_in_blocks b
     WHERE b.until > p_at AND b.until <= p_at + interval '1 hour'
       AND CASE WHEN is_known THEN b.account = p_account AND b.source = p_source
                ELSE (b.account = p_account AND b.source IS NULL) OR (b.account IS NULL AND b.source = p_source) END;
    SELECT count(*), coalesce(bool_or(f.source = p_source AND f.tag = p_tag), false)
      INTO account_failures, repeated
      FROM sign_in_failures f
     WHERE f.account = p_account AND f.at > lower(period) AND f.at < upper(period)
       AND CASE WHEN is_known THEN f.source = p_source ELSE NOT f.known_source END;
    SELECT count(*), count(DISTINCT f.account) FILTER (WHERE f.account <> p_account) + 1
      INTO source_failures, source_accounts
      FROM sign_in_failures f
     WHERE f.source = p_source AND f.at > lower(period) AND f.at < upper(period);
    RETURN NEXT;
END
$$;
