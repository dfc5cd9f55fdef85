/**
 * Accelerators, nodes and the links between them, as the engine needs them: measured laws where a
 * part was measured, datasheet figures otherwise, and the origin of each.
 */
#ifndef SHARDLINE_HARDWARE_H
#define SHARDLINE_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/error.h"

typedef enum sl_precision {
    SL_PRECISION_BF16,
    SL_PRECISION_FP16,
    SL_PRECISION_TF32, /* fp32 tensors, tensor-core products */
    SL_PRECISION_FP32,
    SL_PRECISION_FP8,
    SL_PRECISION_MXFP8, /* 8 bits, a scale for 32 values */
    SL_PRECISION_NVFP4, /* 4 bits, a scale for 16 values */
    SL_PRECISION_COUNT
} sl_precision;

/** Where a rate comes from; the weakest of an estimate's parts is shown to the user. */
typedef enum sl_origin {
    SL_ORIGIN_MEASURED,     /* a law fitted to this very part */
    SL_ORIGIN_INTERPOLATED, /* ... and what this part was measured to differ from it, between
                               shapes */
    SL_ORIGIN_SCALED,       /* the law of the nearest measured part, scaled by the datasheets */
    SL_ORIGIN_DATASHEET,    /* peak times a generic efficiency */
    SL_ORIGIN_COUNT
} sl_origin;

enum { SL_SURFACE_ROWS = 6, SL_SURFACE_COLUMNS = 4, SL_SURFACE_DEPTHS = 3 };

/** Seconds of products as measured on a part over those of its law, where engine/price/surface.h
 * has its nodes. */
typedef struct sl_gemm_surface {
    double ratio[SL_SURFACE_COLUMNS][SL_SURFACE_DEPTHS][SL_SURFACE_ROWS];
} sl_gemm_surface;

/** Matrix-product law: tiles, waves, memory roofline (see engine/price/kernel.h for the
 * formula). */
typedef struct sl_gemm_law {
    double multiprocessors;
    double peak_flops_per_s; /* asymptotic rate of the fitted kernels, cool clocks */
    double prologue_k;       /* start and end of a tile, expressed in inner-dimension steps */
    double launch_s;
    double bandwidth_bytes_per_s;
    double rate_128x128_ratio; /* rate of smaller tiles against 256x128 */
    double rate_128x64_ratio;
    double rate_64x64_ratio;
    double words_rate_ratio; /* of aligned products, those whose rows are of whole 4 bytes ... */
    double unaligned_rate_ratio; /* ... and of none; 0: not known */
    double cast_values_per_s;    /* of operands, apart from the product; 0 = not known */
    double hot_ratio;            /* clock that long kernels of its table end at; 0 = all are cool */
    double hot_flops;            /* of a kernel halfway there */
    const sl_gemm_surface *surface; /* the catalogue's; NULL = the law alone */
} sl_gemm_law;

/** Low-precision products with a law of their own; mxfp8's are those of fp8. Kept operands are
 * quantised already, others in the same law. */
typedef enum sl_low_product {
    SL_LOW_PRODUCT_FP8,
    SL_LOW_PRODUCT_FP8_KEPT,
    SL_LOW_PRODUCT_NVFP4,
    SL_LOW_PRODUCT_COUNT
} sl_low_product;

/** Fused attention: rate(s) = peak * s / (s + half_length). 0 peak: no such law. */
typedef struct sl_attention_law {
    double peak_flops_per_s;
    double half_length;
    double launch_s;
} sl_attention_law;

typedef enum sl_attention_kernel {
    SL_ATTENTION_UNFUSED, /* batched products and a masked softmax */
    SL_ATTENTION_FLASH1,  /* before July 2023; nothing modern picks it by itself */
    SL_ATTENTION_FLASH2,
    SL_ATTENTION_FLASH3,
    SL_ATTENTION_CUDNN,
    SL_ATTENTION_EFFICIENT, /* PyTorch's memory-efficient one: older parts have it, and 32 bits */
    SL_ATTENTION_KERNEL_COUNT
} sl_attention_kernel;

/** Causal forward and backward laws of one fused kernel at one head width. */
typedef struct sl_attention_laws {
    uint32_t head_dim; /* fitted at; 0 = no law for this kernel */
    sl_attention_law forward;
    sl_attention_law backward;
} sl_attention_laws;

enum { SL_ATTENTION_WIDTHS_MAX = 3 };

