#include "intake/syntax/yaml_skim.h"

#include <string.h>

#include "base/buffer.h"
#include "harness.h"
#include "yaml_compared.h"

enum { DRAWS = 4000, TEXT_BYTES = 1 << 22 };

/* What libyaml is given of a text. */
static sl_buffer
given(const char *text, const char *list)
{
    sl_buffer out;
    unsigned char bytes[7]; /* pieces end anywhere */
    sl_yaml_skim *const skim = sl_yaml_skim_new(text, strlen(text), list, sl_yaml_compared_read);

    CU_ASSERT_PTR_NOT_NULL_FATAL(skim);
    sl_buffer_init(&out, TEXT_BYTES);
    sl_buffer_text(&out, "");
    for (size_t read = 1; read > 0;) {
        read = sl_yaml_skim_read(skim, bytes, sizeof bytes);
        sl_buffer_append(&out, bytes, read);
    }
    sl_yaml_skim_free(skim);
    return out;
}

static void
expect_given(const char *text, const char *list, const char *expected)
{
    sl_buffer out = given(text, list);
    sl_expect_text(out.data, expected, text);
    sl_buffer_clear(&out);
}

static void
members_that_nobody_reads_are_empty_lines(void)
{
    expect_given("items:\n- a: 1\n  images:\n  - names:\n    - x\n    bytes: 2\n  b: 3\n- a: 4\n",
                 "items", "items:\n- a: 1\n\n\n\n\n  b: 3\n- a: 4\n");
    expect_given(
        "# c\n---\nkind: List\nitems:\n  - a: {}\n    own: 'it''s'\n\n    b:\n      own: 1\n"
        "kind: x\n",
        "items", "# c\n---\nkind: List\nitems:\n  - a: {}\n\n\n    b:\n      own: 1\nkind: x\n");
    expect_given("- a: 1\r\n  images: |-\r\n    - b: 1\r\n\r\n      c\r\n  d: 2\r\n", NULL,
                 "- a: 1\r\n\n\n\n\n  d: 2\r\n");
    expect_given(
        "- a: 1\n  images: \"x\n\n   - a: \\\"\n   y\"\n  own: plain\n    going\n    on\n- b", NULL,
        "- a: 1\n\n\n\n\n\n\n\n- b");
    /* The first of a mapping stays, so that it stays one. */
    expect_given("- images: 1\n  own: 2\n- b:\n    images: 3\n    c: 4\n", NULL,
                 "- images: 1\n\n- b:\n    images: 3\n    c: 4\n");
    expect_given("- a: \xC3\xA9t\xC3\xA9\n  own: \xE6\x97\xA5\xE6\x9C\xAC\n", NULL,
                 "- a: \xC3\xA9t\xC3\xA9\n\n");
}

static void
what_is_doubtful_is_passed_as_it_is(void)
{
    static const char *const texts[] = {
        "- a: 1\n  images: [x, y]\n",
        "- a: 1\n  images: &x 1\n",
        "- a: 1\n  images: !t 1\n",
        "- a: 1\n  images: 1 # c\n",
        "- a: 1\n  images:\t1\n",
        "- a: 1\n  images: 'x\n",
        "- a: 1\n  images: \"\\x41\"\n",
        "- a: 1\n  images: x: y\n",
        "- a: 1\n  images:\n   b: 1\n  c: 2\n   d: 3\n",
        "- a: 1\n  images: |2\n    x\n",
        "- a: 1\n  b: |+\n    x\n  own: 1\n",
        "- a: 1\n  images: |\n    x\n   y\n",
        "- a: 1\n  images: 1\n  images: 2\n",
        "- a: 1\n  images: \xC2\x85\n",
        "- a: 1\n  images: \xE2\x80\xA8\n",
        "- a: 1\n  images: \xFF\n",
        "- a: 1\n  images: 1\n  ? b\n  : c\n",
        "- a: 1\n  images: \"x\n---\n  y\"\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_given(texts[i], NULL, texts[i]);
    /* Elements before it were beyond doubt. */
    expect_given("- a: 1\n  own: 1\n- a: 1\n  b: *x\n  own: 1\n- a: 1\n  own: 1\n", NULL,
                 "- a: 1\n\n- a: 1\n  b: *x\n  own: 1\n- a: 1\n  own: 1\n");
    /* Another list may be meant. */
    expect_given("x:\n  items:\n  - a\nitems:\n- a: 1\n  own: 2\n", "items",
                 "x:\n  items:\n  - a\nitems:\n- a: 1\n  own: 2\n");
    expect_given("", NULL, "");
}

/* A text while it is drawn. */
typedef struct drawing {
    uint64_t state;
    sl_buffer text;
} drawing;

static uint32_t
draw(drawing *d, uint32_t below)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(d->state >> 33) % below;
}

static void
indent(drawing *d, uint32_t column)
{
    for (uint32_t i = 0; i < column; i++)
        sl_buffer_text(&d->text, " ");
}

