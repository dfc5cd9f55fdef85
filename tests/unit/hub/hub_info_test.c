/* What the Hub says in documents and headers, read without a network: counts, lists, waits. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "hub/hits.h"
#include "hub/info.h"
#include "hub/rate.h"
#include "hub/safetensors.h"
#include "hub/scan.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

/* No time is over. */
static const atomic_bool never;
static const sl_hub_until for_ever = {&never, 1e300};

static bool
read_info(const char *text, sl_hub_info *out)
{
    return sl_hub_info_read(text, strlen(text), COMMIT, out);
}

static void
a_wait_is_asked_for_only_where_nothing_is_left(void)
{
    static const struct {
        const char *ratelimit, *retry_after;
        double seconds;
    } rows[] = {
        {NULL, NULL, -1},
        {"\"api\";r=0;t=55", NULL, 55},
        {"\"api\"; r=0; t=6", "77", 6},
        {"\"api\";t=55;r=0", NULL, 55},
        {"\"api\";r=499;t=55", NULL, -1},
        {"\"api\";r=499;t=55", "77", 77},
        {"\"api\";r=0", "77", 77},
        {"\"api\";r=x;t=55", NULL, -1},
        {"r=0;t=55", NULL, -1},
        {"", "", -1},
        {NULL, "Wed, 21 Oct 2026 07:28:00 GMT", -1},
        {NULL, "-1", -1},
        {NULL, "99999999999", -1},
        {NULL, "0", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double seconds = sl_hub_wait_asked_for(rows[i].ratelimit, rows[i].retry_after);
        if (rows[i].seconds < 0)
            CU_ASSERT_TRUE(seconds < 0)
        else
            CU_ASSERT_DOUBLE_EQUAL(seconds, rows[i].seconds, 0);
    }
}

static void
an_information_document_gives_counts_gate_and_files(void)
{
    sl_hub_info info;
    CU_ASSERT_TRUE(read_info("{\"_id\":\"x\",\"id\":\"a/b\",\"sha\":\"" COMMIT
                             "\",\"gated\":\"auto\",\"safetensors\":{\"parameters\":{\"BF16\":7,"
                             "\"F32\":1},\"total\":8},\"siblings\":[{\"rfilename\":\"README.md\"},{"
                             "\"rfilename\":\"hf_quant_config.json\"},{\"rfilename\":\"x/"
                             "model.safetensors\"},{\"rfilename\":\"model.safetensors.index.json\"}"
                             "]}",
                             &info));
    CU_ASSERT_TRUE(info.known && info.has_quantization_file && info.has_index);
    CU_ASSERT_FALSE(info.has_safetensors);
    sl_expect_text(info.gated, "auto", "gated");
    CU_ASSERT_EQUAL(info.source, SL_HUB_COUNTED_METADATA);
    CU_ASSERT_EQUAL(info.total, 8);
    CU_ASSERT_EQUAL(info.dtype_count, 2);
    sl_expect_text(info.dtypes[1].name, "F32", "type");
    CU_ASSERT_EQUAL(info.dtypes[1].elements, 1);
}

static void
what_a_document_leaves_out_is_unknown(void)
{
    sl_hub_info info;
    CU_ASSERT_TRUE(read_info("{\"sha\":\"" COMMIT "\"}", &info));
    CU_ASSERT_TRUE(info.known);
    CU_ASSERT_PTR_NULL(info.gated);
    CU_ASSERT_EQUAL(info.source, SL_HUB_NOT_COUNTED);
    CU_ASSERT_TRUE(
        read_info("{\"sha\":\"" COMMIT "\",\"gated\":\"perhaps\",\"siblings\":7}", &info));
    CU_ASSERT_PTR_NULL(info.gated);
    CU_ASSERT_TRUE(read_info("{\"sha\":\"" COMMIT "\",\"gated\":true,\"siblings\":[1,{}]}", &info));
    sl_expect_text(info.gated, "true", "gated");
}

static void
a_document_that_cannot_be_is_refused(void)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "7",
        "null",
        "{",
        "{}",
        "{\"sha\":7}",
        "{\"sha\":\"fedcba9876543210fedcba9876543210fedcba98\"}",
        "{\"sha\":\"" COMMIT "\",\"sha\":\"" COMMIT "\"}",
        "{\"sha\":\"" COMMIT "\",\"safetensors\":7}",
        "{\"sha\":\"" COMMIT "\",\"safetensors\":{}}",
        "{\"sha\":\"" COMMIT "\",\"safetensors\":{\"total\":-1}}",
        "{\"sha\":\"" COMMIT "\",\"safetensors\":{\"total\":1e30}}",
        "{\"sha\":\"" COMMIT "\",\"safetensors\":{\"total\":1,\"parameters\":{\"BF16\":\"7\"}}}",
        "{\"sha\":\"" COMMIT "\",\"safetensors\":{\"total\":1,\"parameters\":{\"\":7}}}",
        "{\"sha\":\"" COMMIT
        "\",\"safetensors\":{\"total\":1,\"parameters\":{\"a name far too long\":7}}}",
    };
    sl_hub_info info = {.total = 77};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (read_info(wrong[i], &info))
            sl_expect_text(wrong[i], "refused", "document");
        CU_ASSERT_EQUAL(info.total, 77);
    }
}

