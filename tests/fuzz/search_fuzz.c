/* Any search request: reading ends, what is refused says why, and the plans found hang together. A
 * few units of each search, so that an input is quick. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "asking.h"
#include "codec/search/search.h"

enum {
    OUTPUT_BYTES = 64 * 1024 * 1024,
    ARENA_BYTES = 32 << 20,
    UNITS = 2,
    REVIEWED = 3,
    RELAXED = 4
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static sl_model model;
static sl_search_outcome outcome, part;
static sl_search_review review;
static sl_search_relax relax;
static sl_search_outcome relaxed;
static void *space, *relaxed_space, *scratch, *review_scratch;

static void
start(void)
{
    space = malloc(sl_search_bytes());
    relaxed_space = malloc(sl_search_bytes());
    scratch = malloc(sl_search_scratch_bytes());
    review_scratch = malloc(sl_review_scratch_bytes());
    assert(space != NULL && relaxed_space != NULL && scratch != NULL && review_scratch != NULL);
}

static void
expect_consistent(const sl_search *search, const sl_search_asked *asked)
{
    assert(outcome.feasible <= outcome.evaluated);
    assert(outcome.best_count <= asked->request.limit && outcome.best_count <= outcome.feasible);
    for (uint32_t i = 0; i < outcome.best_count; i++) {
        const sl_search_point *point = &outcome.best[i];
        assert(isfinite(point->step_s) && point->step_s > 0.0 && point->headroom_bytes >= 0);
        assert(point->cluster < asked->cluster_count);
    }
    assert(outcome.units <= sl_search_unit_count(search));
}

/* The first units, which strides spread over the space, and a part of the review. */
static void
run(const sl_search *search, sl_search_asked *asked)
{
    const uint32_t units = sl_search_unit_count(search);

    sl_search_begin(&outcome);
    for (uint32_t u = 0; u < units && u < UNITS; u++) {
        sl_search_unit(search, u, &outcome, scratch, &part);
        sl_search_merge(search, &part, &outcome);
    }
    expect_consistent(search, asked);
    if (outcome.best_count > REVIEWED)
        outcome.best_count = REVIEWED;
    const sl_review_wish wish = sl_search_wish(asked);
    sl_review_begin(search, &outcome, &wish, &review);
    for (uint32_t u = 0; u < review.unit_count; u++)
        sl_review_unit(&review, u, review_scratch);
    sl_review_finish(&review);
}

/* What would help one that found nothing, as far as the first unit of a few values says. */
static void
relax_some(const sl_search *search)
{
    bool more = outcome.best_count == 0 && sl_relax_begin(search, relaxed_space, &relax);

    for (uint32_t i = 0; more && i < RELAXED; i++) {
        sl_search_begin(&relaxed);
        sl_search_unit(relax.search, 0, &relaxed, scratch, &part);
        sl_search_merge(relax.search, &part, &relaxed);
        more = sl_relax_next(&relax, &relaxed);
    }
    assert(relax.count <= SL_DIMENSION_COUNT);
}

static void
write_answer(const sl_search *search, const sl_search_asked *asked)
{
    sl_search_document document = {
        .asked = asked,
        .search = search,
        .outcome = &outcome,
        .review = &review,
        .relax = &relax,
        .relaxed = &relaxed,
        .state = SL_SEARCH_DEADLINE,
        .about = sl_asking_about(&model, 1),
    };
    sl_asking_answer out;

    sl_asking_begin(&out, OUTPUT_BYTES);
    sl_search_write(&out.writer, &document);
    sl_asking_end(&out);
    sl_asking_begin(&out, OUTPUT_BYTES);
    sl_progress_write(&out.writer, &document);
    sl_asking_end(&out);
}

static bool
has_clusters(const sl_search_asked *asked)
{
    for (uint32_t i = 0; i < asked->cluster_count; i++)
        if (!asked->of[i]->has_cluster)
            return false;
    return !asked->why.asked || asked->why.request->has_cluster;
}

static void
search(const sl_node *root, sl_arena *arena)
{
    sl_errors err = {0};
    sl_search_asked *asked = NULL;
    const sl_search *prepared = NULL;

    if (sl_search_read(root, sl_asking_catalog(), arena, NULL, &asked, &err) != SL_OK) {
        assert(err.count > 0);
    } else if (has_clusters(asked) && sl_asking_model(asked->of[0], &model, &err) == SL_OK) {
        sl_code code = sl_search_decode(asked, &model, &err);
        if (code == SL_OK)
            code = sl_search_prepare(&asked->request, space, &prepared, &err);
        assert(code == SL_OK || err.count > 0);
        if (code == SL_OK) {
            run(prepared, asked);
            relax = (sl_search_relax){.from = NULL};
            relax_some(prepared);
            write_answer(prepared, asked);
        }
    }
    sl_search_asked_clear(asked);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_json *const json = sl_asking_parse((const char *)bytes, size);

    if (json == NULL)
        return 0;
    if (space == NULL)
        start();
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    assert(arena != NULL);
    const sl_node root = sl_json_root(json);
    search(&root, arena);
    sl_arena_free(arena);
    sl_json_free(json);
    return 0;
}
