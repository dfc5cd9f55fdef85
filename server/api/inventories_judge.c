/* Finds of each inventory that changed whether its hosts are as its spec says. */
#include "api/inventories.h"
#include "base/text.h"
#include "store/inventory_problems.h"

static const size_t ARENA_BYTES = (size_t)256 * 1024 * 1024;

/* A stale source is a problem of its own, of which the store knows; that goes when the source says
 * the same again. What is found must hold then too, so it is taken at its word. */
static sl_code
find(const sl_app *app, sl_store *store, const char *slug, sl_arena *arena, bool *wrong,
     sl_errors *err)
{
    sl_inventory_row row;
    sl_observation *observations = NULL;
    sl_host_status *status = NULL;
    uint32_t count = 0;

    sl_code code = sl_inventory_get(store, slug, "", arena, &row, err);
    if (code == SL_OK)
        code = sl_api_observations(store, slug, arena, &observations, &count, err);
    for (uint32_t i = 0; i < count; i++)
        observations[i].stale = false;
    if (code == SL_OK)
        code = sl_api_host_status(app, row.spec, observations, count, arena, &status, err);
    if (code == SL_OK)
        *wrong = sl_host_status_wrong(status);
    return code;
}

/* One that cannot be judged stays among those with problems. False: the database is away. */
static bool
judge(const sl_app *app, sl_store *store, const sl_inventory_unjudged *row)
{
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_errors err = {.count = 0};
    bool wrong = true;

    if (arena == NULL)
        return false;
    sl_code code = find(app, store, row->slug, arena, &wrong, &err);
    if (code == SL_OK)
        code = sl_inventory_judge(store, row, wrong, &err);
    sl_arena_free(arena);
    return code != SL_E_UNAVAILABLE;
}

/* A page of those that changed; *after moves behind it. False: there is no more to do. */
static bool
judge_page(const sl_app *app, sl_store *store, const atomic_bool *stopping,
           char after[SL_SLUG_SIZE])
{
    sl_inventory_unjudged rows[SL_UNJUDGED_PAGE];
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_errors unseen = {.count = 0};
    uint32_t count = 0;

    bool on = arena != NULL && sl_inventories_unjudged(store, after, app->software, arena, rows,
                                                       &count, &unseen) == SL_OK;
    for (uint32_t i = 0; i < count && on; i++)
        on = !atomic_load(stopping) && judge(app, store, &rows[i]);
    on = on && count == SL_UNJUDGED_PAGE && sl_text_copy(after, SL_SLUG_SIZE, rows[count - 1].slug);
    sl_arena_free(arena);
    return on;
}

void
sl_inventories_judge(const sl_app *app, sl_store *store, const atomic_bool *stopping)
{
    char after[SL_SLUG_SIZE] = "";

    while (judge_page(app, store, stopping, after))
        continue;
}