static void
what_is_kept_reads_back_the_same(void)
{
    static const char *const gates[] = {NULL, "false", "true", "auto", "manual"};
    for (size_t i = 0; i < COUNT(gates); i++) {
        const sl_hub_info info = {.known = true,
                                  .gated = gates[i],
                                  .has_quantization_file = true,
                                  .has_safetensors = i % 2 == 0,
                                  .source = i == 0   ? SL_HUB_NOT_COUNTED
                                            : i == 1 ? SL_HUB_COUNTED_METADATA
                                                     : SL_HUB_COUNTED_HEADERS,
                                  .total = i == 0 ? 0 : 9007199254740993,
                                  .dtype_count = i == 0 ? 0 : 1,
                                  .dtypes = {{"F8_E4M3", i == 0 ? 0 : 9007199254740993}}};
        sl_hub_info read;
        sl_buffer text;
        sl_buffer_init(&text, 4096);
        sl_hub_info_write(&info, COMMIT, &text);
        CU_ASSERT_FALSE(text.failed);
        CU_ASSERT_TRUE_FATAL(sl_hub_info_read(text.data, text.size, COMMIT, &read));
        CU_ASSERT_EQUAL(read.source, info.source);
        CU_ASSERT_EQUAL(read.total, info.total);
        CU_ASSERT_EQUAL(read.dtype_count, info.dtype_count);
        CU_ASSERT_EQUAL(read.dtypes[0].elements, info.dtypes[0].elements);
        CU_ASSERT_EQUAL(read.has_safetensors, info.has_safetensors);
        CU_ASSERT_TRUE(read.has_quantization_file && !read.has_index);
        if (gates[i] == NULL)
            CU_ASSERT_PTR_NULL(read.gated)
        else
            sl_expect_text(read.gated, gates[i], "gated");
        sl_buffer_clear(&text);
    }
}

static void
a_header_is_as_long_as_its_first_eight_bytes_say(void)
{
    static const char short_one[] = {0x10, 0x27, 0, 0, 0, 0, 0, 0};
    static const char most[] = {0x40, 0x78, 0x7d, 0x01, 0, 0, 0, 0};
    static const char more[] = {0x41, 0x78, 0x7d, 0x01, 0, 0, 0, 0};
    static const char huge[] = {0, 0, 0, 0, 0, 0, 0, 1};
    uint64_t size = 0;
    CU_ASSERT_TRUE(sl_hub_header_size(short_one, 8, &size));
    CU_ASSERT_EQUAL(size, 10000);
    CU_ASSERT_TRUE(sl_hub_header_size(most, 8, &size));
    CU_ASSERT_EQUAL(size, 25000000);
    CU_ASSERT_FALSE(sl_hub_header_size(more, 8, &size));
    CU_ASSERT_FALSE(sl_hub_header_size(huge, 8, &size));
    CU_ASSERT_FALSE(sl_hub_header_size(short_one, 7, &size));
}

static void
a_header_is_counted_by_type(void)
{
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\"}, \"a\\\"}\":{\"dtype\":\"BF16\",\"shape\":[2,3],"
        "\"data_offsets\":[0,12]},\n\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]}"
        ","
        "\"c\":{\"dtype\":\"BF16\",\"shape\":[5,0]}}   ";
    sl_hub_info info = {.known = true};
    CU_ASSERT_TRUE(sl_hub_header_count(header, sizeof header - 1, &for_ever, &info));
    CU_ASSERT_TRUE(sl_hub_header_count(header, sizeof header - 1, &for_ever, &info));
    CU_ASSERT_EQUAL(info.total, 14);
    CU_ASSERT_EQUAL(info.dtype_count, 2);
    CU_ASSERT_EQUAL(info.dtypes[0].elements, 12);
    CU_ASSERT_EQUAL(info.dtypes[1].elements, 2);
}

