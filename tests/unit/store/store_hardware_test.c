/* Rows of users beside the catalogue, as the database keeps them. */
#include <pthread.h>
#include <string.h>

#include "store/hardware.h"
#include "store_bench.h"

enum { WRITERS = 4 };

static const sl_precondition always;

static const sl_requester nobody = {.remote_address = NULL};

static sl_code
put(store_bench *b, const char *kind, const char *id, const char *hash, const char *uses)
{
    const sl_hardware_row row = {.kind = kind, .id = id, .spec = "{\"a\": 1.50}"};
    return sl_hardware_put(b->store, &row, hash, uses, 3, &always, &nobody, &b->created, &b->err);
}

static sl_code
put_if(store_bench *b, const char *id, const char *hash, uint64_t if_match, bool create_only)
{
    const sl_hardware_row row = {.kind = "accelerator", .id = id, .spec = "{}"};
    const sl_precondition condition = {
        .revisions = {if_match}, .count = if_match != 0, .create_only = create_only};
    return sl_hardware_put(b->store, &row, hash, NULL, 3, &condition, &nobody, &b->created,
                           &b->err);
}

static uint64_t
state_of(store_bench *b)
{
    uint64_t revision = UINT64_MAX;
    CU_ASSERT_EQUAL(sl_hardware_state(b->store, &revision, &b->err), SL_OK);
    return revision;
}

static void
an_empty_list_is_at_revision_zero(void)
{
    store_bench b;
    sl_hardware_row *rows = NULL;
    uint64_t revision = 7;
    uint32_t count = 7;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(sl_hardware_list(b.store, b.arena, &revision, &rows, &count, &b.err), SL_OK);
    CU_ASSERT_EQUAL(count, 0);
    CU_ASSERT_EQUAL(revision, 0);
    bench_close(&b);
}

static void
rows_come_by_kind_and_id_with_the_number_of_their_write(void)
{
    store_bench b;
    sl_hardware_row *rows = NULL;
    uint64_t revision = 0;
    uint32_t count = 0;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "price", "dgx-h100", "h1", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "b", "h2", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a.1", "h3", NULL), SL_OK);
    CU_ASSERT_EQUAL(sl_hardware_list(b.store, b.arena, &revision, &rows, &count, &b.err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_EQUAL(revision, 3);
    sl_expect_text(rows[0].id, "a.1", "first");
    CU_ASSERT_EQUAL(rows[0].revision, 3);
    sl_expect_text(rows[0].spec, "{\"a\": 1.50}", "as it was sent");
    sl_expect_text(rows[2].kind, "price", "last");
    CU_ASSERT_EQUAL(rows[2].revision, 1);
    bench_close(&b);
}

static void
the_same_spec_changes_nothing_and_another_takes_the_next_number(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h1", NULL), SL_OK);
    CU_ASSERT_TRUE(b.created);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h1", NULL), SL_OK);
    CU_ASSERT_FALSE(b.created);
    CU_ASSERT_EQUAL(state_of(&b), 1);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h2", NULL), SL_OK);
    CU_ASSERT_EQUAL(state_of(&b), 2);
    bench_close(&b);
}

static void
conditions_hold_or_nothing_happens(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", SL_REVISION_ANY, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 0, true), SL_OK);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", 0, true), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "hardware_exists");
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", 9, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(state_of(&b), 1);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", 1, false), SL_OK);
    const uint64_t late = 1;
    const sl_precondition condition = {.revisions = {late}, .count = 1};
    CU_ASSERT_EQUAL(sl_hardware_put_allowed(b.store, "accelerator", "a", &condition, &b.err),
                    SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "accelerator", "a", &condition, &nobody, &b.err),
                    SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(state_of(&b), 2);
    bench_close(&b);
}

static void
a_removed_row_never_gives_its_number_back(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h1", NULL), SL_OK);
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "accelerator", "a", &always, &nobody, &b.err),
                    SL_OK);
    CU_ASSERT_EQUAL(state_of(&b), 2);
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "accelerator", "a", &always, &nobody, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "hardware_not_found");
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h1", NULL), SL_OK);
    CU_ASSERT_TRUE(b.created);
    CU_ASSERT_EQUAL(state_of(&b), 3);
    bench_close(&b);
}

