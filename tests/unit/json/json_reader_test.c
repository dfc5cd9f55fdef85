#include "json/reader.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static const sl_json_limits strict = {.max_bytes = 4096, .max_depth = 32};
static const sl_json_limits python = {
    .max_bytes = 4096, .max_depth = 32, .accept_python_numbers = true};

static sl_json *
parse(const char *text, const sl_json_limits *limits, sl_errors *err)
{
    sl_json *json = NULL;
    const sl_code code = sl_json_parse(text, strlen(text), limits, &json, err);
    CU_ASSERT_EQUAL(code == SL_OK, json != NULL);
    return json;
}

/* A document that must parse; the case ends when it does not. */
static sl_json *
document(const char *text)
{
    sl_errors err = {0};
    sl_json *const json = parse(text, &strict, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    return json;
}

static void
expect_refused(const char *text, size_t size, const sl_json_limits *limits, sl_code code,
               const char *rule, const char *message_start)
{
    sl_errors err = {0};
    sl_json *json = NULL;
    CU_ASSERT_EQUAL(sl_json_parse(text, size, limits, &json, &err), code);
    CU_ASSERT_PTR_NULL(json);
    CU_ASSERT_EQUAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, text);
    sl_expect_text(err.list[0].pointer, "", text);
    char start[192] = "";
    (void)snprintf(start, sizeof start, "%.*s", (int)strlen(message_start), err.list[0].message);
    sl_expect_text(start, message_start, text);
}

static void
expect_malformed(const char *text, const char *message_start)
{
    expect_refused(text, strlen(text), &strict, SL_E_SYNTAX, "malformed_json", message_start);
}

static void
text_that_is_not_json_is_refused_with_line_and_column(void)
{
    expect_malformed("", "line 1, column 0: ");
    expect_malformed("{\n  \"a\": 1,\n}", "line 3, column 1: ");
    expect_malformed("[1] x", "line 1, column ");
    expect_malformed("{\"a\": 1", "line 1, column ");
    expect_malformed("{'a': 1}", "line 1, column ");
    expect_malformed("[01]", "line 1, column ");
    expect_malformed("[1,]", "line 1, column ");
    expect_malformed("nul", "line 1, column ");
    expect_malformed("[\"a\tb\"]", "line 1, column ");
    expect_malformed("[\"\xFF\"]", "line 1, column ");
    expect_malformed("[\"\xED\xA0\x80\"]", "line 1, column ");
    expect_malformed("[\"\\ud800\"]", "line 1, column ");
    expect_malformed("[\"\\u0000\"]", "line 1, column ");
    expect_malformed("{\"a\\u0000b\": 1}", "line 1, column ");
    expect_malformed("[NaN]", "line 1, column ");
    expect_malformed("]", "line 1, column ");
    expect_malformed("\"ends in a backslash\\", "line 1, column ");
    expect_refused("[1\0]", 4, &strict, SL_E_SYNTAX, "malformed_json", "line 1, column 3: a NUL");
    expect_refused("[\"\0\"]", 5, &strict, SL_E_SYNTAX, "malformed_json",
                   "line 1, column 3: a NUL");
    expect_refused(NULL, 0, &strict, SL_E_SYNTAX, "malformed_json", "line 1, column 0");
}

static void
a_duplicate_key_is_refused_by_its_own_rule(void)
{
    static const char text[] = "{\"a\": {\"b\": 1, \"b\": 1}}";
    expect_refused(text, sizeof text - 1, &strict, SL_E_SYNTAX, "duplicate_key",
                   "line 1, column 18: ");
}

static void
a_number_beyond_64_bits_is_refused_by_its_own_rule(void)
{
    static const char *const tries[] = {"[9223372036854775808]", "[-9223372036854775809]",
                                        "[1e400]"};
    for (size_t i = 0; i < 3; i++)
        expect_refused(tries[i], strlen(tries[i]), &strict, SL_E_SYNTAX, "out_of_range",
                       "line 1, column ");
}

