-- A part of a name is looked for in an index and no longer in every row. What is indexed are the runs of one to three
-- characters that stand in a name: a part stands only where all of its own do, and the few names left are compared.
-- An extension does as much for parts of three characters and more, but not every role may create one, nor is it
-- installed wherever a database is. Replicas of the release before go on beside this one and need know nothing of it.

-- Only the start counts: a name may be longer than a row can bear to be taken apart.
CREATE FUNCTION inventory_name_runs(name text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT coalesce(array_agg(DISTINCT substr(lowered, i, n)), '{}')
        FROM lower(left($1, 256)) AS lowered, generate_series(1, char_length(lowered)) AS i, generate_series(1, 3) AS n
    $$;

-- The longest runs of a part say all that the shorter ones do; a part of one or two characters is one itself.
CREATE FUNCTION inventory_part_runs(part text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT coalesce(array_agg(DISTINCT substr(lowered, i, 3)), '{}')
        FROM lower(left($1, 256)) AS lowered, generate_series(1, greatest(char_length(lowered) - 2, 1)) AS i
        WHERE lowered <> ''
    $$;

-- A column and no expression of the index: a list that follows another index would take every name apart again.
ALTER TABLE inventories
    ADD COLUMN name_runs text[] GENERATED ALWAYS AS (inventory_name_runs(name)) STORED;
-- Each write is sorted in at once: what waits for that is read by every search, and a name has many runs.
CREATE INDEX inventories_name_runs_index ON inventories USING gin (name_runs) WITH (fastupdate = off);

COMMENT ON FUNCTION inventory_name_runs(text) IS 'Runs of one to three characters in the first 256 of a name, in lower case.';
COMMENT ON FUNCTION inventory_part_runs(text) IS 'Runs that stand in every name in which this part stands, whatever its case.';
COMMENT ON COLUMN inventories.name_runs IS 'Runs of one to three characters in the first 256 of the name, in lower case: what a part of it is found by.';
