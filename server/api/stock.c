#include "api/stock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "catalog/shelf.h"

enum { ROWS_BYTES = 64 << 20 };

static const double look_every_s = 1.0;
static const double look_s = 6.0;

struct sl_stock {
    sl_shelf *shelf;
    pthread_mutex_t refreshing; /* one at a time: a later state never gives way to an earlier */
    bool read;                  /* under that lock: the database was read at least once */

    pthread_mutex_t lock; /* of all up to `stopping` */
    pthread_cond_t wake;
    pthread_cond_t looked;
    bool wanted;            /* somebody waits for a look */
    double looking_since_s; /* the one that goes on; 0: none does */
    uint64_t looks;         /* that ended */
    sl_code outcome;        /* of the last, like the next */
    sl_errors problem;
    bool stopping;
    bool watching;
    pthread_t watcher;
    sl_store *store; /* the watcher's, like the next three */
    sl_stock_opener open;
    void *context;
    bool told; /* that it cannot be opened */
};

static void
hold(pthread_mutex_t *mutex)
{
    const int failed = pthread_mutex_lock(mutex);
    assert(failed == 0);
}

static void
let_go(pthread_mutex_t *mutex)
{
    const int failed = pthread_mutex_unlock(mutex);
    assert(failed == 0);
}

sl_stock *
sl_stock_new(const sl_catalog *base)
{
    assert(base != NULL);

    sl_stock *const stock = calloc(1, sizeof *stock);
    if (stock == NULL)
        return NULL;
    stock->shelf = sl_shelf_new(base);
    if (stock->shelf == NULL || pthread_mutex_init(&stock->refreshing, NULL) != 0 ||
        pthread_mutex_init(&stock->lock, NULL) != 0 || !sl_clock_condition(&stock->wake) ||
        !sl_clock_condition(&stock->looked)) {
        sl_shelf_free(stock->shelf);
        free(stock);
        return NULL;
    }
    return stock;
}

void
sl_stock_stop(sl_stock *stock)
{
    assert(stock != NULL);

    if (!stock->watching)
        return;
    hold(&stock->lock);
    stock->stopping = true;
    (void)pthread_cond_signal(&stock->wake);
    let_go(&stock->lock);
    (void)pthread_join(stock->watcher, NULL);
    stock->watching = false;
}

void
sl_stock_free(sl_stock *stock)
{
    if (stock == NULL)
        return;
    sl_stock_stop(stock);
    sl_store_free(stock->store);
    (void)pthread_cond_destroy(&stock->looked);
    (void)pthread_cond_destroy(&stock->wake);
    (void)pthread_mutex_destroy(&stock->lock);
    (void)pthread_mutex_destroy(&stock->refreshing);
    sl_shelf_free(stock->shelf);
    free(stock);
}

const sl_catalog *
sl_stock_take(sl_stock *stock)
{
    assert(stock != NULL);
    return sl_shelf_take(stock->shelf);
}

void
sl_stock_give_back(sl_stock *stock, const sl_catalog *catalog)
{
    assert(stock != NULL);
    sl_shelf_give_back(stock->shelf, catalog);
}

sl_code
sl_stock_build(const sl_own_row *rows, uint32_t count, uint64_t revision, sl_catalog **out,
               sl_errors *err)
{
    assert(rows != NULL || count == 0);

    sl_overlay *const overlay = sl_overlay_new(revision, count, err);
    sl_code code = overlay == NULL ? SL_E_MEMORY : SL_OK;
    for (uint32_t i = 0; i < count && code == SL_OK; i++)
        code = sl_own_add(overlay, &rows[i], err);
    if (code == SL_OK)
        code = sl_overlay_finish(overlay, out, err);
    sl_overlay_free(overlay);
    return code;
}

static void
log_left_out(const sl_hardware_row *row, const sl_errors *faults)
{
    const sl_log_field fields[] = {
        sl_log_text("kind", row->kind),
        sl_log_text("id", row->id),
        sl_log_text("reason", faults->count > 0 ? faults->list[0].message : ""),
    };
    sl_log(SL_LOG_WARN, "a private row does not fit the catalogue any more", fields, 3);
}

/* The rows as the database has them; kinds come in the order in which they are needed. */
static sl_code
build_all(const sl_hardware_row *rows, uint32_t count, uint64_t revision, sl_catalog **out,
          sl_errors *err)
{
    const uint32_t most = count < SL_OWN_ROWS_MAX ? count : SL_OWN_ROWS_MAX;
    sl_overlay *const overlay = sl_overlay_new(revision, most, err);
    if (overlay == NULL)
        return SL_E_MEMORY;
    for (uint32_t i = 0; i < most; i++) {
        const int kind = sl_text_index(rows[i].kind, sl_own_kinds, SL_OWN_KIND_COUNT);
        const sl_own_row row = {.kind = (sl_own_kind)kind,
                                .id = rows[i].id,
                                .own = {.revision = rows[i].revision,
                                        .spec = rows[i].spec,
                                        .created_at = rows[i].created_at,
                                        .updated_at = rows[i].updated_at}};
        sl_errors faults = {.count = 0};
        if (kind < 0 || sl_own_add(overlay, &row, &faults) != SL_OK)
            log_left_out(&rows[i], &faults);
    }
    const sl_code code = sl_overlay_finish(overlay, out, err);
    sl_overlay_free(overlay);
    return code;
}

