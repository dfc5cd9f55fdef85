-- Inventories: one row per slug holds what is current, and every accepted spec stays in inventory_revisions.
-- The slug orders and compares by bytes, so that a page boundary means the same on every replica and libc.
-- The spec is json and not jsonb: what a provisioning tool sent comes back with its key order and number spelling.
CREATE TABLE inventories (
    slug text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL,
    name text NOT NULL,
    spec json NOT NULL,
    spec_hash text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT inventories_slug_check CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT inventories_revision_check CHECK (revision >= 1)
);

CREATE TABLE inventory_revisions (
    slug text COLLATE "C" NOT NULL REFERENCES inventories (slug),
    revision bigint NOT NULL,
    name text NOT NULL,
    spec json NOT NULL,
    spec_hash text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (slug, revision)
);
