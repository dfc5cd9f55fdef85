/* The harness must be able to fail: each table runs in a child whose verdict and last line are
 * read here. */
#include "harness.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096 };

typedef struct verdict {
    bool good;
    char text[TEXT_BYTES];
} verdict;

static verdict passing, failing, expecting, skipping, twice, nothing, filtered;

static void
passes(void)
{
    CU_ASSERT_TRUE(true);
}

static void
fails(void)
{
    CU_ASSERT_EQUAL(1, 2);
}

static void
fails_by_expectation(void)
{
    sl_expect_near(1.1, 1.0, 0.05, "ratio");
    sl_expect_text("a", "b", "text");
    sl_expect_text(NULL, "b", "missing text");
    sl_expect_near(1.04, 1.0, 0.05, "near enough");
    sl_expect_text("a", "a", "equal");
}

static void
skips(void)
{
    sl_skip("no such folder");
}

/* In a child, so that its registry and its counts are its own. */
static verdict
run(const char *filter, const sl_case *cases, size_t count)
{
    verdict seen = {0};
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return seen;
    const pid_t child = fork();
    if (child == 0) {
        char name[] = "harness", argument[64] = "";
        char *arguments[] = {name, argument, NULL};
        (void)snprintf(argument, sizeof argument, "%s", filter);
        if (dup2(ends[1], STDOUT_FILENO) < 0)
            _Exit(EXIT_FAILURE);
        const int code = sl_run_cases(*filter != '\0' ? 2 : 1, arguments, "child", cases, count);
        (void)fflush(stdout);
        _Exit(code);
    }
    (void)close(ends[1]);
    size_t used = 0;
    ssize_t got = 0;
    while ((got = read(ends[0], seen.text + used, sizeof seen.text - 1 - used)) > 0)
        used += (size_t)got;
    (void)close(ends[0]);
    seen.good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == EXIT_SUCCESS;
    return seen;
}

static void
a_passing_case_is_counted(void)
{
    CU_ASSERT_TRUE(passing.good);
    sl_expect_text(passing.text, "cases: 1 passed, 0 failed, 0 skipped\n", "output");
}

static void
a_failing_case_fails_the_run_and_names_its_line(void)
{
    CU_ASSERT_FALSE(failing.good);
    CU_ASSERT_PTR_NOT_NULL(strstr(failing.text, "FAILED fails: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(failing.text, "CU_ASSERT_EQUAL(1,2)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(failing.text, "\ncases: 1 passed, 1 failed, 0 skipped\n"));
}

static void
an_expectation_fails_with_both_values(void)
{
    CU_ASSERT_FALSE(expecting.good);
    CU_ASSERT_PTR_NOT_NULL(strstr(expecting.text, "ratio"));
    CU_ASSERT_PTR_NOT_NULL(strstr(expecting.text, "got 1.1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(expecting.text, "expected \"b\", got \"a\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(expecting.text, "expected \"b\", got \"(null)\""));
    CU_ASSERT_PTR_NULL(strstr(expecting.text, "near enough"));
    CU_ASSERT_PTR_NULL(strstr(expecting.text, "equal"));
}

static void
a_skipped_case_is_neither_passed_nor_failed(void)
{
    CU_ASSERT_TRUE(skipping.good);
    CU_ASSERT_PTR_NOT_NULL(strstr(skipping.text, "SKIPPED skips: no such folder\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(skipping.text, "cases: 1 passed, 0 failed, 1 skipped\n"));
}

static void
two_cases_of_one_name_are_refused(void)
{
    CU_ASSERT_FALSE(twice.good);
}

static void
running_nothing_fails(void)
{
    CU_ASSERT_FALSE(nothing.good);
    CU_ASSERT_PTR_NOT_NULL(strstr(nothing.text, "cases: 0 passed, 1 failed, 0 skipped\n"));
}

static void
an_argument_selects_cases(void)
{
    CU_ASSERT_TRUE(filtered.good);
    CU_ASSERT_PTR_NOT_NULL(strstr(filtered.text, "cases: 1 passed, 0 failed, 0 skipped\n"));
}

static void
a_missing_file_reads_as_null(void)
{
    size_t size = 0;
    CU_ASSERT_PTR_NULL(sl_read_file(sl_tests_path("no such file"), &size));
    CU_ASSERT_PTR_NULL(sl_shared_path("no such file"));
    char *const text = sl_read_file(sl_tests_path("unit/harness.h"), &size);
    CU_ASSERT_TRUE(text != NULL && strlen(text) == size && strncmp(text, "/**", 3) == 0);
    free(text);
}

int
main(int argc, char **argv)
{
    static const sl_case mixed[] = {SL_CASE(passes), SL_CASE(fails)};
    static const sl_case by_expectation[] = {SL_CASE(fails_by_expectation)};
    static const sl_case skipped[] = {SL_CASE(passes), SL_CASE(skips)};
    static const sl_case same[] = {SL_CASE(passes), SL_CASE(passes)};
    passing = run("", mixed, 1);
    failing = run("", mixed, 2);
    expecting = run("", by_expectation, 1);
    skipping = run("", skipped, 2);
    twice = run("", same, 2);
    nothing = run("no_such_case", mixed, 2);
    filtered = run("ass", mixed, 2);

    static const sl_case cases[] = {
        SL_CASE(a_passing_case_is_counted),
        SL_CASE(a_failing_case_fails_the_run_and_names_its_line),
        SL_CASE(an_expectation_fails_with_both_values),
        SL_CASE(a_skipped_case_is_neither_passed_nor_failed),
        SL_CASE(two_cases_of_one_name_are_refused),
        SL_CASE(running_nothing_fails),
        SL_CASE(an_argument_selects_cases),
        SL_CASE(a_missing_file_reads_as_null),
    };
    return sl_run_cases(argc, argv, "harness", cases, sizeof cases / sizeof cases[0]);
}
