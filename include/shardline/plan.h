/** What runs and how it is cut: workload, parallelism, and the check of their combination. */
#ifndef SHARDLINE_PLAN_H
#define SHARDLINE_PLAN_H

#include "shardline/hardware.h"
#include "shardline/model.h"

enum { SL_PIPELINE_MAX = 128, SL_CHOICES_MAX = 64, SL_LAYOUT_CHUNKS_MAX = 128 };

typedef enum sl_framework {
    SL_FRAMEWORK_MEGATRON,
    SL_FRAMEWORK_DDP,
    SL_FRAMEWORK_FSDP1,     /* PyTorch FullyShardedDataParallel: flat parameters */
    SL_FRAMEWORK_FSDP2,     /* PyTorch fully_shard: every parameter on its own */
    SL_FRAMEWORK_DEEPSPEED, /* ZeRO */
    SL_FRAMEWORK_DP,        /* torch.nn.DataParallel: one process, replicas lent for each step */
    SL_FRAMEWORK_COUNT
} sl_framework;

typedef enum sl_recompute {
    SL_RECOMPUTE_NONE,
    SL_RECOMPUTE_SELECTIVE, /* the attention core */
    SL_RECOMPUTE_FULL,      /* every block from its input */
    SL_RECOMPUTE_OPERATORS, /* all but every other product and the attention (torchtitan's op) */
    SL_RECOMPUTE_WORDS,     /* modes that a word alone says */
    SL_RECOMPUTE_MODULES = SL_RECOMPUTE_WORDS, /* parts of each block (Megatron's) */
    SL_RECOMPUTE_COUNT
} sl_recompute;

/** Which blocks full recomputation takes; Megatron-LM's recompute_method. */
typedef enum sl_recompute_method {
    SL_RECOMPUTE_EACH,    /* every block from its own input */
    SL_RECOMPUTE_BLOCK,   /* the first `recompute_layers` of each chunk, the rest keep everything */
    SL_RECOMPUTE_UNIFORM, /* all, `recompute_layers` at a time from the input of the first */
    SL_RECOMPUTE_METHOD_COUNT
} sl_recompute_method;

/** Parts of a block that are rebuilt each on their own; bit 1 << module of recompute_modules. */
typedef enum sl_recompute_module {
    SL_MODULE_CORE_ATTENTION, /* scores and softmax */
    SL_MODULE_NORMS,          /* outputs of the norms before attention and MLP */
    SL_MODULE_LATENT_UP,      /* queries, keys and values made of latents */
    SL_MODULE_MLP,            /* a dense MLP from its input */
    SL_MODULE_EXPERT_ACTIVATION,
    SL_MODULE_SHARED_EXPERTS,
    SL_MODULE_EXPERTS, /* a whole layer of experts, routing included */
    SL_MODULE_COUNT
} sl_recompute_module;

typedef enum sl_optimizer {
    SL_OPTIMIZER_ADAMW,
    SL_OPTIMIZER_SGD,
    SL_OPTIMIZER_SGD_MOMENTUM,
    SL_OPTIMIZER_ADAMW_8BIT,
    SL_OPTIMIZER_ADAMW_4BIT,
    SL_OPTIMIZER_ADAFACTOR,
    SL_OPTIMIZER_MUON,
    SL_OPTIMIZER_COUNT
} sl_optimizer;

/** How the cross-entropy over the vocabulary is computed. */
typedef enum sl_loss {
    SL_LOSS_PROFILE,  /* as the software profile says */
    SL_LOSS_EAGER,    /* logits, their fp32 copy, log-softmax and its gradient all exist at once */
    SL_LOSS_FUSED,    /* in place of the logits */
    SL_LOSS_CHUNKED,  /* eager, over an eighth of the tokens at a time */
    SL_LOSS_PARALLEL, /* each rank over its part of the vocabulary, by operators */
    SL_LOSS_CUT,      /* block by block of logits that are never stored (cut cross-entropy) */
    SL_LOSS_HALF,     /* eager in 16 bits, without a copy in fp32 */
    SL_LOSS_COUNT
} sl_loss;

