#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "intake/syntax/elements.h"
#include "intake/syntax/yaml_scalar.h"
#include "json/writer.h"

/* Members of an element as a reader wants them: all but "images", and "own" of its own. */
static bool
is_read(uint32_t depth, const char *name, size_t size)
{
    return !sl_text_is(name, size, "images") && (depth != 1 || !sl_text_is(name, size, "own"));
}

/* What a visit was given, as canonical JSON with the line before it: "3:{...}\n". */
static sl_buffer seen;

static sl_code
note(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    (void)context;
    (void)err;
    sl_buffer_format(&seen, "%u:", line);
    CU_ASSERT_EQUAL(sl_json_canonical(element, &seen), SL_OK);
    sl_buffer_text(&seen, "\n");
    return SL_OK;
}

static void
expect_elements(const char *text, const char *list, bool has_list, const char *expected)
{
    sl_errors err = {.count = 0};
    bool found = false;
    sl_buffer_init(&seen, 1 << 20);
    const sl_code code =
        sl_yaml_elements(text, strlen(text), list, is_read, note, NULL, &found, &err);
    if (code != SL_OK)
        sl_expect_text(err.list[0].message, "", text);
    CU_ASSERT_EQUAL(found, has_list);
    sl_expect_text(seen.data != NULL ? seen.data : "", expected, text);
    sl_buffer_clear(&seen);
}

static void
expect_fault(const char *text, sl_code code, const char *rule, const char *message)
{
    sl_errors err = {.count = 0};
    bool found = false;
    sl_buffer_init(&seen, 1 << 20);
    CU_ASSERT_EQUAL(
        sl_yaml_elements(text, strlen(text), "items", is_read, note, NULL, &found, &err), code);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, text);
    if (message != NULL)
        sl_expect_text(err.list[0].message, message, text);
    sl_buffer_clear(&seen);
}

static void
elements_of_a_list_come_one_by_one_with_their_lines(void)
{
    expect_elements("kind: List\nitems:\n- a: 1\n  b: [x, y]\n-\n  c: {d: e}\n", "items", true,
                    "3:{\"a\":1,\"b\":[\"x\",\"y\"]}\n6:{\"c\":{\"d\":\"e\"}}\n");
    expect_elements("a: {b: {items: [1, {items: [2]}]}}\n", "items", true,
                    "1:1\n1:{\"items\":[2]}\n");
    expect_elements("[1, two]\n", NULL, true, "1:1\n1:\"two\"\n");
    expect_elements("items: []\n", "items", true, "");
    expect_elements("", "items", false, "");
    /* Only the first; a list inside another list is none. */
    expect_elements("items: [1]\nmore: {items: [2]}\n", "items", true, "1:1\n");
    expect_elements("a: [{items: [1]}]\n", "items", false, "1:{\"a\":[{\"items\":[1]}]}\n");
}

static void
documents_without_the_list_are_elements(void)
{
    expect_elements("# one\nkind: Node\n---\nitems: [1]\n---\n---\nkind: Pod\n...\n", "items", true,
                    "2:{\"kind\":\"Node\"}\n4:1\n6:{\"kind\":\"Pod\"}\n");
}

static void
what_nobody_reads_is_left_out(void)
{
    expect_elements(
        "items:\n- images: {names: [x, {y: z}], images: []}\n  a: 1\n- a: 2\n  images: x\n"
        "- images:\n",
        "items", true, "2:{\"a\":1}\n4:{\"a\":2}\n6:{}\n");
    expect_elements("images: [1]\na: {images: 2, b: images}\n", "items", false,
                    "1:{\"a\":{\"b\":\"images\"}}\n");
    /* Some of an element's own members only, wherever the list stands. */
    expect_elements("own: 1\na: {items: [{own: {own: 2}, b: {own: 3}, c: own}]}\n", "items", true,
                    "2:{\"b\":{\"own\":3},\"c\":\"own\"}\n");
    /* It is checked all the same. */
    expect_fault("items:\n- images: {a: 1,\n    b: 2, a: 3}\n", SL_E_SYNTAX, "duplicate_key",
                 "the mapping from line 2 has the key \"a\" twice");
    expect_fault("items:\n- {images: 1, a: 2, images: 3}\n", SL_E_SYNTAX, "duplicate_key", NULL);
    expect_fault("images: 1\nitems: []\nimages: 3\n", SL_E_SYNTAX, "duplicate_key", NULL);
    expect_elements("items: [{images: {a: {a: 1}, b: {a: 2}}}, {images: {a: 3}}]\n", "items", true,
                    "1:{}\n1:{}\n");
    expect_fault("images: {[b]: c}\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: a key must be a text");
    expect_fault("images: [{? {b: c} : d}]\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: a key must be a text");
    expect_fault("images: \"\\0\"\n", SL_E_SYNTAX, "unsupported_yaml", "line 1: a NUL is not read");
    expect_fault("images: {a: &x 1}\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: anchors are not read");
    expect_fault("images: &x [1]\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: anchors are not read");
    expect_fault("images: [*x]\n", SL_E_SYNTAX, "unsupported_yaml", "line 1: aliases are not read");
    expect_fault("images: [!odd c]\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: the tag !odd is not read");
    expect_fault("images: !odd {}\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: the tag !odd is not read");
    expect_elements("images: {items: [1]}\nitems: [2]\n", "items", true, "2:2\n");
    expect_fault("items:\n- images: [1\n", SL_E_SYNTAX, "malformed_yaml", NULL);
}

