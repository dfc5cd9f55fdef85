#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/hash.h"
#include "base/identity.h"
#include "base/index.h"
#include "base/log.h"
#include "base/sort.h"
#include "harness.h"

static void
an_error_keeps_what_was_said(void)
{
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_fail(&err, SL_E_RANGE, "not_divisible", "/parallelism/tensor",
                            "must divide the %u attention heads, got %u", 64u, 7u),
                    SL_E_RANGE);
    sl_hint(&err, "%d, %d", 1, 2);
    CU_ASSERT_EQUAL(err.count, 1);
    CU_ASSERT_EQUAL(err.list[0].code, SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "not_divisible", "rule");
    sl_expect_text(err.list[0].pointer, "/parallelism/tensor", "pointer");
    sl_expect_text(err.list[0].message, "must divide the 64 attention heads, got 7", "message");
    sl_expect_text(err.list[0].hint, "1, 2", "hint");
}

static void
errors_past_the_bound_are_counted_and_their_hints_dropped(void)
{
    sl_errors err = {0};
    sl_hint(&err, "nothing to hint at");
    for (int i = 0; i < SL_ERRORS_MAX; i++)
        (void)sl_fail(&err, SL_E_RANGE, "rule", "", "number %d", i);
    sl_hint(&err, "kept");
    CU_ASSERT_EQUAL(sl_fail(&err, SL_E_SYNTAX, "rule", "", "one too many"), SL_E_SYNTAX);
    sl_hint(&err, "lost");
    CU_ASSERT_EQUAL(err.count, SL_ERRORS_MAX);
    CU_ASSERT_EQUAL(err.dropped, 1);
    sl_expect_text(err.list[SL_ERRORS_MAX - 1].message, "number 15", "last message");
    sl_expect_text(err.list[SL_ERRORS_MAX - 1].hint, "kept", "last hint");
}

static void
legal_values_are_listed_until_they_do_not_fit(void)
{
    uint64_t values[40];
    for (uint64_t i = 0; i < 40; i++)
        values[i] = 1000 + i;
    sl_errors err = {0};
    sl_hint_values(&err, values, 3);
    (void)sl_fail(&err, SL_E_RANGE, "rule", "", "message");
    sl_hint_values(&err, values, 3);
    sl_expect_text(err.list[0].hint, "1000, 1001, 1002", "all");
    sl_hint_values(&err, values, 40);
    const size_t length = strlen(err.list[0].hint);
    CU_ASSERT_TRUE(length > 100 && length < sizeof err.list[0].hint);
    sl_expect_text(err.list[0].hint + length - 9, "1019, ...", "cut after a whole value");
}

static void
long_error_texts_are_cut(void)
{
    char wide[400];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    sl_errors err = {0};
    (void)sl_fail(&err, SL_E_RANGE, "rule", wide, "%s", wide);
    sl_hint(&err, "%s", wide);
    CU_ASSERT_EQUAL(strlen(err.list[0].pointer), sizeof err.list[0].pointer - 1);
    CU_ASSERT_EQUAL(strlen(err.list[0].message), sizeof err.list[0].message - 1);
    CU_ASSERT_EQUAL(strlen(err.list[0].hint), sizeof err.list[0].hint - 1);
}

