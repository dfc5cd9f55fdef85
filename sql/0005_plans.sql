-- Saved plans: an estimate request under a name, every document that was accepted for it, and the last verdict on
-- it. What a verdict holds for is kept beside it: when that is no longer what is there, the plan waits for another.
CREATE TABLE plans (
    slug text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL,
    name text NOT NULL,
    spec json NOT NULL,
    spec_hash text NOT NULL,
    inventory text COLLATE "C" REFERENCES inventories (slug),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    verdict text,
    evaluation json,
    reason text,
    evaluated_at timestamptz,
    evaluated_for text,
    CONSTRAINT plans_slug_check CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    CONSTRAINT plans_revision_check CHECK (revision >= 1),
    CONSTRAINT plans_spec_check CHECK (json_typeof(spec) = 'object'),
    CONSTRAINT plans_spec_hash_check CHECK (spec_hash <> ''),
    CONSTRAINT plans_verdict_check CHECK (verdict IN ('fits', 'does_not_fit', 'refused')),
    CONSTRAINT plans_reason_check CHECK (reason IS NULL OR verdict <> 'fits'),
    CONSTRAINT plans_evaluation_check CHECK (
        (verdict IS NULL) = (evaluation IS NULL) AND (verdict IS NULL) = (evaluated_at IS NULL)
        AND (verdict IS NULL) = (evaluated_for IS NULL))
);
CREATE INDEX plans_inventory_index ON plans (inventory, slug);

CREATE TABLE plan_revisions (
    slug text COLLATE "C" NOT NULL REFERENCES plans (slug),
    revision bigint NOT NULL,
    name text NOT NULL,
    spec json NOT NULL,
    spec_hash text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (slug, revision),
    CONSTRAINT plan_revisions_revision_check CHECK (revision >= 1)
);

CREATE TABLE plan_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    action text NOT NULL,
    written_at timestamptz NOT NULL,
    remote_address inet,
    user_agent text,
    request_id text,
    CONSTRAINT plan_audit_revision_fkey FOREIGN KEY (slug, revision) REFERENCES plan_revisions (slug, revision),
    CONSTRAINT plan_audit_action_check CHECK (action IN ('put', 'delete')),
    CONSTRAINT plan_audit_user_agent_check CHECK (char_length(user_agent) <= 256),
    CONSTRAINT plan_audit_request_id_check CHECK (request_id ~ '^[0-9A-Za-z._-]{1,64}$')
);
CREATE INDEX plan_audit_slug_index ON plan_audit (slug, id);

COMMENT ON TABLE plans IS 'Saved plans: one row per slug, with what is current and the last verdict on it.';
COMMENT ON COLUMN plans.slug IS 'Identity of the plan in URLs: 1 to 63 of a-z, 0-9 and inner dashes.';
COMMENT ON COLUMN plans.revision IS 'Number of the current revision; counts accepted changes from 1 and never goes back.';
COMMENT ON COLUMN plans.name IS 'Name in the document: free text, empty where it has none.';
COMMENT ON COLUMN plans.spec IS 'The document byte for byte as it was accepted: name, labels, estimate request.';
COMMENT ON COLUMN plans.spec_hash IS 'SHA-256 of the canonical document: equal documents, equal hash, whatever their spelling.';
COMMENT ON COLUMN plans.inventory IS 'Inventory that the request names; null where its cluster stands inline.';
COMMENT ON COLUMN plans.created_at IS 'When revision 1 was accepted.';
COMMENT ON COLUMN plans.updated_at IS 'When it last changed: its current revision was accepted, or it was deleted.';
COMMENT ON COLUMN plans.deleted_at IS 'When it was deleted; null while it is there.';
COMMENT ON COLUMN plans.verdict IS 'What the last evaluation came to; null before the first one of this revision.';
COMMENT ON COLUMN plans.evaluation IS 'Figures of the last evaluation, or the faults that refuse it, and what they were computed from.';
COMMENT ON COLUMN plans.reason IS 'Why it no longer fits, where it did before.';
COMMENT ON COLUMN plans.evaluated_at IS 'When it was last evaluated.';
COMMENT ON COLUMN plans.evaluated_for IS 'What that holds for: revisions of plan and inventory, hash of the observations, engine and catalogue.';

COMMENT ON TABLE plan_revisions IS 'Every document that was accepted for a plan, with its number. Rows are added and never change.';
COMMENT ON COLUMN plan_revisions.slug IS 'Plan it is a revision of.';
COMMENT ON COLUMN plan_revisions.revision IS 'Its number, from 1 without a gap.';
COMMENT ON COLUMN plan_revisions.name IS 'Name in the document of this revision.';
COMMENT ON COLUMN plan_revisions.spec IS 'The document byte for byte as it was accepted.';
COMMENT ON COLUMN plan_revisions.spec_hash IS 'SHA-256 of the canonical document.';
COMMENT ON COLUMN plan_revisions.created_at IS 'When it was accepted.';

COMMENT ON TABLE plan_audit IS 'Every write that changed a plan, in the transaction that made the change. Rows are added and never change.';
COMMENT ON COLUMN plan_audit.id IS 'Grows with each write; within one plan it gives their order.';
COMMENT ON COLUMN plan_audit.slug IS 'Plan that was written.';
COMMENT ON COLUMN plan_audit.revision IS 'Revision that the write made; of a delete the one that it deleted.';
COMMENT ON COLUMN plan_audit.action IS 'What was asked: put or delete.';
COMMENT ON COLUMN plan_audit.written_at IS 'When.';
COMMENT ON COLUMN plan_audit.remote_address IS 'Other end of the connection, or whom a trusted proxy forwarded; null where it is no address.';
COMMENT ON COLUMN plan_audit.user_agent IS 'What the client said of itself, cut to 256 characters; null where it said nothing.';
COMMENT ON COLUMN plan_audit.request_id IS 'Id of the request in logs and in its answer.';
