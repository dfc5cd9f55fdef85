/**
 * The one way to write a unit test: a table of named claims, run by CUnit, one executable per
 * module.
 *
 *     static const sl_case cases[] = {
 *         SL_CASE(zero1_divides_the_optimizer_by_ranks),
 *     };
 *     int main(int argc, char **argv) { return sl_run_cases(argc, argv, "memory", cases, 1); }
 *
 * Prints a line per failed assertion and ends with `cases: P passed, F failed, S skipped`.
 * Fails on any failure record, on a framework error, and when nothing ran.
 */
#ifndef SL_TESTS_HARNESS_H
#define SL_TESTS_HARNESS_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct sl_case {
    const char *name;
    void (*run)(void);
} sl_case;

/** A row of the table: the function's name is the claim. */
/* clang-format off */
#define SL_CASE(claim) {#claim, claim}
/* clang-format on */

/** An argument on the command line runs only the cases whose name contains it. */
int sl_run_cases(int argc, char **argv, const char *suite, const sl_case *cases, size_t count);

/** Counts the running case as skipped, with the reason printed. */
void sl_skip(const char *reason);

/** Fails the running case and says what for. */
void sl_fail_for(const char *name);

/** Relative comparison that prints both values: |actual - expected| <= tolerance * |expected|. */
void sl_expect_near(double actual, double expected, double tolerance_ratio, const char *what);

/** Equal texts, printing both when not. */
void sl_expect_text(const char *actual, const char *expected, const char *what);

/** Byte for byte the same, padding included: nothing was written. */
bool sl_same_bytes(const void *a, const void *b, size_t size);

/** Whole file as malloc'ed NUL-terminated text, or NULL. */
char *sl_read_file(const char *path, size_t *size);

/** Path of a file of the optional folder of real data beside the checkout, or NULL when it is
 * absent. Static buffer. */
const char *sl_shared_path(const char *relative);

/** Path of a file under tests/ of the source tree. Static buffer. */
const char *sl_tests_path(const char *relative);

#endif
