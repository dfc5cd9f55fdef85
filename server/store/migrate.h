/** Bringing a database to the schema of this build. Inside server/store and its tests only. */
#ifndef SL_STORE_MIGRATE_H
#define SL_STORE_MIGRATE_H

#include "base/embed.h"
#include "shardline/error.h"
#include "store/store.h"

/** The files under sql/, written by sl_embed(). */
extern const sl_embedded_set sl_sql_files;

/**
 * Applies those files of `set` that the database has not seen, in order of name. A name is four
 * digits, an underscore and words; numbers rise. A file holds no transaction control of its own.
 */
sl_code sl_migrate_apply(sl_store *store, const sl_embedded_set *set, sl_errors *err) SL_MUST_CHECK;

#endif
