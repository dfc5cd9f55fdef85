#include "base/text.h"

#include <string.h>

#include "harness.h"

static void
a_copy_that_fits_is_whole(void)
{
    char to[6];
    CU_ASSERT_TRUE(sl_text_copy(to, sizeof to, "12345"));
    sl_expect_text(to, "12345", "copy");
    CU_ASSERT_TRUE(sl_text_copy(to, sizeof to, ""));
    sl_expect_text(to, "", "empty copy");
}

static void
a_cut_never_splits_a_character(void)
{
    char to[8];
    CU_ASSERT_FALSE(sl_text_copy(to, 6, "123456"));
    sl_expect_text(to, "12345", "ASCII");
    CU_ASSERT_FALSE(sl_text_copy(to, 3, "a\xC3\xA9"));
    sl_expect_text(to, "a", "two bytes");
    CU_ASSERT_FALSE(sl_text_copy(to, 5, "ab\xE2\x82\xAC"));
    sl_expect_text(to, "ab", "three bytes, two left");
    CU_ASSERT_FALSE(sl_text_copy(to, 4, "ab\xE2\x82\xAC"));
    sl_expect_text(to, "ab", "three bytes, one left");
    CU_ASSERT_FALSE(sl_text_copy(to, 6, "ab\xE2\x82\xAC!"));
    sl_expect_text(to, "ab\xE2\x82\xAC", "a whole character stays");
    CU_ASSERT_FALSE(sl_text_format(to, 4, "%s", "\xF0\x9F\x98\x80"));
    sl_expect_text(to, "", "four bytes");
    CU_ASSERT_FALSE(sl_text_copy(to, 1, "x"));
    sl_expect_text(to, "", "no room");
}

static void
case_is_ignored_for_ascii_only(void)
{
    CU_ASSERT_TRUE(sl_text_equal_ignoring_case("Zero_3", "zERO_3"));
    CU_ASSERT_FALSE(sl_text_equal_ignoring_case("zero", "zero_3"));
    CU_ASSERT_FALSE(sl_text_equal_ignoring_case("zero_3", "zero"));
    CU_ASSERT_FALSE(sl_text_equal_ignoring_case("\xC3\x84", "\xC3\xA4"));
    CU_ASSERT_TRUE(sl_text_equal("a", "a"));
    CU_ASSERT_TRUE(sl_text_is("abc", 2, "ab"));
    CU_ASSERT_TRUE(sl_text_is("", 0, ""));
    CU_ASSERT_FALSE(sl_text_is("ab", 2, "abc"));
    CU_ASSERT_FALSE(sl_text_is("abc", 3, "ab"));
    CU_ASSERT_FALSE(sl_text_is("ab\0c", 4, "ab"));
    CU_ASSERT_TRUE(sl_text_ends_with("a.weight", ".weight"));
    CU_ASSERT_FALSE(sl_text_ends_with("weight", ".weight"));
    CU_ASSERT_FALSE(sl_text_equal("a", "A"));
}

static void
unsigned_numbers_stop_at_64_bits(void)
{
    uint64_t value = 7;
    CU_ASSERT_TRUE(sl_text_to_uint("18446744073709551615", &value));
    CU_ASSERT_EQUAL(value, UINT64_MAX);
    CU_ASSERT_TRUE(sl_text_to_uint("007", &value));
    CU_ASSERT_EQUAL(value, 7);
    static const char *const refused[] = {
        "18446744073709551616", "99999999999999999999", "", "-1", "+1", " 1", "1 ", "1.0", "0x10"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CU_ASSERT_FALSE(sl_text_to_uint(refused[i], &value));
    CU_ASSERT_EQUAL(value, 7);
}

static void
decimals_are_read_and_nothing_else(void)
{
    static const struct {
        const char *text;
        double value;
    } read[] = {SL_CASE(0),     {"-1.5", -1.5},
                {"+2", 2},      {".5", 0.5},
                {"5.", 5},      {"1e3", 1000},
                {"1E-2", 0.01}, {"1.7976931348623157e308", 1.7976931348623157e308},
                {"1e-999", 0},  {"0.1", 0.1}};
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        double value = -7;
        CU_ASSERT_TRUE(sl_text_to_double(read[i].text, &value));
        sl_expect_near(value, read[i].value, 0, read[i].text);
    }
    static const char *const refused[] = {"",    "-",   ".",     "e3",    "1e",
                                          "1e+", "nan", "inf",   "0x1p3", " 1",
                                          "1 ",  "1,5", "1e999", "1.2.3", "--1"};
    double untouched = 7;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CU_ASSERT_FALSE(sl_text_to_double(refused[i], &untouched));
    sl_expect_near(untouched, 7, 0, "untouched");
}