static sl_code
reload(sl_stock *stock, sl_store *store, sl_errors *err)
{
    sl_arena *const arena = sl_arena_new(ROWS_BYTES);
    sl_hardware_row *rows = NULL;
    sl_catalog *next = NULL;
    uint64_t revision = 0;
    uint32_t count = 0;

    if (arena == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
    sl_code code = sl_hardware_list(store, arena, &revision, &rows, &count, err);
    if (code == SL_OK)
        code = build_all(rows, count, revision, &next, err);
    sl_arena_free(arena);
    if (code != SL_OK)
        return code;
    if (!sl_shelf_replace(stock->shelf, next)) {
        sl_catalog_free(next);
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
    }
    stock->read = true;
    return SL_OK;
}

sl_code
sl_stock_refresh(sl_stock *stock, sl_store *store, sl_errors *err)
{
    assert(stock != NULL && store != NULL && err != NULL);

    uint64_t revision = 0;
    hold(&stock->refreshing);
    sl_code code = sl_hardware_state(store, &revision, err);
    if (code == SL_OK) {
        const sl_catalog *const current = sl_shelf_take(stock->shelf);
        const bool known = stock->read && sl_catalog_own_revision(current) == revision;
        sl_shelf_give_back(stock->shelf, current);
        if (!known)
            code = reload(stock, store, err);
    }
    let_go(&stock->refreshing);
    return code;
}

static void
log_reason(const char *message, const sl_errors *err)
{
    sl_log(SL_LOG_WARN, message,
           (const sl_log_field[]){sl_log_text("reason", err->list[0].message)}, 1);
}

/* Others wait for the look to end: it has its own bound. */
static sl_code
look(sl_stock *stock, sl_errors *err)
{
    sl_store_until(stock->store, sl_clock_now_s() + look_s);
    sl_store *const store = stock->open(stock->context, stock->store, err);
    if (store == NULL && !stock->told)
        log_reason("the database is not available yet", err);
    stock->told = store == NULL;
    if (store == NULL)
        return SL_E_UNAVAILABLE;
    /* A database that is away is told about by the store, once per outage. */
    sl_code code = sl_store_ready(store, err);
    if (code == SL_OK)
        code = sl_stock_refresh(stock, store, err);
    if (code != SL_OK && code != SL_E_UNAVAILABLE && err->count > 0)
        log_reason("private hardware could not be read", err);
    return code;
}

static void *
watch(void *argument)
{
    sl_stock *const stock = argument;

    hold(&stock->lock);
    while (!stock->stopping) {
        sl_errors err = {.count = 0};
        stock->looking_since_s = sl_clock_now_s();
        let_go(&stock->lock);
        const sl_code code = look(stock, &err);
        hold(&stock->lock);
        stock->looking_since_s = 0;
        stock->wanted = false;
        stock->looks++;
        stock->outcome = code;
        stock->problem = err;
        (void)pthread_cond_broadcast(&stock->looked);
        const struct timespec until = sl_clock_after(look_every_s);
        int waited = 0;
        while (!stock->stopping && !stock->wanted && waited == 0)
            waited = pthread_cond_timedwait(&stock->wake, &stock->lock, &until);
    }
    let_go(&stock->lock);
    return NULL;
}

bool
sl_stock_watch(sl_stock *stock, const char *url, sl_stock_opener open, void *context)
{
    assert(stock != NULL && url != NULL && open != NULL && !stock->watching);

    stock->store = sl_store_new(url);
    stock->open = open;
    stock->context = context;
    stock->watching =
        stock->store != NULL && pthread_create(&stock->watcher, NULL, watch, stock) == 0;
    return stock->watching;
}

sl_code
sl_stock_ready(sl_stock *stock, double patience_s, sl_errors *err)
{
    assert(stock != NULL && err != NULL);

    sl_code code = SL_OK;
    const double asked_s = sl_clock_now_s();
    hold(&stock->lock);
    const uint64_t seen = stock->looks;
    stock->wanted = true;
    (void)pthread_cond_signal(&stock->wake);
    for (double rest_s = patience_s; stock->looks == seen && rest_s > 0;) {
        const bool before = stock->looking_since_s > 0 && stock->looking_since_s < asked_s;
        rest_s = (before ? stock->looking_since_s : asked_s) + patience_s - sl_clock_now_s();
        const struct timespec until = sl_clock_after(rest_s > 0 ? rest_s : 0);
        if (rest_s > 0)
            (void)pthread_cond_timedwait(&stock->looked, &stock->lock, &until);
    }
    if (stock->looks == seen) {
        code = sl_fail(err, SL_E_TIMEOUT, "database_timeout", "",
                       "the database did not answer within %.3g s", patience_s);
    } else if (stock->outcome != SL_OK) {
        code = stock->outcome;
        *err = stock->problem;
    }
    let_go(&stock->lock);
    return code;
}