static void
an_arena_zeroes_and_aligns(void)
{
    sl_arena *const arena = sl_arena_new(1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_expect_text(sl_arena_copy(arena, "odd"), "odd", "copy");
    for (size_t size = 1; size < 200; size += 7) {
        unsigned char *const bytes = sl_arena_alloc(arena, size, 3);
        CU_ASSERT_PTR_NOT_NULL(bytes);
        CU_ASSERT_EQUAL((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t i = 0; bytes != NULL && i < 3 * size; i++) {
            CU_ASSERT_EQUAL(bytes[i], 0);
            bytes[i] = 0xFF;
        }
    }
    sl_expect_text(sl_arena_format(arena, "%s-%d", "a", 7), "a-7", "format");
    sl_expect_text(sl_arena_copy_bytes(arena, "abcdef", 3), "abc", "bytes");
    sl_expect_text(sl_arena_copy_bytes(arena, NULL, 0), "", "no bytes");
    sl_arena_free(arena);
}

static void
an_arena_refuses_past_its_limit_and_on_overflow(void)
{
    sl_arena *const arena = sl_arena_new(200000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    CU_ASSERT_PTR_NULL(sl_arena_alloc(arena, SIZE_MAX / 2, 3));
    CU_ASSERT_PTR_NULL(sl_arena_alloc(arena, SIZE_MAX, 1));
    CU_ASSERT_PTR_NULL(sl_arena_alloc(arena, 200001, 1));
    CU_ASSERT_PTR_NOT_NULL(sl_arena_alloc(arena, 150000, 1)); /* larger than any block */
    CU_ASSERT_PTR_NULL(sl_arena_alloc(arena, 60000, 1));
    CU_ASSERT_PTR_NOT_NULL(sl_arena_alloc(arena, 40000, 1));
    CU_ASSERT_PTR_NULL(sl_arena_format(arena, "%20000d", 1));
    sl_arena_free(arena);
    sl_arena_free(NULL);
}

static void
a_buffer_grows_and_stays_terminated(void)
{
    sl_buffer buffer;
    sl_buffer_init(&buffer, SIZE_MAX);
    for (int i = 0; i < 1000; i++) {
        sl_buffer_text(&buffer, "ab");
        sl_buffer_format(&buffer, "%03d", i);
        sl_buffer_append(&buffer, "", 0);
    }
    CU_ASSERT_FALSE(buffer.failed);
    CU_ASSERT_EQUAL(buffer.size, 5000);
    CU_ASSERT_EQUAL(strlen(buffer.data), 5000);
    CU_ASSERT_EQUAL(memcmp(buffer.data + 4995, "ab999", 5), 0);
    sl_buffer_clear(&buffer);
    CU_ASSERT_PTR_NULL(buffer.data);
}

static void
a_full_buffer_fails_once_and_for_good(void)
{
    sl_buffer buffer;
    sl_buffer_init(&buffer, 10);
    sl_buffer_format(&buffer, "%s", "12345");
    sl_buffer_format(&buffer, "%s", "123456");
    CU_ASSERT_TRUE(buffer.failed);
    sl_expect_text(buffer.data, "12345", "what was there");
    sl_buffer_text(&buffer, "1");
    CU_ASSERT_EQUAL(buffer.size, 5);
    size_t size = 7;
    CU_ASSERT_PTR_NULL(sl_buffer_take(&buffer, &size));
    CU_ASSERT_EQUAL(size, 0);
    CU_ASSERT_FALSE(buffer.failed);

    sl_buffer_text(&buffer, "1234567890");
    CU_ASSERT_FALSE(buffer.failed);
    sl_buffer_text(&buffer, "1");
    CU_ASSERT_TRUE(buffer.failed);
    sl_buffer_clear(&buffer);
}

typedef struct drained {
    sl_buffer all;
    bool breaks;
} drained;

static void
take_all(void *context, sl_buffer *buffer)
{
    drained *const to = context;
    sl_buffer_append(&to->all, buffer->data, buffer->size);
    buffer->size = 0;
    buffer->failed = to->breaks;
}

static void
a_full_buffer_with_a_drain_is_emptied_and_goes_on(void)
{
    drained to = {.breaks = false};
    sl_buffer_init(&to.all, SIZE_MAX);
    sl_buffer buffer;
    sl_buffer_init(&buffer, 10);
    buffer.drain = take_all;
    buffer.drain_context = &to;
    for (int i = 0; i < 1000; i++) {
        sl_buffer_text(&buffer, "ab");
        sl_buffer_format(&buffer, "%03d", i);
        CU_ASSERT_FATAL(buffer.size <= 10);
    }
    CU_ASSERT_FALSE(buffer.failed);
    CU_ASSERT_EQUAL(to.all.size + buffer.size, 5000);
    CU_ASSERT_EQUAL(memcmp(to.all.data + 4985, "ab997", 5), 0);
    sl_buffer_text(&buffer, "more than ten bytes");
    CU_ASSERT_TRUE(buffer.failed);

    sl_buffer_clear(&buffer);
    to.breaks = true;
    sl_buffer_text(&buffer, "1234567890");
    sl_buffer_text(&buffer, "1");
    CU_ASSERT_TRUE(buffer.failed);
    sl_buffer_clear(&buffer);
    sl_buffer_clear(&to.all);
}

static void
taken_bytes_leave_the_buffer(void)
{
    sl_buffer buffer;
    size_t size = 0;
    sl_buffer_init(&buffer, 1000);
    CU_ASSERT_PTR_NULL(sl_buffer_take(&buffer, NULL));
    sl_buffer_append(&buffer, "a\0b", 3);
    char *const bytes = sl_buffer_take(&buffer, &size);
    CU_ASSERT_EQUAL(size, 3);
    CU_ASSERT_TRUE(bytes != NULL && memcmp(bytes, "a\0b", 4) == 0);
    CU_ASSERT_EQUAL(buffer.size, 0);
    free(bytes);
    sl_buffer_text(&buffer, "again");
    sl_expect_text(buffer.data, "again", "used again");
    sl_buffer_clear(&buffer);
}

/* FIPS 180-4 test vectors of the Secure Hash Standard examples, and one per padding boundary whose
 * digest sha256sum of coreutils 9.1 printed. */
static void
sha256_matches_published_vectors(void)
{
    char digest[SL_HASH_TEXT_SIZE];
    sl_hash_text("", 0, digest);
    sl_expect_text(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "0");
    sl_hash_text("abc", 3, digest);
    sl_expect_text(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "3");
    sl_hash_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, digest);
    sl_expect_text(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                   "56");
    static char million[1000000];
    memset(million, 'a', sizeof million);
    sl_hash_text(million, 1000000, digest);
    sl_expect_text(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                   "a million");
    sl_hash_text(million, 55, digest);
    sl_expect_text(digest, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
                   "55");
    sl_hash_text(million, 64, digest);
    sl_expect_text(digest, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
                   "64");
}

static uint32_t comparisons;

static int
by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    comparisons++;
    return x < y ? -1 : x > y;
}

static void
a_list_in_order_is_looked_through_once(void)
{
    int ordered[] = {-3, 1, 1, 2, 8, 9, 9, 12};
    int mixed[] = {1, 2, 3, 9, 8, -1, 4, 4};
    const int sorted[] = {-1, 1, 2, 3, 4, 4, 8, 9};

    comparisons = 0;
    sl_sort(ordered, 8, sizeof ordered[0], by_number);
    CU_ASSERT_EQUAL(comparisons, 7);
    CU_ASSERT_EQUAL(ordered[0], -3);
    CU_ASSERT_EQUAL(ordered[7], 12);
    sl_sort(mixed, 8, sizeof mixed[0], by_number);
    CU_ASSERT_EQUAL(memcmp(mixed, sorted, sizeof sorted), 0);
    comparisons = 0;
    sl_sort(NULL, 0, sizeof mixed[0], by_number);
    sl_sort(mixed, 1, sizeof mixed[0], by_number);
    CU_ASSERT_EQUAL(comparisons, 0);
}

static void
the_clock_goes_forward(void)
{
    const double before_s = sl_clock_now_s();
    const struct timespec later = sl_clock_after(1.75);
    const double later_s = (double)later.tv_sec + (double)later.tv_nsec * 1e-9;
    const double after_s = sl_clock_now_s();
    CU_ASSERT_TRUE(after_s >= before_s);
    CU_ASSERT_TRUE(later_s >= before_s + 1.749 && later_s <= after_s + 1.751);
    CU_ASSERT_TRUE(later.tv_nsec >= 0 && later.tv_nsec < 1000000000L);
}

static void
embedded_files_are_found_by_name(void)
{
    static const unsigned char byte[] = {0};
    static const sl_embedded files[] = {
        {"a.csv", byte, 0}, {"b.csv", byte, 0}, {"c/d.csv", byte, 0}};
    static const sl_embedded_set set = {files, 3}, empty = {NULL, 0};
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_EQUAL(sl_embedded_find(&set, files[i].name), &files[i]);
    CU_ASSERT_PTR_NULL(sl_embedded_find(&set, "aa.csv"));
    CU_ASSERT_PTR_NULL(sl_embedded_find(&set, ""));
    CU_ASSERT_PTR_NULL(sl_embedded_find(&set, "z"));
    CU_ASSERT_PTR_NULL(sl_embedded_find(&empty, "a.csv"));
}

/* What sl_log writes to stderr, in a static buffer; NULL when stderr could not be moved aside. */
static const char *
logged(sl_log_level level, const char *message, const sl_log_field *fields, uint32_t count)
{
    static char text[8192];
    int ends[2];
    const int saved = dup(STDERR_FILENO);
    if (saved < 0 || pipe(ends) != 0)
        return NULL;
    ssize_t size = -1;
    if (dup2(ends[1], STDERR_FILENO) >= 0) {
        (void)close(ends[1]);
        sl_log(level, message, fields, count);
        /* The writing end closes with this, so that an empty pipe reads as its end. */
        if (dup2(saved, STDERR_FILENO) >= 0)
            size = read(ends[0], text, sizeof text - 1);
    }
    (void)close(ends[0]);
    (void)close(saved);
    if (size < 0)
        return NULL;
    text[size] = '\0';
    return text;
}

static void
a_log_line_is_one_json_object(void)
{
    const sl_log_field fields[] = {sl_log_text("path", "/a\"b\n\xFF"), sl_log_text("none", NULL),
                                   sl_log_number("duration_s", 0.25),
                                   sl_log_number("bad", (double)NAN),
                                   sl_log_count("bytes", UINT64_MAX)};
    const char *const line = logged(SL_LOG_WARN, "request", fields, 5);
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_EQUAL(strncmp(line, "{\"ts\":\"20", 9), 0);
    const char *const rest = strstr(line, "\",\"level\"");
    CU_ASSERT_TRUE(rest != NULL && rest[-1] == 'Z');
    sl_expect_text(
        rest,
        "\",\"level\":\"warn\",\"msg\":\"request\",\"path\":\"/a\\\"b\\n\xEF\xBF\xBD\","
        "\"none\":null,\"duration_s\":0.25,\"bad\":null,\"bytes\":18446744073709551615}\n",
        "line");
}

static void
a_long_log_line_is_cut_and_still_closed(void)
{
    static const char end[] = "\",\"truncated\":true}\n";
    char wide[6000];
    memset(wide, '\n', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const sl_log_field fields[] = {sl_log_text("a", wide), sl_log_text("b", "x")};
    const char *const line = logged(SL_LOG_ERROR, "cut", fields, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    const size_t size = strlen(line);
    CU_ASSERT_TRUE(size > 3000 && size <= 4096);
    sl_expect_text(line + size - (sizeof end - 1), end, "end");
    CU_ASSERT_PTR_NULL(strstr(line, "\"b\""));
    CU_ASSERT_PTR_EQUAL(strchr(line, '\n'), line + size - 1);
}

static void
lines_below_the_level_are_not_written(void)
{
    sl_expect_text(logged(SL_LOG_DEBUG, "quiet", NULL, 0), "", "debug");
    sl_log_set_level(SL_LOG_ERROR);
    sl_expect_text(logged(SL_LOG_WARN, "quiet", NULL, 0), "", "warn");
    sl_log_set_level(SL_LOG_DEBUG);
    const char *const line = logged(SL_LOG_DEBUG, "loud", NULL, 0);
    CU_ASSERT_TRUE(line != NULL && strstr(line, "\"level\":\"debug\",\"msg\":\"loud\"}\n") != NULL);
    sl_log_set_level(SL_LOG_INFO);
}

static void
no_two_identities_are_alike(void)
{
    char first[SL_IDENTITY_SIZE], second[SL_IDENTITY_SIZE];
    sl_identity_text(first);
    sl_identity_text(second);
    CU_ASSERT_EQUAL(strlen(first), 32);
    CU_ASSERT_EQUAL(strspn(first, "0123456789abcdef"), 32);
    CU_ASSERT_NOT_EQUAL(strcmp(first, second), 0);
}

static void
when_to_try_again_is_said_of_the_last_error(void)
{
    sl_errors err = {0};
    sl_retry_after(&err, 7);
    CU_ASSERT_EQUAL(err.count, 0);
    (void)sl_fail(&err, SL_E_RANGE, "first", "", "must be");
    (void)sl_fail(&err, SL_E_RATE_LIMITED, "second", "", "must wait");
    sl_retry_after(&err, 7);
    CU_ASSERT_EQUAL(err.list[0].retry_after_s, 0);
    CU_ASSERT_EQUAL(err.list[1].retry_after_s, 7);
}

static void
an_index_knows_what_it_was_given(void)
{
    enum { KEYS = 10000 };
    sl_arena *const arena = sl_arena_new(1 << 20);
    sl_index index = {.arena = arena};
    bool known = true;

    CU_ASSERT_FALSE(sl_index_knows(&index, 7));
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t *const number = sl_index_at(&index, (uint64_t)i << 32, &known);
        CU_ASSERT_TRUE_FATAL(number != NULL && !known);
        if (number != NULL)
            *number = i;
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        const uint32_t *const number = sl_index_at(&index, (uint64_t)i << 32, &known);
        CU_ASSERT_TRUE_FATAL(known && number != NULL && *number == i);
    }
    CU_ASSERT_EQUAL(index.used, KEYS);
    CU_ASSERT_FALSE(sl_index_knows(&index, 7));
    sl_arena_free(arena);
}

static const char *
name_at(const void *owner, uint32_t number)
{
    return ((const char *const *)owner)[number];
}

static void
names_of_an_index_are_compared(void)
{
    static const char *const names[] = {"gpu001", "gpu002"};
    sl_arena *const arena = sl_arena_new(1 << 16);
    sl_index index = {.arena = arena, .name_of = name_at, .owner = names};
    uint32_t number = 9;

    CU_ASSERT_FALSE(sl_index_find(&index, "gpu001", 6, &number));
    CU_ASSERT_TRUE_FATAL(sl_index_put(&index, names[0], 0) && sl_index_put(&index, names[1], 1));
    CU_ASSERT_FALSE(sl_index_find(&index, "gpu003", 6, &number));
    CU_ASSERT_FALSE(sl_index_find(&index, "gpu", 3, &number));
    CU_ASSERT_EQUAL(number, 9);
    CU_ASSERT_TRUE(sl_index_find(&index, "gpu002.example", 6, &number));
    CU_ASSERT_EQUAL(number, 1);
    sl_arena_free(arena);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(an_error_keeps_what_was_said),
        SL_CASE(errors_past_the_bound_are_counted_and_their_hints_dropped),
        SL_CASE(legal_values_are_listed_until_they_do_not_fit),
        SL_CASE(long_error_texts_are_cut),
        SL_CASE(an_arena_zeroes_and_aligns),
        SL_CASE(an_arena_refuses_past_its_limit_and_on_overflow),
        SL_CASE(a_buffer_grows_and_stays_terminated),
        SL_CASE(a_full_buffer_fails_once_and_for_good),
        SL_CASE(a_full_buffer_with_a_drain_is_emptied_and_goes_on),
        SL_CASE(taken_bytes_leave_the_buffer),
        SL_CASE(sha256_matches_published_vectors),
        SL_CASE(no_two_identities_are_alike),
        SL_CASE(when_to_try_again_is_said_of_the_last_error),
        SL_CASE(an_index_knows_what_it_was_given),
        SL_CASE(names_of_an_index_are_compared),
        SL_CASE(a_list_in_order_is_looked_through_once),
        SL_CASE(the_clock_goes_forward),
        SL_CASE(embedded_files_are_found_by_name),
        SL_CASE(a_log_line_is_one_json_object),
        SL_CASE(a_long_log_line_is_cut_and_still_closed),
        SL_CASE(lines_below_the_level_are_not_written),
    };
    return sl_run_cases(argc, argv, "base", cases, sizeof cases / sizeof cases[0]);
}
