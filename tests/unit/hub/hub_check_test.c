/* What goes with a config: the Hub's count of the checkpoint, and a quantisation of its own
 * file. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hub/cache.h"
#include "hub_fixture.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void
a_check_that_fails_costs_neither_the_answer_nor_a_second_try(void)
{
    static const char *const heads[] = {"500 N", "404 N", "429 N\r\nRetry-After: 9", INFO_HEAD};
    for (size_t i = 0; i < COUNT(heads); i++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        b->hub->limits.missing_s = 60.0;
        bench_config_then(b, standin_config, heads[i], "<p>no document</p>");
        sl_expect_text(bench_fetch(b, "main", &ticket), "", heads[i]);
        CU_ASSERT_FALSE(ticket.model.info.known);
        /* Nobody said whether the quantisation has a file of its own: that was asked for too. */
        CU_ASSERT_EQUAL(standin_requests(b->server), 3);
        CU_ASSERT_TRUE(ticket.model.quantization_missing);
        ticket = bench_ticket(b, COMMIT);
        CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
        CU_ASSERT_FALSE(ticket.model.info.known);
        CU_ASSERT_TRUE(ticket.model.quantization_missing);
        ticket = bench_ticket(b, "main");
        CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket)); /* no name is known to be missing */
        CU_ASSERT_EQUAL(standin_requests(b->server), 3);
        bench_free(b);
    }
}

static void
a_failed_check_and_a_missing_revision_are_not_mistaken_for_each_other(void)
{
    static const char *const alike[] = {COMMIT "#info", COMMIT "@info", COMMIT "info"};
    for (size_t i = 0; i < COUNT(alike); i++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        b->hub->limits.missing_s = 60.0;
        standin_reply(b->server, "404 N\r\nX-Error-Code: RevisionNotFound", "");
        sl_expect_text(bench_fetch(b, alike[i], &ticket), "revision_not_found", alike[i]);
        bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
        sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
        CU_ASSERT_TRUE(ticket.model.info.known);
        bench_free(b);

        bench *const other = bench_new();
        bench_config_then(other, standin_config, "500 N", "");
        sl_expect_text(bench_fetch(other, "main", &ticket), "", "fetched");
        CU_ASSERT_FALSE(ticket.model.info.known);
        ticket = bench_ticket(other, alike[i]);
        CU_ASSERT_FALSE(sl_hub_model_recall(other->hub, &ticket));
        bench_free(other);
    }
}

/* Head and body of a part of a file whose header is `json`, from `first` on. */
static void
reply_part(standin *server, const char *json, size_t first, size_t size)
{
    char bytes[600000] = {0};
    char head[160];
    const size_t length = strlen(json);
    assert(length + 8 <= sizeof bytes);
    for (size_t i = 0; i < 4; i++)
        bytes[i] = (char)(unsigned char)(length >> 8 * i & 0xff);
    memcpy(bytes + 8, json, length);
    const size_t left = length + 8 - first;
    const size_t sent = size < left ? size : left;
    (void)sl_text_format(head, sizeof head,
                         "206 Partial Content\r\nContent-Range: bytes %zu-%zu/%zu\r\n"
                         "Content-Length: %zu",
                         first, first + sent - 1, length + 8, sent);
    standin_reply_bytes(server, head, bytes + first, sent);
}

static const char tensors[] = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2,3]},"
                              "\"b\":{\"dtype\":\"F32\",\"shape\":[4]}}";
static const char one_file[] = INFO(",\"siblings\":[{\"rfilename\":\"model.safetensors\"}]");

static void
without_a_count_of_the_hub_the_header_of_the_file_is_counted(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, one_file);
    reply_part(b->server, tensors, 0, 100001);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    CU_ASSERT_EQUAL(ticket.model.info.source, SL_HUB_COUNTED_HEADERS);
    CU_ASSERT_EQUAL(ticket.model.info.total, 10);
    const char *const request = standin_request(b->server, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(request, "/resolve/" COMMIT "/model.safetensors HTTP"));
    CU_ASSERT_PTR_NOT_NULL(strstr(request, "Range: bytes=0-100000\r\n"));
    CU_ASSERT_PTR_NULL(strstr(request, "Accept-Encoding"));
    /* Later questions are for whole files again. */
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "again");
    CU_ASSERT_PTR_NULL(strstr(standin_request(b->server, 0), "Range:"));
    ticket = bench_ticket(b, COMMIT);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    CU_ASSERT_EQUAL(ticket.model.info.source, SL_HUB_COUNTED_HEADERS);
    bench_free(b);
}

