#include "intake/syntax/elements.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "harness.h"

/* "line:value" of each element, a number or the member "n" of an object. */
static sl_code
show(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    sl_buffer *const shown = context;
    uint64_t number = 0;
    const sl_code code = sl_node_kind(element) == SL_JSON_OBJECT
                             ? sl_node_uint(element, "n", 0, 1000, &number, NULL, err)
                             : sl_node_as_uint(element, 0, 1000, &number, err);
    sl_buffer_format(shown, "%s%u:%u", shown->size > 0 ? " " : "", line, (unsigned)number);
    return code;
}

static void
expect_elements(const char *text, const char *list, bool found, const char *shown)
{
    sl_errors err = {.count = 0};
    sl_buffer out;
    bool is_found = !found;

    sl_buffer_init(&out, 4096);
    CU_ASSERT_EQUAL(
        sl_json_elements(text, strlen(text), list, NULL, show, &out, &is_found, NULL, &err), SL_OK);
    if (err.count > 0)
        sl_fail_for(err.list[0].message);
    CU_ASSERT_EQUAL(is_found, found);
    sl_expect_text(out.size > 0 ? out.data : "", shown, text);
    sl_buffer_clear(&out);
}

static void
elements_come_one_by_one_with_their_line(void)
{
    expect_elements("[1,2 , 3]", NULL, true, "1:1 1:2 1:3");
    expect_elements("\n[\n1,\n\n {\"n\":2}\n]\n", NULL, true, "3:1 5:2");
    expect_elements("[]", NULL, true, "");
    expect_elements("{\"nodes\":[{\"n\":4}]}", "nodes", true, "1:4");
    expect_elements("\xEF\xBB\xBF[5]", NULL, true, "1:5");
}

static void
a_list_is_found_by_its_name_inside_wrappers(void)
{
    expect_elements("{\"headers\":{\"a\":[1]},\"content\":{\"nodes\":[7]}}", "nodes", true, "1:7");
    expect_elements("{\"nodes\":{\"nodes\":[8]}}", "nodes", true, "1:8");
    /* A text of that name is none, nor is a member that is no list. */
    expect_elements("{\"x\":\"nodes\",\"nodes\":3,\"y\":{\"nodes\":[9]}}", "nodes", true, "1:9");
    expect_elements("{\"a\":{\"b\":{\"c\":{\"d\":{\"nodes\":[1]}}}}}", "nodes", false, "");
    /* The first one counts. */
    expect_elements("{\"nodes\":[1],\"more\":{\"nodes\":[2]}}", "nodes", true, "1:1");
}

static void
a_document_without_the_list_is_no_error(void)
{
    expect_elements("{\"a\":1}", "nodes", false, "");
    expect_elements("{\"a\":[1]}", NULL, false, "");
    expect_elements("", NULL, false, "");
    expect_elements("3", NULL, false, "");
    expect_elements("[1]", "nodes", false, "");
}

static void
quotes_hide_brackets(void)
{
    expect_elements("[{\"a\":\"]}\\\"[\",\"n\":3},4]", NULL, true, "1:3 1:4");
    expect_elements("{\"a\\\"nodes\":[1],\"nodes\":[2]}", "nodes", true, "1:2");
}

static void
numbers_that_are_none_are_null(void)
{
    expect_elements("[{\"n\":1,\"load\":NaN},{\"n\":2,\"x\":[-Infinity]}]", NULL, true, "1:1 1:2");
}

static bool
is_short(uint32_t depth, const char *name, size_t size)
{
    (void)name;
    return depth == 1 && size == 1;
}

/* Members of an element, each with the depth at which it is asked for, and what is left of it. */
static sl_code
show_members(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    void *state = NULL;
    sl_node member;
    (void)line, (void)err;

    while (sl_node_next(element, &state, &member)) {
        sl_buffer_format(context, "%s:%zu ", member.key, sl_node_count(&member));
    }
    return SL_OK;
}

static void
expect_left(const char *text, const char *left)
{
    sl_errors err = {.count = 0};
    sl_buffer out;
    bool found = false;

    sl_buffer_init(&out, 4096);
    sl_code code = sl_json_elements(text, strlen(text), NULL, is_short, show_members, &out, &found,
                                    NULL, &err);
    sl_expect_text(code != SL_OK ? err.list[0].rule : out.size == 0 ? "" : out.data, left, text);
    sl_buffer_clear(&out);
}