static void
the_nearest_name_is_suggested(void)
{
    static const char *const names[] = {"tensor", "pipeline", "micro_batch_size", "data"};
    sl_expect_text(sl_text_nearest("tensr", names, 4), "tensor", "one letter missing");
    sl_expect_text(sl_text_nearest("Tnesor", names, 4), "tensor", "swapped, other case");
    sl_expect_text(sl_text_nearest("micro_batchsize", names, 4), "micro_batch_size", "long");
    sl_expect_text(sl_text_nearest("pipelines", names, 4), "pipeline", "one too many");
    sl_expect_text(sl_text_nearest("data", names, 4), "data", "itself");
}

enum { PLAIN_MAX = 12 };

/* Optimal string alignment as it is defined, over the whole table. */
static size_t
plain_distance(const char *a, const char *b)
{
    size_t table[PLAIN_MAX + 1][PLAIN_MAX + 1];
    const size_t rows = strlen(a), columns = strlen(b);
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            size_t best = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            if (table[i - 1][j] + 1 < best)
                best = table[i - 1][j] + 1;
            if (table[i][j - 1] + 1 < best)
                best = table[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                table[i - 2][j - 2] + 1 < best)
                best = table[i - 2][j - 2] + 1;
            table[i][j] = best;
        }
    }
    return table[rows][columns];
}

/* Few letters, so that near words, ties and swaps are common. */
static void
draw_word(uint32_t *state, char out[PLAIN_MAX + 1])
{
    *state = *state * 1664525u + 1013904223u;
    const size_t length = (*state >> 24) % (PLAIN_MAX + 1);
    for (size_t i = 0; i < length; i++) {
        *state = *state * 1664525u + 1013904223u;
        out[i] = "abcd"[*state >> 30];
    }
    out[length] = '\0';
}

static void
the_nearest_is_the_first_of_the_least_distance(void)
{
    enum { WORDS = 24, ROUNDS = 4000 };
    uint32_t state = 7;
    for (int round = 0; round < ROUNDS; round++) {
        char word[PLAIN_MAX + 1], words[WORDS][PLAIN_MAX + 1];
        const char *list[WORDS];
        const char *expected = NULL;
        draw_word(&state, word);
        const size_t length = strlen(word);
        const size_t third = length / 3 > 2 ? length / 3 : 2;
        size_t within = length == 0 ? 0 : third < length - 1 ? third + 1 : length;
        for (size_t i = 0; i < WORDS; i++) {
            draw_word(&state, words[i]);
            list[i] = words[i];
            const size_t distance = plain_distance(word, words[i]);
            if (distance < within) {
                within = distance;
                expected = words[i];
            }
        }
        CU_ASSERT_PTR_EQUAL(sl_text_nearest(word, list, WORDS), expected);
    }
}

static void
a_far_word_suggests_nothing(void)
{
    static const char *const names[] = {"tensor", "pp", ""};
    char longest[80];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const far[] = {longest};
    CU_ASSERT_PTR_NULL(sl_text_nearest("colour", names, 3));
    CU_ASSERT_PTR_NULL(sl_text_nearest("xy", names, 3)); /* no letter would remain */
    CU_ASSERT_PTR_NULL(sl_text_nearest("", names, 3));
    CU_ASSERT_PTR_NULL(sl_text_nearest(longest, far, 1));
    CU_ASSERT_PTR_NULL(sl_text_nearest("tensor", NULL, 0));
    longest[64] = '\0';
    sl_expect_text(sl_text_nearest(longest, far, 1), longest, "64 bytes are still compared");
}

static void
an_index_finds_exact_words(void)
{
    static const char *const names[] = {"gpipe", "1f1b"};
    CU_ASSERT_EQUAL(sl_text_index("1f1b", names, 2), 1);
    CU_ASSERT_EQUAL(sl_text_index("1F1B", names, 2), -1);
    CU_ASSERT_EQUAL(sl_text_index("gpipe", names, 0), -1);
}

static void
only_valid_utf8_is_a_character(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } tries[] = {{"a", 1},
                 {"\xC3\xA9", 2},
                 {"\xE2\x82\xAC", 3},
                 {"\xF0\x9F\x98\x80", 4},
                 {"\xF4\x8F\xBF\xBF", 4},
                 {"\xC0\x80", 0},         /* overlong NUL */
                 {"\xC1\xBF", 0},         /* overlong */
                 {"\xE0\x9F\xBF", 0},     /* overlong */
                 {"\xF0\x8F\xBF\xBF", 0}, /* overlong */
                 {"\xED\xA0\x80", 0},     /* surrogate */
                 {"\xF4\x90\x80\x80", 0}, /* past U+10FFFF */
                 {"\xF8\x88\x80\x80", 0},
                 {"\x80", 0},
                 {"\xE2\x82", 0},     /* cut */
                 {"\xE2\x28\xA1", 0}, /* broken in the middle */
                 {"\xE2\x82\x28", 0}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        CU_ASSERT_EQUAL(sl_text_character(tries[i].bytes, strlen(tries[i].bytes)), tries[i].size);
}

