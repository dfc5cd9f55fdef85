/** What was evaluated, in the words of a request. */
#ifndef SL_CODEC_PLAN_JSON_H
#define SL_CODEC_PLAN_JSON_H

#include "codec/question/question.h"
#include "json/writer.h"

/** {"workload", "parallelism", "cluster"} after every default and every median. cluster and
 * software may be NULL. */
void sl_resolved_write(sl_writer *writer, const sl_estimate_request *request,
                       const sl_workload *workload, const sl_plan *plan, const sl_cluster *cluster,
                       const sl_software *software);

/** Members "adapter" and "offload" of a workload. */
void sl_adapter_write(sl_writer *writer, const sl_adapter *adapter);
void sl_offload_write(sl_writer *writer, const sl_offload *offload);

/** Member "recompute" of a patch that is merged into the workload a request has: a word where one
 * says it all. */
void sl_recompute_patch_write(sl_writer *writer, const sl_node *workload, const sl_workload *to);

/** Member "fp8" of a patch, with the words that differ; nothing where none does. */
void sl_fp8_patch_write(sl_writer *writer, const sl_workload *from, const sl_workload *to);

/** Members of a plan from its pipeline to its shard group. */
void sl_degrees_write(sl_writer *writer, const sl_plan *plan);

/** Member "nics" of a cluster: none, or one kind. */
void sl_nics_write(sl_writer *writer, const sl_cluster *cluster);

#endif
