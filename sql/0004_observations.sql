-- Observations: what the tools of a cluster say of it, the latest of each source. They stand beside the spec and
-- never change it. The raw text is not kept, only what was read out of it.
CREATE TABLE observations (
    slug text COLLATE "C" NOT NULL REFERENCES inventories (slug),
    source text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    format text NOT NULL,
    raw_hash text NOT NULL,
    facts json NOT NULL,
    facts_hash text NOT NULL,
    hosts bigint NOT NULL,
    observed_at timestamptz NOT NULL,
    stale_after_s bigint NOT NULL,
    received_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (slug, source),
    CONSTRAINT observations_source_check CHECK (source ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT observations_revision_check CHECK (revision >= 1),
    CONSTRAINT observations_format_check CHECK (format <> ''),
    CONSTRAINT observations_raw_hash_check CHECK (raw_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT observations_facts_check CHECK (json_typeof(facts) = 'object'),
    CONSTRAINT observations_facts_hash_check CHECK (facts_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT observations_hosts_check CHECK (hosts >= 0),
    CONSTRAINT observations_stale_after_check CHECK (stale_after_s >= 1),
    CONSTRAINT observations_order_check CHECK (changed_at <= received_at)
);

COMMENT ON TABLE observations IS 'What the tools of a cluster say of it: the latest word of each source, beside the spec of its inventory.';
COMMENT ON COLUMN observations.slug IS 'Inventory that was observed.';
COMMENT ON COLUMN observations.source IS 'Name that the sender gave the source: the grammar of a slug.';
COMMENT ON COLUMN observations.revision IS 'Counts the changes of what was read, from 1; the same output again leaves it alone.';
COMMENT ON COLUMN observations.format IS 'What the text was read as.';
COMMENT ON COLUMN observations.raw_hash IS 'SHA-256 of the text as it came, unpacked.';
COMMENT ON COLUMN observations.facts IS 'What was read: hosts by state, reason and kind, the facts of each kind with their places, warnings.';
COMMENT ON COLUMN observations.facts_hash IS 'SHA-256 of the facts: verdicts on plans depend on them and not on the text.';
COMMENT ON COLUMN observations.hosts IS 'Nodes that the source speaks of.';
COMMENT ON COLUMN observations.observed_at IS 'When the tool was run, as the sender says; never goes back.';
COMMENT ON COLUMN observations.stale_after_s IS 'Seconds from observed_at after which it no longer counts.';
COMMENT ON COLUMN observations.received_at IS 'When it arrived here.';
COMMENT ON COLUMN observations.changed_at IS 'When what was read last changed.';
