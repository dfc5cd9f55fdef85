#include "codec/inventory/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "harness.h"

enum { SHOWN_MAX = 16 * 1024 * 1024 };

static sl_code
show(void *context, const char *name, sl_errors *err)
{
    sl_buffer *const shown = context;
    (void)err;
    sl_buffer_format(shown, "%s%s", shown->size > 0 ? " " : "", name);
    return SL_OK;
}

static void
expect_names(const char *list, const char *names)
{
    sl_errors err = {.count = 0};
    sl_buffer shown;
    uint64_t count = 0, blanks = 0;

    sl_buffer_init(&shown, SHOWN_MAX);
    CU_ASSERT_EQUAL(sl_hosts_each(list, show, &shown, &err), SL_OK);
    sl_expect_text(shown.data, names, list);
    for (const char *at = names; *at != '\0'; at++)
        blanks += *at == ' ';
    CU_ASSERT_TRUE(sl_hosts_count(list, &count));
    CU_ASSERT_EQUAL(count, blanks + 1);
    sl_buffer_clear(&shown);
}

static void
a_bracket_stands_for_its_numbers(void)
{
    expect_names("gpu[1-3]", "gpu1 gpu2 gpu3");
    expect_names("gpu[1-2,7,9-10]", "gpu1 gpu2 gpu7 gpu9 gpu10");
    expect_names("[7-8]", "7 8");
    expect_names("gpu-st-[1-1]", "gpu-st-1");
    expect_names("alone", "alone");
    expect_names("a,b[1-2],c", "a b1 b2 c");
    expect_names("n[1-2].rack.example.org", "n1.rack.example.org n2.rack.example.org");
}

static void
numbers_keep_the_width_of_the_first(void)
{
    expect_names("n[008-011]", "n008 n009 n010 n011");
    expect_names("n[8-11]", "n8 n9 n10 n11");
    expect_names("n[98-101]", "n98 n99 n100 n101");
    expect_names("n[08,9]", "n08 n9");
    expect_names("n[000000001]", "n000000001");
}

static void
several_brackets_turn_from_the_right(void)
{
    expect_names("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
    expect_names("a[1-2]b[1]c[3,5]d", "a1b1c3d a1b1c5d a2b1c3d a2b1c5d");
    expect_names("a[1][2]", "a12");
}

static void
what_is_no_list_is_refused(void)
{
    static const char *const lists[] = {
        "",    ",",     "a,",      ",a",     "a,,b",  "a[",    "a[]",      "a[1",
        "a]",  "a[1-]", "a[-1]",   "a[2-1]", "a[1,]", "a[,1]", "a[1-2-3]", "a[x]",
        "a b", "a\tb",  "a[1 -2]", "a[[1]]", "a\n",   "a\rb",  "a\x7f",    "a[1234567890]",
    };
    static const char *const many[] = {"a[0-200000]", "a[1-1000]b[1-1000]",
                                       "a[1-999999999]b[1-999999999]c[1-999999999]",
                                       "a[1-131072],b"};
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        sl_errors err = {.count = 0};
        uint64_t count = 77;
        CU_ASSERT(!sl_hosts_count(many[i], &count) && count == 77);
        CU_ASSERT(sl_hosts_too_many(many[i]));
        CU_ASSERT_EQUAL(sl_hosts_each(many[i], show, NULL, &err), SL_E_RANGE);
        sl_expect_text(err.list[0].rule, "too_many", many[i]);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        sl_errors err = {.count = 0};
        sl_buffer shown;
        uint64_t count = 77;
        sl_buffer_init(&shown, SHOWN_MAX);
        if (sl_hosts_count(lists[i], &count) || count != 77 || sl_hosts_too_many(lists[i]))
            sl_fail_for(lists[i]);
        CU_ASSERT_EQUAL(sl_hosts_each(lists[i], show, &shown, &err), SL_E_RANGE);
        sl_expect_text(err.list[0].rule, "malformed_hosts", lists[i]);
        CU_ASSERT_EQUAL(shown.size, 0);
        sl_buffer_clear(&shown);
    }
}

