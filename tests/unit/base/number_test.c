#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static void
expect_as_printf(double value)
{
    char own[SL_NUMBER_TEXT_SIZE], expected[SL_NUMBER_TEXT_SIZE];

    (void)snprintf(expected, sizeof expected, "%.12g", value);
    const size_t size = sl_number_format(value, own);
    if (strcmp(own, expected) != 0)
        sl_expect_text(own, expected, "number");
    CU_ASSERT_EQUAL(size, strlen(expected));
}

static uint64_t state = 88172645463325252U;

static uint64_t
drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void
any_double_is_printed_as_printf_does(void)
{
    for (uint32_t i = 0; i < 300000; i++) {
        const uint64_t bits = drawn();
        double value = 0.0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            expect_as_printf(value);
    }
}

static void
everyday_numbers_are_printed_as_printf_does(void)
{
    for (uint32_t i = 0; i < 300000; i++) {
        const double unit = (double)(drawn() >> 11) / 9007199254740992.0;
        const double value = (unit - 0.5) * pow(10.0, (double)(drawn() % 24) - 8.0);
        expect_as_printf(value);
        expect_as_printf((double)(int64_t)(drawn() % 2000000) / 1000.0);
    }
}

/* Counts of bytes are more than twelve digits. */
static void
whole_doubles_keep_every_digit_in_json(void)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {-0.0, "0"},
        {-17.0, "-17"},
        {1234567890123456.0, "1234567890123456"},
        {-9007199254740991.0, "-9007199254740991"},
        {9007199254740992.0, "9.00719925474e+15"},
        {1234567890.123456, "1234567890.12"},
        {-1e-9, "-1e-09"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[SL_NUMBER_TEXT_SIZE] = "";
        text[sl_number_json(rows[i].value, text)] = '\0';
        sl_expect_text(text, rows[i].text, "number");
    }
}

/* Halves behind the twelfth digit, powers of ten and what rounds up to them. */
static void
ties_and_edges_are_printed_as_printf_does(void)
{
    static const double edges[] = {0.0,
                                   -0.0,
                                   1.0,
                                   0.5,
                                   1e-4,
                                   9.99999999999e-5,
                                   1e-5,
                                   1e11,
                                   1e12,
                                   1e300,
                                   0.9999999999995,
                                   99999999999.95,
                                   99999.5,
                                   DBL_MIN,
                                   DBL_MAX,
                                   2.5e-16,
                                   1.0000000000005,
                                   0.1};

    for (uint32_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        expect_as_printf(edges[i]);
        expect_as_printf(-edges[i]);
        expect_as_printf(nextafter(edges[i], 1.0));
        expect_as_printf(nextafter(edges[i], 0.0));
    }
    for (int e = -8; e <= 14; e++)
        for (uint32_t i = 0; i < 2000; i++) {
            const double whole = (double)(100000000000U + drawn() % 900000000000U);
            expect_as_printf((whole + 0.5) * pow(10.0, e - 11));
        }
}

static void
whole_numbers_are_printed_as_printf_does(void)
{
    for (uint32_t i = 0; i < 300000; i++) {
        char own[SL_NUMBER_TEXT_SIZE] = "", expected[SL_NUMBER_TEXT_SIZE];
        const uint64_t value = i < 100000 ? i : drawn() >> (i % 64);
        (void)snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        const char *begin = sl_number_whole(value, own + sizeof own - 1);
        if (strcmp(begin, expected) != 0)
            sl_expect_text(begin, expected, "whole number");
    }
}

/* Each as alone, a comma before it. */
static void
lists_are_made_of_the_same_numbers(void)
{
    enum { COUNT = 2000 };
    static uint32_t wholes[COUNT];
    static double values[COUNT];
    static char list[COUNT * SL_NUMBER_TEXT_SIZE], expected[COUNT * SL_NUMBER_TEXT_SIZE];
    size_t size = 0;

    for (uint32_t i = 0; i < COUNT; i++) {
        wholes[i] = i % 7 == 0 ? UINT32_MAX : (uint32_t)(drawn() >> (32 + drawn() % 32));
        size += (size_t)(wholes[i] == UINT32_MAX ? sprintf(expected + size, ",null")
                                                 : sprintf(expected + size, ",%u", wholes[i]));
    }
    *sl_number_list_whole(wholes, COUNT, UINT32_MAX, list) = '\0';
    sl_expect_text(list, expected, "whole numbers");
    size = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        char text[SL_NUMBER_TEXT_SIZE];
        values[i] = (double)(drawn() % 1000000) / (double)(1 + drawn() % 1000);
        const size_t digits = sl_number_json(values[i], text);
        size += (size_t)sprintf(expected + size, ",%.*s", (int)digits, text);
    }
    *sl_number_list(values, COUNT, list) = '\0';
    sl_expect_text(list, expected, "numbers");
}

static void
a_sentence_says_no_digit_that_the_interval_does_not_bear_out(void)
{
    /* Those of the dashboard's own test, and what the sentences of the service hold. */
    static const struct {
        double value, spread;
        const char *said;
    } cases[] = {
        {429.0, 90.0, "430"},
        {412.4, 1.0, "412"},
        {0.0374, 0.004, "0.037"},
        {1234.5, 0.1, "1,230"},
        {9.96, 1.1, "10"},
        {3.04, 0.3, "3.0"},
        {0.0, 0.0, "0"},
        {9.139108, 0.0, "9.14"},
        {2293456.0, 0.0, "2,290,000"},
        {0.00012345, 0.0, "0.000123"},
        {999.6, 0.0, "1,000"},
        {-1234567.0, 0.0, "-1,230,000"},
        {2e18, 0.0, "2.00e+18"},
        {1e-12, 0.0, "0"},
        {7.0, 100.0, "7"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        sl_expect_text(sl_number_say(cases[i].value, cases[i].spread).text, cases[i].said,
                       "a figure of a sentence");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(any_double_is_printed_as_printf_does),
        SL_CASE(everyday_numbers_are_printed_as_printf_does),
        SL_CASE(whole_doubles_keep_every_digit_in_json),
        SL_CASE(ties_and_edges_are_printed_as_printf_does),
        SL_CASE(whole_numbers_are_printed_as_printf_does),
        SL_CASE(lists_are_made_of_the_same_numbers),
        SL_CASE(a_sentence_says_no_digit_that_the_interval_does_not_bear_out),
    };
    return sl_run_cases(argc, argv, "number", cases, sizeof cases / sizeof cases[0]);
}
