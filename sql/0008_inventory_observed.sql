-- Lists by the latest observation follow an index: an inventory's row knows when it was observed last. A trigger keeps it
-- so, since replicas of the release before go on writing observations beside this one. Whoever writes an observation
-- holds the inventory's row already, so that the trigger waits for nobody.

ALTER TABLE inventories ADD COLUMN observed_at timestamptz NOT NULL DEFAULT '0001-01-01 00:00:00Z';

CREATE FUNCTION inventory_observed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            UPDATE inventories i
            SET observed_at = coalesce((SELECT max(o.observed_at) FROM observations o WHERE o.slug = i.slug), '0001-01-01 00:00:00Z')
            WHERE i.slug = coalesce(NEW.slug, OLD.slug);
            RETURN NULL;
        END
    $$;

CREATE TRIGGER observations_observed_trigger
    AFTER INSERT OR DELETE OR UPDATE OF observed_at ON observations
    FOR EACH ROW EXECUTE FUNCTION inventory_observed();

UPDATE inventories i
SET observed_at = o.latest
FROM (SELECT slug, max(observed_at) AS latest FROM observations GROUP BY slug) o
WHERE o.slug = i.slug;

CREATE INDEX inventories_observed_at_index ON inventories (observed_at, slug);

COMMENT ON FUNCTION inventory_observed() IS 'Keeps inventories.observed_at at the latest observation that is left.';
COMMENT ON COLUMN inventories.observed_at IS 'When the latest of its observations was made; in the year 1 where there is none.';
