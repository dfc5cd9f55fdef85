#include "store/migrate.h"

#include <assert.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "store/connection.h"
#include "store/query.h"

enum { NUMBER_DIGITS = 4, NUMBER_SIZE = NUMBER_DIGITS + 1 };

static void
number_of(const sl_embedded *file, char out[NUMBER_SIZE])
{
    uint64_t number = 0;
    (void)sl_text_copy(out, NUMBER_SIZE, file->name);
    const bool understood = sl_text_to_uint(out, &number);
    assert(understood && number > 0);
    assert(file->name[NUMBER_DIGITS] == '_');
}

/*
 * One file, in the transaction that also notes it as applied. The lock ends with the transaction
 * and not with the session, so that a connection pooler in between and a crash are both harmless.
 */
static sl_code
apply_file(sl_store *store, void *context, sl_errors *err)
{
    const sl_embedded *file = context;
    char number[NUMBER_SIZE];
    char checksum[SL_HASH_TEXT_SIZE];
    number_of(file, number);
    sl_hash_text(file->data, file->size, checksum);

    static const sl_statement steps[] = {SL_SQL_MIGRATION_WAIT, SL_SQL_MIGRATION_LOCK,
                                         SL_SQL_MIGRATION_HURRY, SL_SQL_MIGRATION_TABLE};
    sl_code code = SL_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == SL_OK; i++)
        code = sl_query_do(store, steps[i], NULL, err);
    if (code != SL_OK)
        return code;

    PGresult *applied = NULL;
    code = sl_query_run(store, SL_SQL_MIGRATION_GET, (const char *[]){number}, &applied, err);
    if (code != SL_OK)
        return code;
    if (PQntuples(applied) == 1) {
        if (!sl_text_equal(PQgetvalue(applied, 0, 0), checksum))
            code = sl_fail(err, SL_E_CONFLICT, "migration_changed", "",
                           "migration %s was edited after the database applied it", file->name);
        PQclear(applied);
        return code;
    }
    PQclear(applied);

    code = sl_query_script(store, (const char *)file->data, err);
    if (code == SL_OK)
        code = sl_query_do(store, SL_SQL_MIGRATION_ADD,
                           (const char *[]){number, file->name, checksum}, err);
    if (code == SL_OK) {
        const sl_log_field fields[] = {sl_log_text("migration", file->name)};
        sl_log(SL_LOG_INFO, "migration applied", fields, 1);
    }
    return code;
}

/* The highest number that the database has seen. */
static sl_code
last_applied(sl_store *store, uint64_t *out, sl_errors *err)
{
    PGresult *result = NULL;
    const sl_code code = sl_query_read(store, SL_SQL_MIGRATION_LAST, NULL, &result, err);
    if (code != SL_OK)
        return code;
    const bool understood = sl_text_to_uint(PQgetvalue(result, 0, 0), out);
    assert(understood);
    PQclear(result);
    return SL_OK;
}

static uint64_t
last_of(const sl_embedded_set *set)
{
    uint64_t last = 0;
    if (set->count > 0) {
        char number[NUMBER_SIZE];
        number_of(&set->files[set->count - 1], number);
        const bool understood = sl_text_to_uint(number, &last);
        assert(understood);
    }
    return last;
}

sl_code
sl_migrate_apply(sl_store *store, const sl_embedded_set *set, sl_errors *err)
{
    for (size_t i = 0; i < set->count; i++) {
        sl_embedded file = set->files[i];
        const sl_code code = sl_query_transact(store, apply_file, &file, err);
        if (code != SL_OK)
            return code;
    }

    uint64_t last = 0;
    const sl_code code = last_applied(store, &last, err);
    if (code == SL_OK && last > last_of(set)) {
        const sl_log_field fields[] = {sl_log_text("rule", "migration_unknown"),
                                       sl_log_count("number", last)};
        sl_log(SL_LOG_WARN, "the database is ahead of this build", fields, 2);
    }
    return code;
}

sl_code
sl_store_migrate(sl_store *store, sl_errors *err)
{
    /* Whose request it is that comes first is chance, and what it had to wait for is done once. */
    const double deadline_s = store->deadline_s;
    sl_store_until(store, 0);
    const sl_code code = sl_migrate_apply(store, &sl_sql_files, err);
    sl_store_until(store, deadline_s);
    return code;
}

sl_code
sl_store_ready(sl_store *store, sl_errors *err)
{
    uint64_t last = 0;
    const sl_code code = last_applied(store, &last, err);
    if (code != SL_OK)
        return code;
    if (last < last_of(&sl_sql_files))
        return sl_fail(err, SL_E_UNAVAILABLE, "database_not_migrated", "",
                       "the database is at migration %u, this build needs %u", (unsigned)last,
                       (unsigned)last_of(&sl_sql_files));
    return SL_OK;
}
