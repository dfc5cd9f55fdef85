/** The parts of an estimate request, one reader each (question.c puts them together). */
#ifndef SL_CODEC_QUESTION_PARTS_H
#define SL_CODEC_QUESTION_PARTS_H

#include "codec/question/cluster.h"
#include "codec/question/question.h"

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

/* Says which fields change nothing in the plan that was read. */
void sl_question_note_idle(sl_estimate_request *request);

/* "hosts" of a cluster that names an inventory. */
sl_code sl_question_read_hosts(sl_estimate_request *request, sl_errors *err) SL_MUST_CHECK;

/* Keeps to the usable nodes of a pool: *nodes becomes their number where none was asked for.
 * object: the cluster, or its entry among several pools; pool: its name. */
sl_code sl_question_check_hosts(sl_estimate_request *request, const sl_node *object,
                                const char *pool, uint64_t *nodes, sl_errors *err) SL_MUST_CHECK;

/* What a comparison compares; needs the workload's kind. */
sl_code sl_question_read_comparison(sl_estimate_request *request, sl_errors *err) SL_MUST_CHECK;

/* The members of an inline cluster, checked; those that describe a pool go to *pool. Beside a list
 * of pools they are of all of them. */
sl_code sl_question_read_cluster(sl_estimate_request *request, sl_pool *pool, sl_errors *warnings,
                                 sl_errors *err) SL_MUST_CHECK;

bool sl_question_has_pools(const sl_estimate_request *request);

/* The list of pools: inline ones complete, into request->pools; of an inventory's as far as the
 * document says. Rules: those of a cluster, duplicate_name, conflicting_fields. */
sl_code sl_question_read_pools(sl_estimate_request *request, const sl_pool *common,
                               const sl_catalog *catalog, sl_errors *warnings,
                               sl_errors *err) SL_MUST_CHECK;

/* The pools of an inventory that the request names, or all, into request->pools. */
sl_code sl_question_find_pools(sl_estimate_request *request, const sl_node *spec,
                               const sl_catalog *catalog, sl_errors *err) SL_MUST_CHECK;

/* A request takes at most the nodes that are stored. */
sl_code sl_question_check_nodes(const sl_node *object, const sl_pool *stored, const sl_pool *pool,
                                sl_errors *err) SL_MUST_CHECK;

/* The pools that were read become the request's cluster. */
void sl_question_join_pools(sl_estimate_request *request);

#endif
