/** Fine-tuning of little on much that is frozen: what trains, what it keeps, what the base
 * weighs. */
#ifndef SL_ENGINE_ADAPTER_H
#define SL_ENGINE_ADAPTER_H

#include "engine/placement/slice.h"

/** Whether all but adapters is frozen. */
bool sl_adapter_on(const sl_adapter *adapter);

/** Whether the method adds to matrices, so that it has targets. */
bool sl_adapter_has_targets(sl_adapter_method method);

/** Whether a pattern names a module: its own name, the end of its path at a dot, or either with *
 * (or .*, as in a regular expression) for any characters. */
bool sl_adapter_matches(const char *pattern, const sl_tensor *tensor);

/** Whether the matrices of a tensor get an adapter: those of linear layers of blocks whose module
 * is a target, the head's where it is named. Without targets: every linear layer of the blocks but
 * routers; of IA3 keys, values and what closes the MLP. */
bool sl_adapter_targets(const sl_adapter *adapter, const sl_tensor *tensor);

/** Parameters of adapters on one rank [count]. */
typedef struct sl_adapter_count {
    double trained;
    double factored; /* rows and columns of its matrices, where those are rank r, else all of it */
    double frozen;   /* beside them, of no use to the optimizer */
    double buffers; /* ... that are no parameters of the module: nothing divides or offloads them */
    double shared_inputs; /* of the matrix, where one frozen copy serves all (sl_adapter_shared) */
    double shared_outputs;
    double largest_temporary; /* elements made of one matrix's weights and let go at once */
} sl_adapter_count;

/**
 * Of the matrices of a tensor, inputs n and outputs m each, the cut side cut, r the rank:
 *   lora, rslora r (n + m); lora_fa r m, and r n frozen; dora r (n + m) + m; adalora r (n + m) + r
 *   loha 2 r (n + m); lokr n1 m1 + r (n2 + m2), or n2 m2 from r >= max(n2, m2) / 2 on, with n1 the
 *     largest divisor of n up to its root, n2 = n / n1
 *   vera r + m, and what all share
 *   randlora k (r + min(n, m)) with k = ceil(min(n, m) / r), and what all share
 *   tinylora 64, and r (n + m) + 64 r^2 in buffers
 *   ia3 m, of what closes the MLP n
 *   oft (n / b) b (b - 1) / 2, b = n / r or block_size; boft n b + m; r and b as near as divides n
 *   ln_tuning: the vectors of norms over the hidden size
 * In Megatron one adapter stands beside a module, whose matrices are multiplied as one (linear_qkv,
 * linear_fc1), where all of them are targets, and both its halves are cut: r (n + m) / tensor. The
 * experts of a rank share theirs.
 * Temporaries, dense updates and their gradients: dora 4 n m + n^2 (the update by way of an
 * identity, the weight, their sum, for its norm); loha 3 n m, lokr 2 n m; boft 2 n m + n^2.
 * Source: Hu 2021; Kalajdzievski 2023; Zhang 2023 (LoRA-FA, AdaLoRA); Liu 2024 (DoRA);
 * Hyeon-Woo 2021, Yeh 2023 (LoHa, LoKr); Kopiczko 2023; Albert 2025; PEFT tinylora, u = 64; Liu
 * 2022; Qiu 2023, Liu 2023 (OFT, BOFT with one factor); Zhao 2023; Megatron-Bridge peft/utils.py
 * (ParallelLinearAdapter: linear_in cut by its rank or its inputs, linear_out by its outputs) and
 * canonical_lora.py, and share_expert_adapters of LoRA, on by default. Pinned by the counts that
 * PEFT's method comparison publishes. `tensor` is one of the kind's.
 */
sl_adapter_count sl_adapter_of_tensor(const sl_slice *slice, const sl_layer_kind *kind,
                                      const sl_tensor *tensor);

/**
 * Elements of the frozen matrices that all adapted matrices of a rank share, each side as long as
 * the longest of theirs, which need not be sides of one matrix: N inputs, M outputs, r the rank.
 *   vera      r (N + M)
 *   randlora  r min(N, M) + ceil(min(N, M) / r) r max(N, M): all bases have one first half
 * 0 of other methods. Source: PEFT tuners/vera/model.py and tuners/randlora/model.py (_find_dim,
 * _init_vera_A_vera_B, _init_randlora_A_randlora_B), which keep them as buffers (_buffer_dict.py).
 */
double sl_adapter_shared(const sl_adapter *adapter, double inputs, double outputs);

/**
 * Trained before sequences and not beside a matrix, v virtual tokens:
 *   prompt_tuning v h; p_tuning v h + 3 (h^2 + h), its encoder as wide as the embedding
 *   prefix_tuning 2 v x the width of keys in every block
 * Source: Lester 2021; Liu 2021 (GPT understands, too); Li 2021.
 */
double sl_adapter_of_operator(const sl_slice *slice, const sl_operator *op);

/** Tokens that go through the blocks with every sequence: prefixes are keys and values only. */
double sl_adapter_prompt_tokens(const sl_adapter *adapter);

