/* Any text where the Hub answers with a document: what it says of a model, a list of models, the
 * header and the index of safetensors files, and how long to wait. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hub/hits.h"
#include "hub/info.h"
#include "hub/rate.h"
#include "hub/repository.h"
#include "hub/safetensors.h"
#include "hub/scan.h"

enum { ARENA_BYTES = 256 * 1024, HITS = 4, WAIT_MAX_S = 1000000000, LENGTH_BYTES = 8 };

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

/* No time is over. */
static const atomic_bool never;
static const sl_hub_until for_ever = {&never, 1e300};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
expect_same(const sl_hub_info *a, const sl_hub_info *b)
{
    assert(a->total == b->total && a->source == b->source && a->gated == b->gated);
    assert(a->has_index == b->has_index && a->has_safetensors == b->has_safetensors);
    assert(a->has_quantization_file == b->has_quantization_file);
    assert(a->dtype_count == b->dtype_count && a->dtype_count <= SL_HUB_DTYPES_MAX);
    for (uint32_t i = 0; i < a->dtype_count; i++)
        assert(a->dtypes[i].elements == b->dtypes[i].elements &&
               sl_text_equal(a->dtypes[i].name, b->dtypes[i].name));
}

/* What was read, written and read again is the same. */
static void
use_info(const char *text, size_t size)
{
    sl_hub_info info, again;
    sl_buffer kept;
    if (!sl_hub_info_read(text, size, COMMIT, &info))
        return;
    assert(info.known);
    sl_buffer_init(&kept, 1 << 16);
    sl_hub_info_write(&info, COMMIT, &kept);
    assert(!kept.failed && sl_hub_info_read(kept.data, kept.size, COMMIT, &again));
    expect_same(&info, &again);
    sl_buffer_clear(&kept);
}

static void
use_list(const char *text, size_t size)
{
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_hub_found found = {.count = 0};
    assert(arena != NULL);
    if (sl_hub_hits_read(text, size, HITS, arena, &found)) {
        assert(found.count <= HITS);
        for (uint32_t i = 0; i < found.count; i++) {
            sl_errors err = {.count = 0};
            assert(sl_hub_check_id(found.hits[i].id, "main", "", &err) == SL_OK);
            assert(found.hits[i].library == NULL || sl_hub_is_visible(found.hits[i].library));
        }
    }
    sl_arena_free(arena);
}

static void
use_safetensors(const char *text, size_t size)
{
    sl_hub_info info = {.known = true};
    uint64_t length = 0;
    if (sl_hub_header_size(text, size, &length))
        assert(size >= LENGTH_BYTES && length <= SL_HUB_HEADER_MAX_BYTES);
    if (sl_hub_header_count(text, size, &for_ever, &info)) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < info.dtype_count; i++)
            sum += info.dtypes[i].elements;
        assert(sum == info.total);
    }

    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    const char **shards = NULL;
    size_t count = 0;
    assert(arena != NULL);
    if (sl_hub_index_shards(text, size, &for_ever, arena, &shards, &count)) {
        assert(count >= 1 && count <= SL_HUB_SHARDS_MAX);
        for (size_t i = 0; i < count; i++)
            assert(strchr(shards[i], '/') == NULL && shards[i][0] != '.' &&
                   sl_hub_is_visible(shards[i]));
    }
    sl_arena_free(arena);
}

/* Members stand inside the text, one behind the other. */
static void
use_scan(const char *text, size_t size)
{
    sl_hub_scan scan;
    sl_hub_member member;
    const char *last = text;
    sl_hub_scan_open(&scan, text, size);
    while (sl_hub_scan_next(&scan, &member)) {
        assert(member.key > last && member.key + member.key_size < member.value);
        assert(member.value_size > 0 && member.value + member.value_size <= text + size);
        last = member.value + member.value_size - 1;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* Exactly as long as the input: a read behind its end is seen. */
    char *const text = malloc(size > 0 ? size : 1);
    char *const line = malloc(size + 1);
    if (text != NULL && line != NULL) {
        if (size > 0)
            memcpy(text, bytes, size);
        memcpy(line, text, size);
        line[size] = '\0';
        use_info(text, size);
        use_list(text, size);
        use_safetensors(text, size);
        use_scan(text, size);
        assert(sl_hub_wait_asked_for(line, NULL) < WAIT_MAX_S);
        assert(sl_hub_wait_asked_for(NULL, line) < WAIT_MAX_S);
    }
    free(line);
    free(text);
    return 0;
}