static void
depth_is_refused_before_anything_is_built(void)
{
    const sl_json_limits shallow = {.max_bytes = 100, .max_depth = 3};
    sl_errors err = {0};
    sl_json *const json = parse("[[[]], {\"[[[[\": \"]{{{{\\\"{\"}, [[]]]", &shallow, &err);
    CU_ASSERT_PTR_NOT_NULL(json);
    sl_json_free(json);
    expect_refused("[[[\n\xC3\xA9[", 7, &shallow, SL_E_SYNTAX, "too_deep",
                   "line 2, column 2: must not nest deeper than 3 levels");
    expect_refused("{\"a\":{\"a\":{\"a\":{}}}}", 20, &shallow, SL_E_SYNTAX, "too_deep",
                   "line 1, column 16");
    expect_refused("]]]]]]]]", 8, &shallow, SL_E_SYNTAX, "malformed_json", "line 1, column 1");
}

static void
a_text_over_the_limit_is_refused(void)
{
    const sl_json_limits small = {.max_bytes = 3, .max_depth = 32};
    expect_refused("[12]", 4, &small, SL_E_TOO_LARGE, "too_large",
                   "must not be larger than 3 bytes, got 4");
    sl_errors err = {0};
    sl_json *const json = parse("[1]", &small, &err);
    CU_ASSERT_PTR_NOT_NULL(json);
    sl_json_free(json);
}

static void
python_numbers_become_null_outside_strings(void)
{
    sl_errors err = {0};
    sl_json *const json =
        parse("{\"NaN\": [NaN,Infinity,-Infinity], \"t\": \"\\\"NaN, Infinity\", \"n\": 1}",
              &python, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    const sl_node root = sl_json_root(json);
    sl_node list, element;
    CU_ASSERT_TRUE(sl_node_member(&root, "NaN", &list));
    CU_ASSERT_EQUAL(sl_node_count(&list), 3);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(sl_node_at(&list, i, &element));
        CU_ASSERT_EQUAL(sl_node_kind(&element), SL_JSON_NULL);
    }
    const char *text = NULL;
    CU_ASSERT_EQUAL(sl_node_text(&root, "t", &text, NULL, &err), SL_OK);
    sl_expect_text(text, "\"NaN, Infinity", "inside a string");
    sl_json_free(json);
}

static void
words_like_python_numbers_stay_malformed(void)
{
    static const char *const tries[] = {"[NaNs]",      "[nan]",  "[+NaN]", "[-NaN]", "[xNaN]",
                                        "[Infinity1]", "[1NaN]", "[Na",    "\"NaN"};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        expect_refused(tries[i], strlen(tries[i]), &python, SL_E_SYNTAX, "malformed_json",
                       "line 1");
}

/* Where the contract is strict JSON. */
static void
numbers_of_python_are_named_with_what_to_write(void)
{
    static const struct {
        const char *text, *message;
    } tries[] = {
        {"{\"a\": [\n  0.0,\n  Infinity\n]}",
         "line 3, column 3: Infinity is a number of Python's, JSON has none such"},
        {"[-Infinity]", "line 1, column 2: -Infinity is a number"},
        {"[\"NaN\", \"\xc3\xa4\", NaN]", "line 1, column 14: NaN is a number"},
    };
    sl_errors err = {0};
    sl_json *json = NULL;

    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        expect_malformed(tries[i].text, tries[i].message);
    CU_ASSERT_EQUAL(sl_json_parse("[NaN]", 5, &strict, &json, &err), SL_E_SYNTAX);
    sl_expect_text(err.list[0].hint, "null in its place, as it is read in a config of the Hub",
                   "what to do");
    expect_malformed("[NaN1]", "line 1, column 4: invalid token near 'NaN'");
    expect_malformed("[1 x, NaN]", "line 1, column ");
}

