/* What a refusal hints at: followed, it mends the fault, and breaks nothing else that it could
 * spare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_question.h"
#include "engine/schedule/schedule.h"
#include "engine_fixture.h"
#include "harness.h"

enum { DRAWS = 6000, FOLLOWED_MIN = 15000, VALUES_MAX = 128, TEXT_SIZE = 192 };

static uint64_t state;
static uint64_t number; /* of the draw at hand, for whoever reads a failure */
static uint32_t followed;

/* A seeded generator of our own: the same plans on every machine. */
static uint32_t
draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

/* Counts by the name that a request has for them; NULL for others. */
static uint32_t *
degree_at(sl_plan *plan, const char *name)
{
    const struct {
        const char *name;
        uint32_t *at;
    } degrees[] = {
        {"tensor", &plan->tensor},
        {"pipeline", &plan->pipeline},
        {"context", &plan->context},
        {"data", &plan->data},
        {"virtual_pipeline", &plan->virtual_pipeline},
        {"expert", &plan->expert},
        {"expert_tensor", &plan->expert_tensor},
        {"shard_group", &plan->shard_group},
        {"zero_stage", &plan->zero_stage},
    };

    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
        if (strcmp(name, degrees[i].name) == 0)
            return degrees[i].at;
    return NULL;
}

/* As a request would be with the number in it: what it leaves out follows. */
static bool
put_number(sl_question *q, const char *name, uint64_t value)
{
    uint32_t *const degree = degree_at(&q->plan, name);
    const uint32_t before = q->plan.tensor * q->plan.pipeline * q->plan.context;
    uint64_t data = 0;

    if (degree != NULL)
        *degree = (uint32_t)value;
    else if (strcmp(name, "global_batch_size") == 0)
        q->workload.global_batch = value;
    else if (strcmp(name, "micro_batch_size") == 0)
        q->workload.micro_batch = value;
    else
        return false;
    if (strcmp(name, "micro_batch_size") == 0)
        q->unknown &= ~(uint32_t)SL_UNKNOWN_MICRO_BATCH;
    if (strcmp(name, "zero_stage") == 0)
        q->unknown &= ~(uint32_t)SL_UNKNOWN_ZERO_STAGE;
    if (q->plan.schedule == SL_SCHEDULE_1F1B || q->plan.schedule == SL_SCHEDULE_INTERLEAVED_1F1B)
        q->plan.schedule = sl_schedule_of(&q->plan);
    if (before != q->plan.tensor * q->plan.pipeline * q->plan.context &&
        sl_plan_derive_data(q->cluster, &q->plan, &data))
        q->plan.data = (uint32_t)data;
    return true;
}

static bool
put_word(sl_question *q, const char *name, const char *word)
{
    static const struct {
        const char *name, *word;
        int value;
    } words[] = {
        {"framework", "megatron", SL_FRAMEWORK_MEGATRON},
        {"framework", "deepspeed", SL_FRAMEWORK_DEEPSPEED},
        {"framework", "ddp", SL_FRAMEWORK_DDP},
        {"framework", "fsdp1", SL_FRAMEWORK_FSDP1},
        {"framework", "fsdp2", SL_FRAMEWORK_FSDP2},
        {"schedule", "1f1b", SL_SCHEDULE_1F1B},
        {"schedule", "interleaved_1f1b", SL_SCHEDULE_INTERLEAVED_1F1B},
        {"schedule", "zb_v", SL_SCHEDULE_ZB_V},
        {"attention", "unfused", SL_ATTENTION_UNFUSED},
        {"attention", "flash1", SL_ATTENTION_FLASH1},
        {"attention", "flash2", SL_ATTENTION_FLASH2},
        {"attention", "flash3", SL_ATTENTION_FLASH3},
        {"attention", "cudnn", SL_ATTENTION_CUDNN},
        {"precision", "bf16", SL_PRECISION_BF16},
        {"precision", "fp16", SL_PRECISION_FP16},
        {"precision", "fp32", SL_PRECISION_FP32},
        {"context_kind", "p2p", SL_CONTEXT_RING},
        {"context_kind", "allgather", SL_CONTEXT_GATHER},
    };
    size_t i = 0;

    while (i < sizeof words / sizeof words[0] &&
           (strcmp(words[i].name, name) != 0 || strcmp(words[i].word, word) != 0))
        i++;
    if (i == sizeof words / sizeof words[0])
        return false;
    switch (*name) {
    case 'f':
        q->workload.framework = (sl_framework)words[i].value;
        break;
    case 's':
        q->plan.schedule = (sl_schedule)words[i].value;
        break;
    case 'a':
        q->workload.attention = (sl_attention_kernel)words[i].value;
        break;
    case 'p':
        q->workload.precision = (sl_precision)words[i].value;
        break;
    default:
        q->plan.context_kind = (sl_context_kind)words[i].value;
    }
    return true;
}

/* "4" of the field at fault, "framework fsdp2", "bf16 with context 1"; false for other prose. */
static bool
put_alternative(sl_question *q, const char *own_name, char *text)
{
    const char *name = own_name;
    char *rest = NULL;
    bool put = false;

    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        const bool is_number = strspn(word, "0123456789") == strlen(word);
        put = is_number ? put_number(q, name, strtoull(word, NULL, 10)) : put_word(q, name, word);
        if (strcmp(word, "with") == 0)
            name = own_name;
        else if (!put)
            name = word;
    }
    return put;
}

