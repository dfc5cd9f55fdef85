/** What backward rebuilds instead of keeping: by mode, over which blocks, and what runs again. */
#ifndef SL_ENGINE_RECOMPUTE_H
#define SL_ENGINE_RECOMPUTE_H

#include "engine/price/price.h"
#include "engine/schedule/schedule.h"

/** Layers of one kind on one pipeline rank, as recomputation treats them. */
typedef struct sl_recomputed {
    double layers;     /* that are rebuilt; the others keep everything */
    double kept_bytes; /* by each of those, of one micro-batch */
    double live_bytes; /* rebuilt at once, beyond what is kept */
} sl_recomputed;

/**
 * Which layers of `kind` in chunks of a pipeline rank, which are `stage`, are rebuilt, and what
 * they keep. cut: the plan's.
 *   none            saved                      live 0
 *   core_attention  saved - scores             live scores
 *   op_sac          input, every other product, attention
 *   modules         saved - what the modules rebuild; live: the largest module's
 *   full            input                      live saved - input
 *   full, block N   the first N blocks of each chunk as full, the rest as none
 *   full, uniform N one input for N blocks, that of their first; live: the largest N blocks' saved
 *                   - input
 * Source: Korthikanti 2022 section 5; Megatron-LM transformer_block.py (recompute_method,
 * recompute_num_layers) and transformer_config.py (recompute_modules).
 */
sl_recomputed sl_recompute_of(const sl_model *model, const sl_workload *workload,
                              const sl_plan *plan, const sl_chunking *cut,
                              const sl_kind_price *prices, const sl_held *held,
                              const sl_stage *stage, uint32_t kind);

/** Whether code of the framework has this recomputation: modules are Megatron's
 * (transformer_config.py, recompute_modules), op_sac is FSDP's training code (torchtitan). */
bool sl_recompute_is_of(sl_recompute recompute, sl_framework framework);

/** Whether all layers that are rebuilt are rebuilt one by one: then those of a stage are all of
 * its. */
static inline bool
sl_recompute_each(const sl_workload *workload)
{
    return workload->recompute != SL_RECOMPUTE_FULL ||
           workload->recompute_method == SL_RECOMPUTE_EACH;
}

/**
 * Whether FSDP1 would hold what frozen blocks were given, and the gradients of that, until the
 * step's backward is done, were recomputation reentrant. It lets a unit that does not train go when
 * the gradient of its input is there; that input is a leaf of the block's own graph then: the hook
 * refers to it, and it to the hook.
 * Source: torch 2.1 to 2.4, _register_post_backward_reshard_only_hook, register_multi_grad_hook.
 */
bool sl_recompute_may_hold_inputs(const sl_workload *workload, const sl_plan *plan);

/** ... and whether it does: the release's recomputation is reentrant. */
bool sl_recompute_holds_inputs(const sl_workload *workload, const sl_plan *plan,
                               const sl_software *software);

/** What `layers` of a kind keep of one micro-batch, those that are rebuilt and the others. */
double sl_recompute_saved_bytes(const sl_recomputed *again, const sl_kind_price *price,
                                double layers);

/** What all blocks of chunks of a rank, which are `stage`, keep of one micro-batch. */
double sl_recompute_stage_bytes(const sl_model *model, const sl_workload *workload,
                                const sl_plan *plan, const sl_chunking *cut,
                                const sl_kind_price *prices, const sl_held *held,
                                const sl_stage *stage);

/** Bytes that one rebuilt layer of a kind keeps of a micro-batch when blocks are rebuilt one by
 * one. */
double sl_recompute_kept_bytes(sl_recompute recompute, const sl_kind_price *price);

/** Whether op_sac keeps what went to experts of `kind` and back. */
bool sl_recompute_keeps_exchange(const sl_slice *slice, const sl_layer_kind *kind);

/** The part of a priced forward that one rebuilt layer of a kind runs again, of one micro-batch,
 * unless by modules: all but the tail. For op_sac half of the products and of what lies between
 * them, all products of experts, and what ranks send that it does not keep; fused attention
 * rebuilds its scores by itself. */
sl_rerun sl_recompute_rerun(const sl_slice *slice, const sl_kind_price *price);

/**
 * The operator before which rebuilding a whole layer of a kind ends, operator_count where it runs
 * to the end.
 *
 * Where the release stops it: behind the last operator that keeps anything, or before it where that
 * is a product, which has its input by then and whose output nothing keeps; with an adapter on it,
 * what that keeps comes behind the product. An MLP in tiles, which keeps its input alone, runs to
 * its end.
 *
 * Source: torch.utils.checkpoint, early stop of the non-reentrant kind (PyTorch 2.1); compiled
 * blocks run no operator either whose output backward does not read.
 */
uint32_t sl_recompute_end(const sl_slice *slice, const sl_layer_kind *kind);

/** Whether a module of recompute_modules rebuilds what operator `index` of a kind keeps: all of it,
 * or of an attention its queries, keys and values. */
bool sl_recompute_drops(const sl_layer_kind *kind, uint32_t index, sl_recompute_module module);

/** Whether it runs that operator again. */
bool sl_recompute_runs(const sl_layer_kind *kind, uint32_t index, sl_recompute_module module);

/** Whether an operator is of an MLP that runs in tiles, each of which runs it again in backward. */
bool sl_recompute_is_tiled(const sl_slice *slice, const sl_layer_kind *kind, uint32_t index);

#endif
