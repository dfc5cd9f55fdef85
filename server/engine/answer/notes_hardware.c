/* What is said of the machines: their rates, links and memory, and of several pools of them. */
#include "engine/answer/notes.h"

#include "engine/answer/evaluate.h"
#include "engine/links/collective.h"
#include "engine/placement/pools.h"
#include "engine/placement/ranks.h"
#include "engine/price/kernel.h"
#include "engine/price/low_precision.h"

/* FlashAttention 2 and 3 have kernels for heads of up to so many (Dao-AILab/flash-attention, README). */
enum { FLASH_HEAD_MAX = 256 };

static void
note_low_precision(const sl_workload *workload, sl_estimate *out)
{
    sl_note_add(
        out, true, "low_precision",
        "low precisions are for the linear layers of blocks, all else runs and is kept in 16 bits; "
        "the casts of weights are not priced");
    if (workload->fp8.attention)
        sl_note_add(
            out, true, "attention_low",
            "what attention in 8 bits keeps is counted so, its kernels are priced as in 16, and "
            "its casts not at all: no rate of both passes is known here, and cuDNN's forward is "
            "published at up to twice that of 16 bits on H100");
    if (sl_low_keeps_operands(workload))
        sl_note_add(
            out, true, "low_precision_operands",
            "weights and inputs of linear layers are kept quantised as TransformerEngine does by "
            "its "
            "documents; no complete measured run decides it");
    else if (workload->precision == SL_PRECISION_NVFP4 &&
             workload->recompute != SL_RECOMPUTE_OPERATORS)
        sl_note_add(
            out, true, "nvfp4_inputs",
            "linear layers are counted as keeping 16-bit inputs: under nvfp4 only op_sac was held "
            "against measured runs");
    else
        sl_note_add(
            out, false, "low_precision_casts",
            "inputs and weights are kept in 16 bits and cast again in backward, as torchao does");
}

static bool
has_low_law(const sl_accelerator *part, sl_precision precision)
{
    const sl_low_product low =
        precision == SL_PRECISION_NVFP4 ? SL_LOW_PRODUCT_NVFP4 : SL_LOW_PRODUCT_FP8;

    return sl_precision_is_low(precision) && part->low_gemm[low].peak_flops_per_s > 0.0;
}

static void
note_rates(const sl_question *question, sl_estimate *out)
{
    const sl_accelerator *part = &question->cluster->accelerator;
    const bool half = out->workload.precision == SL_PRECISION_BF16 ||
                      out->workload.precision == SL_PRECISION_FP16;
    const bool fused = out->workload.attention != SL_ATTENTION_UNFUSED;

    if (part->gemm_origin == SL_ORIGIN_SCALED)
        sl_note_add(
            out, true, "products_scaled",
            "matrix products of this part were not measured: the law of the nearest measured part "
            "was scaled by the datasheets");
    else if (part->gemm_origin == SL_ORIGIN_DATASHEET)
        sl_note_add(out, true, "products_from_datasheet",
                    "matrix products of this part are a generic share of the datasheet peak");
    if (out->guess_count > 0)
        sl_note_add(
            out, false, "shapes_guessed",
            "guessed_shapes lists the products that no kernel table has near: larger, smaller, or "
            "several at once");
    if (out->unaligned)
        sl_note_add(
            out, true, "products_unaligned",
            "a matrix product has rows of no whole number of 16 bytes (of 16 bits, a width that is "
            "no multiple of 8): tensor cores take it slower, priced at half the rate of aligned "
            "ones (0.33 to 0.7 are known); a padded vocabulary, or heads of another width, would "
            "spare that");
    if (out->composed)
        sl_note_add(
            out, true, "scores_composed",
            "Megatron's own kernel does not take the softmax of these scores: it takes sequences x "
            "heads of a rank, and positions, by whole fours, 2,048 positions at most (16,384 of "
            "TransformerEngine's), in 16 bits. PyTorch's kernels do its work one by one and keep "
            "it in fp32; where heads are no whole fours, another micro-batch or tensor degree "
            "would spare that");
    if (sl_precision_is_low(out->workload.precision))
        note_low_precision(&out->workload, out);
    if (!half && !has_low_law(part, out->workload.precision))
        sl_note_add(
            out, true, "precision_scaled",
            "matrix products were measured in 16 bits: this precision is scaled by the ratio of "
            "the datasheet peaks");
    if (fused && part->attention_origin != SL_ORIGIN_MEASURED)
        sl_note_add(out, true, "attention_scaled",
                    "fused attention goes by a law that was scaled: that of the nearest measured "
                    "part, or this part's to the ratio asked for");
    if (fused && sl_model_does(question->model, SL_OPERATOR_ATTENTION) &&
        !sl_kernel_attention_fits(part, out->workload.attention, question->model->head_dim))
        sl_note_add(
            out, true, "attention_width",
            question->model->head_dim > FLASH_HEAD_MAX
                ? "FlashAttention 2 and 3 end at heads of 256: who has no "
                  "kernel of their own for these wider ones runs unfused, slower and with all "
                  "scores"
                : "fused attention was not measured at this head width: the nearest width was "
                  "taken");
    sl_note_add(
        out, false, "sustained_clock",
        "kernels are priced at the clock held over hours, a stated share of what short runs reach; "
        "the interval spans the range of that share");
}

