#include "trace/kernel_names.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

typedef struct row {
    sl_kernel_kind kind;
    const char
        *pattern; /* parts between '*', in this order anywhere in the name; case is ignored */
} row;

#define COLLECTIVE(which) (sl_kernel_kind)(SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_##which)

/*
 * The first row that matches decides, so that what is special stands before what is general:
 * collectives before "reduce", fused kernels of Inductor (whose names list every operator that went
 * into them) before those operators, attention before the products it is built of. Names are those
 * of cuBLAS, CUTLASS, cuDNN, NCCL, RCCL, hipBLASLt, FlashAttention, TransformerEngine, apex,
 * DeepEP, Inductor and PyTorch's own kernels.
 */
static const row rows[] = {
    {COLLECTIVE(ALL_REDUCE), "nccl*AllReduce"},
    {COLLECTIVE(ALL_GATHER), "nccl*AllGather"},
    {COLLECTIVE(REDUCE_SCATTER), "nccl*ReduceScatter"},
    {COLLECTIVE(SEND_RECEIVE), "nccl*SendRecv"},
    {COLLECTIVE(ALL_TO_ALL), "nccl*AllToAll"},
    {COLLECTIVE(BROADCAST), "nccl*Broadcast"},
    {COLLECTIVE(REDUCE), "nccl*Reduce"},
    {SL_KERNEL_COLLECTIVE_OTHER, "nccl"},
    {COLLECTIVE(ALL_TO_ALL), "deep_ep"},
    {COLLECTIVE(ALL_TO_ALL), "deepep"},
    {COLLECTIVE(ALL_TO_ALL), "hybrid_ep"},
    {COLLECTIVE(REDUCE_SCATTER), "userbuffers*_rs"},
    {COLLECTIVE(ALL_GATHER), "userbuffers*_ag"},
    {SL_KERNEL_COLLECTIVE_OTHER, "userbuffers"},
    {COLLECTIVE(ALL_REDUCE), "cross_device_reduce"},
    {COLLECTIVE(ALL_REDUCE), "shot_all_reduce"},
    {COLLECTIVE(ALL_REDUCE), "multimem_all_reduce"},
    {SL_KERNEL_COLLECTIVE_OTHER, "nvshmem"},

    {SL_KERNEL_LOSS, "log_softmax"},
    {SL_KERNEL_LOSS, "logsoftmax"},
    {SL_KERNEL_LOSS, "nll_loss"},
    {SL_KERNEL_LOSS, "cross_entropy"},
    {SL_KERNEL_LOSS, "crossentropy"},

    {SL_KERNEL_ATTENTION, "triton_tem*flex_attention"},
    {SL_KERNEL_PRODUCTS, "triton_tem"},
    {SL_KERNEL_OPTIMIZER, "triton_for_fused"}, /* lists of parameters */
    {SL_KERNEL_STREAMING, "triton_*rotary"},
    {SL_KERNEL_EMBEDDING, "triton_*_fused_embedding"},
    {SL_KERNEL_STREAMING, "triton_poi_"},
    {SL_KERNEL_STREAMING, "triton_red_"},
    {SL_KERNEL_STREAMING, "triton_per_"},

    {SL_KERNEL_OPTIMIZER, "multi_tensor"}, /* norms, clipping and zeroing of gradients as well */
    {SL_KERNEL_OPTIMIZER, "adam"},
    {SL_KERNEL_OPTIMIZER, "lamb_"},
    {SL_KERNEL_OPTIMIZER, "sgd"},

    {SL_KERNEL_STREAMING, "rotary"},
    {SL_KERNEL_STREAMING, "rope_"},
    {SL_KERNEL_EMBEDDING, "embedding"},
    {SL_KERNEL_EMBEDDING, "indexselect"},
    {SL_KERNEL_EMBEDDING, "vectorized_gather_kernel"},
    {SL_KERNEL_EMBEDDING, "compute_grad_weight"},
    {SL_KERNEL_EMBEDDING, "sum_and_scatter"},
    {SL_KERNEL_EMBEDDING, "krn_partial"},

    {SL_KERNEL_STREAMING, "selective_scan"},
    {SL_KERNEL_STREAMING, "chunk_"}, /* mamba_ssm and flash-linear-attention */
    {SL_KERNEL_STREAMING, "causal_conv1d"},
    {SL_KERNEL_ATTENTION, "flash"},
    {SL_KERNEL_ATTENTION, "fmha"},
    {SL_KERNEL_ATTENTION, "attention"},
    {SL_KERNEL_ATTENTION, "attn"},
    {SL_KERNEL_ATTENTION, "sdpa"},

    {SL_KERNEL_PRODUCTS, "nvjet"},
    {SL_KERNEL_PRODUCTS, "gemm"},
    {SL_KERNEL_PRODUCTS, "gemv"},
    {SL_KERNEL_PRODUCTS, "cublas"},
    {SL_KERNEL_PRODUCTS, "splitkreduce"},
    {SL_KERNEL_PRODUCTS, "cutlass"},
    {SL_KERNEL_PRODUCTS, "wgmma"},
    {SL_KERNEL_PRODUCTS, "xmma"},
    {SL_KERNEL_PRODUCTS, "s16816"},
    {SL_KERNEL_PRODUCTS, "s1688"},
    {SL_KERNEL_PRODUCTS, "s884"},
    {SL_KERNEL_PRODUCTS, "cijk_"},
    {SL_KERNEL_PRODUCTS, "matmul"},
    {SL_KERNEL_PRODUCTS, "triton_mm"},
    {SL_KERNEL_PRODUCTS, "triton_bmm"},
    {SL_KERNEL_PRODUCTS, "convolve"},
    {SL_KERNEL_PRODUCTS, "conv2d"},
    {SL_KERNEL_PRODUCTS, "winograd"},
    {SL_KERNEL_PRODUCTS, "wgrad"},
    {SL_KERNEL_PRODUCTS, "dgrad"},
    /* The price of a product holds the casts of its operands. */
    {SL_KERNEL_PRODUCTS, "cast_transpose"},
    {SL_KERNEL_PRODUCTS, "quantize"},
    {SL_KERNEL_PRODUCTS, "amax"},

    {SL_KERNEL_STREAMING, "triton_"},
    {SL_KERNEL_STREAMING, "elementwise"},
    {SL_KERNEL_STREAMING, "vectorized"},
    {SL_KERNEL_STREAMING, "pointwise"},
    {SL_KERNEL_STREAMING, "norm"},
    {SL_KERNEL_STREAMING, "softmax"},
    {SL_KERNEL_STREAMING, "dropout"},
    {SL_KERNEL_STREAMING, "gelu"},
    {SL_KERNEL_STREAMING, "silu"},
    {SL_KERNEL_STREAMING, "swiglu"},
    {SL_KERNEL_STREAMING, "bias"},
    {SL_KERNEL_STREAMING, "reduce"},
    {SL_KERNEL_STREAMING, "catarray"},
    {SL_KERNEL_STREAMING, "chunkcat"},
    {SL_KERNEL_STREAMING, "split_with_sizes"},
    {SL_KERNEL_STREAMING, "copy"},
    {SL_KERNEL_STREAMING, "fill"},
    {SL_KERNEL_STREAMING, "transpose"},
    {SL_KERNEL_STREAMING, "permute"},
    {SL_KERNEL_STREAMING, "topk"},
    {SL_KERNEL_STREAMING, "sort"},
    {SL_KERNEL_STREAMING, "scatter"},
    {SL_KERNEL_STREAMING, "gather"},
    {SL_KERNEL_STREAMING, "index"},
    {SL_KERNEL_STREAMING, "cub::"},
};

