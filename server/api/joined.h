/** A stored inventory beside what its sources observed, and what that means for it. */
#ifndef SL_API_JOINED_H
#define SL_API_JOINED_H

#include "api/app.h"
#include "codec/inventory/host_status.h"

/** All observations of an inventory, in the arena. */
sl_code sl_api_observations(sl_store *store, const char *slug, sl_arena *arena,
                            sl_observation **out, uint32_t *count, sl_errors *err) SL_MUST_CHECK;

/** Bounds of the text of a spec beyond those of the body it came in. */
extern const sl_json_limits sl_spec_limits;

/** A spec as it is worked with: decoded once for all that is computed of it. */
typedef struct sl_api_spec {
    sl_json *json;
    sl_node root;
    sl_inventory_hardware hardware;
} sl_api_spec;

/** One that is stored. The caller clears it, also after a failure. */
sl_code sl_api_spec_read(const sl_app *app, const char *text, size_t size, sl_api_spec *out,
                         sl_errors *err) SL_MUST_CHECK;
/** The same of one that is to be stored: checked as sl_inventory_check does. */
sl_code sl_api_spec_check(const sl_app *app, const char *text, size_t size, sl_api_spec *out,
                          sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;
void sl_api_spec_clear(sl_api_spec *spec);

/** Spec and observations joined, in the arena; the spec's text may go afterwards. */
sl_code sl_api_host_status(const sl_app *app, const char *spec, const sl_observation *observations,
                           uint32_t count, sl_arena *arena, sl_host_status **out,
                           sl_errors *err) SL_MUST_CHECK;

/** Members of an inventory's status that come from elsewhere than its spec. */
typedef struct sl_api_joined {
    const char *hosts; /* JSON; NULL: not joined */
    const char *plans; /* JSON likewise: the saved plans that name it, or the first of them ... */
    bool plans_truncated;
    uint64_t plan_count; /* ... of so many */
    const char *tag;     /* changes with them; NULL while nothing but the spec speaks */
} sl_api_joined;

/** In the arena. Of a row that is bare the database is not asked. */
sl_code sl_api_join(const sl_app *app, sl_store *store, const sl_inventory_row *row,
                    const sl_api_spec *spec, sl_arena *arena, sl_api_joined *out,
                    sl_errors *err) SL_MUST_CHECK;

/** As members of the object that is open. */
void sl_api_joined_write(sl_writer *writer, const sl_api_joined *joined);

#endif