static void
members_that_nobody_reads_are_left_out(void)
{
    expect_left("[{\"a\": 1, \"long\": {\"x\": [1, {\"y\": \"}\"}]}, \"b\": 2}]", "a:0 b:0 ");
    expect_left("[{\"long\": 1, \"a\": 1}, {\"b\": [1, 2], \"long\": []}]", "a:0 b:2 ");
    expect_left("[{\"long\": NaN , \"more\" : \"\\\"\"\n}]", "");
    expect_left("[{\"a\": {\"b\": 1, \"c\": {\"d\": 1}}, \"e\": [{\"f\": 1}]}]", "a:0 e:1 ");
    expect_left("[3, \"long\", [\"long\"], {}]", "");
    /* Blanks between words are none of what is left out. */
    expect_left("[{\"long\": 1, \"a\": 1 2}]", "malformed_json");
    expect_left("[{\"a\" :\t[ 1 , 2 ] , \"b\": { } ,\n\"long\" : 3 }]", "a:2 b:0 ");
    expect_left("[{\"long\": 1} {\"a\": 1}]", "malformed_json");
    /* Spelled with an escape it may be any name. */
    expect_left("[{\"\\u0061\": 1, \"\\u006cong\": 2}]", "a:0 long:0 ");
    /* What is left out is followed all the same. */
    expect_left("[{\"long\" 1}]", "malformed_json");
    expect_left("[{\"long\":}]", "malformed_json");
    expect_left("[{\"long\": 1,}]", "malformed_json");
    expect_left("[{\"a\": 1, \"long\": 1,}]", "malformed_json");
    expect_left("[{\"long\": [1}]", "malformed_json");
    expect_left("[{\"long\": \"1}]", "malformed_json");
    expect_left("[{\"a\": {} \"long\": 1}]", "malformed_json");
    expect_left("[{\"a\": 1, \"a\": 2}]", "duplicate_key");
}

