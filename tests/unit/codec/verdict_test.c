/* Saved plans: which documents are taken, what an answer boils down to, and why a plan that fitted
 * does not any more. */
#include "codec/inventory/verdict.h"

#include <string.h>

#include "base/text.h"
#include "catalogued.h"
#include "harness.h"

static sl_catalog *catalog;

static const char fits[] = "{\"fits\":true,\"fits_certain\":false,\"memory\":{\"headroom_bytes\":"
                           "1000},\"time\":{\"step_s\":0.5},"
                           "\"binding\":{\"sentence\":\"Compute.\"},\"assumptions\":[]}";
static const char lacks[] =
    "{\"status\":422,\"errors\":[{\"pointer\":\"/cluster/nodes\",\"code\":\"not_enough_hosts\","
    "\"detail\":\"node gpu017 is drained: 31 of 32 nodes are usable\"}]}";
static const char refused[] =
    "{\"status\":422,\"errors\":[{\"pointer\":\"/parallelism/tensor\",\"code\":\"not_divisible\","
    "\"detail\":\"must divide the 64 attention heads, got 7\"}]}";

static const sl_verdict_basis basis = {.inventory_revision = 3,
                                       .observations_hash = "a",
                                       .engine_version = "0.1.0",
                                       .catalog_revision = "c1"};

static sl_verdict
read(uint32_t status, const char *body, sl_arena *arena)
{
    sl_errors err = {0};
    sl_verdict verdict;
    CU_ASSERT_EQUAL(sl_verdict_read(status, body, strlen(body), arena, &verdict, &err), SL_OK);
    return verdict;
}

/* A verdict as it would have been kept. */
static const char *
kept(const sl_verdict *verdict, const sl_verdict_basis *on, sl_arena *arena)
{
    sl_buffer text;
    sl_writer writer;
    sl_buffer_init(&text, 1 << 16);
    sl_writer_init(&writer, &text);
    sl_verdict_write(&writer, verdict, on);
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    const char *const copy = sl_arena_copy_bytes(arena, text.data, text.size);
    sl_buffer_clear(&text);
    return copy;
}

static const char *
reason(const sl_verdict_kept *before, sl_verdict *now, const sl_verdict_basis *on, sl_arena *arena)
{
    sl_errors err = {0};
    const char *out = NULL;
    CU_ASSERT_EQUAL(sl_verdict_reason(before, now, on, arena, &out, &err), SL_OK);
    return out == NULL ? "none" : out;
}

static void
an_answer_is_boiled_down_to_its_figures(void)
{
    sl_arena *arena = sl_arena_new(1 << 20);
    const sl_verdict verdict = read(200, fits, arena);
    CU_ASSERT_EQUAL(verdict.kind, SL_VERDICT_FITS);
    sl_expect_text(kept(&verdict, &basis, arena),
                   "{\"fits\":true,\"fits_certain\":false,\"headroom_bytes\":1000,\"step_s\":0.5,"
                   "\"binding\":\"Compute.\",\"hosts\":null,\"errors\":[],\"fitted\":null,"
                   "\"inventory_revision\":3,"
                   "\"observations_hash\":"
                   "\"a\",\"engine_version\":\"0.1.0\",\"catalog_revision\":\"c1\"}",
                   "the evaluation");
    sl_arena_free(arena);
}

static void
too_few_hosts_do_not_fit_and_other_faults_are_refused(void)
{
    sl_arena *arena = sl_arena_new(1 << 20);
    CU_ASSERT_EQUAL(read(422, lacks, arena).kind, SL_VERDICT_DOES_NOT_FIT);
    CU_ASSERT_EQUAL(read(422, refused, arena).kind, SL_VERDICT_REFUSED);
    sl_arena_free(arena);
}

static void
an_absence_of_ours_is_no_verdict(void)
{
    sl_arena *arena = sl_arena_new(1 << 20);
    CU_ASSERT_EQUAL(read(503, refused, arena).kind, SL_VERDICT_NONE);
    CU_ASSERT_EQUAL(read(504, "", arena).kind, SL_VERDICT_NONE);
    CU_ASSERT_EQUAL(read(200, "not json", arena).kind, SL_VERDICT_NONE);
    sl_arena_free(arena);
}

static void
a_plan_that_fitted_names_the_node_that_it_lacks(void)
{
    sl_arena *arena = sl_arena_new(1 << 20);
    sl_verdict before = read(200, fits, arena);
    sl_verdict now = read(422, lacks, arena);
    const sl_verdict_kept was = {.fitted = true, .evaluation = kept(&before, &basis, arena)};
    static const char expected[] =
        "no longer fits because node gpu017 is drained: 31 of 32 nodes are usable";
    sl_expect_text(reason(&was, &now, &basis, arena), expected, "the reason");

    const sl_verdict_kept still = {.evaluation = kept(&now, &basis, arena)};
    sl_expect_text(reason(&still, &now, &basis, arena), expected, "and goes on saying so");
    sl_expect_text(reason(&still, &before, &basis, arena), "none", "until it fits again");

    sl_verdict_basis on = basis;
    on.inventory_revision = 5;
    sl_verdict other = now;
    other.hosts = NULL;
    other.errors = NULL;
    other.detail = "must be at most the 3 nodes of the pool, got 4";
    sl_expect_text(reason(&still, &other, &on, arena),
                   "no longer fits because its inventory is at revision 5, and it fitted revision "
                   "3: must be at most the 3 nodes of the pool, got 4",
                   "until it does not for another");
    sl_arena_free(arena);
}

