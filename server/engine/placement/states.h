/** What a rank holds at rest: bytes per parameter, and over how many ranks each part is divided. */
#ifndef SL_ENGINE_STATES_H
#define SL_ENGINE_STATES_H

#include "engine/price/price.h"
#include "engine/schedule/schedule.h"

/** Parameters a rank works with, before any sharding over data ranks [count]. */
typedef struct sl_elements {
    double all;
    double routed;   /* of them, in routed experts, which are sharded over fewer ranks */
    double matrices; /* of them, in the weights of linear layers of blocks (what Muon takes) */
    double low;      /* of those, what low precisions quantise */
    double adapters; /* beside them, what trains of a frozen model */
    double routed_adapters;        /* ... beside routed experts */
    double factored_adapters;      /* ... and of all of it Adafactor's moments */
    double frozen_adapters;        /* ... and what adapters have that does not */
    double routed_frozen_adapters; /* ... of that beside routed experts */
    double adapter_buffers;        /* ... and what is no parameter, but for what all share: */
    double shared_inputs;          /* its sides (sl_adapter_shared) */
    double shared_outputs;
    double factored; /* rows and columns of matrices, and whole vectors: Adafactor's moments */
    double routed_matrices; /* of the matrices, in routed experts */
    double routed_low;      /* ... and of what low precisions quantise */
    double routed_factored; /* ... and of Adafactor's moments */
    /* What the fullest rank has beyond an even part (sl_hold_shards): */
    double padding;        /* of parameters that are no routed experts ... */
    double routed_padding; /* ... and of those */
} sl_elements;

sl_elements sl_states_stage(const sl_model *model, const sl_kind_price *prices,
                            const sl_stage *stage);

/** So much of all of them: share [ratio], 1 = as they are. */
sl_elements sl_states_part(const sl_elements *elements, double share);

/**
 * Bytes per parameter of framework, precision and optimizer, with the workload's overrides applied:
 * parameter + gradient + master + AdamW states.
 *   Megatron   bf16  2 + 4 + 4 + 8;  fp16  2 + 2 + 4 + 8 (and 4 while it steps, of gradients cast)
 *              on DeepSpeed's engine  bf16  2 + 6 + 4 + 8 (made in 16 bits, added up in 32);
 *              fp16  2 + 2 + 4 + 8
 *   DDP, FSDP  16 bit under autocast or mixed precision  4 + 4 + 0 + 8
 *   DeepSpeed  16 bit  2 + 2 + 4 + 8;  by its BF16_Optimizer  2 + 6 + 4 + 8
 *   fp32 and tf32 everywhere  4 + 4 + 0 + 8
 * Of a frozen base: its parameters alone; overrides of the rest are of what trains beside it.
 * Linear layers that Megatron stores quantised take a byte or so in place of 2 (low_precision.h).
 * Megatron's gradients take 2 bytes where they are reduced in bf16, 4 where in fp32.
 * Optimizers in place of AdamW's 8: SGD 0, with momentum 4; 8-bit AdamW 2 + 8/256 (one fp32 scale
 * for 256 values), 4-bit 1 + 8/128; Adafactor 4 for each row and column of a matrix, and for each
 * parameter where it steps on flat parts; Muon 4 for the matrices of blocks and 8 for the rest.
 * Source: Megatron-LM docs dist_optimizer.md; PyTorch AMP and FSDP docs; Rajbhandari 2020;
 * bitsandbytes, torchao; Shazeer 2018.
 */
sl_layout sl_states_layout(const sl_workload *workload, const sl_plan *plan,
                           const sl_elements *elements);

/**
 * Whether the optimizer steps on parts of tensors that were laid end to end and cut, so that it sees
 * vectors: FSDP 1 and DeepSpeed, where they divide its states over several ranks.
 * Source: PyTorch issue 109581; DeepSpeed runtime/zero/stage_1_and_2.py, stage3.py and
 * bf16_optimizer.py; _get_options of Adafactor in fairseq and Transformers.
 */
bool sl_states_steps_flat(const sl_workload *workload, const sl_plan *plan);

/** Of a frozen base, bytes per weight of linear layers that are divided and gathered with it. */
double sl_states_base_bytes(const sl_workload *workload);

/**
 * Scales of a quantised base that every rank has whole, in bytes: bitsandbytes keeps them in a
 * quant_state beside the weight, which FSDP 1 and DeepSpeed neither divide nor offload. torchao's
 * tensors, which fully_shard takes, have theirs in them.
 * Source: AnswerDotAI/fsdp_qlora pull request 4; bitsandbytes 970; torchao dtypes/nf4tensor.py.
 */
double sl_states_scale_bytes(const sl_workload *workload, const sl_elements *elements);

/** Whether those bytes are the same of any parameters. */
bool sl_states_alike(const sl_workload *workload);