static void
a_list_is_bounded(void)
{
    char name[SL_HOST_NAME_MAX + 2];
    uint64_t count = 0;

    memset(name, 'a', sizeof name);
    name[SL_HOST_NAME_MAX] = '\0';
    CU_ASSERT_TRUE(sl_hosts_count(name, &count));
    name[SL_HOST_NAME_MAX] = 'a';
    name[SL_HOST_NAME_MAX + 1] = '\0';
    CU_ASSERT_FALSE(sl_hosts_count(name, &count));

    CU_ASSERT_TRUE(sl_hosts_count("n[1-131072]", &count));
    CU_ASSERT_EQUAL(count, SL_HOSTS_MAX);
    CU_ASSERT_FALSE(sl_hosts_count("n[1-131072],m", &count));
    CU_ASSERT_TRUE(sl_hosts_count("a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]", &count));
    CU_ASSERT_FALSE(sl_hosts_count("a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]", &count));
}

/* A list while it is visited. */
typedef struct crossing {
    char list[32];
    sl_buffer shown;
} crossing;

/* Ends the bracket too early, where its second number was. */
static sl_code
cross_out_second(void *context, const char *name, sl_errors *err)
{
    crossing *const c = context;
    if (sl_text_equal(name, "n13x1"))
        c->list[strlen("n[11,")] = ']';
    return show(&c->shown, name, err);
}

/* Thousands of numbers that are over would be looked through for every name: here one would be
 * missed. */
static void
numbers_that_are_over_are_not_looked_at_again(void)
{
    crossing c = {.list = "n[11,12,13,14]x[1-2]"};
    sl_errors err = {.count = 0};

    sl_buffer_init(&c.shown, SHOWN_MAX);
    CU_ASSERT_EQUAL(sl_hosts_each(c.list, cross_out_second, &c, &err), SL_OK);
    sl_expect_text(c.shown.data, "n11x1 n11x2 n12x1 n12x2 n13x1 n13x2 n14x1 n14x2", "crossed out");
    sl_buffer_clear(&c.shown);
}

static sl_code
stop_at_third(void *context, const char *name, sl_errors *err)
{
    uint32_t *const seen = context;
    (void)name;
    return ++*seen == 3 ? sl_fail(err, SL_E_CONFLICT, "enough", "", "enough") : SL_OK;
}

static void
what_the_visitor_answers_ends_the_visit(void)
{
    sl_errors err = {.count = 0};
    uint32_t seen = 0;
    CU_ASSERT_EQUAL(sl_hosts_each("a[1-2],b[1-9]", stop_at_third, &seen, &err), SL_E_CONFLICT);
    CU_ASSERT_EQUAL(seen, 3);
}

static void
expect_compressed(const char **names, size_t count, const char *entries)
{
    sl_errors err = {.count = 0};
    sl_arena *const arena = sl_arena_new(1 << 20);
    const char *const *made = NULL;
    size_t made_count = 0;
    sl_buffer shown;

    sl_buffer_init(&shown, SHOWN_MAX);
    CU_ASSERT_EQUAL(sl_hosts_compress(names, count, arena, &made, &made_count, &err), SL_OK);
    for (size_t i = 0; i < made_count; i++)
        (void)show(&shown, made[i], &err);
    sl_expect_text(shown.size > 0 ? shown.data : "", entries, "compressed");
    sl_buffer_clear(&shown);
    sl_arena_free(arena);
}

/* clang-format off */
#define NAMES(...) ((const char *[]){__VA_ARGS__}), sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)
/* clang-format on */

static void
neighbours_share_an_entry(void)
{
    expect_compressed(NAMES("gpu3", "gpu1", "gpu2"), "gpu[1-3]");
    expect_compressed(NAMES("n9", "n10", "n12"), "n[9-10,12]");
    expect_compressed(NAMES("n010", "n008", "n009"), "n[008-010]");
    expect_compressed(NAMES("r2n1", "r1n1", "r1n2"), "r1n[1-2] r2n1");
    expect_compressed(NAMES("n1.a", "n2.a", "n3.b"), "n[1-2].a n3.b");
    expect_compressed(NAMES("login", "n1"), "login n1");
    expect_compressed(NAMES("n1", "n01", "n2"), "n1 n01 n2");
    expect_compressed(NAMES("1", "2"), "[1-2]");
    expect_compressed(NAMES("n12345678901", "n12345678902"), "n12345678901 n12345678902");
    expect_compressed(NULL, 0, "");
}

