/* The catalogue in use is replaced while others work with it. */
#include "catalog/shelf.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "catalog/overlay.h"
#include "harness.h"

enum { READERS = 4, REPLACEMENTS = 40 };

static sl_catalog *tables;

/* A catalogue of this revision, with one part named after it. */
static sl_catalog *
of_revision(uint64_t revision)
{
    sl_errors err = {0};
    sl_catalog *made = NULL;
    char id[32];
    sl_overlay *const overlay = sl_overlay_new(revision, 1, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(overlay);
    (void)sl_text_format(id, sizeof id, "part-%u", (unsigned)revision);
    sl_own_part part = sl_own_part_unsaid();
    part.id = id;
    part.like = "nvidia-h100-sxm5-80gb";
    part.memory_bytes = 1e9;
    part.memory_bytes_per_s = 1e12;
    part.peak_flops_per_s[SL_PRECISION_BF16] = 1e14;
    part.own = (sl_own){.revision = revision, .spec = "{}"};
    CU_ASSERT_EQUAL(sl_overlay_add_part(overlay, &part, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_overlay_finish(overlay, &made, &err), SL_OK);
    sl_overlay_free(overlay);
    return made;
}

static void
the_first_stays_whoever_works_with_it(void)
{
    sl_shelf *const shelf = sl_shelf_new(tables);
    CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
    const sl_catalog *const first = sl_shelf_take(shelf);
    CU_ASSERT_PTR_EQUAL(first, tables);
    CU_ASSERT_TRUE(sl_shelf_replace(shelf, of_revision(1)));
    const sl_catalog *const second = sl_shelf_take(shelf);
    CU_ASSERT_PTR_NOT_EQUAL(second, tables);
    CU_ASSERT_EQUAL(sl_catalog_own_revision(second), 1);
    sl_shelf_give_back(shelf, second);
    sl_shelf_give_back(shelf, first);
    sl_shelf_free(shelf);
    CU_ASSERT(sl_catalog_part_count(tables) > 60);
}

static void
one_that_was_replaced_lives_until_its_last_user_is_done(void)
{
    sl_shelf *const shelf = sl_shelf_new(tables);
    CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
    CU_ASSERT_TRUE(sl_shelf_replace(shelf, of_revision(1)));
    const sl_catalog *const held = sl_shelf_take(shelf);
    const sl_catalog *const again = sl_shelf_take(shelf);
    CU_ASSERT_PTR_EQUAL(held, again);
    CU_ASSERT_TRUE(sl_shelf_replace(shelf, of_revision(2)));
    CU_ASSERT_TRUE(sl_shelf_replace(shelf, of_revision(3)));
    sl_shelf_give_back(shelf, again);
    CU_ASSERT_PTR_NOT_NULL(sl_catalog_own_part(held, "part-1"));
    CU_ASSERT_PTR_NULL(sl_catalog_own_part(held, "part-3"));
    sl_shelf_give_back(shelf, held);
    sl_shelf_free(shelf);
}

typedef struct reading {
    sl_shelf *shelf;
    atomic_bool *done;
    uint64_t seen; /* catalogues whose rows were not theirs */
} reading;

static void *
read_on(void *context)
{
    reading *const r = context;
    uint64_t last = 0;
    while (!atomic_load(r->done)) {
        const sl_catalog *const catalog = sl_shelf_take(r->shelf);
        const uint64_t revision = sl_catalog_own_revision(catalog);
        char id[32];
        (void)sl_text_format(id, sizeof id, "part-%u", (unsigned)revision);
        const bool whole = revision == 0 || sl_catalog_own_part(catalog, id) != NULL;
        if (!whole || revision < last)
            r->seen++;
        last = revision;
        sl_shelf_give_back(r->shelf, catalog);
    }
    return NULL;
}

static void
readers_see_whole_catalogues_in_their_order(void)
{
    atomic_bool done;
    pthread_t threads[READERS];
    reading readers[READERS];
    sl_shelf *const shelf = sl_shelf_new(tables);
    CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
    atomic_init(&done, false);
    for (uint32_t i = 0; i < READERS; i++) {
        readers[i] = (reading){.shelf = shelf, .done = &done};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
    }
    for (uint64_t revision = 1; revision <= REPLACEMENTS; revision++)
        CU_ASSERT_TRUE(sl_shelf_replace(shelf, of_revision(revision)));
    atomic_store(&done, true);
    for (uint32_t i = 0; i < READERS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(readers[i].seen, 0);
    }
    sl_shelf_free(shelf);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(the_first_stays_whoever_works_with_it),
        SL_CASE(one_that_was_replaced_lives_until_its_last_user_is_done),
        SL_CASE(readers_see_whole_catalogues_in_their_order),
    };
    sl_errors err = {0};
    tables = sl_catalog_new(&err);
    assert(tables != NULL);
    const int status = sl_run_cases(argc, argv, "shelf", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(tables);
    return status;
}