/** Bytes per gradient as it is added up: one that is made in 16 bits beside its sum is stored in six. */
double sl_states_summed_bytes(const sl_layout *layout);

/**
 * Bytes per gradient while it is reduced: what the workload says (FSDP's reduce_dtype, DDP's bf16
 * hook, DeepSpeed's communication_data_type), else as it is stored. Megatron reduces its main
 * gradients where they lie: there the word says how they are stored (grad_reduce_in_bf16), and the
 * fp32 step casts its part of them. Sums that DeepSpeed's BF16_Optimizer has beside its gradients are
 * cast to the model's precision for the way, and back.
 * Source: DeepSpeed runtime/engine.py (communication_data_type, allreduce_bucket).
 */
double sl_states_reduce_bytes(const sl_workload *workload, const sl_layout *layout);

/**
 * Bytes per parameter while it is gathered: what the workload says (FSDP's param_dtype), else those
 * of the precision that computes, or of storage where that is narrower. What is no linear layer's
 * is never gathered in 8 bits.
 */
double sl_states_gather_bytes(const sl_workload *workload, const sl_layout *layout, bool linear);

/** ... and of all that a rank has. */
double sl_states_gathered_bytes(const sl_workload *workload, const sl_layout *layout,
                                const sl_elements *elements);

/** Over how many ranks a part is divided; 1 = every rank holds it whole. */
typedef struct sl_degree {
    double dense;
    double routed; /* of routed experts, which fewer ranks have alike */
} sl_degree;

/**
 * As gathered and reduced over the ranks of `degree`: each sends as much as the fullest holds, the
 * others empty rows. Matrices grow as all do; nothing without padding.
 * Source: fully_shard, _fsdp_param.py (_init_sharded_param pads to the size of the first chunk);
 * FSDP 1, _flat_param.py (_get_padded_sharded_size).
 */
sl_elements sl_states_sent(const sl_elements *elements, const sl_degree *degree);

typedef struct sl_shards {
    sl_degree parameters;
    sl_degree gradients;
    sl_degree optimizer; /* and master weights */
} sl_shards;

/**
 * ZeRO stage 1 divides optimizer states, 2 gradients too, 3 parameters too (Rajbhandari 2020).
 * FSDP keeps parameters divided outside of forward and backward in both its modes: SHARD_GRAD_OP
 * (2) differs from FULL_SHARD (3) in when it lets go of what it gathered.
 */
sl_shards sl_states_shards(const sl_workload *workload, const sl_plan *plan);

/**
 * Whether bf16 without ZeRO trains by DeepSpeed's BF16_Optimizer, as a release has it: weights and
 * gradients in 16 bits whole, a sum of gradients in 32 bits whole, masters and moments divided over
 * the data ranks. Sums are added up over the ranks whole, in 16 bits, and updated weights gathered.
 *   8 + 12 / ranks bytes a parameter under AdamW
 * Source: DeepSpeed runtime/bf16_optimizer.py, engine.py (_do_optimizer_sanity_check, get_data_types);
 * pull requests 2470 (November 2022: every model) and 7515 (August 2025: none but pipelines).
 */
bool sl_states_own_bf16(const sl_workload *workload, const sl_plan *plan);

/** Whether states of the optimizer are divided over the data ranks. */
bool sl_states_divides_masters(const sl_workload *workload, const sl_plan *plan);

/** Whether parameters are among what the stage divides, over however many ranks. */
bool sl_states_divides_parameters(const sl_workload *workload, const sl_plan *plan);

/** What the optimizer steps on: the elements themselves, or the adapters beside them, and its bytes
 * per parameter. Adapters have weights and gradients in their precision; states that are no
 * quantised ones follow it (torch.optim makes them like the weight). The workload's overrides of
 * gradients, master weights and states hold for them. */
sl_elements sl_states_trained(const sl_workload *workload, const sl_plan *plan,
                              const sl_elements *elements, sl_layout *layout);

/** Of what the optimizer steps on, by elements, what has its states with the host: 0 to 1. */
double sl_states_away(const sl_workload *workload);

/** Whether Megatron adds gradients up in 16 bits, which its fp32 step then casts: those of fp16, and
 * those that are reduced in bf16. */
bool sl_states_sums_half(const sl_workload *workload);

/** What adapters have in buffers, shared or not [count]: whole on every rank, and never the host's.
 * Source: PyTorch fully_shard and FullyShardedDataParallel, DeepSpeed zero/partition_parameters.py,
 * which take parameters alone. */
double sl_states_adapter_buffers(const sl_workload *workload, const sl_elements *elements);

/** ... and in parameters that do not train, divided like those that do [count]. */
sl_elements sl_states_adapter_frozen(const sl_elements *elements);