static void
there_is_room_for_so_many_and_no_more(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "node_type", "a", "h", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "price", "a", "h", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "b", "h", NULL), SL_E_CONFLICT);
    expect_error(&b, SL_E_CONFLICT, "too_many_rows");
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h2", NULL), SL_OK);
    CU_ASSERT_EQUAL(state_of(&b), 4);
    bench_close(&b);
}

static void
a_part_in_use_cannot_be_removed_by_anyone(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "node_type", "n", "h", "a"), SL_E_RANGE);
    expect_error(&b, SL_E_RANGE, "not_storable");
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "node_type", "n", "h", "a"), SL_OK);
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "accelerator", "a", &always, &nobody, &b.err),
                    SL_E_RANGE);
    expect_error(&b, SL_E_RANGE, "not_storable");
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "node_type", "n", &always, &nobody, &b.err), SL_OK);
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "accelerator", "a", &always, &nobody, &b.err),
                    SL_OK);
    bench_close(&b);
}

static void
each_change_is_written_down_with_who_asked(void)
{
    store_bench b;
    char audit[160];
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h1", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h1", NULL), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "accelerator", "a", "h2", NULL), SL_OK);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h3", 7, false), SL_E_PRECONDITION);
    b.err = (sl_errors){.count = 0};
    const sl_requester by = {.remote_address = "192.0.2.7", .user_agent = "t", .request_id = "r1"};
    CU_ASSERT_EQUAL(sl_hardware_delete(b.store, "accelerator", "a", &always, &by, &b.err), SL_OK);
    sl_postgres_ask(&postgres,
                    "SELECT string_agg(concat_ws(' ', action, entry, revision,"
                    " host(remote_address), user_agent, request_id), ', ' ORDER BY id)"
                    " FROM private_hardware_audit",
                    audit, sizeof audit);
    sl_expect_text(audit, "put a 1, put a 2, delete a 2 192.0.2.7 t r1", "the audit");
    bench_close(&b);
}

static void *
write_many(void *context)
{
    store_bench own = {.store = sl_store_new(postgres.url)};
    const char *const id = context;
    for (uint32_t i = 0; i < 10; i++) {
        char hash[16];
        (void)sl_text_format(hash, sizeof hash, "%s-%u", id, i);
        if (put(&own, "accelerator", "shared", hash, NULL) != SL_OK)
            break;
    }
    sl_store_free(own.store);
    return NULL;
}

static void
writers_at_once_each_get_a_number_of_their_own(void)
{
    static char names[WRITERS][2] = {"a", "b", "c", "d"};
    pthread_t threads[WRITERS];
    store_bench b;
    if (!bench_open(&b))
        return;
    for (uint32_t i = 0; i < WRITERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, write_many, names[i]), 0);
    for (uint32_t i = 0; i < WRITERS; i++)
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    CU_ASSERT_EQUAL(state_of(&b), 10UL * WRITERS);
    bench_close(&b);
}

static void
every_table_and_column_says_what_it_is(void)
{
    store_bench b;
    char answer[64];
    if (!bench_open(&b))
        return;
    sl_postgres_ask(&postgres,
                    "SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
                    " WHERE c.relname LIKE 'private_hardware%' AND c.relkind = 'r'"
                    " AND a.attnum > 0 AND (col_description(c.oid, a.attnum) IS NULL"
                    " OR obj_description(c.oid) IS NULL)",
                    answer, sizeof answer);
    sl_expect_text(answer, "0", "without a comment");
    bench_close(&b);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(an_empty_list_is_at_revision_zero),
        SL_CASE(rows_come_by_kind_and_id_with_the_number_of_their_write),
        SL_CASE(the_same_spec_changes_nothing_and_another_takes_the_next_number),
        SL_CASE(conditions_hold_or_nothing_happens),
        SL_CASE(a_removed_row_never_gives_its_number_back),
        SL_CASE(there_is_room_for_so_many_and_no_more),
        SL_CASE(a_part_in_use_cannot_be_removed_by_anyone),
        SL_CASE(each_change_is_written_down_with_who_asked),
        SL_CASE(writers_at_once_each_get_a_number_of_their_own),
        SL_CASE(every_table_and_column_says_what_it_is),
    };
    return bench_run(argc, argv, "store_hardware", cases, sizeof cases / sizeof cases[0]);
}
