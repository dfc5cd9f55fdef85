/** Sharding maps as JSON, a bounded page at a time, and the query that chooses what is on it. */
#ifndef SL_CODEC_SHARDING_JSON_H
#define SL_CODEC_SHARDING_JSON_H

#include "codec/question/question.h"
#include "shardline/sharding.h"

enum {
    SL_RANK_RANGES_MAX = 64,
    SL_SHARDS_DEFAULT = 10000,
    SL_SHARDS_MAX = 100000, /* of a page */
    SL_RANKS_LISTED_MAX = 1 << 16,
    SL_SHARDED_PARTS_MAX = 1 << 24 /* tensors x tensor-parallel ranks */
};

/** First and last rank of a range. */
typedef struct sl_rank_range {
    uint64_t first, last;
} sl_rank_range;

typedef struct sl_sharding_query {
    uint32_t range_count;                     /* 0: all ranks */
    sl_rank_range ranges[SL_RANK_RANGES_MAX]; /* ascending, apart */
    const char *tensor;                       /* pattern with * and ?; NULL: all */
    uint32_t limit;                           /* shards of a page */
    uint64_t entry, part, shard;              /* where the page begins: of tensors, then units */
} sl_sharding_query;

/**
 * ranks   "0-7,12", or NULL: all
 * cursor  next_cursor of the page before, or NULL
 * limit and pattern are the caller's to fill. Errors: SL_E_RANGE with rule invalid_ranks or
 * invalid_cursor, without pointer: they are no part of the document.
 */
sl_code sl_sharding_query_read(const char *ranks, const char *cursor, sl_sharding_query *out,
                               sl_errors *err) SL_MUST_CHECK;

/** SL_E_RANGE with rule out_of_range when ranks are asked for that there are not, and too_many when
 * the map has more ranks than one page lists, or more parts of tensors than may be walked. */
sl_code sl_sharding_query_check(const sl_sharding_query *query, const sl_sharding *sharding,
                                sl_errors *err) SL_MUST_CHECK;

/**
 * Writes the page. Ranks are texts: ranges "0-7", single ranks "5", every eighth "0-56:8", joined
 * by commas; under a filter only those asked for. request lends its notes; warnings are NULL or
 * what ?unknown=warn let pass. False: a text of ranks did not fit in memory.
 */
bool sl_sharding_write(sl_writer *writer, const sl_sharding *sharding,
                       const sl_sharding_query *query, const sl_estimate_request *request,
                       const sl_errors *warnings) SL_MUST_CHECK;

#endif