static void
note_links(const sl_question *question, sl_estimate *out)
{
    const sl_cluster *cluster = question->cluster;
    const sl_plan *plan = &out->plan;
    const bool has_experts = question->model->experts > 0;
    bool host = false, straddles = false, large = false;

    for (sl_axis axis = 0; axis < (has_experts ? SL_AXIS_COUNT : SL_AXIS_EXPERT); axis++) {
        const sl_group group = sl_ranks_group(cluster, plan, axis);
        const bool inside = group.level != SL_LEVEL_NETWORK;

        host = host || (group.level == SL_LEVEL_HOST && group.ranks > 1.0);
        straddles = straddles || group.straddles;
        large = large || (inside && group.ranks > 8.0);
    }
    if (cluster->accelerator.collective_origin != SL_ORIGIN_MEASURED &&
        cluster->accelerators_per_node > 1)
        sl_note_add(out, true, "collectives_scaled",
                    "collectives inside such a node were not measured: the nearest law was scaled "
                    "by the link rate");
    if (host)
        sl_note_add(
            out, true, "pcie_collectives",
            "a group communicates through the host's PCIe: what it reaches depends on the box, and "
            "one box was measured at most; eight ranks on two sockets that cannot reach each other "
            "directly got 1 GB/s, where they can 25");
    if (large)
        sl_note_add(
            out, true, "group_extrapolated",
            "a group inside one scale-up domain has more than the 8 ranks that were measured (72 "
            "for "
            "the all-reduce of one GB200 rack): scaled, and in the interval 15 % shorter to 30 % "
            "longer");
    if (sl_collective_domain(cluster) < cluster->accelerator.scale_up_domain)
        sl_note_add(
            out, false, "domain_segments",
            "the job is larger than a scale-up domain and takes as many nodes of each, the most "
            "that "
            "divide it: the others of a domain are left to other jobs");
    if (cluster->oversubscription_ratio > 1.0 && cluster->nodes > 1)
        sl_note_add(
            out, false, "oversubscription_everywhere",
            "which nodes share a leaf is not said: oversubscription slows all that leaves a node");
    if (straddles)
        sl_note_add(
            out, true, "groups_straddle_nodes",
            "some groups cross a node boundary that others do not: all are priced as the worst");
    if (sl_ranks_group(cluster, plan, SL_AXIS_TENSOR).level == SL_LEVEL_NETWORK)
        sl_note_add(
            out, true, "tensor_crosses_nodes",
            "the tensor group crosses nodes: its collectives run over the network every layer");
    if (cluster->nics_assumed && cluster->nodes > 1)
        sl_note_add(
            out, false, "nics_assumed",
            "network cards were not given: those of the accelerator's reference node are assumed");
}

static void
note_memory(const sl_question *question, sl_estimate *out)
{
    if (question->cluster->accelerator.reserved_assumed)
        sl_note_add(
            out, false, "reserved_assumed",
            "what the driver reserves was not read for this part: 1 % of its memory is assumed");
    sl_note_add(
        out, false, "fragmentation_assumed",
        "reserved over allocated is the software profile's, which the formula of the term "
        "fragmentation has; what the streams of fsdp leave idle is counted itself. Published "
        "Megatron runs have 1.028 to 1.093, one that ran out of memory 1.19; variable shapes "
        "fragment more");
    if (out->workload.expandable_segments)
        sl_note_add(
            out, true, "expandable_segments_coarse",
            "expandable segments are taken to leave 3 % apart, up to 6 %: that they cured a run "
            "which had failed by fragmentation is published, how much they leave is not; idle "
            "segments of fsdp's streams are counted as without them");
    if (sl_memory_has_room(&out->memory) && !out->fits_certain)
        sl_note_add(
            out, true, "little_room",
            "the plan fits by less than its reserved memory may be larger than predicted, "
            "interval.peak_reserved_bytes: a published run of Megatron-Bridge (Llama 3 70B on 32 "
            "H100) that should have fitted ended so, and went on with expandable_segments");
    if (out->fits && out->memory.ranks[out->memory.binding].returned_bytes > 0)
        sl_note_add(
            out, true, "device_full",
            "the device is full: the allocator has to return cached segments and ask for others "
            "(num_alloc_retries), and each time waits for the device, which is not priced; less "
            "memory, or expandable_segments, takes that away");
}

void
sl_note_hardware(const sl_question *question, sl_estimate *out)
{
    sl_question of_pool = *question;

    for (uint32_t i = 0; i < sl_pools_count(question->cluster); i++) {
        of_pool.cluster = sl_pools_at(question->cluster, i);
        note_rates(&of_pool, out);
        note_links(&of_pool, out);
        note_memory(&of_pool, out);
    }
}

void
sl_note_pools(const sl_question *question, sl_estimate *out)
{
    if (question->cluster->pool_count == 0)
        return;
    if (out->plan.pipeline > 1)
        sl_note_add(
            out, false, "pools_staged",
            "stages fill the pools in the order given, each wholly in one: it has the memory, the "
            "rates and the links of its own, and between pools the slower cards count");
    else
        sl_note_add(
            out, true, "pools_uneven",
            "replicas on several pools have equal batches: every step waits for the slowest pool "
            "and goes at the pace of the slowest links, and each rank has the memory of its own");
    sl_note_add(
        out, false, "pools_alike",
        "all pools run the same software and the same kernels, and share one fabric: what joins "
        "them is taken to carry what the slower side sends");
}