static void
any_value_is_a_document(void)
{
    static const struct {
        const char *text;
        sl_json_kind kind;
        size_t count;
    } tries[] = {{"null", SL_JSON_NULL, 0},   {"true", SL_JSON_BOOL, 0},
                 {"false", SL_JSON_BOOL, 0},  {" 7 ", SL_JSON_INTEGER, 0},
                 {"7.0", SL_JSON_REAL, 0},    {"\"x\"", SL_JSON_TEXT, 0},
                 {"[1,2]", SL_JSON_ARRAY, 2}, {"{\"a\":1}", SL_JSON_OBJECT, 1}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        sl_json *const json = document(tries[i].text);
        const sl_node root = sl_json_root(json);
        CU_ASSERT_EQUAL(sl_node_kind(&root), tries[i].kind);
        CU_ASSERT_EQUAL(sl_node_count(&root), tries[i].count);
        sl_json_free(json);
    }
    sl_json_free(NULL);
}

static void
members_come_in_their_order(void)
{
    sl_json *const json = document("{\"z\": 1, \"a\": null, \"m\": []}");
    const sl_node root = sl_json_root(json);
    void *state = NULL;
    char seen[8] = "";
    sl_node member;
    while (sl_node_next(&root, &state, &member))
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s", member.key);
    sl_expect_text(seen, "zam", "order");
    CU_ASSERT_FALSE(sl_node_at(&root, 0, &member));
    CU_ASSERT_TRUE(sl_node_member(&root, "m", &member));
    state = NULL;
    sl_node none;
    CU_ASSERT_FALSE(sl_node_next(&member, &state, &none));
    CU_ASSERT_FALSE(sl_node_at(&member, 0, &none));
    sl_json_free(json);
}

static void
pointers_are_escaped_as_rfc_6901_says(void)
{
    sl_json *const json = document("{\"a/b\": [0, {\"m~n\": 1}], \"\": 2}");
    const sl_node root = sl_json_root(json);
    char pointer[64] = "x";
    sl_node list, element, member;
    sl_node_pointer(&root, pointer, sizeof pointer);
    sl_expect_text(pointer, "", "root");
    CU_ASSERT_TRUE(sl_node_member(&root, "a/b", &list));
    CU_ASSERT_TRUE(sl_node_at(&list, 1, &element));
    CU_ASSERT_TRUE(sl_node_member(&element, "m~n", &member));
    sl_node_pointer(&member, pointer, sizeof pointer);
    sl_expect_text(pointer, "/a~1b/1/m~0n", "escaped");
    CU_ASSERT_TRUE(sl_node_member(&root, "", &member));
    sl_node_pointer(&member, pointer, sizeof pointer);
    sl_expect_text(pointer, "/", "empty key");
    sl_json_free(json);
}

static void
a_long_pointer_is_cut_between_characters(void)
{
    sl_json *const json = document("{\"ab\xC3\xA9~\": 1}");
    const sl_node root = sl_json_root(json);
    char pointer[64];
    sl_node member;
    CU_ASSERT_TRUE(sl_node_member(&root, "ab\xC3\xA9~", &member));
    sl_node_pointer(&member, pointer, 5);
    sl_expect_text(pointer, "/ab", "before the two bytes");
    sl_node_pointer(&member, pointer, 7);
    sl_expect_text(pointer, "/ab\xC3\xA9", "before the escape");
    sl_node_pointer(&member, pointer, 8);
    sl_expect_text(pointer, "/ab\xC3\xA9~0", "whole");
    sl_node_pointer(&member, pointer, 1);
    sl_expect_text(pointer, "", "no room");
    sl_json_free(json);
}