static void
a_long_header_takes_a_second_part(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    sl_buffer json;
    sl_buffer_init(&json, 500000);
    sl_buffer_text(&json, "{");
    for (int i = 0; i < 4000; i++)
        sl_buffer_format(&json, "%s\"layer.%d\":{\"dtype\":\"BF16\",\"shape\":[3]}",
                         i > 0 ? "," : "", i);
    sl_buffer_text(&json, "}");
    bench_config_then(b, standin_config, INFO_HEAD, one_file);
    reply_part(b->server, json.data, 0, 100001);
    reply_part(b->server, json.data, 8, json.size);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    CU_ASSERT_EQUAL(ticket.model.info.total, 12000);
    char range[64];
    (void)sl_text_format(range, sizeof range, "Range: bytes=8-%zu\r\n", json.size + 7);
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 3), range));
    sl_buffer_clear(&json);
    bench_free(b);
}

static void
the_files_of_an_index_are_counted_together(void)
{
    static const char info[] =
        INFO(",\"siblings\":[{\"rfilename\":\"model.safetensors.index.json\"}]");
    static const char index[] = "{\"weight_map\":{\"a\":\"m-1.safetensors\","
                                "\"b\":\"m-2.safetensors\",\"c\":\"m-1.safetensors\"}}";
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, info);
    standin_reply(b->server, FILE_HEAD "X-A: b", index);
    reply_part(b->server, tensors, 0, 100001);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    CU_ASSERT_EQUAL(ticket.model.info.total, 20);
    CU_ASSERT_EQUAL(standin_requests(b->server), 5);
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 3), "/m-1.safetensors HTTP"));
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 4), "/m-2.safetensors HTTP"));
    bench_free(b);
}

static void
a_header_that_does_not_come_as_asked_is_not_counted(void)
{
    static const char big[] = "\xff\xff\xff\xff\x00\x00\x00\x00{}";
    for (int kind = 0; kind < 5; kind++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        bench_config_then(b, standin_config, INFO_HEAD, one_file);
        if (kind == 0) /* a server that does not know ranges */
            standin_reply(b->server, FILE_HEAD "X-A: b", tensors);
        else if (kind == 1)
            standin_reply_bytes(b->server, "206 N\r\nContent-Range: bytes 0-9/10", big,
                                sizeof big - 1);
        else if (kind == 2)
            standin_reply(b->server, "206 N\r\nContent-Range: bytes 5-9/10", "01234");
        else if (kind == 3)
            standin_reply(b->server, "416 N", "");
        else
            reply_part(b->server, "{\"a\":7}", 0, 100001);
        sl_expect_text(bench_fetch(b, "main", &ticket), "", "the config came");
        CU_ASSERT_EQUAL(ticket.model.info.source, SL_HUB_NOT_COUNTED);
        CU_ASSERT_EQUAL(standin_requests(b->server), 3);

        /* What the Hub said is not forgotten, and the count asked for again after a while. */
        ticket = bench_ticket(b, COMMIT);
        CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
        CU_ASSERT_TRUE(ticket.model.info.known);
        sl_expect_text(ticket.model.info.gated, "false", "gated");
        bench_restart(b);
        ticket = bench_ticket(b, COMMIT);
        CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
        standin_forget(b->server);
        reply_part(b->server, tensors, 0, 100001);
        sl_expect_text(bench_fetch(b, COMMIT, &ticket), "", "counted");
        CU_ASSERT_EQUAL(ticket.model.info.source, SL_HUB_COUNTED_HEADERS);
        CU_ASSERT_EQUAL(ticket.model.info.total, 10);
        CU_ASSERT_EQUAL(standin_requests(b->server), 1);
        bench_free(b);
    }
}

static const char modelopt[] = INFO(",\"siblings\":[{\"rfilename\":\"hf_quant_config.json\"}]");

static void
a_quantisation_of_a_file_of_its_own_is_fetched_with_the_config(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, modelopt);
    standin_reply(b->server, FILE_HEAD "X-A: b", "{\"quantization\": {}}");
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    sl_expect_text(ticket.model.quantization.text, "{\"quantization\": {}}", "text");
    CU_ASSERT_FALSE(ticket.model.quantization_missing);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(standin_request(b->server, 2), "/resolve/" COMMIT "/hf_quant_config.json HTTP"));
    ticket = bench_ticket(b, COMMIT);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    sl_expect_text(ticket.model.quantization.text, "{\"quantization\": {}}", "cached");
    bench_free(b);
}