/** What operators keep beyond what their gradients need. */
typedef enum sl_activation_profile {
    SL_ACTIVATIONS_PROFILE,  /* as the software profile and `compile` say */
    SL_ACTIVATIONS_FUSED,    /* pointwise results are rebuilt inside fused kernels */
    SL_ACTIVATIONS_EAGER,    /* each pointwise operator keeps its own */
    SL_ACTIVATIONS_COMPILED, /* generated kernels rebuild them */
    SL_ACTIVATIONS_COUNT
} sl_activation_profile;

/** What is captured once and replayed. */
typedef enum sl_cuda_graphs {
    SL_GRAPHS_NONE,
    SL_GRAPHS_LAYER, /* forward and backward of each block and micro-batch in flight */
    SL_GRAPHS_FULL,  /* the step's forward and backward as a whole */
    SL_GRAPHS_COUNT
} sl_cuda_graphs;

/** How ranks that share a sequence see the keys and values of the others. */
typedef enum sl_context_kind {
    SL_CONTEXT_RING,     /* passed on from rank to rank under the attention ("p2p") */
    SL_CONTEXT_EXCHANGE, /* sequences for heads and back: all-to-all ("a2a"; Ulysses) */
    SL_CONTEXT_GATHER,   /* all of them gathered before the attention ("allgather") */
    SL_CONTEXT_COUNT
} sl_context_kind;

/** Whether gathered parameters are let go between forward and backward. */
typedef enum sl_reshard {
    SL_RESHARD_DEFAULT, /* stage 3 without a pipeline does, everything else does not */
    SL_RESHARD_ALWAYS,
    SL_RESHARD_NEVER,
    SL_RESHARD_COUNT
} sl_reshard;

/** When gradients that add up over micro-batches are reduced over the data ranks. */
typedef enum sl_gradient_sync {
    SL_GRADIENT_SYNC_DEFAULT, /* as the framework does by itself: sl_plan_gradient_sync */
    SL_GRADIENT_SYNC_EACH,    /* after every micro-batch */
    SL_GRADIENT_SYNC_LAST,    /* after the last; whole until then (no_sync) */
    SL_GRADIENT_SYNC_COUNT
} sl_gradient_sync;

typedef enum sl_schedule {
    SL_SCHEDULE_1F1B,
    SL_SCHEDULE_INTERLEAVED_1F1B,
    SL_SCHEDULE_NAIVE, /* one stage at a time, one micro-batch after the other */
    SL_SCHEDULE_GPIPE, /* all forwards, then all backwards */
    /* These split backward and let gradients of weights fill what would be idle. */
    SL_SCHEDULE_ZB_H1,    /* as many micro-batches alive as with 1F1B */
    SL_SCHEDULE_ZB_H2,    /* twice as many */
    SL_SCHEDULE_ZB_V,     /* two chunks a rank, there and back */
    SL_SCHEDULE_DUALPIPE, /* micro-batches enter at both ends of two copies */
    SL_SCHEDULE_COUNT
} sl_schedule;

/** How frozen weights are stored under adapters. */
typedef enum sl_adapter_base {
    SL_ADAPTER_BASE_BF16,
    SL_ADAPTER_BASE_INT8,
    SL_ADAPTER_BASE_NF4,
    SL_ADAPTER_BASE_NF4_DOUBLE, /* scales quantised too */
    SL_ADAPTER_BASE_COUNT
} sl_adapter_base;

