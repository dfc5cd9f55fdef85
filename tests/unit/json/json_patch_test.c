/* Patches of documents: what RFC 7396 and RFC 6902 say, and that the rest keeps its spelling. */
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "json/patch.h"

static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};

typedef sl_code (*patcher)(const char *document, const sl_patch *patch,
                           const sl_json_limits *limits, sl_buffer *out, sl_errors *err);

static void
expect_patched(patcher apply, const char *document, const char *text, const char *expected)
{
    sl_errors err = {.count = 0};
    sl_buffer out;
    const sl_patch patch = {text, strlen(text)};
    sl_buffer_init(&out, 1 << 20);
    if (apply(document, &patch, &limits, &out, &err) == SL_OK)
        sl_expect_text(out.data == NULL ? "" : out.data, expected, text);
    else
        sl_expect_text(err.list[0].message, expected, text);
    sl_buffer_clear(&out);
}

static void
expect_refused(patcher apply, const char *document, const char *text, sl_code code,
               const char *rule)
{
    sl_errors err = {.count = 0};
    sl_buffer out;
    const sl_patch patch = {text, strlen(text)};
    sl_buffer_init(&out, 1 << 20);
    CU_ASSERT_EQUAL(apply(document, &patch, &limits, &out, &err), code);
    sl_expect_text(err.count > 0 ? err.list[0].rule : "", rule, text);
    CU_ASSERT_EQUAL(out.size, 0);
    sl_buffer_clear(&out);
}

static void
a_merge_patch_does_what_its_standard_lists(void)
{
    /* RFC 7396, appendix A. */
    static const char *const rows[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_patched(sl_json_merge_patch, rows[i][0], rows[i][1], rows[i][2]);
}

static void
what_a_merge_patch_leaves_alone_keeps_order_spelling_and_layout(void)
{
    static const char document[] =
        "{\n  \"z\": 1.50,\n  \"a\" : [1e3, {\"x\":null}],\n"
        "  \"m\": {\"k\": -0.0, \"l\": \"\\u00e9,}\"},\n  \"b\": true\n}";
    expect_patched(sl_json_merge_patch, document, "{}", document);
    expect_patched(sl_json_merge_patch, document, "{\"b\":2.0}",
                   "{\n  \"z\": 1.50,\n  \"a\" : [1e3, {\"x\":null}],\n"
                   "  \"m\": {\"k\": -0.0, \"l\": \"\\u00e9,}\"},\n  \"b\": 2.0\n}");
    expect_patched(
        sl_json_merge_patch, document, "{ \"m\": {\"k\":null, \"n\":1.10}, \"c\":[ 1 ] }",
        "{\n  \"z\": 1.50,\n  \"a\" : [1e3, {\"x\":null}],\n"
        "  \"m\": { \"l\": \"\\u00e9,}\", \"n\":1.10},\n  \"b\": true,\n  \"c\":[ 1 ]\n}");
    expect_patched(sl_json_merge_patch, document, "{\"z\":null,\"a\":null,\"m\":null,\"b\":null}",
                   "{\n}");
}

static void
keys_are_compared_by_what_they_say(void)
{
    expect_patched(sl_json_merge_patch, "{\"\\u0061\":1,\"b\\\"\":2}",
                   "{\"a\":3,\"b\\u0022\":null,\"\":0}", "{\"\\u0061\":3,\"\":0}");
}

static void
a_patch_that_is_no_json_is_refused(void)
{
    expect_refused(sl_json_merge_patch, "{}", "{\"a\":", SL_E_SYNTAX, "malformed_json");
    expect_refused(sl_json_merge_patch, "{}", "{\"a\":1,\"a\":2}", SL_E_SYNTAX, "duplicate_key");
    expect_refused(sl_json_merge_patch, "{}", "", SL_E_SYNTAX, "malformed_json");
    expect_refused(sl_json_pointer_patch, "{}", "[", SL_E_SYNTAX, "malformed_json");
}

static void
operations_do_what_their_standard_lists(void)
{
    /* RFC 6902, appendix A; those in which something is put beside what is there keep its
     * layout. */
    static const char *const rows[][3] = {
        {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
         "{\"foo\":\"bar\",\"baz\":\"qux\"}"},
        {"{\"foo\":[\"bar\",\"baz\"]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
         "{\"foo\":[\"bar\",\"qux\",\"baz\"]}"},
        {"{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
         "{\"foo\":\"bar\"}"},
        {"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
         "{\"foo\":[\"bar\",\"baz\"]}"},
        {"{\"foo\":[1, 2 ,3 ]}", "[{\"op\":\"remove\",\"path\":\"/foo/2\"}]", "{\"foo\":[1, 2 ]}"},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{}"},
        {"{\"baz\":\"qux\",\"foo\":\"bar\"}",
         "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
         "{\"baz\":\"boo\",\"foo\":\"bar\"}"},
        {"{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
         "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
         "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}"},
        {"{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
         "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
         "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}"},
        {"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
         "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
         "{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2.0}]",
         "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}"},
        {"{\"foo\":\"bar\"}",
         "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
         "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}"},
        {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"q\",\"xyz\":123}]",
         "{\"foo\":\"bar\",\"baz\":\"q\"}"},
        {"{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
         "{\"/\":9,\"~1\":10}"},
        {"{\"foo\":[\"bar\"]}",
         "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
         "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}"},
        {"{\"a\": [], \"n\": 1.50}", "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":null}]",
         "{\"a\": [null], \"n\": 1.50}"},
        {"{\"a\":{\"b\":1e3}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/x~1\\\"y\"}]",
         "{\"a\":{\"b\":1e3},\"x/\\\"y\":{\"b\":1e3}}"},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}"},
        {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":1}"},
        {"{\"a\":1}", "[]", "{\"a\":1}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_patched(sl_json_pointer_patch, rows[i][0], rows[i][1], rows[i][2]);
}

