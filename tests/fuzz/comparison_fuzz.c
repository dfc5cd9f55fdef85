/* Any comparison request: reading ends, what is refused says why, and a strategy that is legal has
 * figures that hang together. One strategy an input, all ways of fine-tuning. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "asking.h"
#include "codec/comparison/comparison_ask.h"
#include "codec/comparison/comparison_json.h"
#include "codec/question/names.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static sl_estimate_request request;
static sl_model model;
static sl_estimate answer, scratch;
static sl_comparison comparison;
static sl_tuning_comparison tuning;

static void
expect_consistent(const sl_entry *entry)
{
    if (!entry->legal) {
        assert(entry->refused.rule != NULL && entry->refused.message[0] != '\0');
        return;
    }
    assert(isfinite(entry->time.step_s) && entry->time.step_s > 0.0);
    assert(entry->fits == (entry->headroom_bytes >= 0));
    assert(entry->step_low_s <= entry->time.step_s && entry->time.step_s <= entry->step_high_s);
}

static void
write_answer(const sl_comparison *strategies, const sl_tuning_comparison *methods)
{
    const sl_comparison_document document = {
        .request = &request,
        .strategies = strategies,
        .tuning = methods,
        .about = sl_asking_about(&model, 1),
    };
    sl_asking_answer out;

    sl_asking_begin(&out, OUTPUT_BYTES);
    sl_comparison_write(&out.writer, &document);
    sl_asking_end(&out);
}

static void
compare(size_t size)
{
    sl_comparison_questions questions;

    if (request.of == SL_COMPARISON_OF_FINETUNING) {
        const sl_question question =
            sl_tuning_request_question(&request, &model, sl_asking_catalog());
        sl_tuning_answer(&question, &scratch, &answer, &tuning);
        for (uint32_t i = 0; i < tuning.count; i++)
            expect_consistent(&tuning.entries[i]);
        write_answer(NULL, &tuning);
        return;
    }
    const sl_comparison_ask ask =
        sl_comparison_request_ask(&request, &model, sl_asking_catalog(), &questions);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        comparison.asked[i] = i == size % SL_STRATEGY_COUNT && (request.strategies >> i & 1u) != 0;
    sl_comparison_answer(&ask, &scratch, &answer, &comparison);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        if (comparison.asked[i])
            expect_consistent(&comparison.strategies[i]);
    write_answer(&comparison, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_errors err = {0};
    sl_json *const json = sl_asking_parse((const char *)bytes, size);

    if (json == NULL)
        return 0;
    const sl_node root = sl_json_root(json);
    if (sl_comparison_request_read(&root, sl_asking_catalog(), NULL, &request, &err) != SL_OK)
        assert(err.count > 0);
    else if (request.has_cluster && sl_asking_model(&request, &model, &err) == SL_OK)
        compare(size);
    sl_json_free(json);
    return 0;
}