static void
plain_scalars_follow_the_core_schema(void)
{
    static const char *const rows[][2] = {
        {"true", "true"},
        {"False", "false"},
        {"yes", "\"yes\""},
        {"off", "\"off\""},
        {"No", "\"No\""},
        {"tRue", "\"tRue\""},
        {"12", "12"},
        {"-3", "-3"},
        {"+4", "4"},
        {"0x1F", "31"},
        {"0o17", "15"},
        {"1.5", "1.5"},
        {".5", "0.5"},
        {"2.", "2"},
        {"1e3", "1000"},
        {"007", "\"007\""},
        {"-01", "\"-01\""},
        {"1_000", "\"1_000\""},
        {"0", "0"},
        {"0.5", "0.5"},
        {".inf", "\".inf\""},
        {".nan", "\".nan\""},
        {"1e999", "\"1e999\""},
        {"12:30", "\"12:30\""},
        {"1.2.3", "\"1.2.3\""},
        {"2024-01-02", "\"2024-01-02\""},
        {"12345678901234567890", "\"12345678901234567890\""},
        {"'12'", "\"12\""},
        {"\"true\"", "\"true\""},
        {"!!str 12", "\"12\""},
        {"!!int '12'", "12"},
        {"! 12", "\"12\""},
        {"!vault secret", "\"secret\""},
        {"\"a\\\"\\\\\\n\\t\"", "\"a\\\"\\\\\\n\\t\""},
        {"-", "[null]"},
        {"-x", "\"-x\""},
        {"0x", "\"0x\""},
        {"node-e1", "\"node-e1\""},
        {"\xC3\xA7yr", "\"\xC3\xA7yr\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[96], expected[96];
        (void)sl_text_format(text, sizeof text, "%s\n", rows[i][0]);
        (void)sl_text_format(expected, sizeof expected, "1:%s\n", rows[i][1]);
        expect_elements(text, "items", false, expected);
    }
    expect_elements("[NULL, ~, null]\n", "items", false, "1:[null,null,null]\n");
    expect_elements("a: |\n  two\n  lines\nb:\n", "items", false,
                    "1:{\"a\":\"two\\nlines\\n\",\"b\":null}\n");
    /* Keys are texts, whatever they look like. */
    expect_elements("{1: a, true: b, 007: c}\n", "items", false,
                    "1:{\"007\":\"c\",\"1\":\"a\",\"true\":\"b\"}\n");
}

static void
what_json_cannot_say_is_refused_by_name(void)
{
    expect_fault("a: &x 1\n", SL_E_SYNTAX, "unsupported_yaml", "line 1: anchors are not read");
    expect_fault("items:\n- &x {a: 1}\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 2: anchors are not read");
    expect_fault("a: b\nc: *b\n", SL_E_SYNTAX, "unsupported_yaml", "line 2: aliases are not read");
    expect_fault("a: !ruby/object:X {}\n", SL_E_SYNTAX, "unsupported_yaml",
                 "line 1: the tag !ruby/object:X is not read");
    expect_fault("a: \"b\\0\"\n", SL_E_SYNTAX, "unsupported_yaml", "line 1: a NUL is not read");
    expect_fault("a: !!binary aGk=\n", SL_E_SYNTAX, "unsupported_yaml", NULL);
    expect_fault("? [a]\n: b\n", SL_E_SYNTAX, "unsupported_yaml", "line 1: a key must be a text");
    expect_fault("a: 1\na: 2\n", SL_E_SYNTAX, "duplicate_key", NULL);
    expect_fault("items:\n- {a: 1, a: 2}\n", SL_E_SYNTAX, "duplicate_key", NULL);
    expect_fault("items: [1]\nitems: [2]\n", SL_E_SYNTAX, "duplicate_key", NULL);
}

static void
malformed_yaml_has_its_line(void)
{
    expect_fault("a: 1\nb: [1, 2\nc: 3\n", SL_E_SYNTAX, "malformed_yaml", NULL);
    expect_fault("a: 1\n\tb: 2\n", SL_E_SYNTAX, "malformed_yaml", NULL);
    expect_fault("a: 1\nb: \x01\n", SL_E_SYNTAX, "malformed_yaml", NULL);
    expect_fault("a: 1\nb: @x\n", SL_E_SYNTAX, "malformed_yaml",
                 "line 2: found character that cannot start any token");
    expect_fault("items: [1]\n]\n", SL_E_SYNTAX, "malformed_yaml", NULL);
}

static void
depth_and_size_are_bounded(void)
{
    char deep[512];
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    deep[130] = '\0';
    expect_fault(deep, SL_E_SYNTAX, "too_deep", "line 1: over 64 levels");
    char passed[sizeof deep + 16];
    CU_ASSERT(sl_text_format(passed, sizeof passed, "images: %s", deep + 1));
    expect_fault(passed, SL_E_SYNTAX, "too_deep", "line 1: over 64 levels");

    /* A text of more than an element may have, in the list and around it. */
    sl_buffer text;
    char run[4096];
    memset(run, 'x', sizeof run);
    sl_buffer_init(&text, (size_t)2 * SL_ELEMENT_MAX_BYTES);
    sl_buffer_text(&text, "items: [");
    for (size_t i = 0; i <= SL_ELEMENT_MAX_BYTES / sizeof run; i++)
        sl_buffer_append(&text, run, sizeof run);
    sl_buffer_text(&text, "]\n");
    expect_fault(text.data, SL_E_TOO_LARGE, "too_large", NULL);
    text.size = 0;
    sl_buffer_text(&text, "a: ");
    for (size_t i = 0; i <= SL_ELEMENT_MAX_BYTES / sizeof run; i++)
        sl_buffer_append(&text, run, sizeof run);
    sl_buffer_text(&text, "\nitems: [1, 2]\n");
    expect_elements(text.data, "items", true, "2:1\n2:2\n");
    sl_buffer_clear(&text);
}

/* `begin`, then texts of so many bytes in all, then `end`. The caller's to clear. */
static sl_buffer
run_of(const char *begin, const char *each, size_t bytes, const char *end)
{
    sl_buffer text;
    sl_buffer_init(&text, (size_t)4 * SL_ELEMENT_MAX_BYTES);
    sl_buffer_text(&text, begin);
    for (size_t i = 0; i < bytes / strlen(each); i++)
        sl_buffer_text(&text, each);
    sl_buffer_text(&text, end);
    CU_ASSERT_FALSE_FATAL(text.failed);
    return text;
}

static void
what_is_left_out_counts_for_the_bound(void)
{
    static const char some[] =
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, ";
    const size_t half = SL_ELEMENT_MAX_BYTES / 2;
    sl_buffer text = run_of("items:\n- images: [", some, 2 * half + half, "]\n");
    expect_fault(text.data, SL_E_TOO_LARGE, "too_large", NULL);
    sl_buffer_clear(&text);
    /* With what is not; of the next element, anew. */
    text = run_of("items:\n- images: [", some, half + half / 2, "]\n  a: [");
    sl_buffer more = run_of("", some, half + half / 2, "]\n");
    sl_buffer_text(&text, more.data);
    expect_fault(text.data, SL_E_TOO_LARGE, "too_large", NULL);
    sl_buffer_clear(&text);
    text = run_of("items:\n- images: [", some, half + half / 2, "]\n- images: [");
    sl_buffer_text(&text, more.data);
    expect_elements(text.data, "items", true, "2:{}\n3:{}\n");
    sl_buffer_clear(&more);
    sl_buffer_clear(&text);
    /* Keys are few or many; around the list there may be any number. */
    text = run_of("items:\n- images: {", "? '' : , ", half, "}\n");
    expect_fault(text.data, SL_E_SYNTAX, "duplicate_key", NULL);
    sl_buffer_clear(&text);
    text = run_of("images: [", some, 3 * half, "]\nitems: [1]\n");
    expect_elements(text.data, "items", true, "2:1\n");
    sl_buffer_clear(&text);
}

static void
one_document_is_decoded_whole(void)
{
    static const char *const refused[] = {"", "---\n", "a: 1\n---\nb: 2\n", "a: [\n"};
    sl_errors err = {.count = 0};
    sl_buffer json;
    CU_ASSERT_EQUAL(sl_yaml_document("---\nitems: [1]\n", 15, &json, &err), SL_OK);
    sl_expect_text(json.data, "{\"items\":[1]}", "as JSON");
    sl_buffer_clear(&json);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        err = (sl_errors){.count = 0};
        CU_ASSERT_EQUAL(sl_yaml_document(refused[i], strlen(refused[i]), &json, &err), SL_E_SYNTAX);
        CU_ASSERT_PTR_NULL(json.data);
    }
}

static const sl_case cases[] = {
    SL_CASE(elements_of_a_list_come_one_by_one_with_their_lines),
    SL_CASE(documents_without_the_list_are_elements),
    SL_CASE(what_nobody_reads_is_left_out),
    SL_CASE(plain_scalars_follow_the_core_schema),
    SL_CASE(what_json_cannot_say_is_refused_by_name),
    SL_CASE(malformed_yaml_has_its_line),
    SL_CASE(depth_and_size_are_bounded),
    SL_CASE(what_is_left_out_counts_for_the_bound),
    SL_CASE(one_document_is_decoded_whole),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "intake_yaml", cases, sizeof cases / sizeof cases[0]);
}