static const row collectives[] = {
    {COLLECTIVE(REDUCE_SCATTER), "reduce_scatter"},
    {COLLECTIVE(REDUCE_SCATTER), "reducescatter"},
    {COLLECTIVE(ALL_REDUCE), "allreduce"},
    {COLLECTIVE(ALL_REDUCE), "all_reduce"},
    {COLLECTIVE(ALL_GATHER), "allgather"},
    {COLLECTIVE(ALL_GATHER), "all_gather"},
    {COLLECTIVE(ALL_TO_ALL), "all_to_all"},
    {COLLECTIVE(ALL_TO_ALL), "alltoall"},
    {COLLECTIVE(BROADCAST), "broadcast"},
    {COLLECTIVE(SEND_RECEIVE), "send"},
    {COLLECTIVE(SEND_RECEIVE), "recv"},
    {COLLECTIVE(REDUCE), "reduce"},
};

/* The first place of a part in the text, ignoring the case of ASCII letters. */
static const char *
find_part(const char *text, const char *part, size_t length)
{
    for (; *text != '\0'; text++)
        if (strncasecmp(text, part, length) == 0)
            return text;
    return NULL;
}

static bool
matches(const char *name, const char *pattern)
{
    for (const char *at = name; *pattern != '\0';) {
        const size_t length = strcspn(pattern, "*");
        const char *const found = find_part(at, pattern, length);
        if (found == NULL)
            return false;
        at = found + length;
        pattern += length + (pattern[length] == '*');
    }
    return true;
}

static sl_kernel_kind
kind_of(const char *name, const row *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches(name, table[i].pattern))
            return table[i].kind;
    return SL_KERNEL_OTHER;
}

sl_kernel_kind
sl_kernel_of_name(const char *name)
{
    assert(name != NULL);
    return kind_of(name, rows, sizeof rows / sizeof rows[0]);
}

sl_kernel_kind
sl_kernel_of_collective(const char *name)
{
    assert(name != NULL);
    return kind_of(name, collectives, sizeof collectives / sizeof collectives[0]);
}

sl_kernel_kind
sl_kernel_of_copy(const char *name)
{
    assert(name != NULL);
    /* To another device, by a copy engine: a collective that takes no multiprocessors. */
    return matches(name, "PtoP") ? SL_KERNEL_COLLECTIVE_OTHER : SL_KERNEL_COPIES;
}

bool
sl_kernel_communicates(sl_kernel_kind kind)
{
    return kind >= SL_KERNEL_COLLECTIVE && kind < SL_KERNEL_KIND_COUNT;
}

bool
sl_kernel_computes(sl_kernel_kind kind)
{
    return kind < SL_KERNEL_COLLECTIVE && kind != SL_KERNEL_COPIES;
}

const char *
sl_kernel_kind_name(sl_kernel_kind kind)
{
    static const char *const names[] = {
        [SL_KERNEL_PRODUCTS] = "products",
        [SL_KERNEL_ATTENTION] = "attention",
        [SL_KERNEL_STREAMING] = "streaming",
        [SL_KERNEL_EMBEDDING] = "embedding",
        [SL_KERNEL_LOSS] = "loss",
        [SL_KERNEL_OPTIMIZER] = "optimizer",
        [SL_KERNEL_COPIES] = "copies",
        [SL_KERNEL_OTHER] = "other",
        [SL_KERNEL_COLLECTIVE] = "communication",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_KERNEL_COLLECTIVE + 1, "a word for each");

    assert(kind < SL_KERNEL_KIND_COUNT);
    return names[sl_kernel_communicates(kind) ? SL_KERNEL_COLLECTIVE : kind];
}