/** What trains in place of the weights, by PEFT's names. */
typedef enum sl_adapter_method {
    SL_ADAPTER_NONE, /* everything trains */
    SL_ADAPTER_LORA,
    SL_ADAPTER_RSLORA,
    SL_ADAPTER_DORA,
    SL_ADAPTER_LORA_FA,
    SL_ADAPTER_ADALORA,
    SL_ADAPTER_LOHA,
    SL_ADAPTER_LOKR,
    SL_ADAPTER_VERA,
    SL_ADAPTER_RANDLORA,
    SL_ADAPTER_TINYLORA,
    SL_ADAPTER_IA3,
    SL_ADAPTER_OFT,
    SL_ADAPTER_BOFT,
    SL_ADAPTER_LN_TUNING,
    SL_ADAPTER_PROMPT_TUNING,
    SL_ADAPTER_P_TUNING,
    SL_ADAPTER_PREFIX_TUNING,
    SL_ADAPTER_METHOD_COUNT
} sl_adapter_method;

/** Element type of what ranks send each other. */
typedef enum sl_wire {
    SL_WIRE_DEFAULT, /* what framework and precision take */
    SL_WIRE_BF16,
    SL_WIRE_FP32,
    SL_WIRE_FP16,
    SL_WIRE_FP8,
    SL_WIRE_COUNT
} sl_wire;

enum { SL_ADAPTER_TARGETS_MAX = 12, SL_ADAPTER_TARGET_MAX = 31 };

/** Parameter-efficient fine-tuning: only what the method adds, or picks, trains. */
typedef struct sl_adapter {
    sl_adapter_method method;
    uint32_t rank;           /* of OFT, blocks of each matrix; 0 where the method has none */
    uint32_t block_size;     /* OFT and BOFT: features turned together; 0 = rank says */
    uint32_t virtual_tokens; /* prompt, p- and prefix tuning: before every sequence */
    bool half;               /* adapters in 16 bits; else in fp32 */
    bool fused;              /* kernels that multiply base and adapters as one, as Unsloth's do */
    bool wide_rest;          /* what the base does not quantise was cast to fp32 */
    bool autocast;           /* cast to the precision of the workload before they multiply */
    bool regathers;          /* Megatron's: gathers inputs again that sequence parallelism splits */
    bool base_keeps_inputs;  /* of each quantised product, as bitsandbytes did before 0.43.2 */
    double dropout_ratio;    /* of what the first half reads; 0 = none */
    sl_adapter_base base;
    uint32_t target_count; /* 0 = what the method takes by itself: mostly every linear layer */
    /* Modules of blocks ("q_proj"), ends of their paths ("mlp.down_proj"), or the head; * stands
     * for any characters. */
    char targets[SL_ADAPTER_TARGETS_MAX][SL_ADAPTER_TARGET_MAX + 1];
} sl_adapter;

/** What is kept in the host's memory instead of the device's. */
typedef struct sl_offload {
    bool optimizer;         /* its states, master weights, and the gradients it steps on */
    bool parameters;        /* sharded ones; the device has those it gathered */
    bool activations;       /* what is kept from forward to backward */
    bool optimizer_on_nvme; /* further on, on disks: the host's memory has buffers of it */
    bool parameters_on_nvme;
    uint32_t activation_layers; /* blocks of a stage whose activations leave, if any do; 0 = all */
    double optimizer_fraction;  /* of what it steps on, if it leaves, by elements; 0 = all */
} sl_offload;

/** Bytes per parameter; negative = what framework and precision say. */
typedef struct sl_layout {
    double parameter_bytes;
    double gradient_bytes;
    double master_bytes;
    double optimizer_bytes;
} sl_layout;

/** How 8-bit products are scaled. */
typedef enum sl_recipe {
    SL_RECIPE_DEFAULT, /* one scale a tensor, as delayed, current and tensorwise have */
    SL_RECIPE_DELAYED,
    SL_RECIPE_CURRENT,
    SL_RECIPE_TENSORWISE,
    SL_RECIPE_ROWWISE,
    SL_RECIPE_BLOCK,
    SL_RECIPE_MXFP8, /* with precision mxfp8, which it is */
    SL_RECIPE_COUNT
} sl_recipe;

/** Of the low precisions; which blocks stay in 16 bits is the model's to say
 * (sl_model_keep_half). */
