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

-- Only what changed what is known: cron says the same all day.
CREATE TABLE observation_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug text COLLATE "C" NOT NULL REFERENCES inventories (slug),
    source text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    action text NOT NULL,
    written_at timestamptz NOT NULL,
    remote_address inet,
    user_agent text,
    request_id text,
    CONSTRAINT observation_audit_revision_check CHECK (revision >= 1),
    CONSTRAINT observation_audit_action_check CHECK (action IN ('put', 'delete')),
    CONSTRAINT observation_audit_user_agent_check CHECK (char_length(user_agent) <= 256),
    CONSTRAINT observation_audit_request_id_check CHECK (request_id ~ '^[0-9A-Za-z._-]{1,64}$')
);
CREATE INDEX observation_audit_slug_index ON observation_audit (slug, id);

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

COMMENT ON TABLE observation_audit IS 'Every write that changed what a source says, in the transaction that made the change. Rows are added and never change.';
COMMENT ON COLUMN observation_audit.id IS 'Grows with each write; within one inventory it gives their order.';
COMMENT ON COLUMN observation_audit.slug IS 'Inventory that was observed.';
COMMENT ON COLUMN observation_audit.source IS 'Source that was written.';
COMMENT ON COLUMN observation_audit.revision IS 'Revision that the write made; of a delete the one that it deleted.';
COMMENT ON COLUMN observation_audit.action IS 'What was asked: put or delete.';
COMMENT ON COLUMN observation_audit.written_at IS 'When.';
COMMENT ON COLUMN observation_audit.remote_address IS 'Other end of the connection, or whom a trusted proxy forwarded; null where it is no address.';
COMMENT ON COLUMN observation_audit.user_agent IS 'What the client said of itself, cut to 256 characters; null where it said nothing.';
COMMENT ON COLUMN observation_audit.request_id IS 'Id of the request in logs and in its answer.';