static bool
has_fault(const sl_errors *err, const sl_error *fault)
{
    uint32_t i = 0;

    while (i < err->count && (strcmp(err->list[i].pointer, fault->pointer) != 0 ||
                              strcmp(err->list[i].rule, fault->rule) != 0))
        i++;
    return i < err->count;
}

/* Whether the fault is gone; and in *breaks, whether another has come. */
static bool
is_mended(const sl_question *q, const sl_errors *before, const sl_error *fault, bool *breaks)
{
    sl_errors after;

    sl_errors_begin(&after, true);
    const sl_code code = sl_question_check(q, &after);
    (void)code;
    *breaks = false;
    for (uint32_t i = 0; i < after.count; i++)
        *breaks = *breaks || !has_fault(before, &after.list[i]);
    return !has_fault(&after, fault);
}

/* Whether any value of the field at fault would have broken nothing. */
static bool
could_spare(const sl_question *q, const sl_errors *before, const sl_error *fault, const char *name)
{
    const uint64_t all = sl_cluster_accelerators(q->cluster);
    const bool of_ranks = strcmp(name, "tensor") == 0 || strcmp(name, "pipeline") == 0 ||
                          strcmp(name, "context") == 0;
    const uint64_t last = of_ranks && all < VALUES_MAX ? all : VALUES_MAX;

    for (uint64_t value = strcmp(name, "zero_stage") == 0 ? 0 : 1; value <= last; value++) {
        sl_question tried = *q;
        bool breaks = false;
        if (put_number(&tried, name, value) && is_mended(&tried, before, fault, &breaks) && !breaks)
            return true;
    }
    return false;
}

static void
complain(const sl_error *fault, const char *alternative, const char *of)
{
    printf("  draw %llu: %s at %s: \"%s\" of \"%s\" %s\n", (unsigned long long)number, fault->rule,
           fault->pointer, alternative, fault->hint, of);
    CU_FAIL("a hint that does not hold");
}

static void
follow_hint(const sl_question *q, const sl_errors *before, const sl_error *fault)
{
    const char *name = strrchr(fault->pointer, '/') + 1;
    char hint[sizeof fault->hint];
    char *next = NULL;
    uint32_t breaking = 0, sparing = 0;

    (void)snprintf(hint, sizeof hint, "%s", fault->hint);
    for (char *at = hint; at != NULL; at = next) {
        sl_question tried = *q;
        char words[TEXT_SIZE];
        bool breaks = false;
        next = strstr(at, ", ");
        if (next != NULL) {
            *next = '\0';
            next += 2;
        }
        (void)snprintf(words, sizeof words, "%s", strncmp(at, "or ", 3) == 0 ? at + 3 : at);
        if (!put_alternative(&tried, name, words))
            continue;
        followed++;
        if (!is_mended(&tried, before, fault, &breaks))
            complain(fault, at, "leaves it standing");
        breaking += breaks;
        sparing += !breaks;
    }
    if (breaking > 0 && sparing > 0)
        complain(fault, "one", "breaks what another does not");
    if (breaking > 0 && degree_at(&(sl_plan){0}, name) != NULL && strcmp(name, "data") != 0 &&
        could_spare(q, before, fault, name))
        complain(fault, "any", "breaks what a value not named does not");
}

/* Up to three fields that somebody got wrong. */
static void
spoil(sl_question *q)
{
    static const char *const names[] = {"tensor",      "pipeline",      "context",
                                        "data",        "expert",        "virtual_pipeline",
                                        "shard_group", "expert_tensor", "micro_batch_size"};

    for (uint32_t i = draw(4); i > 0; i--)
        (void)put_number(q, names[draw(sizeof names / sizeof names[0])], 1 + draw(24));
    if (draw(4) == 0)
        q->plan.zero_stage = draw(4);
    if (draw(2) == 0)
        q->workload.global_batch = 1 + draw(200);
    if (draw(4) == 0)
        q->workload.sequence_length += draw(3);
}

static void
whoever_follows_a_hint_is_not_refused_for_it_again(void)
{
    sl_drawn drawn;
    sl_errors found;

    sl_draw_models();
    for (number = 0; number < DRAWS; number++) {
        sl_draw_question(number, &drawn);
        state = number;
        spoil(&drawn.question);
        sl_errors_begin(&found, false);
        const sl_code code = sl_question_check(&drawn.question, &found);
        (void)code;
        for (uint32_t i = 0; i < found.count; i++)
            follow_hint(&drawn.question, &found, &found.list[i]);
    }
    CU_ASSERT_TRUE(followed >= FOLLOWED_MIN);
    sl_draw_clear();
}

/* 8 accelerators: 5 divides the batch and 6 another one, but neither leaves whole replicas. */
static void
replicas_are_hinted_at_where_the_cut_leaves_them_only(void)
{
    const sl_dense_spec spec = sl_fixture_gpt(8, 1024, 16);
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    sl_errors err = {0};

    q.workload.global_batch = 6;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].hint, "global_batch_size 8", "the cut leaves 8");
    q.workload.global_batch = 64;
    q.plan.data = 5;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 2);
    sl_expect_text(err.list[0].hint, "8", "accelerators");
    sl_expect_text(err.list[1].hint, "8, or global_batch_size 65", "sequences");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(whoever_follows_a_hint_is_not_refused_for_it_again),
        SL_CASE(replicas_are_hinted_at_where_the_cut_leaves_them_only),
    };

    return sl_run_cases(argc, argv, "hints", cases, sizeof cases / sizeof cases[0]);
}