static const char *const keys[] = {"a",   "images", "b",     "own", "items",
                                   "f:x", "c d",    "\"e\"", "'g'"};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* A scalar behind "key: " or "- ", in what stands in that column: most of one line. */
static void
draw_scalar(drawing *d, uint32_t column)
{
    static const char *const plain[] = {
        "x",    "12",      "\"\"",    "'it''s'", "{}",          "[]",   "a b",    "sha256:7837",
        "-1",   "- x",     "x # c",   "&x 1",    "[a, {b: c}]", "!t 1", "<none>", "\xC3\xA9",
        "a: b", "\"\\n\"", "\"\\q\"", "'",       "# c",         "~",    "x:",     "\t"};
    static const char *const around[][2] = {{"\"", "\""}, {"'", "'"}, {"|", ""}, {">-", ""},
                                            {"|+", ""},   {"|1", ""}, {"", ""}};
    static const char *const lines[] = {"- a: 1", "own: 2", "text", "# c", "", "- x", "''", "\\\""};

    /* Odd ones are rare, or no text would be long. */
    if (draw(d, 4) > 0) {
        sl_buffer_text(&d->text, plain[draw(d, draw(d, 12) == 0 ? 24 : 9)]);
        return;
    }
    const uint32_t kind = draw(d, 7);
    const bool literal = kind >= 2 && kind <= 5;
    sl_buffer_text(&d->text, around[kind][0]);
    sl_buffer_text(&d->text, literal ? "" : "begin");
    for (uint32_t i = draw(d, 4); i > 0; i--) {
        sl_buffer_text(&d->text, "\n");
        indent(d, draw(d, 12) == 0 ? draw(d, 6) : column + 2);
        sl_buffer_text(&d->text, literal || draw(d, 8) == 0 ? lines[draw(d, 8)] : "more");
    }
    sl_buffer_text(&d->text, around[kind][1]);
}

/* A mapping's members, each in a line of its own; the first goes on in the line that is begun. */
static void
draw_members(drawing *d, uint32_t column, uint32_t depth)
{
    uint32_t key = draw(d, KEYS);

    for (uint32_t i = 0, count = 1 + draw(d, 4); i < count; i++) {
        if (i > 0)
            indent(d, column);
        key = draw(d, 20) == 0 ? draw(d, KEYS) : key + 1; /* seldom one twice */
        sl_buffer_format(&d->text, "%s:", keys[key % KEYS]);
        const uint32_t kind = depth == 0 ? 0 : draw(d, 5);
        const uint32_t inner = column + (kind == 3 ? draw(d, 3) : 2);
        if (kind < 2) {
            sl_buffer_text(&d->text, " ");
            draw_scalar(d, column);
            sl_buffer_text(&d->text, "\n");
        } else if (kind < 4) {
            sl_buffer_text(&d->text, "\n");
            for (uint32_t j = draw(d, 3); kind == 3 && j > 0; j--) {
                indent(d, inner);
                sl_buffer_text(&d->text, "- ");
                draw_members(d, inner + 2, depth - 1);
            }
            indent(d, kind == 2 ? inner : 0);
            if (kind == 2)
                draw_members(d, inner, depth - 1);
        } else {
            sl_buffer_text(&d->text, "\n");
        }
        if (draw(d, 20) == 0)
            sl_buffer_text(&d->text, draw(d, 2) == 0 ? "\n" : "   # comment\n");
    }
}

static void
draw_document(drawing *d)
{
    static const char odd[] = "-:#'\"\n \t|>&*![]{},?\r\\%@`.";
    const uint32_t column = 2 * draw(d, 2);

    d->text.size = 0;
    if (draw(d, 3) == 0)
        sl_buffer_text(&d->text, "---\n");
    if (draw(d, 2) == 0)
        sl_buffer_text(&d->text, "kind: List\n");
    sl_buffer_text(&d->text, "items:\n");
    for (uint32_t i = draw(d, 4); i > 0; i--) {
        indent(d, column);
        sl_buffer_text(&d->text, "- ");
        draw_members(d, column + 2, 3);
    }
    if (draw(d, 2) == 0)
        sl_buffer_text(&d->text, draw(d, 3) == 0 ? "...\n" : "kind: List\n");
    /* Of half of them a byte is another. */
    if (draw(d, 2) == 0)
        d->text.data[draw(d, (uint32_t)d->text.size)] = odd[draw(d, sizeof odd - 1)];
}

