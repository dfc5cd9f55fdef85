/* Searches that run on a crew: the same answer from any number of threads, and every way to end. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/search_run.h"
#include "base/arena.h"
#include "base/clock.h"
#include "catalogued.h"
#include "harness.h"
#include "hf/config.h"

#define REQUEST(members)                                                                           \
    "{\"model\":{\"config\":{\"architectures\":[\"LlamaForCausalLM\"],"                            \
    "\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":11008,"                   \
    "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,"              \
    "\"vocab_size\":32000,\"max_position_embeddings\":4096,\"rms_norm_eps\":1e-05,"                \
    "\"tie_word_embeddings\":false}},\"workload\":{\"sequence_length\":4096,"                      \
    "\"global_batch_size\":64},\"cluster\":{\"node_type\":\"hgx-h100-8\",\"nodes\":2}," members    \
    "}"

/* Small enough for a sanitizer; and one that nobody sees the end of. */
#define BRIEF REQUEST("\"space\":{\"tensor\":[1,2,4]},\"limit\":5")
#define WIDE                                                                                       \
    "\"space\":{\"global_batch_size\":[64,128,192,256,320,384,448,512,1024,2048,4096,8192,16384,"  \
    "32768,65536,131072]},\"exhaustive\":true,"
#define ENDLESS REQUEST(WIDE "\"time_limit_s\":300")
#define SHORT REQUEST(WIDE "\"time_limit_s\":0.05,\"simulate\":false")

/* Without a plan; nor has it one where either list alone is lifted. */
#define EMPTY REQUEST("\"space\":{\"tensor\":[7],\"pipeline\":[5]}")

static sl_catalog *catalog; /* of main */

/* A search with everything that it borrows. */
typedef struct trial {
    sl_json *json;
    sl_arena *arena;
    sl_model *model;
    sl_search_asked *asked;
    sl_search_run *run;
    atomic_bool cancelled;
    atomic_bool woken;
    atomic_uint told;
    uint64_t last_units; /* that the watcher was told of */
} trial;

static void
watch(void *context, const sl_search_run *run)
{
    trial *const t = context;
    sl_search_document document = {.asked = t->asked};

    sl_search_run_document(run, &document);
    CU_ASSERT_EQUAL(document.state, SL_SEARCH_RUNNING);
    CU_ASSERT_TRUE(document.outcome->units >= t->last_units);
    t->last_units = document.outcome->units;
    (void)atomic_fetch_add(&t->told, 1);
}

static void
wake(void *context)
{
    trial *const t = context;
    atomic_store(&t->woken, true);
}

static void
prepare(trial *t, sl_searches *searches, const char *text)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    sl_errors err = {0};

    memset(t, 0, sizeof *t);
    t->arena = sl_arena_new(16 << 20);
    t->model = calloc(1, sizeof *t->model);
    CU_ASSERT_TRUE_FATAL(t->arena != NULL && t->model != NULL);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &t->json, &err), SL_OK);
    const sl_node root = sl_json_root(t->json);
    CU_ASSERT_EQUAL_FATAL(sl_search_read(&root, catalog, t->arena, NULL, &t->asked, &err), SL_OK);
    sl_errors ignored = {0};
    CU_ASSERT_EQUAL_FATAL(sl_hf_config_read(&t->asked->of[0]->config, "", t->model, &ignored, &err),
                          SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_search_decode(t->asked, t->model, &err), SL_OK);
    const sl_search_task task = {.searches = searches,
                                 .asked = t->asked,
                                 .relaxes = true,
                                 .cancelled = &t->cancelled,
                                 .watcher = watch,
                                 .context = t};
    CU_ASSERT_EQUAL_FATAL(sl_search_run_new(&task, &t->run, &err), SL_OK);
}

static void
clear(trial *t)
{
    sl_search_run_free(t->run);
    sl_search_asked_clear(t->asked);
    sl_json_free(t->json);
    sl_arena_free(t->arena);
    free(t->model);
}

static void
pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&time, NULL);
}

static void
start(trial *t)
{
    sl_errors err = {0};
    CU_ASSERT_EQUAL_FATAL(sl_search_run_begin(t->run, &err), SL_OK);
}

/* Until it is over, and the crew has let go of it; what it came to. */
static sl_search_document
finish(trial *t)
{
    sl_search_document document = {.asked = t->asked};

    if (sl_search_run_wait(t->run, wake, t))
        while (!atomic_load(&t->woken))
            pause_ms(1);
    sl_search_run_document(t->run, &document);
    return document;
}

static sl_searches *
threads(uint32_t count)
{
    sl_searches *const searches = sl_searches_start(count);
    CU_ASSERT_TRUE_FATAL(searches != NULL);
    return searches;
}