static void
null_is_the_same_as_absent(void)
{
    sl_json *const json = document("{\"a\": null}");
    const sl_node root = sl_json_root(json);
    static const char *const names[] = {"x"};
    sl_errors err = {0};
    uint64_t count = 7;
    double number = 7;
    bool flag = true, present = true;
    const char *text = "kept";
    uint32_t choice = 7;
    sl_node member;
    CU_ASSERT_FALSE(sl_node_member(&root, "a", &member));
    CU_ASSERT_EQUAL(sl_node_uint(&root, "a", 1, 2, &count, &present, &err), SL_OK);
    CU_ASSERT_FALSE(present);
    CU_ASSERT_EQUAL(sl_node_double(&root, "b", 1, 2, &number, NULL, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_node_bool(&root, "a", &flag, &present, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_node_text(&root, "b", &text, &present, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_node_choice(&root, "a", names, 1, &choice, NULL, &err), SL_OK);
    CU_ASSERT_TRUE(count == 7 && choice == 7 && flag);
    sl_expect_near(number, 7, 0, "untouched");
    sl_expect_text(text, "kept", "untouched");
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_EQUAL(sl_node_required(&root, "a", &member, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "required_field", "rule");
    sl_expect_text(err.list[0].pointer, "/a", "pointer");
    sl_json_free(json);
}

/* {"v": VALUE} read as an integer of 1 to 100. */
static void
expect_uint(const char *value, sl_code code, uint64_t expected, const char *message)
{
    char text[128];
    (void)snprintf(text, sizeof text, "{\"v\": %s}", value);
    sl_json *const json = document(text);
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    uint64_t read = 7;
    CU_ASSERT_EQUAL(sl_node_uint(&root, "v", 1, 100, &read, NULL, &err), code);
    CU_ASSERT_EQUAL(read, expected);
    sl_expect_text(err.count > 0 ? err.list[0].message : "", message, value);
    if (err.count > 0)
        sl_expect_text(err.list[0].pointer, "/v", value);
    sl_json_free(json);
}

static void
integers_are_read_within_their_range(void)
{
    expect_uint("1", SL_OK, 1, "");
    expect_uint("100", SL_OK, 100, "");
    expect_uint("4.0", SL_OK, 4, "");
    expect_uint("1e1", SL_OK, 10, "");
    expect_uint("0", SL_E_RANGE, 7, "must be from 1 to 100, got 0");
    expect_uint("101", SL_E_RANGE, 7, "must be from 1 to 100, got 101");
    expect_uint("-1", SL_E_RANGE, 7, "must be from 1 to 100, got -1");
    expect_uint("-0.0", SL_E_RANGE, 7, "must be from 1 to 100, got -0");
    expect_uint("1e300", SL_E_RANGE, 7, "must be from 1 to 100, got 1e+300");
    expect_uint("-1e300", SL_E_RANGE, 7, "must be from 1 to 100, got -1e+300");
    expect_uint("4.5", SL_E_RANGE, 7, "must be an integer, got 4.5");
    expect_uint("\"4\"", SL_E_RANGE, 7, "must be an integer, got \"4\"");
    expect_uint("true", SL_E_RANGE, 7, "must be an integer, got true");
    expect_uint("[4]", SL_E_RANGE, 7, "must be an integer, got an array");
    expect_uint("{}", SL_E_RANGE, 7, "must be an integer, got an object");
}

static void
a_wrong_type_and_a_wrong_size_have_their_rules_and_hints(void)
{
    sl_json *const json =
        document("{\"a\": 7.5, \"b\": 0, \"c\": 200, \"d\": 18446744073709551615.0}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    uint64_t read = 0;
    CU_ASSERT_EQUAL(sl_node_uint(&root, "a", 1, 100, &read, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "wrong_type", "rule");
    CU_ASSERT_EQUAL(sl_node_uint(&root, "b", 1, UINT64_MAX, &read, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[1].rule, "out_of_range", "rule");
    sl_expect_text(err.list[1].message, "must be at least 1, got 0", "no upper bound to speak of");
    sl_expect_text(err.list[1].hint, "1", "nearest above");
    CU_ASSERT_EQUAL(sl_node_uint(&root, "c", 1, 100, &read, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[2].hint, "100", "nearest below");
    CU_ASSERT_EQUAL(sl_node_uint(&root, "d", 0, UINT64_MAX, &read, NULL, &err), SL_E_RANGE);
    sl_json_free(json);
}

static void
numbers_are_read_within_their_range(void)
{
    sl_json *const json = document("{\"a\": 2, \"b\": 2.5, \"c\": -3, \"d\": \"x\"}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    double read = 0;
    CU_ASSERT_EQUAL(sl_node_double(&root, "a", 2, 2, &read, NULL, &err), SL_OK);
    sl_expect_near(read, 2, 0, "integer");
    CU_ASSERT_EQUAL(sl_node_double(&root, "b", 0, DBL_MAX, &read, NULL, &err), SL_OK);
    sl_expect_near(read, 2.5, 0, "real");
    CU_ASSERT_EQUAL(sl_node_double(&root, "c", 0, 1, &read, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_double(&root, "c", 0, DBL_MAX, &read, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_double(&root, "b", -DBL_MAX, 0.5, &read, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_double(&root, "d", 0, 1, &read, NULL, &err), SL_E_RANGE);
    sl_expect_near(read, 2.5, 0, "untouched");
    sl_expect_text(err.list[0].message, "must be from 0 to 1, got -3", "both bounds");
    sl_expect_text(err.list[1].message, "must be at least 0, got -3", "lower bound");
    sl_expect_text(err.list[2].message, "must be at most 0.5, got 2.5", "upper bound");
    sl_expect_text(err.list[2].hint, "0.5", "nearest");
    sl_expect_text(err.list[3].message, "must be a number, got \"x\"", "type");
    sl_json_free(json);
}

static void
booleans_and_texts_are_not_guessed(void)
{
    sl_json *const json =
        document("{\"t\": true, \"f\": false, \"n\": 1, \"s\": \"gr\xC3\xBC\xC3\x9F\"}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    bool flag = false, present = false;
    const char *text = NULL;
    CU_ASSERT_EQUAL(sl_node_bool(&root, "t", &flag, &present, &err), SL_OK);
    CU_ASSERT_TRUE(flag && present);
    CU_ASSERT_EQUAL(sl_node_bool(&root, "f", &flag, NULL, &err), SL_OK);
    CU_ASSERT_FALSE(flag);
    CU_ASSERT_EQUAL(sl_node_bool(&root, "n", &flag, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_bool(&root, "s", &flag, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_text(&root, "s", &text, NULL, &err), SL_OK);
    sl_expect_text(text, "gr\xC3\xBC\xC3\x9F", "text");
    CU_ASSERT_EQUAL(sl_node_text(&root, "n", &text, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].message, "must be true or false, got 1", "boolean");
    sl_expect_text(err.list[2].message, "must be text, got 1", "text");
    sl_json_free(json);
}

static void
a_choice_names_the_nearest_or_all(void)
{
    static const char *const names[] = {"gpipe", "1f1b", "interleaved_1f1b"};
    sl_json *const json =
        document("{\"a\": \"1f1b\", \"b\": \"gpip\", \"c\": \"sideways\", \"d\": 3}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    uint32_t choice = 7;
    CU_ASSERT_EQUAL(sl_node_choice(&root, "a", names, 3, &choice, NULL, &err), SL_OK);
    CU_ASSERT_EQUAL(choice, 1);
    CU_ASSERT_EQUAL(sl_node_choice(&root, "b", names, 3, &choice, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_choice(&root, "c", names, 3, &choice, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_node_choice(&root, "d", names, 3, &choice, NULL, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(choice, 1);
    sl_expect_text(err.list[0].rule, "unknown_value", "rule");
    sl_expect_text(err.list[0].hint, "gpipe", "nearest");
    sl_expect_text(err.list[1].hint, "gpipe, 1f1b, interleaved_1f1b", "all");
    sl_expect_text(err.list[2].rule, "wrong_type", "rule");
    sl_json_free(json);
}

static void
a_hint_of_many_names_ends_after_a_whole_one(void)
{
    static const char *const names[] = {
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "cccccccccccccccccccccccccccccc", "dddddddddddddddddddddddddddddd"};
    sl_json *const json = document("{\"a\": \"unlike\"}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    uint32_t choice = 0;
    CU_ASSERT_EQUAL(sl_node_choice(&root, "a", names, 4, &choice, NULL, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].hint,
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
                   "cccccccccccccccccccccccccccccc, ...",
                   "hint");
    sl_json_free(json);
}

static void
every_unknown_field_is_named(void)
{
    static const char *const known[] = {"tensor", "pipeline"};
    sl_json *const json = document("{\"tensr\": 1, \"pipeline\": 1, \"$schema\": \"\", "
                                   "\"annotations\": {}, \"colour\": null}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0}, warnings = {0};
    CU_ASSERT_EQUAL(sl_node_known(&root, known, 2, &err, NULL), SL_E_RANGE);
    CU_ASSERT_EQUAL(err.count, 2);
    sl_expect_text(err.list[0].rule, "unknown_field", "rule");
    sl_expect_text(err.list[0].pointer, "/tensr", "pointer");
    sl_expect_text(err.list[0].hint, "tensor", "hint");
    sl_expect_text(err.list[1].pointer, "/colour", "pointer");
    sl_expect_text(err.list[1].hint, "tensor, pipeline", "hint");
    CU_ASSERT_EQUAL(sl_node_known(&root, known, 2, &err, &warnings), SL_OK);
    CU_ASSERT_EQUAL(err.count, 2);
    CU_ASSERT_EQUAL(warnings.count, 2);
    sl_json_free(json);
}

static void
a_reader_goes_on_and_names_all_faults(void)
{
    sl_json *const json = document("{\"pools\": [{\"nodes\": -1}, {\"nodes\": \"x\"}, 3]}");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    sl_node pools, pool;
    uint64_t nodes = 0;
    CU_ASSERT_EQUAL(sl_node_required(&root, "pools", &pools, &err), SL_OK);
    for (size_t i = 0; sl_node_at(&pools, i, &pool); i++) {
        if (sl_node_object(&pool, &err) == SL_OK)
            CU_ASSERT_NOT_EQUAL(sl_node_uint(&pool, "nodes", 1, 9, &nodes, NULL, &err), SL_OK);
    }
    CU_ASSERT_EQUAL(err.count, 3);
    sl_expect_text(err.list[0].pointer, "/pools/0/nodes", "first");
    sl_expect_text(err.list[1].pointer, "/pools/1/nodes", "second");
    sl_expect_text(err.list[2].pointer, "/pools/2", "third");
    sl_expect_text(err.list[2].message, "must be an object, got 3", "third");
    sl_json_free(json);
}

static void
elements_are_read_by_value(void)
{
    sl_json *const json = document("[8, \"x\", 0.5]");
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    sl_node element;
    uint64_t count = 0;
    double number = 0;
    const char *text = NULL;
    CU_ASSERT_TRUE(sl_node_at(&root, 0, &element));
    CU_ASSERT_EQUAL(sl_node_as_uint(&element, 0, 9, &count, &err), SL_OK);
    CU_ASSERT_EQUAL(count, 8);
    CU_ASSERT_EQUAL(sl_node_as_text(&element, &text, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/0", "pointer");
    CU_ASSERT_TRUE(sl_node_at(&root, 1, &element));
    CU_ASSERT_EQUAL(sl_node_as_text(&element, &text, &err), SL_OK);
    sl_expect_text(text, "x", "text");
    CU_ASSERT_TRUE(sl_node_at(&root, 2, &element));
    CU_ASSERT_EQUAL(sl_node_as_double(&element, 0, 1, &number, &err), SL_OK);
    sl_expect_near(number, 0.5, 0, "number");
    CU_ASSERT_FALSE(sl_node_at(&root, 3, &element));
    sl_json_free(json);
}

static void
long_values_are_cut_in_messages(void)
{
    char text[600] = "{\"v\": \"";
    for (size_t i = 0; i < 200; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "\xC3\xA9");
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "\"}");
    sl_json *const json = document(text);
    const sl_node root = sl_json_root(json);
    sl_errors err = {0};
    uint64_t read = 0;
    CU_ASSERT_EQUAL(sl_node_uint(&root, "v", 0, 1, &read, NULL, &err), SL_E_RANGE);
    const char *const message = err.list[0].message;
    const size_t size = strlen(message);
    CU_ASSERT_TRUE(size > 6 && size < 100);
    sl_expect_text(size > 6 ? message + size - 6 : "", "\xC3\xA9...\"", "end");
    sl_json_free(json);
}

static void
the_deepest_document_is_read_to_its_end(void)
{
    char text[2 * SL_JSON_DEPTH_MAX + 1] = "";
    memset(text, '[', SL_JSON_DEPTH_MAX);
    memset(text + SL_JSON_DEPTH_MAX, ']', SL_JSON_DEPTH_MAX);
    const sl_json_limits deepest = {.max_bytes = 4096, .max_depth = SL_JSON_DEPTH_MAX};
    sl_errors err = {0};
    sl_json *const json = parse(text, &deepest, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    sl_node chain[SL_JSON_DEPTH_MAX];
    chain[0] = sl_json_root(json);
    size_t depth = 0;
    while (depth + 1 < SL_JSON_DEPTH_MAX && sl_node_at(&chain[depth], 0, &chain[depth + 1]))
        depth++;
    CU_ASSERT_EQUAL(depth, SL_JSON_DEPTH_MAX - 1);
    char pointer[256];
    sl_node_pointer(&chain[depth], pointer, sizeof pointer);
    CU_ASSERT_EQUAL(strlen(pointer) / 2, SL_JSON_DEPTH_MAX - 1);
    CU_ASSERT_EQUAL(sl_node_fail_at(&chain[depth], "x", &err, SL_E_CONFLICT, "rule", "%s", "why"),
                    SL_E_CONFLICT);
    sl_json_free(json);
}

int
main(int argc, char **argv)
{
    sl_json_start();
    static const sl_case cases[] = {
        SL_CASE(text_that_is_not_json_is_refused_with_line_and_column),
        SL_CASE(a_duplicate_key_is_refused_by_its_own_rule),
        SL_CASE(a_number_beyond_64_bits_is_refused_by_its_own_rule),
        SL_CASE(depth_is_refused_before_anything_is_built),
        SL_CASE(a_text_over_the_limit_is_refused),
        SL_CASE(python_numbers_become_null_outside_strings),
        SL_CASE(words_like_python_numbers_stay_malformed),
        SL_CASE(numbers_of_python_are_named_with_what_to_write),
        SL_CASE(any_value_is_a_document),
        SL_CASE(members_come_in_their_order),
        SL_CASE(pointers_are_escaped_as_rfc_6901_says),
        SL_CASE(a_long_pointer_is_cut_between_characters),
        SL_CASE(null_is_the_same_as_absent),
        SL_CASE(integers_are_read_within_their_range),
        SL_CASE(a_wrong_type_and_a_wrong_size_have_their_rules_and_hints),
        SL_CASE(numbers_are_read_within_their_range),
        SL_CASE(booleans_and_texts_are_not_guessed),
        SL_CASE(a_choice_names_the_nearest_or_all),
        SL_CASE(a_hint_of_many_names_ends_after_a_whole_one),
        SL_CASE(every_unknown_field_is_named),
        SL_CASE(a_reader_goes_on_and_names_all_faults),
        SL_CASE(elements_are_read_by_value),
        SL_CASE(long_values_are_cut_in_messages),
        SL_CASE(the_deepest_document_is_read_to_its_end),
    };
    return sl_run_cases(argc, argv, "json_reader", cases, sizeof cases / sizeof cases[0]);
}
