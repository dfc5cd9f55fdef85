/** Every statement the store sends, but for the migrations: named, with placeholders. */
#ifndef SL_STORE_SQL_H
#define SL_STORE_SQL_H

/** Begins a transaction and reads the database's clock: one message of two statements, which cannot
 * be prepared. */
#define SL_SQL_BEGIN                                                                               \
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT extract(epoch FROM clock_timestamp())"

/** A commit that fails from a time on, as printf writes it: messages of several statements have no
 * placeholders. The division by zero is the failure, SL_SQL_TOO_LATE its state. */
#define SL_SQL_COMMIT_BEFORE                                                                       \
    "SELECT 1 / (extract(epoch FROM clock_timestamp()) < %.6f)::int; COMMIT"
#define SL_SQL_COMMIT "COMMIT"
#define SL_SQL_TOO_LATE "22012"

typedef enum sl_statement {
    SL_SQL_ROLLBACK,
    SL_SQL_MIGRATION_WAIT,
    SL_SQL_MIGRATION_LOCK,
    SL_SQL_MIGRATION_HURRY,
    SL_SQL_MIGRATION_TABLE,
    SL_SQL_MIGRATION_GET,
    SL_SQL_MIGRATION_ADD,
    SL_SQL_MIGRATION_LAST,
    SL_SQL_INVENTORY_LOCK,
    SL_SQL_INVENTORY_INSERT,
    SL_SQL_INVENTORY_UPDATE,
    SL_SQL_INVENTORY_GET,
    SL_SQL_INVENTORY_REVISION,
    SL_SQL_INVENTORY_REVISIONS,
    SL_SQL_OBSERVED_LOCK,
    SL_SQL_OBSERVED_THERE,
    SL_SQL_OBSERVATION_PUT,
    SL_SQL_OBSERVATION_GET,
    SL_SQL_OBSERVATION_DELETE,
    SL_SQL_OBSERVATION_LIST,
    SL_SQL_OBSERVATION_FACTS,
    SL_SQL_INVENTORY_PEEK,
    SL_SQL_INVENTORY_DELETE,
    SL_SQL_INVENTORY_RESTORE,
    SL_SQL_INVENTORY_AUDIT,
    SL_SQL_INVENTORIES_BY_SLUG,
    SL_SQL_INVENTORIES_BY_SLUG_DOWN,
    SL_SQL_INVENTORIES_BY_UPDATE,
    SL_SQL_INVENTORIES_BY_UPDATE_DOWN,
    SL_SQL_INVENTORIES_BY_NAME,
    SL_SQL_INVENTORIES_BY_OBSERVATION,
    SL_SQL_INVENTORIES_UNJUDGED,
    SL_SQL_INVENTORY_JUDGE,
    SL_SQL_OBSERVATION_NOTE,
    SL_SQL_PLAN_NOTE,
    SL_SQL_PLAN_LOCK,
    SL_SQL_PLAN_INSERT,
    SL_SQL_PLAN_UPDATE,
    SL_SQL_PLAN_RECORD,
    SL_SQL_PLAN_GET,
    SL_SQL_PLAN_DELETE,
    SL_SQL_PLAN_LIST,
    SL_SQL_PLAN_JUDGE,
    SL_SQL_PLAN_COUNT,
    SL_SQL_HARDWARE_STATE,
    SL_SQL_HARDWARE_LIST,
    SL_SQL_HARDWARE_LOCK,
    SL_SQL_HARDWARE_GET,
    SL_SQL_HARDWARE_COUNT,
    SL_SQL_HARDWARE_ADVANCE,
    SL_SQL_HARDWARE_PUT,
    SL_SQL_HARDWARE_DELETE,
    SL_SQL_HARDWARE_NOTE,
    SL_SQL_HARDWARE_AUDIT,
    SL_SQL_OBSERVATION_AUDIT,
    SL_SQL_PLAN_AUDIT,
    SL_SQL_SEARCH_PUT,
    SL_SQL_SEARCH_GET,
    SL_SQL_COUNT
} sl_statement;

typedef struct sl_sql {
    const char *name; /* of the prepared statement, and what an error calls it */
    const char *text;
    int parameters; /* placeholders in text */
} sl_sql;

/** Static storage. */
const sl_sql *sl_sql_get(sl_statement statement);

#endif