typedef enum sl_collective {
    SL_COLLECTIVE_ALL_REDUCE,
    SL_COLLECTIVE_ALL_GATHER,
    SL_COLLECTIVE_REDUCE_SCATTER,
    SL_COLLECTIVE_SEND_RECEIVE,
    SL_COLLECTIVE_ALL_TO_ALL,
    SL_COLLECTIVE_BROADCAST, /* no law of its own, like the next: see engine/links/collective.h */
    SL_COLLECTIVE_REDUCE,    /* onto one rank */
    SL_COLLECTIVE_COUNT
} sl_collective;

/** Inside a scale-up domain: t = latency + S f / B + ramp * sqrt(S f), f the bus factor. */
typedef struct sl_collective_law {
    double latency_s;
    double bus_bytes_per_s;
    double ramp_s_per_sqrt_byte;
} sl_collective_law;

enum { SL_COLLECTIVE_SIZES = 4 }; /* groups of 2, 4, 8 and 72 */

typedef struct sl_accelerator {
    char id[64];
    char name[96];
    char vendor[24];
    char arch[32];
    uint64_t memory_bytes;   /* total as its tool prints it */
    uint64_t reserved_bytes; /* of that, what the driver keeps: CUDA never sees it */
    bool reserved_assumed;   /* reserved_bytes is our ratio, not a reading */
    uint64_t nominal_bytes;  /* the "80 GB" of the name, 10^9 */
    double memory_bytes_per_s;
    double peak_flops_per_s[SL_PRECISION_COUNT]; /* dense, fp32 accumulation; 0 = not supported */
    double scale_up_bytes_per_s;                 /* one direction, all links of one accelerator */
    double scale_up_pair_bytes_per_s; /* those of them to one other, without a switch; 0 = over one,
                                         which gives any two all of them */
    uint32_t scale_up_domain;         /* accelerators that reach each other so; >= 1 */
    double host_bytes_per_s;
    double power_w;
    double power_limit_w;       /* the most it may draw; 0 = power_w */
    double limited_clock_ratio; /* under that limit, over the clock without; 0 = no limit */
    bool any_layout; /* products in 8 bits with one scale a tensor take operands either way round */
    uint32_t release_year;
    char source[64];
    char provenance[16]; /* read, mixed, recalled */

    /* 16-bit products; precisions without a law of their own scale it by the datasheet peaks. */
    sl_gemm_law gemm;
    sl_gemm_law low_gemm[SL_LOW_PRODUCT_COUNT]; /* 0 peak: none */
    sl_attention_laws attention[SL_ATTENTION_KERNEL_COUNT][SL_ATTENTION_WIDTHS_MAX];
    sl_collective_law collective[SL_COLLECTIVE_COUNT][SL_COLLECTIVE_SIZES];
    bool host_collectives;   /* those laws were measured over the host's PCIe, not between peers */
    uint32_t reducing_ranks; /* from as many on, the switch between peers adds up; 0 = it cannot */
    sl_origin gemm_origin;
    sl_origin attention_origin;
    sl_origin collective_origin;
    char law_part[64]; /* id of the part the laws were fitted on */

    /* Clock held over hours against the short cool runs the laws come from. */
    double sustained_ratio;
    double sustained_low_ratio;
    double sustained_high_ratio;

    /* What one workspace of products takes from the allocator. */
    double pytorch_workspace_bytes; /* cuBLAS or hipBLAS, of a thread on a stream */
    double engine_workspace_bytes;  /* TransformerEngine's own */
} sl_accelerator;

/** How a run of weeks goes, and what it draws; all zero: nothing fails, nothing is drawn and all
 * accelerators are equally fast. */
typedef struct sl_operating {
    double speed_sigma_ratio; /* standard deviation of the accelerators' speed, over its mean */
    double failures_per_node_day;
    double restart_s;              /* detected, rescheduled, loaded, warm again */
    double checkpoint_bytes_per_s; /* written by one node while the run stands */
    double checkpoint_interval_s;  /* 0 = the optimum */
    double idle_power_ratio;       /* of an accelerator's power, with nothing to do */
    double load_ratio;             /* of the rest, at full load */
    double node_power_ratio;       /* a node's over its accelerators' */
    double pue_ratio;              /* the facility's over its nodes' */
} sl_operating;

