/*
 * What one estimate costs, by part, on this machine in this run. Only the ratios travel: seconds
 * of a noisy machine say little. Build the release preset and run
 * build/release/tests/bench/estimate_bench. With the word "every" or "searched" it runs that
 * evaluation of memory alone, with "plan" that of a whole plan, with "sharded" that of one whose
 * parameters and gradients travel with each micro-batch of its one stage, with "check" the check
 * before it and with "cut" that of another cut, a thousand times: tests/bench/instructions counts
 * what it takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/answer/evaluate.h"
#include "engine/check/check.h"
#include "llamas.h"
#include "nodes.h"
#include "questions.h"
#include "shardline/estimate.h"

enum { ROUNDS = 2000, COUNTED = 1000 };

static sl_model model;
static sl_estimate answer, scratch;

static sl_question
ask(const sl_catalog *catalog, sl_cluster *cluster)
{
    sl_errors err = {0};

    if (sl_model_describe_dense(&llama_70b, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    *cluster = nodes_of(catalog, "nvidia-h100-sxm5-80gb", 16, 50e9);
    sl_question question = question_of(catalog, "mbridge-26.04", &model, cluster, 8192, 512);
    question.workload.attention = SL_ATTENTION_FLASH3;
    question.plan.tensor = 8;
    question.plan.sequence = true;
    question.plan.pipeline = 4;
    question.plan.data = 4;
    question.plan.zero_stage = 1;
    return question;
}

static sl_question
one_stage(sl_question question)
{
    question.workload.framework = SL_FRAMEWORK_FSDP2;
    question.plan.pipeline = 1;
    question.plan.data = 16;
    question.plan.zero_stage = 3;
    return question;
}

static double
evaluations_s(const sl_question *q, const sl_combination *c, const sl_priced *priced, int rounds)
{
    const double start_s = sl_clock_now_s();

    for (int i = 0; i < rounds; i++)
        if (!sl_evaluate(q, c, priced, &answer))
            exit(EXIT_FAILURE);
    return (sl_clock_now_s() - start_s) / rounds;
}

/* The memory of a plan, kinds priced before: of every rank, or of those alone that may need most. */
static double
memory_s(const sl_question *q, const sl_combination *c, const sl_priced *priced, bool fullest_only,
         int rounds)
{
    static sl_memory memory;
    static sl_holdings holdings;
    const double start_s = sl_clock_now_s();

    for (int i = 0; i < rounds; i++) {
        sl_memory_case one = sl_evaluate_case(q, c, priced, &holdings);
        one.fullest_only = fullest_only;
        if (!sl_memory_evaluate(&one, &memory))
            exit(EXIT_FAILURE);
    }
    return (sl_clock_now_s() - start_s) / rounds;
}

/* The closed form of a step, kinds priced and placed before. */
static double
steps_s(const sl_question *q, const sl_combination *c, const sl_priced *priced)
{
    static sl_holdings holdings;
    const sl_memory_case one = sl_evaluate_case(q, c, priced, &holdings);
    const double start_s = sl_clock_now_s();
    sl_time time;

    for (int i = 0; i < ROUNDS; i++)
        sl_evaluate_time(&one, &time);
    return (sl_clock_now_s() - start_s) / ROUNDS;
}

/* Every rank of 126 layers on 16 stages, and those alone that may need most. only: the word for one
 * of both, run for its instructions, or NULL. */
