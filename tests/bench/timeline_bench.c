/*
 * What a million spans cost on this machine in this run, in seconds of a core: a step of 64 stages
 * simulated, then written as JSON columns and as a Chrome trace. Build the release preset and run
 * build/release/tests/bench/timeline_bench [columns | trace].
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec/answer/timeline_json.h"
#include "llamas.h"
#include "nodes.h"
#include "questions.h"

enum { ROUNDS = 5, STAGES = 64, BATCHES = 4000 };

static sl_model model;
static sl_estimate answer, scratch;
static sl_estimate_request request; /* nothing asked for besides */
static sl_timeline timeline;

static int
compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static sl_question
ask(const sl_catalog *catalog, sl_cluster *cluster)
{
    sl_errors err = {0};

    if (sl_model_describe_dense(&llama_405b, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    *cluster = nodes_of(catalog, "nvidia-h100-sxm5-80gb", 64, 50e9);
    sl_question question = question_of(catalog, "mbridge-26.04", &model, cluster, 8192, BATCHES);
    question.plan.tensor = 8;
    question.plan.pipeline = STAGES;
    return question;
}

static void
measure(const char *name, const sl_timeline_document *document,
        bool (*write)(sl_writer *writer, const sl_timeline_document *document))
{
    double taken_s[ROUNDS];
    size_t bytes = 0;

    for (int i = 0; i < ROUNDS; i++) {
        sl_buffer out;
        sl_writer writer;
        sl_buffer_init(&out, (size_t)1 << 30);
        sl_writer_init(&writer, &out);
        const clock_t start = clock();
        if (!write(&writer, document))
            exit(EXIT_FAILURE);
        taken_s[i] = (double)(clock() - start) / CLOCKS_PER_SEC;
        bytes = out.size;
        sl_buffer_clear(&out);
    }
    qsort(taken_s, ROUNDS, sizeof taken_s[0], compare);
    printf("%-12s %u spans, %.1f MB: median of %d %.1f ms, %.1f to %.1f\n", name,
           timeline.span_count, (double)bytes / 1e6, ROUNDS, 1e3 * taken_s[ROUNDS / 2],
           1e3 * taken_s[0], 1e3 * taken_s[ROUNDS - 1]);
}

int
main(int argc, char **argv)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);
    sl_cluster cluster;
    size_t bytes = 0;

    if (catalog == NULL)
        return EXIT_FAILURE;
    const sl_question question = ask(catalog, &cluster);
    if (sl_estimate_answer(&question, &scratch, &answer, &err) != SL_OK ||
        sl_timeline_size(&question, &answer, &bytes, &err) != SL_OK) {
        fprintf(stderr, "%s\n", err.list[0].message);
        return EXIT_FAILURE;
    }
    void *space = malloc(bytes);
    if (space == NULL)
        return EXIT_FAILURE;
    const clock_t start = clock();
    sl_timeline_simulate(&question, &answer, NULL, NULL, space, &timeline);
    printf("simulated in %.1f ms\n", 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);

    const sl_timeline_query query = {.to_s = HUGE_VAL, .limit = SL_SPANS_LISTED_MAX};
    const sl_timeline_document document = {.question = &question,
                                           .timeline = &timeline,
                                           .query = &query,
                                           .estimate = &answer,
                                           .request = &request};
    if (argc < 2 || strcmp(argv[1], "columns") == 0)
        measure("columns", &document, sl_timeline_write);
    if (argc < 2 || strcmp(argv[1], "trace") == 0)
        measure("Chrome trace", &document, sl_trace_write);
    free(space);
    sl_catalog_free(catalog);
    return EXIT_SUCCESS;
}
