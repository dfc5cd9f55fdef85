/* Any request for limits: of a plan both sides hang together, whatever the plan is; of clusters
 * what is read becomes requests of searches that are read in turn. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "codec/search/limits_clusters.h"
#include "codec/search/limits_json.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024, ARENA_BYTES = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static sl_estimate_request request;
static sl_model model, space;
static sl_estimate answer, scratch;
static sl_limits limits;

static void
expect_consistent(const sl_limit *limit)
{
    assert(limit->has_value || limit->end == SL_LIMIT_END_NEVER || limit->end == SL_LIMIT_END_NONE);
    if (limit->has_value) {
        assert(limit->value.legal && limit->value.sized && limit->value.fits);
        assert(limit->value.headroom_bytes >= 0 && limit->value.step_s > 0.0);
    }
    if (limit->end == SL_LIMIT_END_MEMORY)
        assert(limit->has_next && limit->next.legal && !limit->next.fits);
    if (limit->end == SL_LIMIT_END_RULE)
        assert(limit->has_next && !limit->next.legal && limit->next.fault.rule != NULL);
    if (limit->end == SL_LIMIT_END_NONE)
        assert(limit->reason != NULL);
}

static void
write_answer(uint64_t parameters)
{
    const sl_limits_document document = {
        .request = &request,
        .estimate = &answer,
        .limits = &limits,
        .about = sl_asking_about(&model, parameters),
    };
    sl_asking_answer out;

    sl_asking_begin(&out, OUTPUT_BYTES);
    sl_limits_write(&out.writer, &document);
    sl_asking_end(&out);
}

static void
measure(sl_errors *err)
{
    sl_model_counts counts;

    if (!request.has_cluster || sl_asking_model(&request, &model, err) != SL_OK ||
        sl_model_count(&model, &counts) != SL_OK)
        return;
    sl_question question = sl_estimate_request_question(&request, &model);
    if (sl_estimate_request_check(&request, &question, err) != SL_OK ||
        sl_estimate_answer(&question, &scratch, &answer, err) != SL_OK)
        return;
    question.workload = answer.workload;
    question.plan = answer.plan;
    question.software = answer.software;
    question.software_count = 1;
    question.unknown = 0;
    const sl_limit_bounds bounds = sl_limits_bounds(&request);
    sl_limits_measure(&question, &bounds, &space, &scratch, &limits);
    for (uint32_t i = 0; i < SL_LIMIT_COUNT; i++)
        expect_consistent(&limits.of[i]);
    write_answer(counts.total);
}

/* Documents are ours: that they are JSON is not for the input to decide. */
static void
read_documents(const sl_candidates_asked *asked, sl_arena *arena)
{
    for (uint32_t i = 0; i < asked->document_count; i++) {
        sl_errors err = {0};
        sl_search_asked *search = NULL;
        const size_t size = strlen(asked->documents[i]);
        sl_json *const json = sl_asking_parse(asked->documents[i], size);
        assert(json != NULL || size > SL_ASKING_BYTES_MAX);
        if (json == NULL)
            continue;
        const sl_node root = sl_json_root(json);
        if (sl_search_read(&root, sl_asking_catalog(), arena, NULL, &search, &err) != SL_OK)
            assert(err.count > 0);
        sl_search_asked_clear(search);
        sl_json_free(json);
    }
}

static void
read_candidates(const sl_node *root)
{
    sl_errors err = {0};
    sl_candidates_asked asked;
    sl_arena *arena = sl_arena_new(ARENA_BYTES);

    assert(arena != NULL);
    if (sl_candidates_read(root, sl_asking_catalog(), arena, NULL, &asked, &err) == SL_OK)
        read_documents(&asked, arena);
    else
        assert(err.count > 0);
    sl_arena_free(arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_errors err = {0};
    sl_json *const json = sl_asking_parse((const char *)bytes, size);

    if (json == NULL)
        return 0;
    const sl_node root = sl_json_root(json);
    if (sl_estimate_request_read(&root, sl_asking_catalog(), NULL, &request, &err) == SL_OK)
        measure(&err);
    else
        read_candidates(&root);
    sl_json_free(json);
    return 0;
}
