-- What a filter finds few of is found at once. An index of lists puts aside what is written until there is enough of it
-- to sort in, and each search reads all that was put aside; inventories are read far more often than they are written.
ALTER INDEX inventories_accelerators_index SET (fastupdate = off);
ALTER INDEX inventories_labels_index SET (fastupdate = off);
SELECT gin_clean_pending_list('inventories_accelerators_index'), gin_clean_pending_list('inventories_labels_index');

-- Of a part's runs those are enough that cover it, one behind the other: a name in which they stand is compared with the
-- part itself, and a list that follows another index looks at fewer of them in every name that it passes.
CREATE OR REPLACE FUNCTION inventory_part_runs(part text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
        SELECT coalesce(array_agg(DISTINCT substr(lowered, least(i, greatest(char_length(lowered) - 2, 1)), 3)), '{}')
        FROM lower(left($1, 256)) AS lowered, generate_series(1, char_length(lowered), 3) AS i
    $$;

COMMENT ON FUNCTION inventory_part_runs(text) IS 'Runs that cover this part, and so stand in every name in which it stands, whatever its case.';
