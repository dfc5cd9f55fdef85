-- Inventories with something to see to are found by an index. Three things are: hosts that are not as the spec says,
-- saved plans that stopped fitting, and sources that went stale. The first can only be told by joining a spec with
-- what was observed, which the service does and notes here with what it holds for, as it does for plans; the others
-- are kept by triggers, since replicas of the release before go on writing beside this one. What no replica looked
-- at yet counts as a problem: that it has none is not known.

-- Rows that this file wrote are checked again when they are written again, and what waits for that bars the rest.
SET CONSTRAINTS inventories_current_fkey IMMEDIATE;

ALTER TABLE inventories
    ADD COLUMN observed_hash text NOT NULL DEFAULT '',
    ADD COLUMN stale_at timestamptz NOT NULL DEFAULT 'infinity',
    ADD COLUMN hosts_wrong boolean NOT NULL DEFAULT true,
    ADD COLUMN hosts_judged_for text,
    ADD COLUMN plans_wrong boolean NOT NULL DEFAULT false;
ALTER TABLE inventories
    ADD COLUMN problem_at timestamptz NOT NULL
        GENERATED ALWAYS AS (CASE WHEN hosts_wrong OR plans_wrong THEN '-infinity' ELSE stale_at END) STORED;

-- Whoever writes an observation holds the inventory's row already, so that the trigger waits for nobody.
CREATE OR REPLACE FUNCTION inventory_observed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            UPDATE inventories i
            SET observed_at = coalesce(o.latest, '0001-01-01 00:00:00Z'),
                stale_at = coalesce(o.stale_at, 'infinity'),
                observed_hash = coalesce(o.hash, '')
            FROM (SELECT max(observed_at) AS latest, min(observed_at + stale_after_s * interval '1 second') AS stale_at,
                    md5(string_agg(concat_ws(' ', source, facts_hash), ',' ORDER BY observed_at, source)) AS hash
                FROM observations WHERE slug = coalesce(NEW.slug, OLD.slug)) o
            WHERE i.slug = coalesce(NEW.slug, OLD.slug);
            RETURN NULL;
        END
    $$;

UPDATE inventories i
SET stale_at = o.stale_at, observed_hash = o.hash
FROM (SELECT slug, min(observed_at + stale_after_s * interval '1 second') AS stale_at,
        md5(string_agg(concat_ws(' ', source, facts_hash), ',' ORDER BY observed_at, source)) AS hash
    FROM observations GROUP BY slug) o
WHERE o.slug = i.slug;

-- The row is held before the plans are looked at: of two verdicts at once the later one sees the earlier.
CREATE FUNCTION inventory_plans() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            PERFORM 1 FROM inventories WHERE slug IN (OLD.inventory, NEW.inventory) ORDER BY slug FOR NO KEY UPDATE;
            UPDATE inventories i
            SET plans_wrong = EXISTS (
                SELECT 1 FROM plans p WHERE p.inventory = i.slug AND p.deleted_at IS NULL AND p.verdict <> 'fits')
            WHERE i.slug IN (OLD.inventory, NEW.inventory);
            RETURN NULL;
        END
    $$;

CREATE TRIGGER plans_verdict_trigger
    AFTER UPDATE OF verdict, inventory, deleted_at ON plans
    FOR EACH ROW
    WHEN ((OLD.verdict, OLD.inventory, OLD.deleted_at) IS DISTINCT FROM (NEW.verdict, NEW.inventory, NEW.deleted_at))
    EXECUTE FUNCTION inventory_plans();

UPDATE inventories i
SET plans_wrong = true
WHERE EXISTS (SELECT 1 FROM plans p WHERE p.inventory = i.slug AND p.deleted_at IS NULL AND p.verdict <> 'fits');

CREATE INDEX inventories_problem_at_index ON inventories (problem_at);

COMMENT ON FUNCTION inventory_observed() IS 'Keeps what inventories say of their observations: the latest one, when one goes stale, and a hash over all.';
COMMENT ON FUNCTION inventory_plans() IS 'Keeps inventories.plans_wrong at what the verdicts on saved plans say.';
COMMENT ON COLUMN inventories.observed_hash IS 'Hash over the facts of all sources, the last word last; empty where there is none.';
COMMENT ON COLUMN inventories.stale_at IS 'When the first of its sources goes stale; infinity where there is none.';
COMMENT ON COLUMN inventories.hosts_wrong IS 'Whether hosts or parts are not as the spec says, stale sources counted too; true until it was looked at.';
COMMENT ON COLUMN inventories.hosts_judged_for IS 'What that holds for: revision, hash of the observations, engine and catalogue; null before the first look.';
COMMENT ON COLUMN inventories.plans_wrong IS 'Whether the last verdict on some saved plan that names it is another than that it fits.';
COMMENT ON COLUMN inventories.problem_at IS 'From when on there is something to see to: always, from when a source is stale, or never.';