static void
drawn_texts_say_the_same_with_and_without_what_nobody_reads(void)
{
    drawing d = {.state = 7};
    uint32_t answered = 0, shortened = 0;

    sl_buffer_init(&d.text, TEXT_BYTES);
    for (uint32_t i = 0; i < DRAWS; i++) {
        sl_buffer skimmed, whole;
        draw_document(&d);
        CU_ASSERT_FALSE_FATAL(d.text.failed);
        if (!sl_yaml_compared(d.text.data, d.text.size, &skimmed, &whole)) {
            sl_expect_text(skimmed.data, whole.data, d.text.data);
            i = DRAWS;
        }
        answered += strstr(whole.data, "\n1 0 ") != NULL;
        sl_buffer_clear(&skimmed);
        sl_buffer_clear(&whole);
        sl_buffer out = given(d.text.data, "items");
        shortened += out.size < d.text.size;
        sl_buffer_clear(&out);
    }
    sl_buffer_clear(&d.text);
    /* Enough of them are YAML, and of enough something is left out. */
    CU_ASSERT(answered > DRAWS / 5);
    CU_ASSERT(shortened > DRAWS / 8);
}

/* An element with a long member that nobody reads, of numbered lines, then a short element. */
static sl_buffer
long_element(const char *before, const char *behind, uint32_t lines, const char *last)
{
    sl_buffer text;
    sl_buffer_init(&text, 64 << 20);
    sl_buffer_text(&text, "items:\n- a: 1\n  images:\n");
    for (uint32_t i = 0; i < lines; i++)
        sl_buffer_format(&text, "    %s%u%s\n", before, i, behind);
    sl_buffer_format(&text, "%s  own: 2\n- a: 2\n  own: 3\n", last);
    CU_ASSERT_FALSE_FATAL(text.failed);
    return text;
}

static void
large_elements_and_many_keys_say_the_same(void)
{
    static const struct {
        const char *before, *behind;
        uint32_t lines;
        const char *last;
    } rows[] = {
        {"k", ": x", 3000, ""},
        {"k", ": x", 20000, ""},
        {"k", ": x", 3000, "    k7: x\n"},
        {"- a long text of number ", "", 300000, ""},
        {"- ", "", 30000, ""},
        {"k", ":", 600000, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_buffer skimmed, whole;
        sl_buffer text = long_element(rows[i].before, rows[i].behind, rows[i].lines, rows[i].last);
        CU_ASSERT_TRUE(sl_yaml_compared(text.data, text.size, &skimmed, &whole));
        sl_buffer_clear(&skimmed);
        sl_buffer_clear(&whole);
        sl_buffer_clear(&text);
    }
}

/* To look through all that follow for each of them would take longer than a test may. */
static void
empty_lines_of_a_scalar_are_looked_at_once(void)
{
    enum { LINES = 1000000 };
    static const char *const beginnings[] = {"- a: 1\n  images: |\n     x\n",
                                             "- a: 1\n  images: >\n", "- a: 1\n  images: x\n"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        sl_buffer text;
        sl_buffer_init(&text, 2 * LINES);
        sl_buffer_text(&text, beginnings[i]);
        for (uint32_t line = 0; line < LINES; line++)
            sl_buffer_text(&text, "\n");
        sl_buffer_text(&text, "     y\n- a: 2\n");
        CU_ASSERT_FALSE_FATAL(text.failed);
        sl_buffer out = given(text.data, NULL);
        CU_ASSERT(out.size > LINES && out.size < text.size);
        sl_buffer_clear(&out);
        sl_buffer_clear(&text);
    }
}

/* What is given of an element of so many bytes that has a member that nobody reads, and of one
 * behind it. */
static size_t
given_of_element(size_t bytes)
{
    static const char begin[] = "- a: 1\n  own: |\n    ", behind[] = "- a: 2\n";
    sl_buffer text;

    sl_buffer_init(&text, 2 * bytes);
    sl_buffer_text(&text, begin);
    while (text.size + 1 < bytes)
        sl_buffer_text(&text, "x");
    sl_buffer_text(&text, "\n");
    sl_buffer_text(&text, behind);
    CU_ASSERT_FALSE_FATAL(text.failed);
    sl_buffer out = given(text.data, NULL);
    const size_t size = out.size;
    sl_buffer_clear(&out);
    sl_buffer_clear(&text);
    return size;
}

static void
an_element_over_its_bound_is_passed_as_it_is(void)
{
    const size_t most = 1024 * 1024, behind = strlen("- a: 2\n");

    /* The line behind it is looked at as well. */
    CU_ASSERT_EQUAL(given_of_element(most - behind), strlen("- a: 1\n\n\n") + behind);
    CU_ASSERT_EQUAL(given_of_element(most - behind + 1), most + 1);
    CU_ASSERT_EQUAL(given_of_element(most + 1), most + 1 + behind);
    CU_ASSERT_EQUAL(given_of_element(3 * most), 3 * most + behind);
}

static const sl_case cases[] = {
    SL_CASE(members_that_nobody_reads_are_empty_lines),
    SL_CASE(what_is_doubtful_is_passed_as_it_is),
    SL_CASE(drawn_texts_say_the_same_with_and_without_what_nobody_reads),
    SL_CASE(large_elements_and_many_keys_say_the_same),
    SL_CASE(empty_lines_of_a_scalar_are_looked_at_once),
    SL_CASE(an_element_over_its_bound_is_passed_as_it_is),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "yaml_skim", cases, sizeof cases / sizeof cases[0]);
}
