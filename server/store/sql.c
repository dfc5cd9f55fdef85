#include "store/sql.h"

#include <assert.h>

/* RFC 3339 in UTC, to the millisecond; the database does the calendar. */
#define RFC_3339 " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* The columns of an sl_inventory_row in the order that inventory.c reads them. */
#define ROW "slug, revision, name, to_char(created_at" RFC_3339 ", to_char(updated_at" RFC_3339

/* A past revision as it stood: created with the inventory, updated when the revision was made. */
#define PAST_ROW                                                                                   \
    "i.slug, r.revision, r.name, to_char(i.created_at" RFC_3339 ", to_char(r.created_at" RFC_3339

/* The lock of the migrations: an arbitrary number that only this program takes. */
#define MIGRATION_KEY "8317987319222330741"

static const sl_sql statements[] = {
    [SL_SQL_BEGIN] = {"begin", "BEGIN ISOLATION LEVEL READ COMMITTED", 0},
    [SL_SQL_COMMIT] = {"commit", "COMMIT", 0},
    [SL_SQL_ROLLBACK] = {"rollback", "ROLLBACK", 0},

    /* A second replica waits for the first one's migration, yet not so long that a stop would
     * have to
       wait too: whoever gives up tries again at its next use. The schema change itself rather fails
       than queue the traffic behind its table lock. */
    [SL_SQL_MIGRATION_WAIT] = {"migration_wait",
                               "SELECT set_config('lock_timeout', '5s', true),"
                               " set_config('statement_timeout', '0', true)",
                               0},
    [SL_SQL_MIGRATION_LOCK] = {"migration_lock", "SELECT pg_advisory_xact_lock(" MIGRATION_KEY ")",
                               0},
    [SL_SQL_MIGRATION_HURRY] = {"migration_hurry", "SELECT set_config('lock_timeout', '5s', true)",
                                0},
    [SL_SQL_MIGRATION_TABLE] = {"migration_table",
                                "CREATE TABLE IF NOT EXISTS schema_migrations ("
                                "number bigint PRIMARY KEY, name text NOT NULL,"
                                " checksum text NOT NULL, applied_at timestamptz NOT NULL)",
                                0},
    [SL_SQL_MIGRATION_GET] = {"migration_get",
                              "SELECT checksum FROM schema_migrations WHERE number = $1::bigint",
                              1},
    [SL_SQL_MIGRATION_ADD] = {"migration_add",
                              "INSERT INTO schema_migrations (number, name, checksum, applied_at)"
                              " VALUES ($1::bigint, $2::text, $3::text, statement_timestamp())",
                              3},
    [SL_SQL_MIGRATION_LAST] = {"migration_last",
                               "SELECT coalesce(max(number), 0) FROM schema_migrations", 0},

    [SL_SQL_INVENTORY_LOCK] = {"inventory_lock",
                               "SELECT " ROW ", spec, spec_hash, deleted_at IS NOT NULL"
                               " FROM inventories WHERE slug = $1::text FOR UPDATE",
                               1},
    [SL_SQL_INVENTORY_INSERT] = {"inventory_insert",
                                 "INSERT INTO inventories"
                                 " (slug, revision, name, spec, spec_hash, created_at, updated_at)"
                                 " VALUES ($1::text, 1, $2::text, $3::json, $4::text,"
                                 " statement_timestamp(), statement_timestamp())"
                                 " ON CONFLICT (slug) DO NOTHING RETURNING " ROW ", spec",
                                 4},
    [SL_SQL_INVENTORY_UPDATE] = {"inventory_update",
                                 "UPDATE inventories SET revision = revision + 1, name = $3::text,"
                                 " spec = $4::json, spec_hash = $5::text,"
                                 " updated_at = statement_timestamp(), deleted_at = NULL"
                                 " WHERE slug = $1::text AND revision = $2::bigint"
                                 " RETURNING " ROW ", spec",
                                 5},
    [SL_SQL_INVENTORY_RECORD] = {"inventory_record",
                                 "INSERT INTO inventory_revisions"
                                 " (slug, revision, name, spec, spec_hash, created_at)"
                                 " SELECT slug, revision, name, spec, spec_hash, updated_at"
                                 " FROM inventories WHERE slug = $1::text",
                                 1},
    [SL_SQL_INVENTORY_GET] = {"inventory_get",
                              "SELECT " ROW ", spec FROM inventories"
                              " WHERE slug = $1::text AND deleted_at IS NULL",
                              1},
    [SL_SQL_INVENTORY_REVISION] = {"inventory_revision",
                                   "SELECT " PAST_ROW ", r.spec FROM inventories i"
                                   " JOIN inventory_revisions r ON r.slug = i.slug"
                                   " WHERE i.slug = $1::text AND i.deleted_at IS NULL"
                                   " AND r.revision = $2::bigint",
                                   2},
    [SL_SQL_INVENTORY_LIST] = {"inventory_list",
                               "SELECT " ROW " FROM inventories"
                               " WHERE slug > $1::text AND deleted_at IS NULL"
                               " ORDER BY slug LIMIT $2::bigint",
                               2},
    /* An inventory without a revision in the window gives one row without a revision: that tells
       the end of its history from an inventory that does not exist. */
    [SL_SQL_INVENTORY_REVISIONS] = {"inventory_revisions",
                                    "SELECT " PAST_ROW " FROM inventories i"
                                    " LEFT JOIN inventory_revisions r ON r.slug = i.slug"
                                    " AND r.revision < $2::bigint"
                                    " WHERE i.slug = $1::text AND i.deleted_at IS NULL"
                                    " ORDER BY r.revision DESC LIMIT $3::bigint",
                                    3},

    [SL_SQL_HARDWARE_STATE] = {"hardware_state", "SELECT revision FROM private_hardware_state", 0},
    /* State and rows in one statement, thus of one moment. Without rows there is one of nulls. */
    [SL_SQL_HARDWARE_LIST] = {"hardware_list",
                              "SELECT s.revision, h.kind, h.id, h.revision,"
                              " to_char(h.created_at" RFC_3339 ", to_char(h.updated_at" RFC_3339
                              ", h.spec"
                              " FROM private_hardware_state s LEFT JOIN private_hardware h ON true"
                              " ORDER BY h.kind, h.id",
                              0},
    [SL_SQL_HARDWARE_LOCK] = {"hardware_lock",
                              "SELECT revision FROM private_hardware_state FOR UPDATE", 0},
    [SL_SQL_HARDWARE_GET] = {"hardware_get",
                             "SELECT revision, spec_hash FROM private_hardware"
                             " WHERE kind = $1::text AND id = $2::text",
                             2},
    [SL_SQL_HARDWARE_COUNT] = {"hardware_count", "SELECT count(*) FROM private_hardware", 0},
    [SL_SQL_HARDWARE_ADVANCE] = {"hardware_advance",
                                 "UPDATE private_hardware_state SET revision = revision + 1", 0},
    [SL_SQL_HARDWARE_PUT] = {"hardware_put",
                             "INSERT INTO private_hardware (kind, id, revision, spec, spec_hash,"
                             " uses, created_at, updated_at)"
                             " SELECT $1::text, $2::text, revision, $3::json, $4::text, $5::text,"
                             " statement_timestamp(), statement_timestamp()"
                             " FROM private_hardware_state"
                             " ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision,"
                             " spec = excluded.spec, spec_hash = excluded.spec_hash,"
                             " uses = excluded.uses, updated_at = excluded.updated_at",
                             5},
    [SL_SQL_HARDWARE_DELETE] = {"hardware_delete",
                                "DELETE FROM private_hardware"
                                " WHERE kind = $1::text AND id = $2::text",
                                2},
};
_Static_assert(sizeof statements / sizeof statements[0] == SL_SQL_COUNT,
               "every statement has its text");

const sl_sql *
sl_sql_get(sl_statement statement)
{
    assert(statement < SL_SQL_COUNT);
    return &statements[statement];
}