static void
a_config_that_names_its_quantisation_needs_no_other_file(void)
{
    static const char *const configs[] = {"{\"quantization_config\": {}}",
                                          "{\"text_config\": {\"quantization_config\": {}}}"};
    for (size_t i = 0; i < COUNT(configs); i++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        bench_config_then(b, configs[i], INFO_HEAD, modelopt);
        sl_expect_text(bench_fetch(b, "main", &ticket), "", configs[i]);
        CU_ASSERT_PTR_NULL(ticket.model.quantization.text);
        CU_ASSERT_EQUAL(standin_requests(b->server), 2);
        bench_free(b);
    }
}

static void
a_quantisation_that_a_cache_holds_is_found_without_the_hub(void)
{
    static const char text[] = "{\"quantization\": {}}";
    bench *const b = bench_new();
    sl_hub_cached file = {.text = standin_config, .size = strlen(standin_config), .commit = COMMIT};
    sl_hub_cache_store(b->hub->cache_dir, "org/name", NULL, "config.json", &file);
    b->settings.hub_offline = true;
    bench_restart(b);
    sl_hub_ticket ticket = bench_ticket(b, COMMIT);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    CU_ASSERT_PTR_NULL(ticket.model.quantization.text);
    CU_ASSERT_FALSE(ticket.model.quantization_missing);

    file.text = text;
    file.size = sizeof text - 1;
    sl_hub_cache_store(b->hub->cache_dir, "org/name", NULL, "hf_quant_config.json", &file);
    ticket = bench_ticket(b, COMMIT);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    sl_expect_text(ticket.model.quantization.text, text, "text");
    bench_free(b);
}

static void
a_model_is_whole_even_where_nothing_can_be_kept(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    CU_ASSERT_TRUE(sl_text_copy(b->hub->cache_dir, sizeof b->hub->cache_dir, "/dev/null/x"));
    bench_config_then(b, standin_config, INFO_HEAD, modelopt);
    standin_reply(b->server, FILE_HEAD "X-A: b", "{\"quantization\": {}}");
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    CU_ASSERT_TRUE(ticket.model.info.known);
    CU_ASSERT_PTR_NOT_NULL(ticket.model.quantization.text);
    bench_free(b);
}

static void
without_the_information_the_quantisation_is_asked_for_all_the_same(void)
{
    static const char lacking[] = "404 N\r\nX-Error-Code: EntryNotFound\r\nX-Repo-Commit: " COMMIT;
    for (int there = 0; there < 2; there++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        bench_config_then(b, standin_config, "500 N", "");
        standin_reply(b->server, there ? FILE_HEAD "X-A: b" : lacking, "{\"quantization\": {}}");
        sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
        CU_ASSERT_FALSE(ticket.model.info.known);
        CU_ASSERT_FALSE(ticket.model.quantization_missing);
        CU_ASSERT_EQUAL(ticket.model.quantization.text != NULL, there != 0);
        bench_restart(b); /* what a commit holds is known for ever */
        b->hub->limits.check_s = 0.0;
        sl_expect_text(bench_fetch(b, COMMIT, &ticket), "", "again");
        CU_ASSERT_FALSE(ticket.model.quantization_missing);
        CU_ASSERT_EQUAL(ticket.model.quantization.text != NULL, there != 0);
        CU_ASSERT_EQUAL(standin_requests(b->server), 3);
        bench_free(b);
    }
}

static void
a_quantisation_that_cannot_be_had_is_told(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, modelopt);
    standin_reply(b->server, "500 N", "");
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "the config came");
    CU_ASSERT_TRUE(ticket.model.quantization_missing);
    CU_ASSERT_PTR_NULL(ticket.model.quantization.text);
    CU_ASSERT_EQUAL(standin_requests(b->server), 3);
    bench_free(b);
}

static const sl_case cases[] = {
    SL_CASE(a_check_that_fails_costs_neither_the_answer_nor_a_second_try),
    SL_CASE(a_failed_check_and_a_missing_revision_are_not_mistaken_for_each_other),
    SL_CASE(without_a_count_of_the_hub_the_header_of_the_file_is_counted),
    SL_CASE(a_long_header_takes_a_second_part),
    SL_CASE(the_files_of_an_index_are_counted_together),
    SL_CASE(a_header_that_does_not_come_as_asked_is_not_counted),
    SL_CASE(a_quantisation_of_a_file_of_its_own_is_fetched_with_the_config),
    SL_CASE(a_config_that_names_its_quantisation_needs_no_other_file),
    SL_CASE(a_quantisation_that_a_cache_holds_is_found_without_the_hub),
    SL_CASE(a_model_is_whole_even_where_nothing_can_be_kept),
    SL_CASE(without_the_information_the_quantisation_is_asked_for_all_the_same),
    SL_CASE(a_quantisation_that_cannot_be_had_is_told),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub_check", cases, COUNT(cases));
}
