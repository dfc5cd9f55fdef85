/** The teaching accountings: beside an exact estimate, or alone for a bare number of parameters. */
#ifndef SL_CODEC_ACCOUNTING_JSON_H
#define SL_CODEC_ACCOUNTING_JSON_H

#include "codec/question/question.h"
#include "json/writer.h"

typedef struct sl_accounted {
    const sl_accounting_info *info;
    uint64_t parameters;
    uint64_t cut;   /* tensor x pipeline: over how many ranks one copy lies */
    uint64_t ranks; /* data-parallel, that share one copy of the states */
    uint64_t world;
    uint32_t zero_stage;
    sl_accounting_bytes whole;     /* undivided */
    sl_accounting_bytes rank;      /* of one rank */
    uint64_t minimum_accelerators; /* 0 = no cluster to count in */
} sl_accounted;

/**
 * What the request's accounting says about `parameters` under a plan. The weights are cut by
 * tensor and pipeline parallelism first, then by the ZeRO stage over the data-parallel ranks, or
 * over those of a shard group.
 * Needs an accounting other than exact. SL_E_RANGE (out_of_range) past uint64_t.
 */
sl_code sl_accounting_answer(const sl_estimate_request *request, const sl_plan *plan,
                             uint64_t parameters, sl_accounted *out, sl_errors *err) SL_MUST_CHECK;

/** The "accounting" object of an answer. */
void sl_accounting_write(sl_writer *writer, const sl_accounted *accounted);

/** "memory" of an answer that has nothing else: one entry in ranks. cluster may be NULL. Returns
 * whether a rank fits, as far as a cluster says. */
bool sl_accounting_memory_write(sl_writer *writer, const sl_accounted *accounted,
                                const sl_cluster *cluster);

#endif
