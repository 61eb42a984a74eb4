-- Lists of aliases are also sorted by their source.
CREATE INDEX aliases_by_source ON aliases (source_local_part, id);
CREATE INDEX aliases_by_domain_and_source ON aliases (domain_id, source_local_part, id);
