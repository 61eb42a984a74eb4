-- Bounce addresses, the envelope senders of mail sent by API (mailkeep/mail/message/bounce_address.py).

-- Whether a local part has the form of a bounce address.
CREATE OR REPLACE FUNCTION is_bounce_form(p_local text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_local COLLATE "C" ~* '^b\+[0-9a-f]{60}$'
$$;

-- Whether an address in bounce form is the envelope sender of a message of that domain, sent at most 30 days ago. The
-- stored sender has the signature, so that a forged address matches nothing.
CREATE OR REPLACE FUNCTION is_bounce_address(p_local text, p_domain text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT FROM messages m JOIN domains d ON d.id = m.domain_id AND d.name = lower(p_domain COLLATE "C")
         WHERE m.id = substr(p_local, 3, 32)::uuid AND m.direction = 'outbound'
           AND m.mail_from = lower(p_local COLLATE "C") || '@' || d.name
           AND coalesce(m.submitted_at, m.created_at) > mta_time() - interval '30 days')
$$;