/** Of adapters on one rank, bytes per parameter of what the device has: no weights where parameters
 * are the host's, no gradients where the optimizer is but Megatron's, as of any parameter. Of the
 * optimizer's it has a part (sl_states_away). */
sl_layout sl_states_adapter_layout(const sl_workload *workload, const sl_plan *plan,
                                   const sl_elements *elements);

/**
 * Weights, gradients and optimizer states of adapters on one rank, and what they have in buffers:
 *   weight bytes x (trained + frozen) / parameter shards + gradient bytes x trained / gradient shards
 *   + on device x (master + state bytes) x trained / optimizer shards + element bytes x buffers
 * each of them over the shards of routed experts where it is beside those. Source: derived.
 */
double sl_states_adapter_bytes(const sl_workload *workload, const sl_plan *plan,
                               const sl_elements *elements, const sl_shards *shards);

/** Whether states are divided by whole tensors, each of which has one owner among the ranks. */
bool sl_states_has_owners(const sl_software *software, const sl_plan *plan);

/** Whether divided gradients stay whole over the micro-batches of a step, to be reduced with the
 * last. */
bool sl_states_wait(const sl_workload *workload, const sl_plan *plan);

/** ... and what each of a rank's then takes [bytes]: FSDP 1 adds up what autograd made, in the type
 * it gathered, fully_shard in the type it reduces. */
double sl_states_waiting_bytes(const sl_workload *workload, const sl_layout *layout);

/** Whether gradients are reduced after the last backward and not under it: torch.distributed.pipelining
 * runs the stages of fully_shard so, and DeepSpeed does without ZeRO (engine.py, allreduce_gradients
 * at the end of accumulation: buffered_allreduce_fallback). */
bool sl_states_reduces_after(const sl_workload *workload, const sl_plan *plan);

/** Whether passes run while parameters are gathered: as a release says, but for updated ones of
 * DeepSpeed, whose optimizers gather them at the end of their step and wait (stage_1_and_2.py and
 * bf16_optimizer.py, all_gather_dp_groups). */
bool sl_states_gathers_beside(const sl_software *software, const sl_workload *workload,
                              const sl_plan *plan);

/** Whether parameters that were gathered stay from one micro-batch to the next: FSDP 1 lets those
 * of shard_grad_op be under no_sync (_should_free_in_backward), and torch.distributed.pipelining
 * those of fully_shard that backward finds gathered. */
bool sl_states_keeps_gathered(const sl_workload *workload, const sl_plan *plan);

/** Layouts of one rank's parameters: of all together, and of routed experts and the rest apart,
 * whose bytes per parameter differ under Muon, Adafactor and a quantised base. */
typedef struct sl_layouts {
    sl_layout all, dense, routed;
} sl_layouts;

sl_layouts sl_states_layouts(const sl_workload *workload, const sl_plan *plan,
                             const sl_elements *elements);

/** Parameters and optimizer states of one rank at rest [bytes]: routed experts and the rest apart,
 * because they are divided over other ranks. */
double sl_states_parameter_bytes(const sl_elements *elements, const sl_layouts *layouts,
                                 const sl_degree *degree);
double sl_states_optimizer_bytes(const sl_elements *elements, const sl_layouts *layouts,
                                 const sl_degree *degree);

/** Whether DeepSpeed's ZeRO 1 divides and steps what another framework's layers made. */
bool sl_states_engine(const sl_workload *workload, const sl_plan *plan);

/** Whether DeepSpeed adds gradients up in a tensor of wider sums beside them, as its BF16_Optimizer
 * does. */
bool sl_states_sums_beside(const sl_workload *workload, const sl_plan *plan,
                           const sl_layout *layout);

/** Of those sums, what all of them are cast to for the way, in one piece and over one rank as well
 * [bytes per parameter]: 0 where they travel as they are. Source: DeepSpeed engine.py,
 * allreduce_bucket. */
double sl_states_cast_bytes(const sl_workload *workload, const sl_plan *plan,
                            const sl_layout *layout);

/** Of the two moments of AdamW, one [bytes per parameter]. */
double sl_states_moment_bytes(const sl_layout *layout);

/** Elements of a part on the fullest rank at rest [count]. */
double sl_states_at_rest(const sl_elements *elements, const sl_degree *degree);

/** DDP and DataParallel: the whole model on every device. */
bool sl_framework_replicates(sl_framework framework);

bool sl_framework_is_fsdp(sl_framework framework);

/** Whether parameters are gathered and gradients reduced by units of FSDP: PyTorch's, or
 * Megatron-FSDP, which stages 2 and 3 of Megatron are. */
bool sl_states_gathers_units(const sl_workload *workload, const sl_plan *plan);

/** Whether parameters gathered for forward are let go until backward. */
bool sl_states_reshards(const sl_workload *workload, const sl_plan *plan);

#endif