static void
a_header_that_cannot_be_is_refused(void)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{",
        "{}x",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":7}",
        "{\"a\":{}}",
        "{,}",
        "{\"a\":{\"dtype\":\"BF16\"}}",
        "{\"a\":{\"dtype\":7,\"shape\":[1]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":7}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[-1]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1.5]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[4294967296,4294967296]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[[[[1]]]]}}",
        "{\"a\":{\"dtype\":\"BF 16\",\"shape\":[1]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"shape\":[2]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[NaN]}}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1]}",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1]} \"b\":1}",
        "{\"a:1}",
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        sl_hub_info info = {.known = true};
        if (sl_hub_header_count(wrong[i], strlen(wrong[i]), &for_ever, &info))
            sl_expect_text(wrong[i], "refused", "header");
    }
    sl_hub_info full = {.known = true, .total = UINT64_MAX};
    static const char one[] = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1]}}";
    CU_ASSERT_FALSE(sl_hub_header_count(one, sizeof one - 1, &for_ever, &full));
}

static void
a_text_that_nests_deep_is_not_walked(void)
{
    char text[400] = "{\"a\":";
    memset(text + 5, '[', 300);
    sl_hub_scan scan;
    sl_hub_member member;
    sl_hub_scan_open(&scan, text, strlen(text));
    CU_ASSERT_FALSE(sl_hub_scan_next(&scan, &member));
    CU_ASSERT_TRUE(scan.failed);
}

static void
an_index_names_each_file_once(void)
{
    static const char index[] =
        "{\"metadata\":{\"total_size\":7},\"weight_map\":{\"a\":\"model-00001-of-00002."
        "safetensors\","
        "\"b\":\"model-00002-of-00002.safetensors\",\"c\":\"model-00001-of-00002.safetensors\"}}";
    static const char *const wrong[] = {
        "{}",
        "[]",
        "{\"weight_map\":{}}",
        "{\"weight_map\":7}",
        "{\"weight_map\":{\"a\":7}}",
        "{\"weight_map\":{\"a\":\"../x.safetensors\"}}",
        "{\"weight_map\":{\"a\":\"x/y.safetensors\"}}",
        "{\"weight_map\":{\"a\":\"x.bin\"}}",
        "{\"weight_map\":{\"a\":\".safetensors\"}}",
        "{\"weight_map\":{\"a\":\"x\\u0041.safetensors\"}}",
        "{\"weight_map\":{\"a\":\"x.safetensors\"},\"weight_map\":{\"a\":\"y.safetensors\"}}",
        "{\"weight_map\":{\"a\":\"x.safetensors\"}"};
    sl_arena *const arena = sl_arena_new(1 << 20);
    const char **shards = NULL;
    size_t count = 0;
    assert(arena != NULL);
    CU_ASSERT_TRUE_FATAL(
        sl_hub_index_shards(index, sizeof index - 1, &for_ever, arena, &shards, &count));
    CU_ASSERT_EQUAL_FATAL(count, 2);
    sl_expect_text(shards[0], "model-00001-of-00002.safetensors", "first");
    sl_expect_text(shards[1], "model-00002-of-00002.safetensors", "second");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (sl_hub_index_shards(wrong[i], strlen(wrong[i]), &for_ever, arena, &shards, &count))
            sl_expect_text(wrong[i], "refused", "index");
    }
    sl_arena_free(arena);
}

static void
a_long_document_is_left_when_the_time_is_over(void)
{
    static const char header[] = "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2]}}";
    static const char index[] = "{\"weight_map\":{\"a\":\"m.safetensors\"}}";
    const atomic_bool always = true;
    const sl_hub_until cancelled = {&always, 1e300}, late = {&never, 0.0};
    const sl_hub_until *const over[] = {&cancelled, &late};
    sl_arena *const arena = sl_arena_new(1 << 20);
    const char **shards = NULL;
    size_t count = 0;
    assert(arena != NULL);
    for (size_t i = 0; i < COUNT(over); i++) {
        sl_hub_info info = {.known = false};
        CU_ASSERT_FALSE(sl_hub_header_count(header, sizeof header - 1, over[i], &info));
        CU_ASSERT_FALSE(
            sl_hub_index_shards(index, sizeof index - 1, over[i], arena, &shards, &count));
    }
    sl_arena_free(arena);
}

static void
an_index_of_too_many_files_is_refused(void)
{
    sl_arena *const arena = sl_arena_new(1 << 20);
    const char **shards = NULL;
    size_t count = 0;
    sl_buffer text;
    assert(arena != NULL);
    for (int files = SL_HUB_SHARDS_MAX; files <= SL_HUB_SHARDS_MAX + 1; files++) {
        sl_buffer_init(&text, 1 << 20);
        sl_buffer_text(&text, "{\"weight_map\":{");
        for (int i = 0; i < files; i++)
            sl_buffer_format(&text, "%s\"%d\":\"m%d.safetensors\"", i > 0 ? "," : "", i, i);
        sl_buffer_text(&text, "}}");
        CU_ASSERT_EQUAL(
            sl_hub_index_shards(text.data, text.size, &for_ever, arena, &shards, &count),
            files == SL_HUB_SHARDS_MAX);
        sl_buffer_clear(&text);
    }
    sl_arena_free(arena);
}

