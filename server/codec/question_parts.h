/** The parts of an estimate request, one reader each (question.c puts them together). */
#ifndef SL_CODEC_QUESTION_PARTS_H
#define SL_CODEC_QUESTION_PARTS_H

#include "codec/cluster.h"
#include "codec/question.h"

enum { SL_SEQUENCE_LENGTH_MAX = 1 << 24, SL_GLOBAL_BATCH_MAX = 1 << 20, SL_PARALLEL_MAX = 1 << 20 };

sl_code sl_question_read_workload(sl_estimate_request *request, const sl_catalog *catalog,
                                  sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;
/* Members of the workload that are or may be objects; absent ones leave a field open or change
 * nothing. */
sl_code sl_question_read_recompute(sl_estimate_request *request, sl_errors *warnings,
                                   sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_documents(sl_estimate_request *request, sl_errors *warnings,
                                   sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_moe(sl_estimate_request *request, sl_errors *warnings,
                             sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_fp8(sl_estimate_request *request, sl_errors *warnings,
                             sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_adapter(sl_estimate_request *request, sl_errors *warnings,
                                 sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_offload(sl_estimate_request *request, sl_errors *warnings,
                                 sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_traffic(sl_estimate_request *request, sl_errors *warnings,
                                 sl_errors *err) SL_MUST_CHECK;
sl_code sl_question_read_plan(sl_estimate_request *request, sl_errors *warnings,
                              sl_errors *err) SL_MUST_CHECK;

/* "hosts" of a cluster that names an inventory. */
sl_code sl_question_read_hosts(sl_estimate_request *request, sl_errors *err) SL_MUST_CHECK;

/* Keeps to the usable nodes of a pool: *nodes becomes their number where none was asked for.
 * pool: its name. */
sl_code sl_question_check_hosts(sl_estimate_request *request, const char *pool, uint64_t *nodes,
                                sl_errors *err) SL_MUST_CHECK;

/* What a comparison compares; needs the workload's kind. */
sl_code sl_question_read_comparison(sl_estimate_request *request, sl_errors *err) SL_MUST_CHECK;

/* The members of an inline cluster, checked; those that describe a pool go to *pool. */
sl_code sl_question_read_cluster(sl_estimate_request *request, sl_pool *pool, sl_errors *warnings,
                                 sl_errors *err) SL_MUST_CHECK;

#endif