static void
operations_that_do_not_find_their_place_are_conflicts(void)
{
    static const char document[] = "{\"a\":{\"b\":[1,2]},\"s\":\"text\"}";
    static const char *const patches[] = {
        "[{\"op\":\"remove\",\"path\":\"/x\"}]",
        "[{\"op\":\"replace\",\"path\":\"/a/x\",\"value\":1}]",
        "[{\"op\":\"add\",\"path\":\"/x/y\",\"value\":1}]",
        "[{\"op\":\"add\",\"path\":\"/s/y\",\"value\":1}]",
        "[{\"op\":\"add\",\"path\":\"/a/b/3\",\"value\":1}]",
        "[{\"op\":\"add\",\"path\":\"/a/b/01\",\"value\":1}]",
        "[{\"op\":\"add\",\"path\":\"/a/b/\",\"value\":1}]",
        "[{\"op\":\"remove\",\"path\":\"/a/b/-\"}]",
        "[{\"op\":\"copy\",\"from\":\"/x\",\"path\":\"/y\"}]",
        "[{\"op\":\"test\",\"path\":\"/x\",\"value\":null}]",
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++)
        expect_refused(sl_json_pointer_patch, document, patches[i], SL_E_CONFLICT,
                       "path_not_found");
    expect_refused(sl_json_pointer_patch, document,
                   "[{\"op\":\"remove\",\"path\":\"/a\"},"
                   "{\"op\":\"test\",\"path\":\"/s\",\"value\":\"other\"}]",
                   SL_E_CONFLICT, "test_failed");
}

static void
operations_that_are_none_are_refused(void)
{
    static const char *const rows[][2] = {
        {"{}", "wrong_type"},
        {"[1]", "wrong_type"},
        {"[{\"path\":\"/a\"}]", "required_field"},
        {"[{\"op\":\"remvoe\",\"path\":\"/a\"}]", "unknown_value"},
        {"[{\"op\":\"remove\"}]", "required_field"},
        {"[{\"op\":\"remove\",\"path\":\"a\"}]", "malformed_pointer"},
        {"[{\"op\":\"remove\",\"path\":\"/~2\"}]", "malformed_pointer"},
        {"[{\"op\":\"remove\",\"path\":\"/a~\"}]", "malformed_pointer"},
        {"[{\"op\":\"remove\",\"path\":\"\"}]", "malformed_pointer"},
        {"[{\"op\":\"add\",\"path\":\"/b\"}]", "required_field"},
        {"[{\"op\":\"move\",\"path\":\"/b\"}]", "required_field"},
        {"[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", "malformed_pointer"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_refused(sl_json_pointer_patch, "{\"a\":{}}", rows[i][0], SL_E_RANGE, rows[i][1]);
}

static void
a_patch_makes_no_document_beyond_the_limit(void)
{
    static const sl_json_limits small = {.max_bytes = 120, .max_depth = 32};
    static const char copy[] = "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}";
    static const char longer[] = "{\"b\":\"01234567890123456789012345678901234567890123456789"
                                 "0123456789012345678901234567890123456789\"}";
    static const char document[] = "{\"a\":[\"012345678901234567890123456789\"]}";
    char twice[120];
    sl_errors err = {.count = 0};
    sl_buffer out;

    CU_ASSERT_TRUE(sl_text_format(twice, sizeof twice, "[%s,%s]", copy, copy));
    const sl_patch patches[] = {{twice, strlen(twice)}, {longer, strlen(longer)}};
    sl_buffer_init(&out, 1 << 20);
    CU_ASSERT_EQUAL(sl_json_pointer_patch(document, &patches[0], &small, &out, &err),
                    SL_E_TOO_LARGE);
    CU_ASSERT_EQUAL(out.size, 0);
    CU_ASSERT_EQUAL(sl_json_merge_patch(document, &patches[1], &small, &out, &err), SL_E_TOO_LARGE);
    sl_buffer_clear(&out);
    sl_expect_text(err.list[0].rule, "too_large", "operations");
    sl_expect_text(err.list[1].rule, "too_large", "merge");
}

static const sl_case cases[] = {
    SL_CASE(a_merge_patch_does_what_its_standard_lists),
    SL_CASE(what_a_merge_patch_leaves_alone_keeps_order_spelling_and_layout),
    SL_CASE(keys_are_compared_by_what_they_say),
    SL_CASE(a_patch_that_is_no_json_is_refused),
    SL_CASE(operations_do_what_their_standard_lists),
    SL_CASE(operations_that_do_not_find_their_place_are_conflicts),
    SL_CASE(operations_that_are_none_are_refused),
    SL_CASE(a_patch_makes_no_document_beyond_the_limit),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "json_patch", cases, sizeof cases / sizeof cases[0]);
}