typedef struct sl_fp8 {
    sl_recipe recipe;
    bool primary_weights; /* linear layers are stored quantised, beside an fp32 master */
    bool transposed_anew; /* ... and transposed in each backward, where products take one layout */
    bool attention; /* scores, values: multiplied in 8 bits, and what backward needs kept so */
    bool activation_inputs; /* what SwiGLU read waits for backward in 8 bits, whatever it is else */
} sl_fp8;

/** How tokens reach their experts. */
typedef enum sl_dispatch {
    SL_DISPATCH_DEFAULT, /* as the release does */
    SL_DISPATCH_COPIES,  /* one copy for each expert, by an all-to-all */
    SL_DISPATCH_ONCE     /* one for each rank of them: DeepEP, HybridEP */
} sl_dispatch;

typedef struct sl_workload {
    sl_framework framework;
    uint64_t sequence_length;
    uint64_t global_batch; /* sequences per step over all replicas */
    uint64_t micro_batch;  /* sequences per forward pass of one replica */
    sl_precision precision;
    sl_fp8 fp8;
    sl_optimizer optimizer;
    sl_recompute recompute;
    sl_recompute_method recompute_method; /* of full */
    uint32_t recompute_layers;            /* of block and uniform */
    uint32_t recompute_modules;           /* of modules: bits by sl_recompute_module */
    uint32_t mlp_tiles; /* dense MLPs run over so many parts of the sequence, one after another, and
                           again in backward; 0 = at once */
    sl_attention_kernel attention;
    sl_loss loss;
    double imbalance; /* tokens of the fullest expert rank over the mean; 0 = not said: 1 */
    bool forced;      /* even by force, for measurements */
    double capacity;  /* experts are padded to as many times their mean; 0 = they are not */
    sl_dispatch dispatch;
    sl_wire reduce; /* of gradients: bf16, fp32 or the default */
    sl_wire gather; /* of sharded parameters; fp8: the weights of linear layers alone */
    bool compile; /* generated kernels: pointwise results are rebuilt where eager code keeps them */
    sl_activation_profile activations;
    sl_cuda_graphs graphs;
    bool expandable_segments;   /* PyTorch's allocator lets its segments grow */
    bool optimizer_in_backward; /* a gradient is stepped on as soon as it is there, and let go */
    uint64_t document_length; /* positions a token may see, of packed documents; 0 = the sequence */
    bool lengths_vary;        /* of sequences, from batch to batch: the longest are asked for */
    bool dropout;
    bool routing_said; /* something was asked of the routing to experts */
    uint64_t tokens;   /* of the whole training; 0 = not asked */
    sl_layout layout;
    sl_adapter adapter;
    sl_offload offload;
    /* Not asked: what the release at hand says (sl_software). */
    bool on_deepspeed;
    bool own_bf16;
} sl_workload;

enum { SL_HOST_RUNS_MAX = 4 };

/** Blocks in a row that the host's processors run, from its memory. */
typedef struct sl_host_run {
    uint32_t first, last;
    double flops_per_s;        /* 0 = not said: see engine/price/host.h */
    double memory_bytes_per_s; /* likewise */
} sl_host_run;

/** Which ranks are neighbours, from the nearest on: replicas or pipeline stages come last. */
typedef enum sl_order {
    SL_ORDER_DATA_PIPELINE, /* "tp-cp-ep-dp-pp" */
    SL_ORDER_PIPELINE_DATA, /* "tp-cp-ep-pp-dp" */
    SL_ORDER_COUNT
} sl_order;

/** What FSDP wraps, and so gathers at a time. */
typedef enum sl_unit_kind {
    SL_UNIT_BLOCK, /* every block; embedding, final norm and head are the root's */
    SL_UNIT_ROOT,  /* the whole model at once */
    SL_UNIT_BY_SIZE,
    SL_UNIT_BY_MODULE
} sl_unit_kind;

enum { SL_UNIT_MODULES_MAX = 8, SL_UNIT_MODULE_MAX = 31 };