/** What a kind of network does to collectives: a row of server/catalog/data/fabrics.csv. */
typedef struct sl_fabric {
    char kind[16];
    double line_rate_ratio;  /* of the cards' rate, what large messages reach around a ring ... */
    double pair_rate_ratio;  /* ... and from one rank to another */
    double latency_ratio;    /* of a step between nodes, over InfiniBand's */
    double small_ratio;      /* time of a byte of a small message, over one of a large one */
    double small_bytes;      /* small: up to as many for each card the group has in a node */
    double congestion_ratio; /* time of a byte, over that on a network to oneself ... */
    double large_congestion_ratio; /* ... and for a job of more than 4,096 accelerators */
    bool ring_only;                /* neither trees nor the protocols of small messages */
    bool guessed;                  /* no run we know of decides these figures */
    double low_ratio, high_ratio;  /* range of what all of it takes, over what is priced */
} sl_fabric;

/** What collectives take beyond their price: none but at the ends of an interval. */
typedef struct sl_excess {
    double network_ratio;
    double wide_ratio; /* of groups larger than were measured, inside a scale-up domain */
} sl_excess;

enum { SL_POOLS_MAX = 8 }; /* of one plan */

/** Homogeneous nodes on one fabric; or several pools of them, and what these have in common
 * (sl_cluster_join). */
typedef struct sl_cluster {
    sl_accelerator accelerator; /* with the request's overrides applied */
    char node_type[64];         /* catalogue id, or "" */
    uint32_t nodes;
    uint32_t accelerators_per_node;
    uint32_t nics_per_node;
    double nic_bytes_per_s; /* one NIC, one direction */
    sl_fabric fabric;
    bool amd_host; /* posting to a card takes it twice as long as others */
    sl_excess excess;
    double oversubscription_ratio; /* >= 1 above the leaf */
    bool nics_assumed;             /* taken from the reference node of this accelerator */
    uint64_t host_memory_bytes;    /* per node; 0 = not known */
    double price_per_node_hour;    /* 0 = not known */
    char price_currency[4];        /* ISO 4217; "" = not said, as where a request gives the price */
    sl_operating operation;
    char pool[64];                  /* its name beside other pools, or "" */
    uint64_t beside;                /* accelerators of those, which share the fabric */
    uint32_t pool_count;            /* 0: equal nodes */
    const struct sl_cluster *pools; /* in the order of their ranks; borrowed */
} sl_cluster;

/** Achieved share of memory bandwidth of pointwise kernels, by class. */
typedef struct sl_streaming {
    double norm_ratio;
    double activation_ratio;
    double rotary_ratio;
    double softmax_ratio;
    double residual_ratio;
} sl_streaming;

/** Where the host waits for counts of tokens, then issues the products of each expert by itself. */
typedef enum sl_apart {
    SL_APART_NEVER,
    SL_APART_ALWAYS,
    SL_APART_WITHOUT_FP4, /* on parts that multiply in 4 bits one kernel takes all experts */
    SL_APART_LOOPED       /* one expert after the other, from its tokens to their sum */
} sl_apart;

/** What eager code keeps of an RMSNorm until backward; a LayerNorm is one kernel everywhere. */
typedef enum sl_norm_keeps {
    SL_NORM_KEEPS_INPUT, /* one kernel: what it read */
    SL_NORM_KEEPS_CAST,  /* Transformers: that in fp32, and what its weight multiplies */
    SL_NORM_KEEPS_WIDE   /* PyTorch before 2.9: both in fp32 */
} sl_norm_keeps;

/** What fully_shard's unit of embedding, final norm and head has of them once forward is through. */
typedef enum sl_root_keeps {
    SL_ROOT_KEEPS_ALL,
    SL_ROOT_KEEPS_HEAD,
    SL_ROOT_KEEPS_NONE
} sl_root_keeps;

