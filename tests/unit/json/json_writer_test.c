#include "json/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static void
a_document_is_written_with_its_commas(void)
{
    sl_buffer out;
    sl_writer w;
    sl_buffer_init(&out, 1000);
    sl_writer_init(&w, &out);
    CU_ASSERT_FALSE(sl_writer_ok(&w)); /* nothing was written */
    sl_write_object(&w);
    sl_put_text(&w, "text", "a");
    sl_put_text(&w, "none", NULL);
    sl_put_uint(&w, "uint", UINT64_MAX);
    sl_put_int(&w, "int", INT64_MIN);
    sl_put_double(&w, "double", 0.5);
    sl_put_bool(&w, "bool", true);
    sl_put_null(&w, "null");
    sl_write_key(&w, "list");
    sl_write_array(&w);
    sl_write_array(&w);
    sl_write_array_end(&w);
    sl_write_object(&w);
    sl_write_object_end(&w);
    sl_write_uint(&w, 0);
    sl_write_bool(&w, false);
    sl_write_raw(&w, "[1]", 3);
    sl_write_array_end(&w);
    CU_ASSERT_FALSE(sl_writer_ok(&w)); /* still open */
    sl_write_object_end(&w);
    CU_ASSERT_TRUE(sl_writer_ok(&w));
    sl_expect_text(out.data,
                   "{\"text\":\"a\",\"none\":null,\"uint\":18446744073709551615,"
                   "\"int\":-9223372036854775808,\"double\":0.5,\"bool\":true,\"null\":null,"
                   "\"list\":[[],{},0,false,[1]]}",
                   "document");
    sl_buffer_clear(&out);
}

static void
keys_of_any_length_are_written_whole(void)
{
    enum { LONGEST = 80 };
    char key[LONGEST + 1] = "";
    char wanted[3 * LONGEST];

    for (size_t length = 0; length <= LONGEST; length++) {
        sl_buffer out;
        sl_writer w;
        sl_buffer_init(&out, sizeof wanted);
        sl_writer_init(&w, &out);
        sl_write_object(&w);
        sl_put_bool(&w, key, true); /* without a comma before it, and with one */
        sl_put_bool(&w, key, false);
        sl_write_object_end(&w);
        CU_ASSERT_TRUE(sl_writer_ok(&w));
        (void)snprintf(wanted, sizeof wanted, "{\"%s\":true,\"%s\":false}", key, key);
        sl_expect_text(out.data, wanted, "object");
        sl_buffer_clear(&out);
        if (length < LONGEST)
            key[length] = (char)('a' + length % 26);
    }
}

/* The JSON text of one value written by `write`, in a static buffer. */
static const char *
double_text(double value)
{
    static char text[64];
    sl_buffer out;
    sl_writer w;
    sl_buffer_init(&out, 60);
    sl_writer_init(&w, &out);
    sl_write_double(&w, value);
    (void)snprintf(text, sizeof text, "%s%s", out.data, sl_writer_ok(&w) ? "" : " failed");
    sl_buffer_clear(&out);
    return text;
}

static void
whole_doubles_keep_every_digit_and_fractions_twelve(void)
{
    static const struct {
        double value;
        const char *text;
    } tries[] = {{0, "0"},
                 {-0.0, "0"},
                 {0.1, "0.1"},
                 {1.0 / 3.0, "0.333333333333"},
                 {-2.5, "-2.5"},
                 {1e11, "100000000000"},
                 {999999999999.0, "999999999999"},
                 {1e12, "1000000000000"},
                 {2095944040448, "2095944040448"},
                 {123456789012345.0, "123456789012345"},
                 {123456789012345.5, "1.23456789012e+14"},
                 {9007199254740992.0, "9.00719925474e+15"},
                 {1e-9, "1e-09"},
                 {1.7976931348623157e308, "1.79769313486e+308"},
                 {5e-324, "4.94065645841e-324"}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        sl_expect_text(double_text(tries[i].value), tries[i].text, "double");
}

static void
what_is_not_finite_is_null_and_a_fault(void)
{
    sl_expect_text(double_text((double)NAN), "null failed", "nan");
    sl_expect_text(double_text((double)INFINITY), "null failed", "infinity");
    sl_expect_text(double_text(-(double)INFINITY), "null failed", "minus infinity");
}

/* One of each, none at all, and more than are copied at once. */
static void
long_lists_are_written_as_one_by_one(void)
{
    enum { COUNT = 200, NONE = 7 };
    static const size_t counts[] = {0, 1, 64, COUNT};
    uint32_t wholes[COUNT];
    double values[COUNT];

    for (uint32_t i = 0; i < COUNT; i++) {
        wholes[i] = i % 3 == 0 ? NONE : i * i;
        values[i] = i == 150 ? (double)NAN : i / 8.0;
    }
    for (uint32_t n = 0; n < 4; n++) {
        sl_buffer out[2];
        for (uint32_t one_by_one = 0; one_by_one < 2; one_by_one++) {
            sl_writer w;
            sl_buffer_init(&out[one_by_one], 10000);
            sl_writer_init(&w, &out[one_by_one]);
            sl_write_array(&w);
            for (size_t i = 0; one_by_one == 1 && i < counts[n]; i++)
                if (wholes[i] == NONE)
                    sl_write_null(&w);
                else
                    sl_write_uint(&w, wholes[i]);
            if (one_by_one == 0)
                sl_write_uints(&w, wholes, counts[n], NONE);
            for (size_t i = 0; one_by_one == 1 && i < counts[n]; i++)
                sl_write_double(&w, values[i]);
            if (one_by_one == 0)
                sl_write_doubles(&w, values, counts[n]);
            sl_write_array_end(&w);
            CU_ASSERT_EQUAL(sl_writer_ok(&w), counts[n] <= 150); /* what is not finite */
        }
        sl_expect_text(out[0].data, out[1].data, "list");
        sl_buffer_clear(&out[0]);
        sl_buffer_clear(&out[1]);
    }
}

static void
texts_and_keys_are_escaped(void)
{
    sl_buffer out;
    sl_writer w;
    sl_buffer_init(&out, 1000);
    sl_writer_init(&w, &out);
    sl_write_object(&w);
    sl_put_text(&w, "a\"\n", "\\ \x01 gr\xC3\xBC\xC3\x9F \xFF </script>");
    sl_write_object_end(&w);
    CU_ASSERT_TRUE(sl_writer_ok(&w));
    sl_expect_text(out.data,
                   "{\"a\\\"\\n\":\"\\\\ \\u0001 gr\xC3\xBC\xC3\x9F \xEF\xBF\xBD </script>\"}",
                   "escaped");
    sl_buffer_clear(&out);
}

static void
a_full_buffer_is_not_ok(void)
{
    sl_buffer out;
    sl_writer w;
    sl_buffer_init(&out, 10);
    sl_writer_init(&w, &out);
    sl_write_array(&w);
    for (int i = 0; i < 10; i++)
        sl_write_text(&w, "abc");
    sl_write_array_end(&w);
    CU_ASSERT_FALSE(sl_writer_ok(&w));
    sl_buffer_clear(&out);
}

static sl_json *
parse(const char *text)
{
    const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = SL_JSON_DEPTH_MAX};
    sl_json *json = NULL;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_json_parse(text, strlen(text), &limits, &json, &err), SL_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    return json;
}

