/** Reads configs for the tests of the model decoder. */
#ifndef SL_TESTS_READING_H
#define SL_TESTS_READING_H

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hf/config.h"

static const sl_json_limits reading_limits = {
    .max_bytes = 1 << 20, .max_depth = 32, .accept_python_numbers = true};

/* What one reading gave; model and json live on the heap. */
typedef struct sl_reading {
    sl_json *json;
    sl_model *model;
    sl_code code;
    sl_errors err;
    sl_errors warnings;
} sl_reading;

static inline sl_reading
read_named_text(const char *text, size_t size, const char *name)
{
    sl_reading result = {0};
    result.model = calloc(1, sizeof *result.model);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result.model);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, size, &reading_limits, &result.json, &result.err),
                          SL_OK);
    const sl_node root = sl_json_root(result.json);
    result.code = sl_hf_config_read(&root, name, result.model, &result.warnings, &result.err);
    return result;
}

static inline sl_reading
read_text(const char *text, size_t size)
{
    return read_named_text(text, size, "org/name");
}

static inline sl_reading
read_named(const char *path, const char *name)
{
    size_t size = 0;
    char *text = sl_read_file(path, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    const sl_reading result = read_named_text(text, size, name);
    free(text);
    return result;
}

static inline sl_reading
read_path(const char *path)
{
    return read_named(path, "org/name");
}

static inline sl_reading
read_fixture(const char *name)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "fixtures/configs/%s.json", name);
    return read_path(sl_tests_path(relative));
}

/* A config that says its type and `more`, which begins with a comma or is empty. */
static inline sl_reading
read_type_with(const char *type, const char *more)
{
    char text[400];
    CU_ASSERT_TRUE_FATAL(
        sl_text_format(text, sizeof text, "{\"model_type\":\"%s\"%s}", type, more));
    sl_reading result = read_text(text, strlen(text));
    if (result.code != SL_OK)
        printf("%s: %s: %s\n", type, result.err.list[0].pointer, result.err.list[0].message);
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    return result;
}

static inline void
clear_reading(sl_reading *result)
{
    sl_json_free(result->json);
    free(result->model);
}

#endif