typedef struct sl_unit {
    sl_unit_kind kind;
    uint64_t least; /* BY_SIZE: parameters on a rank that make a block a unit */
    uint32_t module_count;
    char modules[SL_UNIT_MODULES_MAX][SL_UNIT_MODULE_MAX + 1]; /* BY_MODULE, of a block: "mlp" */
} sl_unit;

typedef struct sl_plan {
    uint32_t tensor;
    bool sequence; /* norms and residuals split along the sequence over the tensor group */
    uint32_t pipeline;
    uint32_t virtual_pipeline;             /* model chunks per rank; 1 = none */
    uint32_t layout_chunks;                /* 0: the framework's rule cuts the layers */
    uint16_t layout[SL_LAYOUT_CHUNKS_MAX]; /* blocks of each chunk, in the order of the model */
    uint32_t context;
    sl_context_kind context_kind;
    uint32_t expert;
    uint32_t expert_tensor; /* cut of each routed expert; 0 = as tensor */
    bool overlap_experts;   /* tokens travel while another micro-batch computes */
    uint32_t data;
    uint32_t zero_stage;
    uint32_t shard_group; /* ranks that share one copy of the states; 0 = all data ranks */
    sl_reshard reshard;
    sl_gradient_sync gradient_sync;
    sl_unit unit;
    sl_order order;
    sl_schedule schedule;
    uint32_t host_run_count; /* 0: the devices run all */
    sl_host_run host_runs[SL_HOST_RUNS_MAX];
} sl_plan;

/**
 * Fields the user did not say. The engine evaluates the plausible values of each
 * (engine/answer/unknown.c) and answers the median with the interval they span. Plain layers leave
 * no choice of attention, dropout and sequence parallelism: there these three are none, and never
 * unknown.
 */
typedef enum sl_unknown {
    SL_UNKNOWN_SOFTWARE = 1 << 0,
    SL_UNKNOWN_RECOMPUTE = 1 << 1,
    SL_UNKNOWN_ATTENTION = 1 << 2,
    SL_UNKNOWN_DROPOUT = 1 << 3,
    SL_UNKNOWN_MICRO_BATCH = 1 << 4,
    SL_UNKNOWN_SEQUENCE = 1 << 5,
    SL_UNKNOWN_ZERO_STAGE = 1 << 6
} sl_unknown;

/** One question, borrowed parts: everything the engine needs to answer. */
typedef struct sl_question {
    const sl_model *model;
    const sl_cluster *cluster;
    const sl_software *software; /* the profiles to consider: one when named */
    uint32_t software_count;
    const sl_software *sharded; /* what a framework that replicates is left for; NULL: none is */
    sl_workload workload;
    sl_plan plan;
    bool nodes_fixed;    /* the cluster is what there is: more nodes are no choice */
    bool schedule_fixed; /* it was asked for by name */
    uint32_t unknown;    /* sl_unknown bits; the fields they name hold any value */
} sl_question;

/** Whether linear layers multiply in 8 or 4 bits, made of 16-bit tensors. */
bool sl_precision_is_low(sl_precision precision);

/** Bytes of one element in the compute precision: 2, 4 for fp32 and tf32, 1 for fp8 and mxfp8, 1/2
 * for nvfp4; scales apart. */
double sl_precision_bytes(sl_precision precision);

/** Of all nodes, in all pools. */
uint64_t sl_cluster_accelerators(const sl_cluster *cluster);

/**
 * Several pools as one cluster, borrowing them: nodes are of all, price, power and peak rates the
 * mean of a node's and an accelerator's; of the rest what every pool has: the least memory and the
 * fewest accelerators in a node, no precision and no attention kernel that one of them lacks, the
 * release year of the newest. Each pool is told how many accelerators stand beside it, and a
 * scale-up domain ends with its pool. 2 to SL_POOLS_MAX.
 */
void sl_cluster_join(sl_cluster *pools, uint32_t count, sl_cluster *out);

/** tensor * pipeline * context * data. */
uint64_t sl_plan_world(const sl_plan *plan);

/** Ranks of one stage [count]. */
uint64_t sl_plan_stage_ranks(const sl_plan *plan);