static void
print_memory(sl_question q, double price_s, const char *only)
{
    static const char *const words[] = {"every", "searched"};
    static sl_priced priced;
    sl_errors err = {0};

    if (sl_model_describe_dense(&llama_405b, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    q.plan.pipeline = 16;
    q.plan.data = 1;

    const sl_combination c = {q.software, q.workload, q.plan};
    sl_evaluate_price(&q, &c, SL_CLOCK_COOL, &priced);
    for (int i = 0; i < 2; i++) {
        if (only != NULL && strcmp(only, words[i]) == 0)
            (void)memory_s(&q, &c, &priced, i == 1, COUNTED);
        if (only != NULL)
            continue;
        const double one_s = memory_s(&q, &c, &priced, i == 1, ROUNDS);
        printf("memory, 126 layers, 16 stages, kinds priced, %-8s %8.2f us   %.2f of pricing\n",
               words[i], 1e6 * one_s, one_s / price_s);
    }
}

static double
prices_s(const sl_question *q, const sl_combination *c, sl_priced *priced)
{
    const double start_s = sl_clock_now_s();

    for (int i = 0; i < ROUNDS; i++)
        sl_evaluate_price(q, c, SL_CLOCK_COOL, priced);
    return (sl_clock_now_s() - start_s) / ROUNDS;
}

/* The whole check, and the part of it that another cut of a plan which passed can break. */
static double
checks_s(const sl_question *q, bool cut, int rounds)
{
    const double start_s = sl_clock_now_s();
    sl_errors err = {0};

    for (int i = 0; i < rounds; i++)
        if ((cut ? sl_question_check_cut(q, &err) : sl_question_check(q, &err)) != SL_OK)
            exit(EXIT_FAILURE);
    return (sl_clock_now_s() - start_s) / rounds;
}

static double
answers_s(const sl_question *q)
{
    const double start_s = sl_clock_now_s();
    sl_errors err = {0};

    for (int i = 0; i < ROUNDS; i++)
        if (sl_estimate_answer(q, &scratch, &answer, &err) != SL_OK)
            exit(EXIT_FAILURE);
    return (sl_clock_now_s() - start_s) / ROUNDS;
}

/* Llama 3 405B on 128 devices, which lack more than any single change frees: pairs are tried. */
static void
print_tight(sl_question q, double price_s)
{
    sl_errors err = {0};

    if (sl_model_describe_dense(&llama_405b, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    q.nodes_fixed = true;
    q.plan.pipeline = 8;
    q.plan.data = 2;
    const double answer_s = answers_s(&q);
    if (answer.fits || answer.fix_count == 0 || answer.fixes[0].with == NULL)
        exit(EXIT_FAILURE);
    printf("... of what does not fit  %8.2f us   %.2f of pricing\n", 1e6 * answer_s,
           answer_s / price_s);
}

int
main(int argc, char **argv)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);
    sl_cluster cluster;
    sl_priced priced;

    if (catalog == NULL)
        return EXIT_FAILURE;

    const sl_question q = ask(catalog, &cluster);
    const sl_question sharded = one_stage(q);
    const bool one = argc > 1 && strcmp(argv[1], "sharded") == 0;
    const sl_combination c =
        one ? (sl_combination){sharded.software, sharded.workload, sharded.plan}
            : (sl_combination){q.software, q.workload, q.plan};
    if (argc > 1) {
        sl_evaluate_price(one ? &sharded : &q, &c, SL_CLOCK_COOL, &priced);
        if (strcmp(argv[1], "plan") == 0)
            (void)evaluations_s(&q, &c, &priced, COUNTED);
        else if (one)
            (void)evaluations_s(&sharded, &c, &priced, COUNTED);
        else if (strcmp(argv[1], "check") == 0 || strcmp(argv[1], "cut") == 0)
            (void)checks_s(&q, strcmp(argv[1], "cut") == 0, COUNTED);
        else
            print_memory(q, 1.0, argv[1]);
        sl_catalog_free(catalog);
        return EXIT_SUCCESS;
    }

    const double price_s = prices_s(&q, &c, &priced);
    const double evaluate_s = evaluations_s(&q, &c, &priced, ROUNDS);
    const double fullest_s = memory_s(&q, &c, &priced, true, ROUNDS);
    const double step_s = steps_s(&q, &c, &priced);
    const double check_s = checks_s(&q, false, ROUNDS);
    const double cut_s = checks_s(&q, true, ROUNDS);
    const double answer_s = answers_s(&q);

    printf("pricing all layer kinds   %8.2f us   1.0\n", 1e6 * price_s);
    printf("one plan, kinds priced    %8.2f us   %.2f of pricing\n", 1e6 * evaluate_s,
           evaluate_s / price_s);
    printf("... of it memory          %8.2f us   %.2f of pricing\n", 1e6 * fullest_s,
           fullest_s / price_s);
    printf("... of it the step        %8.2f us   %.2f of pricing\n", 1e6 * step_s,
           step_s / price_s);
    printf("its check                 %8.2f us   %.2f of pricing\n", 1e6 * check_s,
           check_s / price_s);
    printf("... of another cut        %8.2f us   %.2f of pricing\n", 1e6 * cut_s, cut_s / price_s);
    printf("answer: interval, fixes   %8.2f us   %.2f of pricing\n", 1e6 * answer_s,
           answer_s / price_s);
    print_tight(q, price_s);
    print_memory(q, price_s, NULL);
    sl_catalog_free(catalog);
    return EXIT_SUCCESS;
}