static void
hosts_that_are_left_out_are_the_reason_of_a_refusal_too(void)
{
    static const char body[] =
        "{\"status\":422,\"errors\":[{\"pointer\":\"/parallelism\",\"code\":"
        "\"world_size_mismatch\",\"detail\":\"must be 40\"},{\"pointer\":\"/cluster\",\"code\":"
        "\"hosts_left_out\",\"detail\":\"pool a: node a1 is drained\"},{\"pointer\":\"/cluster\","
        "\"code\":\"hosts_left_out\",\"detail\":\"pool b: node b1 is down\"}]}";
    sl_arena *arena = sl_arena_new(1 << 20);
    const sl_verdict before = read(200, fits, arena);
    sl_verdict now = read(422, body, arena);
    const sl_verdict_kept was = {.fitted = true, .evaluation = kept(&before, &basis, arena)};
    CU_ASSERT_EQUAL(now.kind, SL_VERDICT_REFUSED);
    sl_expect_text(reason(&was, &now, &basis, arena),
                   "no longer fits because pool a: node a1 is drained; pool b: node b1 is down",
                   "each pool's");
    sl_arena_free(arena);
}

static void
a_plan_that_never_fitted_has_no_reason(void)
{
    sl_arena *arena = sl_arena_new(1 << 20);
    sl_verdict now = read(422, lacks, arena);
    const sl_verdict_kept never = {.evaluation = kept(&now, &basis, arena)};
    sl_expect_text(reason(&never, &now, &basis, arena), "none", "kept");
    sl_expect_text(reason(NULL, &now, &basis, arena), "none", "new");
    sl_arena_free(arena);
}

static void
what_else_changed_is_the_reason_when_the_hosts_did_not(void)
{
    sl_arena *arena = sl_arena_new(1 << 20);
    const sl_verdict before = read(200, fits, arena);
    sl_verdict now = before;
    now.kind = SL_VERDICT_DOES_NOT_FIT;
    const sl_verdict_kept was = {.fitted = true, .evaluation = kept(&before, &basis, arena)};
    sl_verdict_basis on = basis;
    on.inventory_revision = 4;
    sl_expect_text(
        reason(&was, &now, &on, arena),
        "no longer fits because its inventory is at revision 4, and it fitted revision 3. "
        "Compute.",
        "the inventory");
    on = basis;
    on.engine_version = "0.2.0";
    sl_expect_text(
        reason(&was, &now, &on, arena),
        "no longer fits because the engine is at 0.2.0, and it fitted by 0.1.0. Compute.",
        "the engine");
    on = basis;
    on.catalog_revision = "c2";
    sl_expect_text(reason(&was, &now, &on, arena),
                   "no longer fits because the catalogue is at c2, and it fitted by c1. Compute.",
                   "the catalogue");
    sl_expect_text(reason(&was, &now, &basis, arena), "no longer fits", "nothing that is known");
    sl_arena_free(arena);
}

static void
faults_of_a_document_are_found_at_once_at_their_places(void)
{
    static const char text[] = "{\"nmae\":\"x\",\"labels\":{\"a\":1},\"request\":{\"workload\":7}}";
    static const char *const places[] = {"/nmae", "/labels/a", "/request/model",
                                         "/request/workload"};
    sl_arena *arena = sl_arena_new(8 << 20);
    sl_errors err = {0};
    sl_plan_document document;
    CU_ASSERT_NOT_EQUAL(sl_plan_document_read(text, strlen(text), catalog, arena, &document, &err),
                        SL_OK);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bool found = false;
        for (uint32_t j = 0; j < err.count; j++)
            found = found || sl_text_equal(err.list[j].pointer, places[i]);
        if (!found)
            sl_fail_for(places[i]);
    }
    sl_arena_free(arena);
}

static void
a_document_is_known_by_its_content_and_gives_its_request_back(void)
{
    static const char text[] =
        "{\"name\":\"n\",\"request\":{\"workload\":{\"accounting\":\"mixed-2-2-12\"},\"model\":"
        "{\"parameters\":7000000000},\"cluster\":{\"inventory\":\"prod-eu\"}}}";
    static const char spelled[] =
        "{ \"request\":{\"model\":{\"parameters\":7000000000},\"cluster\":{\"inventory\":"
        "\"prod-eu\"},\"workload\":{\"accounting\":\"mixed-2-2-12\"}}, \"name\":\"n\" }";
    sl_arena *arena = sl_arena_new(8 << 20);
    sl_errors err = {0};
    sl_plan_document a, b, again;
    CU_ASSERT_EQUAL(sl_plan_document_read(text, strlen(text), catalog, arena, &a, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_plan_document_read(spelled, strlen(spelled), catalog, arena, &b, &err),
                    SL_OK);
    sl_expect_text(a.hash, b.hash, "whatever the spelling");
    sl_expect_text(a.inventory, "prod-eu", "its inventory");
    CU_ASSERT_EQUAL(sl_plan_document_request(text, arena, &again, &err), SL_OK);
    sl_expect_text(again.request, a.request, "its request");
    CU_ASSERT_EQUAL(sl_plan_document_request("[]", arena, &again, &err), SL_E_INTERNAL);
    sl_arena_free(arena);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(an_answer_is_boiled_down_to_its_figures),
        SL_CASE(too_few_hosts_do_not_fit_and_other_faults_are_refused),
        SL_CASE(an_absence_of_ours_is_no_verdict),
        SL_CASE(a_plan_that_fitted_names_the_node_that_it_lacks),
        SL_CASE(hosts_that_are_left_out_are_the_reason_of_a_refusal_too),
        SL_CASE(a_plan_that_never_fitted_has_no_reason),
        SL_CASE(what_else_changed_is_the_reason_when_the_hosts_did_not),
        SL_CASE(faults_of_a_document_are_found_at_once_at_their_places),
        SL_CASE(a_document_is_known_by_its_content_and_gives_its_request_back),
    };
    return sl_run_catalogued(argc, argv, "verdict", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
