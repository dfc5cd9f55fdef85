-- Searches that ran to their end, by all that went into them: the same question needs no second search, on any
-- replica, until engine or catalogue change.
CREATE TABLE searches (
    hash text COLLATE "C" PRIMARY KEY,
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    engine_version text NOT NULL,
    catalog_revision text NOT NULL,
    result json NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT searches_hash_check CHECK (hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT searches_engine_version_check CHECK (engine_version <> ''),
    CONSTRAINT searches_catalog_revision_check CHECK (catalog_revision <> ''),
    CONSTRAINT searches_result_check CHECK (
        json_typeof(result) = 'object' AND result ->> 'state' = 'done' AND result ->> 'input_hash' = hash)
);

COMMENT ON TABLE searches IS 'Results of whole searches: the newest 10,000. What is older is dropped when another is kept.';
COMMENT ON COLUMN searches.hash IS 'SHA-256 over the canonical request, the model''s revision, specs and observations of inventories, engine and catalogue.';
COMMENT ON COLUMN searches.id IS 'Grows with each search that is kept, also in place of an earlier one with the same hash.';
COMMENT ON COLUMN searches.engine_version IS 'Engine that found it.';
COMMENT ON COLUMN searches.catalog_revision IS 'Catalogue that it was found with.';
COMMENT ON COLUMN searches.result IS 'The answer byte for byte as it was given, but for the member that says where it came from.';
COMMENT ON COLUMN searches.created_at IS 'When it was kept.';