static void
a_list_of_models_keeps_what_can_be_asked_for(void)
{
    static const char list[] =
        "[{\"id\":\"org/one\",\"gated\":\"manual\",\"downloads\":7,\"likes\":-1,"
        "\"library_name\":\"transformers\",\"lastModified\":\"2026-01-02T03:04:05.000Z\"},"
        "{\"id\":\"../etc\"},{\"id\":\"https://x/y\"},{\"modelId\":\"a\"},7,{\"id\":\"two\","
        "\"downloads\":\"many\",\"library_name\":\"a b\"},{\"id\":\"three\"}]";
    sl_arena *const arena = sl_arena_new(1 << 20);
    sl_hub_found found = {.count = 0};
    assert(arena != NULL);
    CU_ASSERT_TRUE_FATAL(sl_hub_hits_read(list, sizeof list - 1, 2, arena, &found));
    CU_ASSERT_EQUAL_FATAL(found.count, 2);
    sl_expect_text(found.hits[0].id, "org/one", "id");
    sl_expect_text(found.hits[0].gated, "manual", "gated");
    CU_ASSERT_TRUE(found.hits[0].has_downloads && !found.hits[0].has_likes);
    CU_ASSERT_EQUAL(found.hits[0].downloads, 7);
    sl_expect_text(found.hits[0].library, "transformers", "library");
    sl_expect_text(found.hits[1].id, "two", "the next one that can be asked for");
    CU_ASSERT_FALSE(found.hits[1].has_downloads);
    CU_ASSERT_PTR_NULL(found.hits[1].library);
    CU_ASSERT_PTR_NULL(found.hits[1].gated);
    CU_ASSERT_FALSE(sl_hub_hits_read("{}", 2, 2, arena, &found));
    CU_ASSERT_FALSE(sl_hub_hits_read("[", 1, 2, arena, &found));
    CU_ASSERT_TRUE(sl_hub_hits_read("[]", 2, 2, arena, &found));
    CU_ASSERT_EQUAL(found.count, 0);
    sl_arena_free(arena);
}

static void
addresses_ask_for_the_fields_that_are_read(void)
{
    char url[1024];
    CU_ASSERT_TRUE(sl_hub_search_url("https://huggingface.co", "a b/c&d", 5, url, sizeof url));
    CU_ASSERT_STRING_EQUAL(
        url, "https://huggingface.co/api/models?search=a%20b%2Fc%26d&limit=5&sort=downloads&"
             "direction=-1&expand=gated&expand=downloads&expand=likes&expand=library_name&"
             "expand=lastModified");
    CU_ASSERT_TRUE(sl_hub_search_url("https://huggingface.co", "", 5, url, sizeof url));
    CU_ASSERT_PTR_NOT_NULL(strstr(url, "/api/models?limit=5&sort="));
    CU_ASSERT_TRUE(sl_hub_info_url("https://h", "a/b", COMMIT, url, sizeof url));
    CU_ASSERT_STRING_EQUAL(url, "https://h/api/models/a/b/revision/" COMMIT
                                "?expand=safetensors&expand=gated&expand=sha&expand=siblings");
}

static const sl_case cases[] = {
    SL_CASE(a_wait_is_asked_for_only_where_nothing_is_left),
    SL_CASE(an_information_document_gives_counts_gate_and_files),
    SL_CASE(what_a_document_leaves_out_is_unknown),
    SL_CASE(a_document_that_cannot_be_is_refused),
    SL_CASE(what_is_kept_reads_back_the_same),
    SL_CASE(a_header_is_as_long_as_its_first_eight_bytes_say),
    SL_CASE(a_header_is_counted_by_type),
    SL_CASE(a_header_that_cannot_be_is_refused),
    SL_CASE(a_text_that_nests_deep_is_not_walked),
    SL_CASE(an_index_names_each_file_once),
    SL_CASE(a_long_document_is_left_when_the_time_is_over),
    SL_CASE(an_index_of_too_many_files_is_refused),
    SL_CASE(a_list_of_models_keeps_what_can_be_asked_for),
    SL_CASE(addresses_ask_for_the_fields_that_are_read),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub_info", cases, COUNT(cases));
}