/** What a framework release does; a dated row of server/catalog/software.csv. */
typedef struct sl_software {
    char name[48];
    char framework[16];
    char date[12]; /* of the release, "2024-07" */
    uint32_t year; /* of the same */
    int attention; /* sl_attention_kernel the release picks, -1 = not fixed */
    int dropout;   /* 1 on, 0 off, -1 not fixed */
    sl_streaming streaming;
    bool loss_fused;                /* its own loss works in place of the logits */
    double metrics_entropies;       /* that it computes beside the loss, eager, each micro-batch */
    double logits_peak_bytes;       /* per logit, at its own loss ... */
    double fused_logits_peak_bytes; /* ... at one fused or compiled ... */
    double chunked_logits_peak_bytes; /* ... and at one in chunks */
    bool loss_chunked;                /* its own loss is one in chunks of the head */
    bool loss_compiled;               /* compile fuses the release's own loss */
    bool holds_logits;                /* its own loss leaves all it keeps to the head's backward */
    double fragmentation_ratio;       /* reserved over allocated, and the range that was measured */
    double fragmentation_low_ratio;
    double fragmentation_high_ratio;
    bool eager_activations; /* unfused code keeps silu(gate) */
    sl_norm_keeps norm_keeps;
    bool gradients_stay; /* set to zero after a step, not to none: PyTorch's way before 2.0 */
    bool cuts_experts;   /* FSDP 2: each, where there are more ranks than experts */
    bool stepped_stay; /* 16-bit gradients and the step's fp32 copies of them last until the next */
    sl_root_keeps root_keeps;
    bool calls_flash_attn; /* asked for by name; else all attention is SDPA's */
    /* 1: what attention gives by heads is laid anew for its product, as SDPA gives it where queries
     * are joined of parts; 0: it is there by positions, as flash-attn gives it. */
    double relays_outputs;
    double repeats_keys; /* grouped keys and values, for a fused attention, to as many as queries */
    bool traced_sharding; /* FSDP inside one graph: its buffers come from the pool of everything */
    bool exchange_kept;   /* op-level recomputation keeps what other ranks' experts sent, but where
                             blocks norm queries and keys */
    bool sums_kept;       /* ... and what tensor parallel ranks added up and scattered */
    bool rebuild_stops;   /* what is rebuilt ends with the last input that backward reads */
    bool splits_products; /* a product for each tensor, where others have one for each input */
    double gradient_accumulation_fusion; /* share of weight gradients that products add up */
    bool dummy_weight_gradients; /* of those TransformerEngine keeps one per distinct shape */
    double pytorch_workspaces;   /* of cuBLAS in the allocator: forward's thread and autograd's */
    double engine_workspaces;    /* ... and of TransformerEngine */
    double expert_workspaces;    /* ... of its grouped products */
    bool sequence_first;         /* positions before sequences, which flash-attention has first */
    bool masks_whole;            /* the loader makes a mask of all positions by all */
    bool
        lists_parts; /* ZeRO 3 sends tensors one by one, as lists of parts (engine/links/lists.h) */
    bool whole_owners; /* ZeRO 1 divides no tensor: one rank owns it, gets its gradient, sends it */
    bool divides_in_groups; /* without FSDP: states over the ranks of a group, once in each */
    bool named_only;        /* meant by its name alone, not by that of the framework */
    bool on_deepspeed;      /* its stages of ZeRO and its steps are those of DeepSpeed's engine */
    bool double_buffers;    /* under Megatron-FSDP two blocks gathered and two of gradients stay */
    bool own_bf16;          /* bf16 without ZeRO trains by DeepSpeed's BF16_Optimizer */
    bool overlap_gradient_reduce;
    bool overlap_parameter_gather;
    bool splits_sequence;  /* has sequence parallelism beside tensor parallelism */
    bool gathers_heads;    /* norms of heads, and rotary embeddings with them, run on all of them */
    bool regathers_inputs; /* of products, in backward; else what was gathered is kept whole */
    bool scatter_sends;    /* stages send 1/t of the hidden state, gathered in the tensor group */
    bool overlap_pipeline;
    bool overlap_tensor_backward; /* tensor-parallel collectives of backward under wgrad */
    bool overlap_tensor_forward;  /* and those of forward, in pieces under their own product */
    double overlap_loss_ratio;    /* of overlapped seconds, what computing loses to a collective */
    double step_overhead_s;
    double step_lists; /* as large as a moment of what trains, that AdamW makes in a step */
    bool sends_once;   /* a token goes once to a node and to a rank, whatever experts it visits */
    double route_forward_bytes; /* of a value to its expert and back, by kernels no compiler sees */
    double route_backward_bytes;
    bool deals_in_turn; /* forced balance gives a token neighbours, and the next one the next */
    sl_apart experts_apart;
    bool host_said;           /* the next two, by the request */
    double host_operator_s;   /* what the host takes to issue one operator, eager */
    double expert_operator_s; /* ... and one expert's product, which the device waits for */
    double module_operators;  /* so many the hooks around a module take it in a pass, with ZeRO 3 */
    double unit_operators;    /* ... and around a unit of FSDP 1: a block, half an adapter */
    char source[200];
} sl_software;

#endif
