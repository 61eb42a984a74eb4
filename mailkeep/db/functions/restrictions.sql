-- Whether an incident that is not undone restricts this (features/record/restrictions).
CREATE OR REPLACE FUNCTION is_restricted(p_kind text, p_subject uuid) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (SELECT FROM restrictions r WHERE r.kind = p_kind AND r.subject = p_subject::text)
$$;
