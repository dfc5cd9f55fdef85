-- Accelerators, node types and prices that users put beside the catalogue. One row each; what is not stored here is the
-- catalogue's own. Every write takes the next number of private_hardware_state under its lock: writes are ordered, no
-- revision is ever used twice, and a replica knows by one number whether it has seen the latest.
CREATE TABLE private_hardware_state (
    only_row boolean PRIMARY KEY DEFAULT true,
    revision bigint NOT NULL,
    CONSTRAINT private_hardware_state_one_check CHECK (only_row),
    CONSTRAINT private_hardware_state_revision_check CHECK (revision >= 0)
);
INSERT INTO private_hardware_state (revision) VALUES (0);

CREATE TABLE private_hardware (
    kind text NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    spec json NOT NULL,
    spec_hash text NOT NULL,
    uses text COLLATE "C",
    uses_kind text GENERATED ALWAYS AS (CASE WHEN uses IS NOT NULL THEN 'accelerator' END) STORED,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (kind, id),
    CONSTRAINT private_hardware_kind_check CHECK (kind IN ('accelerator', 'node_type', 'price')),
    CONSTRAINT private_hardware_id_check CHECK (id ~ '^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$'),
    CONSTRAINT private_hardware_revision_check CHECK (revision >= 1),
    CONSTRAINT private_hardware_uses_check CHECK (uses IS NULL OR kind = 'node_type'),
    CONSTRAINT private_hardware_uses_fkey FOREIGN KEY (uses_kind, uses) REFERENCES private_hardware (kind, id)
);
CREATE INDEX private_hardware_uses_idx ON private_hardware (uses_kind, uses) WHERE uses IS NOT NULL;

CREATE TABLE private_hardware_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    entry text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    action text NOT NULL,
    written_at timestamptz NOT NULL,
    remote_address inet,
    user_agent text,
    request_id text,
    CONSTRAINT private_hardware_audit_kind_check CHECK (kind IN ('accelerator', 'node_type', 'price')),
    CONSTRAINT private_hardware_audit_revision_check CHECK (revision >= 1),
    CONSTRAINT private_hardware_audit_action_check CHECK (action IN ('put', 'delete')),
    CONSTRAINT private_hardware_audit_user_agent_check CHECK (char_length(user_agent) <= 256),
    CONSTRAINT private_hardware_audit_request_id_check CHECK (request_id ~ '^[0-9A-Za-z._-]{1,64}$')
);
CREATE INDEX private_hardware_audit_entry_idx ON private_hardware_audit (kind, entry, id);

COMMENT ON TABLE private_hardware_state IS 'One row: how far the private hardware has come';
COMMENT ON COLUMN private_hardware_state.only_row IS 'Always true: keeps the table at one row';
COMMENT ON COLUMN private_hardware_state.revision IS 'Number of the last write to private_hardware, 0 before the first';
COMMENT ON TABLE private_hardware IS 'Accelerators, node types and prices of users, beside the catalogue that is compiled in';
COMMENT ON COLUMN private_hardware.kind IS 'accelerator, node_type, or price: of a node type of the catalogue';
COMMENT ON COLUMN private_hardware.id IS 'Name in the path; of a price, that of the node type';
COMMENT ON COLUMN private_hardware.revision IS 'Number that private_hardware_state had when the row was last written';
COMMENT ON COLUMN private_hardware.spec IS 'What the user sent, as accepted: key order and spelling of numbers are kept';
COMMENT ON COLUMN private_hardware.spec_hash IS 'SHA-256 of the canonical spec: an equal one is no change';
COMMENT ON COLUMN private_hardware.uses IS 'Private accelerator that a node type is made of, which therefore stays';
COMMENT ON COLUMN private_hardware.uses_kind IS 'Kind of the row in uses, for its foreign key';
COMMENT ON COLUMN private_hardware.created_at IS 'When the id was put first';
COMMENT ON COLUMN private_hardware.updated_at IS 'When the row was last written';
COMMENT ON TABLE private_hardware_audit IS 'Every write that changed private hardware, in the transaction that made the change; rows are added and never change';
COMMENT ON COLUMN private_hardware_audit.id IS 'Grows with each write; of one entry it gives their order';
COMMENT ON COLUMN private_hardware_audit.kind IS 'Kind of the entry that was written';
COMMENT ON COLUMN private_hardware_audit.entry IS 'Its id; it may be gone';
COMMENT ON COLUMN private_hardware_audit.revision IS 'Revision that the write made; of a delete the one that it deleted';
COMMENT ON COLUMN private_hardware_audit.action IS 'What was asked: put or delete';
COMMENT ON COLUMN private_hardware_audit.written_at IS 'When';
COMMENT ON COLUMN private_hardware_audit.remote_address IS 'Other end of the connection, or whom a trusted proxy forwarded; null where it is no address';
COMMENT ON COLUMN private_hardware_audit.user_agent IS 'What the client said of itself, cut to 256 characters; null where it said nothing';
COMMENT ON COLUMN private_hardware_audit.request_id IS 'Id of the request in logs and in its answer';
