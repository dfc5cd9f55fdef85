/* Any estimate request: reading ends, what is refused says why, and whatever is accepted is
 * answered with figures that hang together. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "asking.h"
#include "codec/answer/estimate_json.h"
#include "codec/question/choices_json.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static sl_estimate_request request;
static sl_model model;
static sl_estimate answer, scratch;

static void
expect_consistent(const sl_estimate *e)
{
    double sum_s = 0.0;

    for (uint32_t i = 0; i < SL_TIME_TERMS; i++) {
        assert(isfinite(e->time.terms[i].value) && e->time.terms[i].value >= 0.0);
        sum_s += e->time.terms[i].value;
    }
    assert(fabs(sum_s - e->time.step_s) <= 1e-9 * sum_s);
    assert(e->step_low_s <= e->time.step_s * (1.0 + 1e-9));
    assert(e->time.step_s <= e->step_high_s * (1.0 + 1e-9));
    assert(e->memory.rank_count >= 1 && e->fits == (e->memory.headroom_bytes >= 0));
}

static void
write_answer(const sl_estimate *estimate, uint64_t parameters)
{
    const sl_estimate_document document = {
        .request = &request,
        .estimate = estimate,
        .about = sl_asking_about(estimate == NULL ? NULL : &model, parameters),
    };
    sl_errors err = {0};
    sl_asking_answer out;

    sl_asking_begin(&out, OUTPUT_BYTES);
    if (sl_estimate_write(&out.writer, &document, &err) == SL_OK) {
        sl_asking_end(&out);
        return;
    }
    assert(err.count > 0);
    sl_asking_drop(&out);
}

static void
write_choices(void)
{
    sl_asking_answer out;

    sl_asking_begin(&out, OUTPUT_BYTES);
    sl_choices_write(&out.writer, &request, sl_asking_catalog(), &model);
    sl_asking_end(&out);
}

static void
ask(sl_errors *err)
{
    sl_model_counts counts;

    if (request.source == SL_MODEL_FROM_PARAMETERS) {
        write_answer(NULL, request.parameters);
        return;
    }
    if (!request.has_cluster || sl_asking_model(&request, &model, err) != SL_OK ||
        sl_model_count(&model, &counts) != SL_OK)
        return;
    write_choices();

    const sl_question question = sl_estimate_request_question(&request, &model);
    if (sl_estimate_request_check(&request, &question, err) != SL_OK) {
        assert(err->count > 0);
        return;
    }
    if (sl_estimate_answer(&question, &scratch, &answer, err) != SL_OK)
        return;
    expect_consistent(&answer);
    write_answer(&answer, counts.total);
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
        ask(&err);
    else
        assert(err.count > 0);
    sl_json_free(json);
    return 0;
}