static uint32_t
draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct gathered {
    sl_arena *arena;
    const char *names[4096];
    size_t count;
} gathered;

static sl_code
gather(void *context, const char *name, sl_errors *err)
{
    gathered *const g = context;
    if (g->count == 4096)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "more names than went in");
    g->names[g->count++] = sl_arena_copy(g->arena, name);
    return SL_OK;
}

/* Distinct names of a drawn grammar: letters, padded and plain numbers, domains. */
static size_t
draw_names(uint32_t *seed, sl_arena *arena, const char **names, size_t most)
{
    static const char *const prefixes[] = {"", "gpu", "r1-n", "a0b", "node-"};
    static const char *const suffixes[] = {"", "", ".cluster.example", "-ib0"};
    size_t count = 0;

    for (size_t i = 0; i < most; i++) {
        const int width = (int)draw(seed, 4);
        names[count++] = sl_arena_format(arena, "%s%0*u%s", prefixes[draw(seed, 5)], width,
                                         draw(seed, 120), suffixes[draw(seed, 4)]);
    }
    qsort(names, count, sizeof *names, compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !sl_text_equal(names[kept - 1], names[i]))
            names[kept++] = names[i];
    return kept;
}

static void
compressing_loses_nothing(void)
{
    static const char *names[300], *sorted[300];
    static gathered back;
    uint32_t seed = 7;

    for (uint32_t round = 0; round < 400; round++) {
        sl_errors err = {.count = 0};
        sl_arena *const arena = sl_arena_new(4 << 20);
        const char *const *entries = NULL;
        size_t entry_count = 0;
        const size_t count = draw_names(&seed, arena, names, 1 + draw(&seed, 300));

        memcpy(sorted, names, count * sizeof *names);
        CU_ASSERT_EQUAL_FATAL(sl_hosts_compress(names, count, arena, &entries, &entry_count, &err),
                              SL_OK);
        CU_ASSERT_TRUE(entry_count <= count);
        back = (gathered){.arena = arena};
        for (size_t i = 0; i < entry_count; i++)
            CU_ASSERT_EQUAL_FATAL(sl_hosts_each(entries[i], gather, &back, &err), SL_OK);
        CU_ASSERT_EQUAL_FATAL(back.count, count);
        /* In natural order, and the same set. */
        for (size_t i = 0; i + 1 < count; i++)
            CU_ASSERT_TRUE(sl_hosts_compare(&back.names[i], &back.names[i + 1]) < 0);
        qsort(back.names, back.count, sizeof *back.names, compare_texts);
        for (size_t i = 0; i < count; i++)
            if (!sl_text_equal(back.names[i], sorted[i]))
                sl_fail_for(sorted[i]);
        sl_arena_free(arena);
    }
}

static void
names_are_ordered_by_their_numbers(void)
{
    static const char *const ordered[] = {"10",  "a",   "a1",    "a01", "a2",
                                          "a2b", "a10", "a10.x", "ab"};
    for (size_t i = 0; i < sizeof ordered / sizeof ordered[0]; i++)
        for (size_t k = 0; k < sizeof ordered / sizeof ordered[0]; k++) {
            const int order = sl_hosts_compare(&ordered[i], &ordered[k]);
            if ((order < 0) != (i < k) || (order == 0) != (i == k))
                sl_fail_for(ordered[i]);
        }
}

static const sl_case cases[] = {
    SL_CASE(a_bracket_stands_for_its_numbers),
    SL_CASE(numbers_keep_the_width_of_the_first),
    SL_CASE(several_brackets_turn_from_the_right),
    SL_CASE(what_is_no_list_is_refused),
    SL_CASE(a_list_is_bounded),
    SL_CASE(numbers_that_are_over_are_not_looked_at_again),
    SL_CASE(what_the_visitor_answers_ends_the_visit),
    SL_CASE(neighbours_share_an_entry),
    SL_CASE(compressing_loses_nothing),
    SL_CASE(names_are_ordered_by_their_numbers),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hosts", cases, sizeof cases / sizeof cases[0]);
}