static void
expect_canonical(const char *text, const char *expected)
{
    sl_json *const json = parse(text);
    const sl_node root = sl_json_root(json);
    sl_buffer out;
    sl_buffer_init(&out, 10000);
    CU_ASSERT_EQUAL(sl_json_canonical(&root, &out), SL_OK);
    sl_expect_text(out.data, expected, text);
    sl_buffer_clear(&out);
    sl_json_free(json);
}

static void
a_canonical_text_keeps_values_and_the_order_of_arrays(void)
{
    expect_canonical(
        "{ \"z\": [1, {\"b\": null, \"a\": true}, \"\\u00fc\\\"\"], \"a\": {} , \"m\": [] }",
        "{\"a\":{},\"m\":[],\"z\":[1,{\"a\":true,\"b\":null},\"\xC3\xBC\\\"\"]}");
    expect_canonical("\"x\"", "\"x\"");
    expect_canonical("[]", "[]");
    expect_canonical("[9223372036854775807,-9223372036854775808]",
                     "[9223372036854775807,-9223372036854775808]");
}

static void
canonical_reals_have_the_fewest_digits(void)
{
    expect_canonical("[0.1, 0.3333333333333333, 1e300, 2.5e-7]",
                     "[0.1,0.3333333333333333,1e+300,2.5e-07]");
    expect_canonical("[0.30000000000000004]", "[0.30000000000000004]");
}

static void
the_deepest_document_has_a_canonical_text(void)
{
    char text[2 * SL_JSON_DEPTH_MAX + 1] = "";
    memset(text, '[', SL_JSON_DEPTH_MAX);
    memset(text + SL_JSON_DEPTH_MAX, ']', SL_JSON_DEPTH_MAX);
    expect_canonical(text, text);
}

static void
equal_documents_have_one_canonical_text(void)
{
    expect_canonical("{\"b\": 1, \"a\": [2, {\"d\": 0.10, \"c\": null}]}",
                     "{\"a\":[2,{\"c\":null,\"d\":0.1}],\"b\":1}");
    expect_canonical("{\"a\":[2.0,{\"c\":null,\"d\":1e-1}],\"b\":1.0}",
                     "{\"a\":[2,{\"c\":null,\"d\":0.1}],\"b\":1}");
    expect_canonical("[-0.0, 1e15, 1e16]", "[0,1000000000000000,1e+16]");
    expect_canonical("{\"\\u00e9\": 1, \"z\": 2, \"Z\": 3}", "{\"Z\":3,\"z\":2,\"\xC3\xA9\":1}");
    expect_canonical("{}", "{}");
}

static void
a_canonical_text_that_does_not_fit_is_refused(void)
{
    sl_json *const json = parse("{\"b\": [1,2,3], \"a\": 1}");
    const sl_node root = sl_json_root(json);
    sl_buffer out;
    sl_buffer_init(&out, 10);
    CU_ASSERT_EQUAL(sl_json_canonical(&root, &out), SL_E_MEMORY);
    sl_buffer_clear(&out);
    sl_json_free(json);
}

int
main(int argc, char **argv)
{
    sl_json_start();
    static const sl_case cases[] = {
        SL_CASE(a_document_is_written_with_its_commas),
        SL_CASE(keys_of_any_length_are_written_whole),
        SL_CASE(whole_doubles_keep_every_digit_and_fractions_twelve),
        SL_CASE(what_is_not_finite_is_null_and_a_fault),
        SL_CASE(long_lists_are_written_as_one_by_one),
        SL_CASE(texts_and_keys_are_escaped),
        SL_CASE(a_full_buffer_is_not_ok),
        SL_CASE(a_canonical_text_keeps_values_and_the_order_of_arrays),
        SL_CASE(canonical_reals_have_the_fewest_digits),
        SL_CASE(the_deepest_document_has_a_canonical_text),
        SL_CASE(equal_documents_have_one_canonical_text),
        SL_CASE(a_canonical_text_that_does_not_fit_is_refused),
    };
    return sl_run_cases(argc, argv, "json_writer", cases, sizeof cases / sizeof cases[0]);
}