static void
characters_are_written_as_they_are_read(void)
{
    static const struct {
        uint32_t code;
        const char *bytes;
    } tries[] = {{'a', "a"},
                 {0x7F, "\x7F"},
                 {0x80, "\xC2\x80"},
                 {0x7FF, "\xDF\xBF"},
                 {0x800, "\xE0\xA0\x80"},
                 {0xFFFF, "\xEF\xBF\xBF"},
                 {0x10000, "\xF0\x90\x80\x80"},
                 {0x10FFFF, "\xF4\x8F\xBF\xBF"},
                 {0xD800, "\xEF\xBF\xBD"},
                 {0xDFFF, "\xEF\xBF\xBD"},
                 {0x110000, "\xEF\xBF\xBD"}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        char out[SL_TEXT_CHARACTER_MAX + 1] = "";
        out[sl_text_put_character(tries[i].code, out)] = '\0';
        sl_expect_text(out, tries[i].bytes, "in UTF-8");
        CU_ASSERT_EQUAL(sl_text_character(out, strlen(out)), strlen(out));
    }
}

static void
json_escapes_keep_the_text_valid(void)
{
    static const struct {
        const char *bytes, *escaped;
        size_t length, taken;
    } tries[] = {{"a", "a", 1, 1},
                 {"\"", "\\\"", 1, 1},
                 {"\\", "\\\\", 1, 1},
                 {"\n", "\\n", 1, 1},
                 {"\t", "\\t", 1, 1},
                 {"\x01", "\\u0001", 1, 1},
                 {"\x1F", "\\u001f", 1, 1},
                 {"\0", "\\u0000", 1, 1},
                 {"\x7F", "\\u007f", 1, 1},
                 {"\xC3\xA9", "\xC3\xA9", 2, 2},
                 {"\xC3", "\xEF\xBF\xBD", 1, 1},
                 {"\xFFx", "\xEF\xBF\xBD", 2, 1}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        char out[SL_TEXT_ESCAPED_MAX + 1] = "";
        size_t taken = 0;
        const size_t size = sl_text_json_escape(tries[i].bytes, tries[i].length, out, &taken);
        out[size] = '\0';
        sl_expect_text(out, tries[i].escaped, "escaped");
        CU_ASSERT_EQUAL(taken, tries[i].taken);
    }
}

static void
a_part_is_found_whatever_its_case(void)
{
    CU_ASSERT_TRUE(sl_text_holds_ignoring_case("meta-llama/Llama-3", "LLAMA-3"));
    CU_ASSERT_TRUE(sl_text_holds_ignoring_case("aab", "AB"));
    CU_ASSERT_TRUE(sl_text_holds_ignoring_case("a", ""));
    CU_ASSERT_TRUE(sl_text_holds_ignoring_case("", ""));
    CU_ASSERT_FALSE(sl_text_holds_ignoring_case("", "a"));
    CU_ASSERT_FALSE(sl_text_holds_ignoring_case("llam", "llama"));
    CU_ASSERT_FALSE(sl_text_holds_ignoring_case("[", "{"));
}

/* `quote`: how many bytes stand before the closing quote, or -1 where there is none. */
static void
expect_quote(const char *text, long quote)
{
    const char *const found = sl_text_closing_quote(text, text + strlen(text));
    CU_ASSERT_EQUAL(found == NULL ? -1 : found - text, quote);
}

static void
a_string_ends_at_a_quote_that_is_not_escaped(void)
{
    expect_quote("\"", 0);
    expect_quote("gpu01\": \"", 5);
    expect_quote("a\\\"b\"", 4);
    expect_quote("a\\\\\"b\"", 3);
    expect_quote("\\\\\\\"\"", 4);
    expect_quote("\\\"\\\"", -1);
    expect_quote("gpu01", -1);
    expect_quote("gpu01\\", -1);
    expect_quote("", -1);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_copy_that_fits_is_whole),
        SL_CASE(a_cut_never_splits_a_character),
        SL_CASE(case_is_ignored_for_ascii_only),
        SL_CASE(unsigned_numbers_stop_at_64_bits),
        SL_CASE(decimals_are_read_and_nothing_else),
        SL_CASE(a_part_is_found_whatever_its_case),
        SL_CASE(the_nearest_name_is_suggested),
        SL_CASE(a_far_word_suggests_nothing),
        SL_CASE(the_nearest_is_the_first_of_the_least_distance),
        SL_CASE(an_index_finds_exact_words),
        SL_CASE(only_valid_utf8_is_a_character),
        SL_CASE(characters_are_written_as_they_are_read),
        SL_CASE(json_escapes_keep_the_text_valid),
        SL_CASE(a_string_ends_at_a_quote_that_is_not_escaped),
    };
    return sl_run_cases(argc, argv, "text", cases, sizeof cases / sizeof cases[0]);
}
