-- What a record of a DMARC report says about the sender. The classes are explained in mailkeep/features/mailflow/reports.
-- p_addresses: the server's own; p_relays: the domain's mail leaves through a relay.
CREATE OR REPLACE FUNCTION dmarc_source_kind(p_row dmarc_rows, p_addresses inet[], p_relays boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_row.source_ip = ANY (p_addresses)
                  OR (p_row.own_key AND (p_row.spf OR (p_relays AND NOT p_row.forwarded))) THEN 'ours'
                WHEN p_row.own_key OR p_row.forwarded THEN 'forwarder'
                WHEN p_row.dkim OR p_row.spf THEN 'sender'
                WHEN p_row.other_domain <> '' THEN 'other'
                ELSE 'unknown' END
$$;