/**
 * Bytes an operator of a frozen model keeps for one micro-batch. A frozen product needs its input
 * for no gradient; an adapter does, as wide as its matrix, and keeps what it made of it:
 *   a copy of the input in the adapter's precision for each adapted matrix (as computed under
 *   autocast, which a base with an fp32 rest trains under, too), the input itself where that is the
 *   compute precision or kernels are fused; none for vera, tinylora, ia3 of outputs, randlora with
 *   m < n
 *   under Megatron's sequence parallelism, of what is cut by columns, the whole sequence as it was
 *   gathered beside the rank's part, which alone stays where it is gathered again
 *   with dropout, in place of that input, what it left of it for each adapted matrix, and a byte of
 *   mask per element
 *   with base_keeps_inputs the input besides, where that is not what the adapter keeps
 *   per row, in the adapter's precision: lora and the like r; dora r + m, and m as computed; vera
 *   r + m; randlora k r where it keeps no input; tinylora r; ia3 m
 *   made of weights: adalora r n; loha, lokr n m; randlora k r min(n, m); oft 4 n b (skew matrix,
 *   its powers and the rotation); boft, as computed, 2 n^2 (permutation, identity) + 2 n m (rotated
 *   weight, scaled)
 *   ln_tuning: what each norm multiplies; prefix_tuning: keys and values of the prefix
 * Source: what autograd saves in PEFT's layers; bitsandbytes pull request 1270; Megatron-Bridge
 * peft/utils.py (ParallelLinearAdapter, return_layernorm_output_gathered). Its runs with and
 * without sequence_parallel_input_regather differ by (n - 1 - 1 / tensor) gathered inputs, n of all
 * layers: 4.731, 1.569 and 0.814 GB of Qwen3 8B, Qwen3 30B-A3B and GPT-OSS 120B (its memory-tuning
 * notes), which that says to all digits printed.
 */
double sl_adapter_kept_bytes(const sl_slice *slice, const sl_layer_kind *kind,
                             const sl_operator *op);

/** Of one adapted matrix: a product to the rank and one from it, a rank's part of each. */
typedef struct sl_adapter_pair {
    double inputs; /* of the first product; 0 where an earlier matrix of the module has it */
    double outputs;
    double copies; /* for each of its experts */
} sl_adapter_pair;

/** Matrices that are multiplied as one operator: q, k and v, gate and up. */
enum { SL_ADAPTER_PAIRS_MAX = 8 };

/** How many pairs of products LoRA and its kin (rsLoRA, LoRA-FA, DoRA, AdaLoRA) have beside an
 * operator, and which; of other methods none. Source: Hu 2021. */
uint32_t sl_adapter_pairs(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op,
                          sl_adapter_pair pairs[SL_ADAPTER_PAIRS_MAX]);

/** Whether what trains is in 16 bits where nobody says: PEFT makes adapters in fp32, Megatron's
 * modules in the precision of the model, to which DeepSpeed casts all of it. */
bool sl_adapter_half_by_default(const sl_workload *workload);

/** Whether what trains is cast to the precision of the workload before it multiplies, where nobody
 * says: FSDP's policy gathers it so. */
bool sl_adapter_autocast_by_default(const sl_workload *workload);

/** Whether adapters multiply in another precision than the base, element_bytes wide, whose input
 * they then copy for each of their matrices. */
bool sl_adapter_casts(const sl_adapter *adapter, double element_bytes);

/** Bytes of an element of what they multiply: where they cast, their own but under autocast. */
double sl_adapter_multiplied_bytes(const sl_adapter *adapter, double element_bytes);

/** Whether they keep inputs gathered of which the base keeps a part: spread is over how many
 * ranks. */
bool sl_adapter_gathers(const sl_adapter *adapter, sl_framework framework, double spread);

/** Whether the first half reads its input through dropout, where there is any: LoRA, rsLoRA,
 * AdaLoRA. */
bool sl_adapter_drops(sl_adapter_method method);

/** Bytes alive beside a product in its backward where its input is gathered again: all of it, and a
 * rank's part. Source: as of sl_adapter_kept_bytes, whose differences lack that of n inputs. */
double sl_adapter_regathered_bytes(const sl_slice *slice, const sl_layer_kind *kind,
                                   const sl_operator *op);

/** Bytes per element of the hidden state between blocks: 4 where the embedding was cast to fp32. */
double sl_adapter_stream_bytes(const sl_slice *slice);

/** Bytes per element of what trains: 2 or 4. */
double sl_adapter_element_bytes(const sl_adapter *adapter);

/**
 * Bytes per frozen weight of a linear layer of a block: bf16 2; int8 1; NF4 1/2 and an fp32 scale
 * for 64; with double quantisation an 8-bit scale for 64 and an fp32 one for 256 of those.
 * Source: Dettmers 2022, 2023.
 */
double sl_adapter_base_bytes(sl_adapter_base base);

/** Of those, the scales. */
double sl_adapter_scale_bytes(sl_adapter_base base);

/** ... and of embedding, norms and head: 2, or 4 where they were cast to fp32, as PEFT's
 * prepare_model_for_kbit_training does with all that is not quantised. */
double sl_adapter_rest_bytes(const sl_adapter *adapter);

#endif
