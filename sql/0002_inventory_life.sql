-- The life of an inventory: what it can be found by, who wrote what, and what the schema itself promises.
-- Replicas of the release before go on beside this one: what they insert leaves the new columns at their defaults,
-- and what they write has no row in the audit.

-- What a list filters by and cannot read out of a spec at each row: an id may be implied by a node type, which only
-- the catalogue knows. What is stored already says at least the ids it names itself; its next write says the rest.
ALTER TABLE inventories ADD COLUMN accelerators text[] NOT NULL DEFAULT '{}';
UPDATE inventories SET accelerators = ARRAY(
    SELECT DISTINCT left(pool -> 'node' ->> 'accelerator', 128)
    FROM json_array_elements(spec -> 'pools') AS pool
    WHERE pool -> 'node' ->> 'accelerator' IS NOT NULL
    ORDER BY 1);
ALTER TABLE inventories ADD COLUMN labels jsonb GENERATED ALWAYS AS ((spec -> 'labels')::jsonb) STORED;

-- One index for each order of a list. A name may be longer than an entry of an index.
CREATE INDEX inventories_updated_at_index ON inventories (updated_at, slug);
CREATE INDEX inventories_name_index ON inventories ((left(name, 100) COLLATE "C"), slug);

-- And one for each filter that leaves few rows of many.
CREATE INDEX inventories_accelerators_index ON inventories USING gin (accelerators);
CREATE INDEX inventories_labels_index ON inventories USING gin (labels);
CREATE INDEX inventories_deleted_index ON inventories (slug) WHERE deleted_at IS NOT NULL;

ALTER TABLE inventories
    ADD CONSTRAINT inventories_spec_check CHECK (json_typeof(spec) = 'object'),
    ADD CONSTRAINT inventories_spec_hash_check CHECK (spec_hash <> '');
ALTER TABLE inventory_revisions
    ADD CONSTRAINT inventory_revisions_revision_check CHECK (revision >= 1),
    ADD CONSTRAINT inventory_revisions_spec_check CHECK (json_typeof(spec) = 'object'),
    ADD CONSTRAINT inventory_revisions_spec_hash_check CHECK (spec_hash <> '');

-- What is current is always a revision that is kept. Deferred: either row may come first.
ALTER TABLE inventories
    ADD CONSTRAINT inventories_current_fkey FOREIGN KEY (slug, revision)
        REFERENCES inventory_revisions (slug, revision) DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE inventory_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    action text NOT NULL,
    written_at timestamptz NOT NULL,
    remote_address inet,
    user_agent text,
    request_id text,
    CONSTRAINT inventory_audit_revision_fkey FOREIGN KEY (slug, revision)
        REFERENCES inventory_revisions (slug, revision),
    CONSTRAINT inventory_audit_action_check CHECK (action IN ('put', 'patch', 'delete', 'restore')),
    CONSTRAINT inventory_audit_user_agent_check CHECK (char_length(user_agent) <= 256),
    CONSTRAINT inventory_audit_request_id_check CHECK (request_id ~ '^[0-9A-Za-z._-]{1,64}$')
);
-- A revision is made once and deleted once: what comes back is another revision.
CREATE UNIQUE INDEX inventory_audit_once_index ON inventory_audit (slug, revision, (action = 'delete'));
CREATE INDEX inventory_audit_slug_index ON inventory_audit (slug, id);

COMMENT ON TABLE schema_migrations IS 'The numbered files that were applied to this database, each once.';
COMMENT ON COLUMN schema_migrations.number IS 'The number that begins the name of the file.';
COMMENT ON COLUMN schema_migrations.name IS 'Name of the file.';
COMMENT ON COLUMN schema_migrations.checksum IS 'SHA-256 of the file when it was applied: one that was edited since is refused.';
COMMENT ON COLUMN schema_migrations.applied_at IS 'When it was applied.';

COMMENT ON TABLE inventories IS 'Clusters as their owners describe them: one row per slug, with what is current.';
COMMENT ON COLUMN inventories.slug IS 'Identity of the inventory in URLs: 1 to 63 of a-z, 0-9 and inner dashes.';
COMMENT ON COLUMN inventories.revision IS 'Number of the current revision; counts accepted changes from 1 and never goes back.';
COMMENT ON COLUMN inventories.name IS 'Name in the spec: free text, empty where the spec has none.';
COMMENT ON COLUMN inventories.spec IS 'The spec byte for byte as it was accepted.';
COMMENT ON COLUMN inventories.spec_hash IS 'SHA-256 of the canonical spec: equal documents, equal hash, whatever their spelling.';
COMMENT ON COLUMN inventories.created_at IS 'When revision 1 was accepted.';
COMMENT ON COLUMN inventories.updated_at IS 'When it last changed: its current revision was accepted, or it was deleted.';
COMMENT ON COLUMN inventories.deleted_at IS 'When it was deleted; null while it is there.';
COMMENT ON COLUMN inventories.accelerators IS 'Ids of the accelerators in its pools, in order and each once; as the spec names them where the catalogue does not know them.';
COMMENT ON COLUMN inventories.labels IS 'Labels of the spec; null where it has none.';

COMMENT ON TABLE inventory_revisions IS 'Every spec that was accepted, with its number. Rows are added and never change.';
COMMENT ON COLUMN inventory_revisions.slug IS 'Inventory it is a revision of.';
COMMENT ON COLUMN inventory_revisions.revision IS 'Its number, from 1 without a gap.';
COMMENT ON COLUMN inventory_revisions.name IS 'Name in the spec of this revision.';
COMMENT ON COLUMN inventory_revisions.spec IS 'The spec byte for byte as it was accepted.';
COMMENT ON COLUMN inventory_revisions.spec_hash IS 'SHA-256 of the canonical spec.';
COMMENT ON COLUMN inventory_revisions.created_at IS 'When it was accepted.';

COMMENT ON TABLE inventory_audit IS 'Every write that changed an inventory, in the transaction that made the change. Rows are added and never change.';
COMMENT ON COLUMN inventory_audit.id IS 'Grows with each write; within one inventory it gives their order.';
COMMENT ON COLUMN inventory_audit.slug IS 'Inventory that was written.';
COMMENT ON COLUMN inventory_audit.revision IS 'Revision that the write made; of a delete the one that it deleted.';
COMMENT ON COLUMN inventory_audit.action IS 'What was asked: put, patch, delete or restore.';
COMMENT ON COLUMN inventory_audit.written_at IS 'When.';
COMMENT ON COLUMN inventory_audit.remote_address IS 'Other end of the connection, or whom a trusted proxy forwarded; null where it is no address.';
COMMENT ON COLUMN inventory_audit.user_agent IS 'What the client said of itself, cut to 256 characters; null where it said nothing.';
COMMENT ON COLUMN inventory_audit.request_id IS 'Id of the request in logs and in its answer.';