static void
broken_texts_are_refused_with_their_line(void)
{
    static const struct {
        const char *text, *rule, *said;
    } rows[] = {
        {"[1,\n2", "malformed_json", "line 2"},
        {"[1,]", "malformed_json", "line 1"},
        {"[1\n}", "malformed_json", "line 2"},
        {"[,1]", "malformed_json", "line 1"},
        {"[1] 2", "malformed_json", "line 1"},
        {"[1 2]", "malformed_json", "line 1"},
        {"[\n\"a]", "malformed_json", "line 2"},
        {"[{\"n\":1,\"n\":2}]", "duplicate_key", "line 1"},
        {"[1\n]\n]", "malformed_json", "line 3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_errors err = {.count = 0};
        sl_buffer out;
        bool found = false;
        sl_buffer_init(&out, 4096);
        CU_ASSERT_EQUAL(sl_json_elements(rows[i].text, strlen(rows[i].text), NULL, NULL, show, &out,
                                         &found, NULL, &err),
                        SL_E_SYNTAX);
        sl_expect_text(err.count > 0 ? err.list[0].rule : "none", rows[i].rule, rows[i].text);
        if (err.count > 0 && strstr(err.list[0].message, rows[i].said) == NULL)
            sl_fail_for(err.list[0].message);
        sl_buffer_clear(&out);
    }
}

static void
documents_one_after_another_keep_their_lines(void)
{
    static const char text[] = "\n{\"list\": [1]}\n\n {\"list\": [2,\n3]} [4]\n";
    sl_json_place place = {text, 1};
    sl_errors err = {.count = 0};
    sl_buffer out;
    bool found = false;

    sl_buffer_init(&out, 4096);
    CU_ASSERT_EQUAL(sl_json_elements(place.at, strlen(place.at), "list", NULL, show, &out, &found,
                                     &place, &err),
                    SL_OK);
    CU_ASSERT_TRUE(found && *place.at == '{' && place.line == 4);
    CU_ASSERT_EQUAL(sl_json_elements(place.at, strlen(place.at), "list", NULL, show, &out, &found,
                                     &place, &err),
                    SL_E_SYNTAX);
    sl_expect_text(err.list[0].message, "line 5: something follows the document", "a list");
    sl_buffer_clear(&out);
}

static sl_code
read_repeated(const char *open, const char *close, size_t times, const char *core, sl_errors *err)
{
    sl_buffer text, out;
    bool found = false;
    sl_buffer_init(&text, 16 << 20);
    sl_buffer_init(&out, 4096);
    for (size_t i = 0; i < times; i++)
        sl_buffer_text(&text, open);
    sl_buffer_text(&text, core);
    for (size_t i = 0; i < times; i++)
        sl_buffer_text(&text, close);
    const sl_code code =
        sl_json_elements(text.data, text.size, NULL, NULL, show, &out, &found, NULL, err);
    sl_buffer_clear(&text);
    sl_buffer_clear(&out);
    return code;
}

static void
depth_and_size_are_bounded(void)
{
    static char large[SL_ELEMENT_MAX_BYTES + 3];
    sl_errors err = {.count = 0};
    CU_ASSERT_EQUAL(read_repeated("[", "]", 100000, "1", &err), SL_E_SYNTAX);
    sl_expect_text(err.list[0].rule, "too_deep", "brackets");

    err.count = 0;
    memset(large, 'a', SL_ELEMENT_MAX_BYTES + 2);
    large[0] = '"';
    large[SL_ELEMENT_MAX_BYTES + 1] = '"';
    large[SL_ELEMENT_MAX_BYTES + 2] = '\0';
    CU_ASSERT_EQUAL(read_repeated("[", "]", 1, large, &err), SL_E_TOO_LARGE);
}

static sl_code
refuse(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    uint32_t *const seen = context;
    (void)element;
    (void)line;
    ++*seen;
    return sl_fail(err, SL_E_CONFLICT, "enough", "", "enough");
}

static void
what_the_visitor_answers_ends_the_visit(void)
{
    sl_errors err = {.count = 0};
    uint32_t seen = 0;
    bool found = false;
    CU_ASSERT_EQUAL(sl_json_elements("[1,2]", 5, NULL, NULL, refuse, &seen, &found, NULL, &err),
                    SL_E_CONFLICT);
    CU_ASSERT_EQUAL(seen, 1);
}

enum { MANY = 20000 };

/* How many came, each with its number in the line behind it. */
typedef struct tally {
    uint64_t seen, wrong, most;
} tally;

static sl_code
count_up(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    tally *const t = context;
    uint64_t number = 0;
    const sl_code code = sl_node_uint(element, "n", 0, MANY, &number, NULL, err);
    t->wrong += number != t->seen || line != t->seen + 2;
    t->seen++;
    return code == SL_OK && t->seen == t->most ? refuse(&(uint32_t){0}, element, line, err) : code;
}

/* Elements of a line each, as JSON or YAML; of two of them what is given, or NULL. */
static sl_code
count_many(bool json, uint32_t at, const char *one, const char *next, tally *t, sl_errors *err)
{
    sl_buffer text;
    bool found = false;
    sl_buffer_init(&text, 16 << 20);
    sl_buffer_text(&text, json ? "[" : "---");
    for (uint32_t i = 0; i < MANY; i++) {
        const char *const other = i == at ? one : i == at + 1 ? next : NULL;
        if (other != NULL)
            sl_buffer_format(&text, "\n%s", other);
        else
            sl_buffer_format(&text, json ? "\n{\"n\": %u}%s" : "\n- n: %u%s", i,
                             !json          ? ""
                             : i + 1 < MANY ? ","
                                            : "]");
    }
    const sl_code code =
        json ? sl_json_elements(text.data, text.size, NULL, NULL, count_up, t, &found, NULL, err)
             : sl_yaml_elements(text.data, text.size, NULL, NULL, count_up, t, &found, err);
    sl_buffer_clear(&text);
    return code;
}

static void
many_elements_come_in_their_order(void)
{
    for (int json = 0; json < 2; json++) {
        sl_errors err = {.count = 0};
        tally t = {.seen = 0};
        CU_ASSERT_EQUAL(count_many(json, MANY, NULL, NULL, &t, &err), SL_OK);
        CU_ASSERT_EQUAL(t.seen, MANY);
        CU_ASSERT_EQUAL(t.wrong, 0);
        t = (tally){.most = 12345};
        CU_ASSERT_EQUAL(count_many(json, MANY, NULL, NULL, &t, &err), SL_E_CONFLICT);
        CU_ASSERT_EQUAL(t.seen, t.most);
        CU_ASSERT_EQUAL(t.wrong, 0);
    }
}

/* Of faults and of what the visitor says the one that stands first in the text. */
static void
the_first_of_faults_ends_the_visit(void)
{
    static const struct {
        bool json;
        const char *one, *next, *rule;
        uint64_t seen;
    } rows[] = {
        {true, "{\"n\": 1, \"n\": 2},", "}", "duplicate_key", 7000},
        {true, "{\"n\": 1, \"n\": 2} 7,", "{},", "duplicate_key", 7000},
        {true, "{\"n\": 7000} 7,", "{},", "malformed_json", 7000},
        {true, "}", "{\"n\": 1, \"n\": 2},", "malformed_json", 7000},
        {true, "{\"n\": \"x\"},", "}", "wrong_type", 7001},
        {false, "- {n: 1, n: 2}", "- &a 1", "duplicate_key", 7000},
        {false, "- &a 1", "- {n: 1, n: 2}", "unsupported_yaml", 7000},
        {false, "- n: x", "- ]", "wrong_type", 7001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_errors err = {.count = 0};
        tally t = {.seen = 0};
        CU_ASSERT_NOT_EQUAL(count_many(rows[i].json, 7000, rows[i].one, rows[i].next, &t, &err),
                            SL_OK);
        CU_ASSERT_EQUAL(err.count, 1);
        sl_expect_text(err.list[0].rule, rows[i].rule, rows[i].one);
        CU_ASSERT_EQUAL(t.seen, rows[i].seen);
    }
}

static const sl_case cases[] = {
    SL_CASE(many_elements_come_in_their_order),
    SL_CASE(the_first_of_faults_ends_the_visit),
    SL_CASE(elements_come_one_by_one_with_their_line),
    SL_CASE(a_list_is_found_by_its_name_inside_wrappers),
    SL_CASE(a_document_without_the_list_is_no_error),
    SL_CASE(quotes_hide_brackets),
    SL_CASE(numbers_that_are_none_are_null),
    SL_CASE(members_that_nobody_reads_are_left_out),
    SL_CASE(broken_texts_are_refused_with_their_line),
    SL_CASE(documents_one_after_another_keep_their_lines),
    SL_CASE(depth_and_size_are_bounded),
    SL_CASE(what_the_visitor_answers_ends_the_visit),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "elements", cases, sizeof cases / sizeof cases[0]);
}
