#include "harness.h"

#include <CUnit/TestRun.h>
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, MESSAGE_BYTES = 512 };

static bool case_skipped;
static unsigned skipped_count;

static void
case_starts(const CU_pTest test, const CU_pSuite suite)
{
    (void)test;
    (void)suite;
    case_skipped = false;
}

/* Printed at once: a later crash must not take the failures before it along. */
static void
case_ends(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord first)
{
    (void)suite;
    for (CU_pFailureRecord record = first; record != NULL; record = record->pNext)
        printf("FAILED %s: %s:%u: %s\n", test->pName, record->strFileName, record->uiLineNumber,
               record->strCondition);
    if (first == NULL && case_skipped)
        skipped_count++;
    (void)fflush(stdout);
}

static CU_ErrorCode
add_cases(const char *suite_name, const sl_case *cases, size_t count, const char *filter)
{
    const CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    for (size_t i = 0; suite != NULL && i < count; i++) {
        if (filter != NULL && strstr(cases[i].name, filter) == NULL)
            continue;
        if (CU_add_test(suite, cases[i].name, cases[i].run) == NULL ||
            CU_get_error() != CUE_SUCCESS)
            break;
    }
    return CU_get_error();
}

int
sl_run_cases(int argc, char **argv, const char *suite, const sl_case *cases, size_t count)
{
    assert(suite != NULL && cases != NULL);

    CU_ErrorCode error = CU_initialize_registry();
    if (error == CUE_SUCCESS)
        error = add_cases(suite, cases, count, argc > 1 ? argv[1] : NULL);
    if (error == CUE_SUCCESS) {
        CU_set_test_start_handler(case_starts);
        CU_set_test_complete_handler(case_ends);
        error = CU_run_all_tests();
    }
    if (error != CUE_SUCCESS)
        printf("FAILED %s: %s\n", suite, CU_get_error_msg());

    /* Failure records count what failures alone would miss, such as an initialiser that failed. */
    const unsigned run = CU_get_number_of_tests_run();
    const unsigned failed = CU_get_number_of_tests_failed();
    const bool good = error == CUE_SUCCESS && CU_get_number_of_failure_records() == 0 && run > 0;
    printf("cases: %u passed, %u failed, %u skipped\n", run - failed - skipped_count,
           failed == 0 && !good ? 1 : failed, skipped_count);
    CU_cleanup_registry();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

void
sl_skip(const char *reason)
{
    const CU_pTest test = CU_get_current_test();
    printf("SKIPPED %s: %s\n", test != NULL ? test->pName : "", reason);
    case_skipped = true;
}

void
sl_fail_for(const char *name)
{
    printf("%s\n", name);
    CU_FAIL("see the name above");
}

static void
record(bool passed, const char *message, const char *what)
{
    CU_assertImplementation(passed ? CU_TRUE : CU_FALSE, 0, message, what, "", CU_FALSE);
}

void
sl_expect_near(double actual, double expected, double tolerance_ratio, const char *what)
{
    char message[MESSAGE_BYTES];
    (void)snprintf(message, sizeof message, "expected %.17g within a ratio of %g, got %.17g",
                   expected, tolerance_ratio, actual);
    record(fabs(actual - expected) <= tolerance_ratio * fabs(expected), message, what);
}

void
sl_expect_text(const char *actual, const char *expected, const char *what)
{
    char message[MESSAGE_BYTES];
    const bool equal =
        actual == NULL || expected == NULL ? actual == expected : strcmp(actual, expected) == 0;
    (void)snprintf(message, sizeof message, "expected \"%s\", got \"%s\"",
                   expected != NULL ? expected : "(null)", actual != NULL ? actual : "(null)");
    record(equal, message, what);
}

bool
sl_same_bytes(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

char *
sl_read_file(const char *path, size_t *size)
{
    char *text = NULL, *grown = NULL;
    size_t used = 0, capacity = 0, got = 0;
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    do {
        used += got;
        if (capacity - used < 2) {
            capacity = capacity == 0 ? 4096 : 2 * capacity;
            grown = realloc(text, capacity);
            if (grown == NULL)
                goto failed;
            text = grown;
        }
        got = fread(text + used, 1, capacity - used - 1, file);
    } while (got > 0);
    if (ferror(file))
        goto failed;
    (void)fclose(file);
    text[used] = '\0';
    if (size != NULL)
        *size = used;
    return text;

failed:
    (void)fclose(file);
    free(text);
    return NULL;
}

const char *
sl_shared_path(const char *relative)
{
    static char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", SL_SHARED_DIR, relative);
    assert(length >= 0 && (size_t)length < sizeof path);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *
sl_tests_path(const char *relative)
{
    static char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", SL_TESTS_DIR, relative);
    assert(length >= 0 && (size_t)length < sizeof path);
    return path;
}
