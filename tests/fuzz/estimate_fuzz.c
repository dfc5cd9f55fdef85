/* Any estimate request: reading ends, what is refused says why, and whatever is accepted is
 * answered with figures that hang together. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "codec/answer/estimate_json.h"
#include "codec/question/choices_json.h"
#include "codec/question/standing.h"
#include "json/members.h"

enum { OUTPUT_BYTES = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static sl_estimate_request request, room;
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

static bool
judge(void *context, sl_estimate_request *read, sl_errors *err)
{
    const sl_estimate_request *const first = context;
    sl_errors ignored = {0};
    sl_code code = SL_OK;

    if (read->inventory != NULL)
        return false;
    if (sl_estimate_accounting_alone(read)) {
        code = sl_estimate_request_check(read, NULL, err);
    } else if (sl_asking_model(first, &model, &ignored) == SL_OK) {
        const sl_question question = sl_estimate_request_question(read, &model);
        code = sl_estimate_request_check(read, &question, err);
    }
    assert(code == SL_OK || err->count > 0);
    return true;
}

/* Every fault once, and all that say what a value cannot be are kept. */
static void
add_standing(const sl_node *root, const uint8_t *bytes, size_t size, sl_errors *err)
{
    const sl_errors own = *err;
    char *const text = calloc(size + 1, 1);

    assert(text != NULL);
    memcpy(text, bytes, size);
    const sl_standing standing = {.text = text,
                                  .root = root,
                                  .read = sl_estimate_request_read,
                                  .catalog = sl_asking_catalog(),
                                  .judge = judge,
                                  .context = &request,
                                  .room = &room};
    sl_standing_add(&standing, err);
    free(text);
    assert(err->count > 0);
    for (uint32_t i = 0; i < own.count; i++)
        assert(strcmp(own.list[i].rule, "wrong_type") != 0 || sl_has_fault(err, &own.list[i]));
    for (uint32_t i = 0; i < err->count && own.count < SL_ERRORS_MAX; i++)
        for (uint32_t k = 0; k < i; k++)
            assert(memcmp(&err->list[i], &err->list[k], sizeof err->list[i]) != 0);
}

/* One in sixteen by what it holds: a request that is judged again and again takes as long as a
 * hundred others. */
static bool
is_chosen(const uint8_t *bytes, size_t size)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return (hash >> 16) % 16 == 0;
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
    else if (is_chosen(bytes, size))
        add_standing(&root, bytes, size, &err);
    sl_json_free(json);
    return 0;
}