/** Replicas that divide one copy of what stages of ZeRO divide [count]: all, or a shard group. */
uint32_t sl_plan_sharers(const sl_plan *plan);

/** Over how many ranks each routed expert is cut: as the rest where the plan does not say. */
uint32_t sl_plan_expert_tensor(const sl_plan *plan);

/** The cluster's accelerators over the other degrees; false when that is no whole number. */
bool sl_plan_derive_data(const sl_cluster *cluster, const sl_plan *plan, uint64_t *data);

/** False for selective recomputation with a fused kernel: it rebuilds the scores in any case. */
bool sl_recompute_matters(const sl_workload *workload);

/** Whether the accelerator has a rate for this attention kernel in this precision; unfused
 * always has. */
bool sl_attention_possible(const sl_accelerator *part, sl_attention_kernel kernel,
                           sl_precision precision);

/** Whether TransformerEngine, and PyTorch since 2.9 (sdp_utils.cpp, check_prefer_cudnn_attention) take
 * cuDNN's attention before FlashAttention 2 there: on parts that version 3 was not written for. */
bool sl_attention_prefers_cudnn(const sl_accelerator *part);

/** Whether that is what the framework's blocks, Megatron's of TransformerEngine, run there unless
 * something else was chosen. */
bool sl_attention_is_cudnn(sl_framework framework, const sl_accelerator *part);

/** Micro-batches a replica runs per step: global_batch / (data * micro_batch). Both must divide. */
uint64_t sl_plan_microbatches(const sl_workload *workload, const sl_plan *plan);

/**
 * EACH or LAST: what the plan says, else what the framework does by itself. What is divided is
 * reduced with each micro-batch, by FSDP, by DeepSpeed's stages 2 and 3 and by Megatron-FSDP; what
 * every rank holds whole once a step, by Megatron, by DeepSpeed's stages 0 and 1, and by DDP and
 * FSDP's no_shard as trainers run them. FSDP 1 with its parameters in the host's memory can add
 * gradients up under no_sync alone; DataParallel sums them with each micro-batch.
 * torch.distributed.pipelining keeps those of fully_shard whole until after the last backward
 * (stage.py, backward_maybe_with_nosync).
 * Source: torch.nn.parallel.DistributedDataParallel.no_sync; FullyShardedDataParallel
 * (limitations); fully_shard's set_requires_gradient_sync; DeepSpeed runtime/engine.py; Megatron-LM
 * distributed_data_parallel.py and Megatron-FSDP's README.
 */
sl_gradient_sync sl_plan_gradient_sync(const sl_workload *workload, const sl_plan *plan);

/**
 * Every rule the combination breaks, each at its pointer with the nearest legal values: devices
 * multiply out, heads and layers divide, batch divides, what is not modelled is refused by name. A
 * model with operators that cannot be priced is refused at /model, and for nothing else.
 * Fields named in `unknown` are not judged.
 */
sl_code sl_question_check(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

typedef enum sl_choice {
    SL_CHOICE_TENSOR,
    SL_CHOICE_PIPELINE,
    SL_CHOICE_VIRTUAL_PIPELINE,
    SL_CHOICE_CONTEXT,
    SL_CHOICE_EXPERT,
    SL_CHOICE_DATA,
    SL_CHOICE_MICRO_BATCH,
    SL_CHOICE_ZERO_STAGE,
    SL_CHOICE_COUNT
} sl_choice;

/**
 * Values of one field that pass sl_question_check with all other fields as they are; the
 * data-parallel degree follows (world / the rest) unless it is the field asked for. Stages of
 * unequal numbers of layers, which are legal and slow, are among them where the question has such
 * stages already, or where one value of SL_CHOICE_PIPELINE at most is left without them. At most
 * SL_CHOICES_MAX, ascending. Returns their number.
 */
uint32_t sl_question_choices(const sl_question *question, sl_choice field,
                             uint64_t out[SL_CHOICES_MAX]);

#endif
