/* What of a sharding map is asked for. */
#include "codec/answer/sharding_json.h"

#include <assert.h>
#include <inttypes.h>

#include "base/text.h"

/* Digits at *at, of at most twelve; false without any. */
static bool
read_number(const char **at, uint64_t *out)
{
    uint32_t digits = 0;

    *out = 0;
    for (; **at >= '0' && **at <= '9' && digits < 12; digits++, (*at)++)
        *out = 10 * *out + (uint64_t)(**at - '0');
    return digits > 0;
}

static sl_code
refuse_ranks(const char *text, sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_RANGE, "invalid_ranks", "",
                                 "rank must list up to %d ranges of ranks in ascending order, got "
                                 "%.60s",
                                 SL_RANK_RANGES_MAX, text);
    sl_hint(err, "0-7,12");
    return code;
}

static sl_code
read_ranks(const char *text, sl_sharding_query *out, sl_errors *err)
{
    const char *at = text;

    do {
        sl_rank_range range;
        if (out->range_count == SL_RANK_RANGES_MAX || !read_number(&at, &range.first))
            return refuse_ranks(text, err);
        range.last = range.first;
        if (*at == '-') {
            at++;
            if (!read_number(&at, &range.last) || range.last < range.first)
                return refuse_ranks(text, err);
        }
        if (out->range_count > 0 && range.first <= out->ranges[out->range_count - 1].last)
            return refuse_ranks(text, err);
        out->ranges[out->range_count++] = range;
    } while (*at == ',' && at++ != NULL);
    return *at == '\0' ? SL_OK : refuse_ranks(text, err);
}

static sl_code
read_cursor(const char *text, sl_sharding_query *out, sl_errors *err)
{
    const char *at = text;

    if (read_number(&at, &out->entry) && *at++ == '.' && read_number(&at, &out->part) &&
        *at++ == '.' && read_number(&at, &out->shard) && *at == '\0')
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "invalid_cursor", "",
                   "cursor must be the next_cursor of the page before, got %.60s", text);
}

sl_code
sl_sharding_query_read(const char *ranks, const char *cursor, sl_sharding_query *out,
                       sl_errors *err)
{
    assert(out != NULL && err != NULL);

    const sl_code first = ranks == NULL ? SL_OK : read_ranks(ranks, out, err);
    const sl_code second = cursor == NULL ? SL_OK : read_cursor(cursor, out, err);

    return first != SL_OK ? first : second;
}

sl_code
sl_sharding_query_check(const sl_sharding_query *query, const sl_sharding *sharding, sl_errors *err)
{
    assert(query != NULL && sharding != NULL && err != NULL);

    const uint64_t world = sl_plan_world(&sharding->question->plan);
    uint64_t ranks = query->range_count == 0 ? world : 0;
    sl_code code = SL_OK;

    for (uint32_t i = 0; i < query->range_count; i++) {
        ranks += query->ranges[i].last - query->ranges[i].first + 1;
        if (query->ranges[i].last >= world)
            code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                           "rank must be below the %" PRIu64 " of the plan, got %" PRIu64, world,
                           query->ranges[i].last);
    }
    if (code == SL_OK && ranks > SL_RANKS_LISTED_MAX) {
        code = sl_fail(err, SL_E_RANGE, "too_many", "",
                       "at most %d ranks are listed at once, got %" PRIu64, SL_RANKS_LISTED_MAX,
                       ranks);
        sl_hint(err, "rank=0-%d", SL_RANKS_LISTED_MAX - 1);
    }
    const uint64_t tensors = sl_sharding_tensor_count(sharding);
    const uint32_t cut = sharding->question->plan.tensor;
    if (tensors > SL_SHARDED_PARTS_MAX / cut)
        code = sl_fail(err, SL_E_RANGE, "too_many", "/model",
                       "at most %d parts of tensors are mapped, got %" PRIu64 " tensors on %" PRIu32
                       " ranks each",
                       SL_SHARDED_PARTS_MAX, tensors, cut);
    return code;
}
