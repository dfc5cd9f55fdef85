/** Reads questions for the tests of their decoder. */
#ifndef SL_TESTS_QUESTION_READING_H
#define SL_TESTS_QUESTION_READING_H

#include <string.h>

#include "base/text.h"
#include "catalogued.h"
#include "codec/question/question.h"
#include "harness.h"

static sl_catalog *catalog; /* of main */

/* One reading; the request's nodes point into it, so it stays where it was read. */
typedef struct reading {
    sl_json *json;
    sl_code code;
    sl_errors err;
    sl_errors warnings;
    sl_estimate_request request;
} reading;

static inline void
read_request(reading *r, const char *text, bool warn)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    memset(r, 0, sizeof *r);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &r->json, &r->err), SL_OK);
    const sl_node root = sl_json_root(r->json);
    r->code =
        sl_estimate_request_read(&root, catalog, warn ? &r->warnings : NULL, &r->request, &r->err);
}

/* A request whose four members are the given ones; NULL takes a plain valid one. */
static inline void
read_parts(reading *r, const char *model, const char *workload, const char *cluster,
           const char *parallelism)
{
    char text[4096];
    CU_ASSERT_TRUE_FATAL(sl_text_format(
        text, sizeof text, "{\"model\":%s,\"workload\":%s,\"cluster\":%s,\"parallelism\":%s}",
        model != NULL ? model : "{\"hub\":\"org/name\"}",
        workload != NULL ? workload : "{\"sequence_length\":2048,\"global_batch_size\":64}",
        cluster != NULL ? cluster : "{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":2}",
        parallelism != NULL ? parallelism : "{}"));
    read_request(r, text, false);
}

/* Runs of spaces stand for the members every workload needs. */
static inline void
read_workload(reading *r, const char *members)
{
    char text[1024];
    CU_ASSERT_TRUE_FATAL(sl_text_format(text, sizeof text,
                                        "{\"sequence_length\":2048,\"global_batch_size\":64%s%s}",
                                        *members != '\0' ? "," : "", members));
    read_parts(r, NULL, text, NULL, NULL);
}

static inline void
clear(reading *r)
{
    sl_json_free(r->json);
    r->json = NULL;
}

static inline const sl_error *
fault_at(const sl_errors *err, const char *pointer)
{
    for (uint32_t i = 0; i < err->count; i++) {
        if (sl_text_equal(err->list[i].pointer, pointer))
            return &err->list[i];
    }
    return NULL;
}

static inline void
expect_fault(const sl_errors *err, const char *pointer, const char *rule)
{
    const sl_error *const fault = fault_at(err, pointer);
    sl_expect_text(fault != NULL ? fault->rule : "no error there", rule, pointer);
}

static inline void
expect_refused(const reading *r, const char *pointer, const char *rule)
{
    CU_ASSERT_NOT_EQUAL(r->code, SL_OK);
    CU_ASSERT_EQUAL(r->err.count, 1);
    expect_fault(&r->err, pointer, rule);
}

#endif