static void
any_number_of_threads_finds_the_same(void)
{
    trial alone;
    sl_searches *const one = threads(1);
    prepare(&alone, one, BRIEF);
    start(&alone);
    const sl_search_document expected = finish(&alone);
    CU_ASSERT_EQUAL(expected.state, SL_SEARCH_DONE);
    CU_ASSERT_EQUAL(expected.outcome->units, sl_search_unit_count(expected.search));
    CU_ASSERT_TRUE(expected.outcome->best_count > 1);
    CU_ASSERT_EQUAL(atomic_load(&one->candidates[SL_CANDIDATE_FEASIBLE]) +
                        atomic_load(&one->candidates[SL_CANDIDATE_INFEASIBLE]),
                    expected.outcome->evaluated);
    CU_ASSERT_EQUAL(atomic_load(&one->candidates[SL_CANDIDATE_FEASIBLE]),
                    expected.outcome->feasible);
    CU_ASSERT_EQUAL(atomic_load(&one->candidates[SL_CANDIDATE_PRUNED]), expected.outcome->pruned);
    CU_ASSERT_EQUAL(atomic_load(&one->candidates[SL_CANDIDATE_REFUSED]), expected.outcome->refused);

    for (uint32_t count = 2; count <= 4; count++) {
        trial t;
        sl_searches *const several = threads(count);
        prepare(&t, several, BRIEF);
        start(&t);
        const sl_search_document found = finish(&t);
        const sl_search_outcome *const a = expected.outcome;
        const sl_search_outcome *const b = found.outcome;
        CU_ASSERT_EQUAL(b->evaluated, a->evaluated);
        CU_ASSERT_EQUAL(b->feasible, a->feasible);
        CU_ASSERT_EQUAL(b->pruned, a->pruned);
        CU_ASSERT_EQUAL(b->refused, a->refused);
        CU_ASSERT_EQUAL_FATAL(b->best_count, a->best_count);
        for (uint32_t i = 0; i < a->best_count; i++) {
            CU_ASSERT_EQUAL(b->best[i].ordinal, a->best[i].ordinal);
            CU_ASSERT_TRUE(b->best[i].step_s == a->best[i].step_s);
            CU_ASSERT_EQUAL(found.review->plans[i].point, expected.review->plans[i].point);
            CU_ASSERT_TRUE(found.review->plans[i].simulated_step_s ==
                           expected.review->plans[i].simulated_step_s);
        }
        CU_ASSERT_EQUAL_FATAL(b->front_count, a->front_count);
        for (uint32_t i = 0; i < a->front_count; i++)
            CU_ASSERT_EQUAL(b->front[i].ordinal, a->front[i].ordinal);
        clear(&t);
        sl_searches_stop(several);
    }
    clear(&alone);
    sl_searches_stop(one);
}

static void
an_empty_one_is_told_the_same_by_any_number_of_threads(void)
{
    sl_search_relax *const told = calloc(3, sizeof *told);

    CU_ASSERT_TRUE_FATAL(told != NULL);
    for (uint32_t i = 0; i < 3; i++) {
        sl_searches *const searches = threads(i + 1);
        trial t;
        prepare(&t, searches, EMPTY);
        start(&t);
        const sl_search_document document = finish(&t);
        CU_ASSERT_EQUAL(document.state, SL_SEARCH_DONE);
        CU_ASSERT_EQUAL(document.outcome->best_count, 0);
        told[i] = *document.relax;
        CU_ASSERT_TRUE(told[i].complete && told[i].together);
        CU_ASSERT_EQUAL_FATAL(told[i].count, 2);
        CU_ASSERT_EQUAL(told[i].units, told[0].units);
        for (uint32_t n = 0; n < told[i].count; n++) {
            CU_ASSERT_EQUAL(told[i].found[n].dimension, told[0].found[n].dimension);
            CU_ASSERT_EQUAL(told[i].found[n].point.ordinal, told[0].found[n].point.ordinal);
        }
        clear(&t);
        sl_searches_stop(searches);
    }
    free(told);
}

static void
one_that_is_given_up_is_over_at_once(void)
{
    sl_searches *const searches = threads(2);
    trial t;

    prepare(&t, searches, ENDLESS);
    start(&t);
    while (atomic_load(&t.told) < 2)
        pause_ms(5);
    atomic_store(&t.cancelled, true);
    const double start_s = sl_clock_now_s();
    const sl_search_document document = finish(&t);
    /* The units in hand, on a machine that may be busy. */
    CU_ASSERT_TRUE(sl_clock_now_s() - start_s < 1);
    CU_ASSERT_EQUAL(document.state, SL_SEARCH_CANCELLED);
    CU_ASSERT_EQUAL(atomic_load(&searches->ended[SL_SEARCH_CANCELLED]), 1);
    clear(&t);
    sl_searches_stop(searches);
}

static void
one_whose_time_is_over_says_what_it_found(void)
{
    sl_searches *const searches = threads(2);
    trial t;

    prepare(&t, searches, SHORT);
    start(&t);
    const sl_search_document document = finish(&t);
    CU_ASSERT_EQUAL(document.state, SL_SEARCH_DEADLINE);
    CU_ASSERT_TRUE(document.outcome->units < sl_search_unit_count(document.search));
    CU_ASSERT_TRUE(document.outcome->units > 0);
    CU_ASSERT_EQUAL(document.review->plan_count, document.outcome->best_count);
    CU_ASSERT_EQUAL(atomic_load(&searches->ended[SL_SEARCH_DEADLINE]), 1);
    clear(&t);
    sl_searches_stop(searches);
}

static void
several_come_and_go_together(void)
{
    enum { COUNT = 6 };
    sl_searches *const searches = threads(2);
    trial trials[COUNT];

    for (uint32_t i = 0; i < COUNT; i++) {
        prepare(&trials[i], searches, i % 2 == 0 ? SHORT : ENDLESS);
        start(&trials[i]);
    }
    pause_ms(150);
    for (uint32_t i = 1; i < COUNT; i += 2)
        atomic_store(&trials[i].cancelled, true);
    for (uint32_t i = 0; i < COUNT; i++) {
        const sl_search_document document = finish(&trials[i]);
        CU_ASSERT_EQUAL(document.state, i % 2 == 0 ? SL_SEARCH_DEADLINE : SL_SEARCH_CANCELLED);
        clear(&trials[i]);
    }
    sl_searches_stop(searches);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(any_number_of_threads_finds_the_same),
        SL_CASE(an_empty_one_is_told_the_same_by_any_number_of_threads),
        SL_CASE(one_that_is_given_up_is_over_at_once),
        SL_CASE(one_whose_time_is_over_says_what_it_found),
        SL_CASE(several_come_and_go_together),
    };
    return sl_run_catalogued(argc, argv, "search_run", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
