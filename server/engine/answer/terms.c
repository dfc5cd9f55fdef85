#include "shardline/term.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* What the bubble is, whatever the schedule; how it then goes on; and what the letters are. */
#define LONGEST_PATH                                                                               \
    "longest path through the stages less microbatches x slowest_busy_s, both with what a "        \
    "micro-batch waits for gradients and parameters that travel with each"
#define ONE_SLOWER                                                                                 \
    LONGEST_PATH "; (busy_sum_s - slowest_busy_s) / chunks_per_rank where only the slowest "       \
                 "differs, of equal stages "
#define EQUAL LONGEST_PATH "; of equal stages "
#define LETTERS                                                                                    \
    ": p stages, passes F forward and B backward of a micro-batch, W the part of B for weights; "  \
    "where passes are few and this is coarse their order is run one by one, without sends"

/* Formula and source of every figure, for the reader. Symbols are the inputs' names. */
static const sl_term_info terms[] = {
    [SL_TERM_PARAMETERS] = {"parameters", NULL, SL_LIFETIME_PERSISTENT,
                            "bytes_per_parameter x ((parameters - routed_parameters) / "
                            "shards + routed_parameters / routed_shards + padding): the longest "
                            "part where fully_shard divides a tensor by whole rows, ZeRO 3 a flat "
                            "tensor, FSDP 1 a flat unit",
                            "Megatron-LM docs/source/api-guide/dist_optimizer.md; PyTorch AMP and "
                            "FSDP; Rajbhandari 2020"},
    [SL_TERM_WEIGHT_SCALES] = {"parameters", NULL, SL_LIFETIME_PERSISTENT,
                               "quantised_parameters x bytes_per_parameter: whole on every rank, "
                               "as they are no parameters themselves, which is all that is divided",
                               "bitsandbytes Linear4bit.quant_state; AnswerDotAI/fsdp_qlora 4"},
    [SL_TERM_GRADIENTS] = {"gradients", NULL, SL_LIFETIME_PERSISTENT,
                           "bytes_per_parameter x ((parameters - routed_parameters) / shards + "
                           "routed_parameters / routed_shards + padding) - unreduced_bytes: main "
                           "gradients; none at a peak before the first is reduced",
                           "Megatron-LM docs/source/api-guide/dist_optimizer.md; Rajbhandari 2020"},
    [SL_TERM_MASTER_WEIGHTS] =
        {"master_weights", NULL, SL_LIFETIME_PERSISTENT,
         "on_device x bytes_per_parameter x ((parameters - routed_parameters) / "
         "shards + routed_parameters / routed_shards + padding)",
         "Rajbhandari 2020 (ZeRO stage 1); Megatron-LM dist_optimizer.md"},
    [SL_TERM_OPTIMIZER_STATES] =
        {"optimizer", NULL, SL_LIFETIME_PERSISTENT,
         "on_device x bytes_per_parameter x ((parameters - routed_parameters) / "
         "shards + routed_parameters / routed_shards + padding)",
         "Rajbhandari 2020 (ZeRO stage 1); Megatron-LM dist_optimizer.md"},
    [SL_TERM_ADAPTERS] =
        {"adapters", NULL, SL_LIFETIME_PERSISTENT,
         "parameters x (parameter_bytes / parameter_shards + gradient_bytes / "
         "gradient_shards + on_device x optimizer_bytes / optimizer_shards) + "
         "(frozen - buffers) x parameter_bytes / parameter_shards + buffers x element_bytes, "
         "routed_parameters and routed_frozen of them over the routed shards",
         "the papers of the methods; PEFT: adapters in fp32"},
    [SL_TERM_DEQUANTIZED] = {"temporary", NULL, SL_LIFETIME_TRANSIENT,
                             "elements x element_bytes: the largest quantised matrix, in forward "
                             "and again in backward",
                             "Dettmers 2023"},
    [SL_TERM_TRANSPOSED] = {"temporary", NULL, SL_LIFETIME_TRANSIENT,
                            "elements x element_bytes: the largest fp8 matrix, transposed for the "
                            "gradient of its input",
                            "TransformerEngine pytorch/module/linear.py; Megatron-LM "
                            "disable_parameter_transpose_cache"},
    [SL_TERM_CACHED_WEIGHTS] =
        {"temporary", NULL, SL_LIFETIME_TRANSIENT,
         "parameters x bytes_per_parameter: 16-bit copies that autocast keeps "
         "from forward to backward",
         "PyTorch autocast weight cache"},
    [SL_TERM_LOW_PRECISION_WEIGHTS] =
        {"parameters", NULL, SL_LIFETIME_PERSISTENT,
         "linear_parameters x bytes_per_parameter: weights of linear layers in the type they "
         "multiply "
         "in, kept for the micro-batches of a step in each orientation that the part needs",
         "TransformerEngine pytorch/module/linear.py; its docs on low-precision training, handling "
         "transposes"},
    [SL_TERM_GATHERED_PARAMETERS] =
        {"gathered_parameters", NULL, SL_LIFETIME_TRANSIENT,
         "parameters of the root unit, of the block in use (unit_parameters, in FSDP 2 twice) and "
         "of the one prefetched beside it (beside_parameters), in the precision that computes, "
         "under fully_shard with the empty rows that make shards alike; "
         "all of the rank where they are not let go; Megatron-FSDP: the root unit, the block "
         "in use and as many ahead as 5e8 elements take, or the root alone beside double buffers; "
         "DeepSpeed: at most "
         "stage3_max_live_parameters, or one matrix that is larger; DataParallel: the copy of the "
         "model that a device is lent",
         "PyTorch fully_shard and FullyShardedDataParallel; Megatron-LM core/distributed/fsdp; "
         "DeepSpeed zero/config.py"},
    [SL_TERM_UNSHARDED_GRADIENTS] =
        {"communication_buffers", NULL, SL_LIFETIME_TRANSIENT,
         "gradients of one block before they are divided, the reduction's input and output in "
         "reduced_bytes_per_parameter, and the head's until the root unit's backward; "
         "Megatron-FSDP: buckets of main gradients, in stage 2 of all parameters, in stage 3 "
         "of the root unit, of the block in use and of those behind it up to 1e9 elements; "
         "DeepSpeed: of one matrix, until it is copied into the bucket or reduced; "
         "DataParallel: all gradients of a device until the first has summed them",
         "PyTorch fully_shard and FullyShardedDataParallel; Megatron-LM core/distributed/fsdp, "
         "issue 6314; DeepSpeed zero/stage3.py"},
    [SL_TERM_PASSING_BUCKETS] =
        {"communication_buffers", NULL, SL_LIFETIME_TRANSIENT,
         "elements x element_bytes: DeepSpeed's buckets of 5e8 elements, which come and go with a "
         "backward: in stage 2 one, or two with overlap_comm, in stage 3 what the bucket is dealt "
         "out through; and one more in the type that is reduced, where that is another",
         "DeepSpeed zero/stage_1_and_2.py (_release_ipg_buffers), stage3.py"},
    [SL_TERM_WAITING_GRADIENTS] =
        {"gradients", NULL, SL_LIFETIME_PERSISTENT,
         "parameters x bytes_per_parameter: all gradients of the rank, whole until the last "
         "micro-batch reduces them (gradient_sync last); FSDP 1 adds them up as autograd makes "
         "them, in the type parameters are gathered in, fully_shard in reduce_dtype",
         "PyTorch FullyShardedDataParallel.no_sync, fully_shard's set_requires_gradient_sync "
         "(_fsdp_param.py to_accumulated_grad_if_needed)"},
    [SL_TERM_STEPPED_GRADIENT] =
        {"gradients", NULL, SL_LIFETIME_TRANSIENT,
         "elements x bytes_per_parameter: of the tensor whose gradient the optimizer steps on and "
         "lets go, largest where the peak is",
         "PyTorch register_post_accumulate_grad_hook; torchtune optimizer_in_bwd"},
    [SL_TERM_GRADIENT_COPY] =
        {"temporary", NULL, SL_LIFETIME_TRANSIENT,
         "on_device x bytes_per_parameter x ((parameters - "
         "routed_parameters) / shards + "
         "routed_parameters / routed_shards + padding) + last_bytes: gradients "
         "cast for the fp32 step, of Megatron on DeepSpeed beside a flat copy; of "
         "BF16_Optimizer its fp32 sums, cast for the way; last_bytes of the step before, where a "
         "release lets both stay",
         "DeepSpeed stage_1_and_2.py, its memory estimator, engine.py; "
         "Megatron-LM optimizer.py and distrib_optimizer.py, of gradients "
         "added up in 16 bits"},
    [SL_TERM_STEP_LISTS] =
        {"temporary", NULL, SL_LIFETIME_TRANSIENT,
         "on_device x step_lists x bytes_per_parameter x ((parameters - routed_parameters) "
         "/ shards + routed_parameters / routed_shards + padding): roots of the second "
         "moments, all at once, which a fused AdamW does without",
         "PyTorch, torch.optim, notes on foreach"},
    [SL_TERM_ACTIVATIONS] = {"activations", NULL, SL_LIFETIME_ACTIVATION,
                             "microbatches_in_flight x blocks x bytes_per_block + "
                             "embedding_and_head_bytes - offloaded_bytes: a block keeps what "
                             "autograd saves; in the last backward one of them is left, or none, "
                             "or the inputs of all that are rebuilt, where FSDP 1 holds them",
                             "Korthikanti 2022 table 2; Narayanan 2021 (micro-batches in flight)"},
    [SL_TERM_WEIGHT_OPERANDS] = {"activations", NULL, SL_LIFETIME_TRANSIENT,
                                 "microbatches_deferred x blocks x operand_bytes_per_block: "
                                 "inputs and output gradients of products whose weights' "
                                 "gradients wait",
                                 "Qi 2023 section 2 (arXiv 2401.10241)"},
    [SL_TERM_RECOMPUTED_BLOCK] =
        {"activations", NULL, SL_LIFETIME_TRANSIENT,
         "block_bytes - kept_bytes - freed_bytes: what is rebuilt at once in "
         "backward, beyond what that micro-batch let go before it",
         "Korthikanti 2022 section 5"},
    [SL_TERM_LOGITS] = {"logits", NULL, SL_LIFETIME_TRANSIENT, "logits x bytes_per_logit",
                        "loss implementation of the software profile"},
    [SL_TERM_BACKWARD_TRANSIENT] =
        {"temporary", NULL, SL_LIFETIME_TRANSIENT,
         "element_bytes x tokens x width + beside_bytes + held_bytes + made_bytes + mask_bytes: at "
         "the head the gathered input, its gradient and the scattered shard; in a block the "
         "gradient of its "
         "widest activation input, or what adapters make of a weight if that is more; of a plain "
         "layer that of its "
         "output; beside_bytes of a block that runs forward beside a backward (moe.overlap); "
         "held_bytes of gradients of inputs, which FSDP 1 holds of frozen blocks that are rebuilt; "
         "made_bytes of a matrix's gradient, where no product adds it to the one before by itself; "
         "mask_bytes of a mask of all positions by all, which the loader made",
         "structure from Megatron-LM; coefficients read off published Megatron peaks on B200"},
    [SL_TERM_DUMMY_WEIGHT_GRADIENTS] = {"temporary", NULL, SL_LIFETIME_PERSISTENT,
                                        "elements x element_bytes: one cached gradient for every "
                                        "distinct weight shape of the rank",
                                        "TransformerEngine >= 2.3 with fused weight-gradient "
                                        "accumulation"},
    [SL_TERM_GRADIENT_BUCKETS] = {"communication_buffers", NULL, SL_LIFETIME_PERSISTENT,
                                  "parameters x bytes_per_parameter: buckets copy all gradients "
                                  "unless gradient_as_bucket_view is set",
                                  "PyTorch DistributedDataParallel reducer"},
    [SL_TERM_REDUCE_BUFFERS] =
        {"communication_buffers", NULL, SL_LIFETIME_PERSISTENT,
         "elements x element_bytes: a reduce bucket of 5e8 elements of DeepSpeed's stage 3, in "
         "stage 1 one and what parameters are gathered through, and one more where it is cast; "
         "Megatron-FSDP with double buffers: two blocks "
         "gathered and two of main gradients",
         "DeepSpeed zero/stage3.py; Megatron-LM core/distributed/fsdp (FixedPoolAllocator)"},
    [SL_TERM_GRAPH_BUFFERS] =
        {"temporary", NULL, SL_LIFETIME_PERSISTENT,
         "blocks x microbatches_in_flight x hidden x tokens x element_bytes / ranks_sharing: what "
         "each captured block leaves its output in; its input is what it keeps for backward",
         "TransformerEngine make_graphed_callables with buffers reused (its pull request 1234); "
         "Megatron-Bridge's performance guide speaks of a few GB, above 10 with a pipeline"},
    [SL_TERM_PIPELINE_BUFFERS] = {"communication_buffers", NULL, SL_LIFETIME_PERSISTENT,
                                  "2 x directions x (received_bytes + sent_bytes) / ranks_sharing: "
                                  "hidden x tokens x element_bytes of "
                                  "each stage beside it, or the output of a plain layer",
                                  "Megatron-LM schedules.py, send and receive of one micro-batch"},
    [SL_TERM_WORKSPACES] = {"temporary", NULL, SL_LIFETIME_PERSISTENT,
                            "pytorch_workspaces x pytorch_workspace_bytes + (engine_workspaces + "
                            "expert_workspaces) x engine_workspace_bytes: what libraries of "
                            "products work in, PyTorch's one of forward's thread and one of "
                            "autograd's, of experts one for each stream",
                            "PyTorch CUDAContext (its pull requests 89027 and 138791); "
                            "TransformerEngine module/base.py"},
    [SL_TERM_FRAGMENTATION] = {"fragmentation", NULL, SL_LIFETIME_TRANSIENT,
                               "peak_allocated_bytes x (reserved_over_allocated - 1) + "
                               "idle_bytes - returned_segments_bytes: freed gradients and what a "
                               "step flattens keep their segments, and where lengths of sequences "
                               "vary so do three tenths "
                               "of what goes by tokens; a full device gives empty ones back",
                               "reserved over allocated of published Megatron runs, static shapes; "
                               "of LitGPT's tables where lengths vary; PyTorch's notes on CUDA "
                               "memory management"},
    [SL_TERM_CONTEXT] = {"context", NULL, SL_LIFETIME_OUTSIDE_ALLOCATOR,
                         "context_bytes + communicator_bytes",
                         "NVIDIA/nccl issues 864 and 964; ml-engineering; coarse"},
    [SL_TERM_FORWARD] =
        {"forward", NULL, SL_LIFETIME_NONE,
         "microbatches x microbatch_forward_s: of the slowest stage, with the blocks "
         "that its host runs and their way there and back",
         "operator laws: tiles and waves for products, length law for attention, "
         "bandwidth for the rest; a plain layer at the roofline (Williams 2009)"},
    [SL_TERM_BACKWARD] = {"backward", NULL, SL_LIFETIME_NONE,
                          "microbatches x microbatch_backward_s: of the slowest stage; input and "
                          "weight gradients priced as their own products, those of a plain layer "
                          "as twice its forward FLOPs and bytes",
                          "operator laws, as forward"},
    [SL_TERM_RECOMPUTE] = {"recompute", NULL, SL_LIFETIME_NONE,
                           "microbatches x microbatch_recompute_s", "Korthikanti 2022 section 5"},
    [SL_TERM_LAUNCH] =
        {"launch", NULL, SL_LIFETIME_NONE,
         "microbatches x microbatch_wait_s: each pass of each layer takes the "
         "longer of what the device computes and sends and host_operator_s x the "
         "operators and collectives that the host issues (of all passes "
         "microbatch_issued_s; unit_operators of them are around each block that FSDP wraps, and "
         "around the rest as one), none with compile or captured graphs; beside it "
         "expert_operator_s x products of experts that "
         "are issued one by one after the counts of tokens are known, less the "
         "seconds of the module before: none with compile or a graph of the step; and "
         "host_operator_s x unit_operators x halves of adapters that FSDP 1 wraps, in each pass, "
         "less the seconds of their product",
         "host lane of the software profile; derived, fitted on VIA-Research/vTrain "
         "ground_truth_single.csv"},
    [SL_TERM_TENSOR_COMMUNICATION] = {"tensor_communication", NULL, SL_LIFETIME_NONE,
                                      "microbatches x microbatch_exposed_s: collectives of the "
                                      "tensor group less what hides under weight gradients",
                                      "Shoeybi 2019; Korthikanti 2022; Megatron-LM "
                                      "tensor_parallel/layers.py"},
    [SL_TERM_CONTEXT_COMMUNICATION] =
        {"context_communication", NULL, SL_LIFETIME_NONE,
         "microbatches x microbatch_exposed_s: keys and values of the ranks that share a sequence, "
         "less what hides under the attention (ring only)",
         "Liu 2023 (ring attention); Jacobs 2023 (Ulysses); Megatron-LM context parallelism"},
    [SL_TERM_EXPERT_COMMUNICATION] = {"expert_communication", NULL, SL_LIFETIME_NONE,
                                      "microbatches x microbatch_exposed_s: all-to-all of tokens "
                                      "to their experts and back, less what hides under another "
                                      "micro-batch (moe.overlap, dualpipe)",
                                      "Lepikhin 2020 (GShard); Megatron-LM token_dispatcher.py"},
    [SL_TERM_ACTIVATION_OFFLOAD] =
        {"activation_offload", NULL, SL_LIFETIME_NONE,
         "one stage: what passes, block by block, wait for copies of what blocks keep beyond what "
         "they wait for parameters and gradients; else "
         "microbatches x (microbatch_forward_wait_s + microbatch_backward_wait_s): of each block "
         "what a copy of what it keeps, bytes / (0.77 x host_bytes_per_s), takes beyond the pass "
         "beside it; where fewer blocks leave, that share of a copy beside each of them",
         "derived: one copy stream each way, two blocks on the device, copies spread over the "
         "passes of all (TransformerEngine cpu_offload.py, layer_window_map)"},
    [SL_TERM_PIPELINE_COMMUNICATION] =
        {"pipeline_communication", NULL, SL_LIFETIME_NONE,
         "late_sends_s + fill_and_drain_s of sends beside passes; "
         "else open_sends_s: how much longer "
         "the step spans with what a rank sends in its passes; where "
         "the order of passes is run one by one what it takes longer "
         "with its sends",
         "Narayanan 2021; Megatron-LM schedules.py"},
    [SL_TERM_BUBBLE] = {"bubble", NULL, SL_LIFETIME_NONE, LONGEST_PATH,
                        "Narayanan 2021 section 2.2; Qi 2023 (arXiv 2401.10241); "
                        "deepseek-ai/DualPipe"},
    [SL_TERM_DATA_COMMUNICATION] =
        {"data_communication", NULL, SL_LIFETIME_NONE,
         "gradient_exposed_s + parameter_exposed_s + tied_embedding_s; of the first two at least "
         "gradient_last_s and parameter_first_s, which lie under nothing; of DataParallel "
         "input_exposed_s + output_exposed_s in place of the third. all_reduce_instead_s is shown "
         "beside: gradient_s of stage 2, were it an all-reduce",
         "NCCL tuner latencies; Megatron-LM distributed_data_parallel.py; DeepSpeed 0.3 "
         "partition_parameters.py"},
    [SL_TERM_OPTIMIZER_STEP] = {"optimizer", NULL, SL_LIFETIME_NONE,
                                "parameters x (bytes_per_parameter / shards + "
                                "zeroed_bytes_per_parameter) / bandwidth_bytes_per_s + host_s - "
                                "hidden_s: the latter under passes of ranks that do not wait for "
                                "it; offloaded swept_s + gradients_exposed_s + the larger of "
                                "host_update_s and device_update_s + parameters_s - hidden_s",
                                "derived: states read and written, gradient norm, clip, zeroing"},
    [SL_TERM_OVERHEAD] =
        {"overhead", NULL, SL_LIFETIME_NONE,
         "step_overhead_s + maxima_s + slowest_rank_s: of delayed scaling an all-reduce of the "
         "largest values over a stage's ranks for each pass through a chunk, and "
         "speed_sigma_ratio x sigmas_of_slowest x (all other terms - filling_s): how far the "
         "slowest of so many ranks is expected behind the mean, s - (ln ln ranks + ln 4 pi - 2 "
         "gamma) / (2 s) with s = sqrt(2 ln ranks), but where a pipeline fills and drains",
         "software profile: timers, logging, loss reduction; Gumbel's law; arXiv 2208.11035"},
    [SL_TERM_TENSOR_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: on average hidden states of a micro-batch around "
         "products that are cut over the ranks, in every pass of every layer of the "
         "slowest stage",
         "Shoeybi 2019; Korthikanti 2022"},
    [SL_TERM_CONTEXT_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: on average keys and values of a micro-batch, or "
         "with them queries and outputs, in every layer of the slowest stage",
         "Liu 2023 (ring attention); Jacobs 2023 (Ulysses)"},
    [SL_TERM_EXPERT_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: on average tokens of a micro-batch, one copy for each expert "
         "they go to or, where the release sends them once, for each rank; there and back",
         "Lepikhin 2020 (GShard); DeepEP"},
    [SL_TERM_EXPERT_TENSOR_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: tokens of a micro-batch that the ranks that cut an expert gather "
         "before it and scatter behind it, where these are not the tensor ranks",
         "Megatron-LM moe/token_dispatcher.py; Liu 2025 (MoE parallel folding), arXiv 2504.14960"},
    [SL_TERM_PIPELINE_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: outputs of every chunk on and their gradients back, for each "
         "micro-batch, over the slowest boundary; calls = 2 x microbatches x chunks",
         "Narayanan 2021"},
    [SL_TERM_GRADIENTS_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: on average gradients of what the rank computes with, whole "
         "(fully_shard: with empty rows), in buckets or units, once a step or with every "
         "micro-batch",
         "Megatron-LM distributed_data_parallel.py; fully_shard; DeepSpeed zero/config.py"},
    [SL_TERM_PARAMETERS_SENT] =
        {"bytes_per_step", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call: on average parameters of what the rank computes with, whole "
         "(fully_shard: with empty rows), in buckets or units, once a step or for every pass that "
         "they were let go after",
         "Rajbhandari 2020; fully_shard; Megatron-LM dist_optimizer.md"},
    [SL_TERM_REPLICAS_SENT] = {"bytes_per_step", NULL, SL_LIFETIME_NONE,
                               "calls x bytes_per_call: the part of the gradients that sharding "
                               "left the rank, summed over the copies of the states",
                               "HSDP of fully_shard; MiCS (Zhang 2022)"},
    [SL_TERM_COPIES_SENT] = {"bytes_per_step", NULL, SL_LIFETIME_NONE,
                             "calls x bytes_per_call: gradients of the rank, summed over the two "
                             "copies of the model in one pipeline",
                             "deepseek-ai/DualPipe"},
    [SL_TERM_EMBEDDING_SENT] = {"bytes_per_step", NULL, SL_LIFETIME_NONE,
                                "calls x bytes_per_call: gradients of the embedding's part, which "
                                "first and last stage both hold",
                                "Megatron-LM finalize_model_grads.py"},
    [SL_TERM_HOST_SENT] = {"bytes_per_step", NULL, SL_LIFETIME_NONE,
                           "calls x bytes_per_call: on average hidden states of a micro-batch into "
                           "and out of the blocks that the host runs, and their gradients",
                           "derived"},
    [SL_TERM_LENT_SENT] = {"bytes_per_step", NULL, SL_LIFETIME_NONE,
                           "calls x bytes_per_call: on average parameters and inputs of every "
                           "micro-batch out, outputs and gradients in",
                           "PyTorch nn/parallel/data_parallel.py"},
    [SL_TERM_SENT_INSIDE] =
        {"seconds", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call / bytes_per_s: what calls of this size get by the law "
         "measured for so many ranks, latency + bytes x bus factor / rate + ramp x "
         "sqrt(bytes x bus factor) each",
         "nccl-tests of the catalogue; NVIDIA/nccl src/graph/tuning.cc beyond the largest group "
         "measured"},
    [SL_TERM_SENT_ACROSS] =
        {"seconds", NULL, SL_LIFETIME_NONE,
         "calls x bytes_per_call / bytes_per_s: what calls of this size get of the "
         "fastest of rings, trees and switched trees over the nodes, or with a message "
         "for each peer",
         "NVIDIA/nccl src/graph/tuning.cc; rate and latency of the fabric after the catalogue"},
    [SL_TERM_SENT_TO_HOST] = {"seconds", NULL, SL_LIFETIME_NONE,
                              "calls x bytes_per_call / bytes_per_s, 0.77 of the host link",
                              "accelerator catalogue; derived"},
    [SL_TERM_MESSAGE_LATENCY] = {"message_latency_s", NULL, SL_LIFETIME_NONE,
                                 "a call of one byte over ranks on nodes, by the laws of the time",
                                 "as of the seconds"},
    [SL_TERM_TENSOR_EXPOSED] =
        {"exposed_s", NULL, SL_LIFETIME_NONE,
         "seconds - hidden_s: under gradients of weights, or in pieces under their own product, "
         "where the release overlaps them, less what that costs the product",
         "Megatron-LM tensor_parallel/layers.py; TransformerEngine userbuffers"},
    [SL_TERM_GRADIENTS_EXPOSED] =
        {"exposed_s", NULL, SL_LIFETIME_NONE,
         "gradient_exposed_s x seconds / gradient_s: what all gradients take longer than backward "
         "hides of them, as far as the release overlaps them; rows share it by their seconds",
         "Megatron-LM distributed_data_parallel.py; torch.distributed.fsdp"},
    [SL_TERM_PARAMETERS_EXPOSED] =
        {"exposed_s", NULL, SL_LIFETIME_NONE,
         "seconds + behind_s - hidden_s: passes wait for parameters that did not travel under the "
         "pass before theirs, and behind gradients that have the same links",
         "Megatron-LM distributed_data_parallel.py; torch.distributed.fsdp"},
    [SL_TERM_ALL_EXPOSED] = {"exposed_s", NULL, SL_LIFETIME_NONE,
                             "seconds - hidden_s: nothing is computed meanwhile", "derived"},
    [SL_TERM_USABLE] = {"usable_bytes", "/memory/usable_bytes", SL_LIFETIME_NONE,
                        "capacity_bytes - reserved_bytes", "accelerator catalogue"},
    [SL_TERM_HEADROOM] = {"headroom_bytes", "/memory/headroom_bytes", SL_LIFETIME_NONE,
                          "usable_bytes - device_total_bytes", "derived"},
    [SL_TERM_PEAK_ALLOCATED] =
        {"peak_allocated_bytes", "/memory/peak_allocated_bytes", SL_LIFETIME_NONE,
         "persistent_bytes + activation_bytes + transient_bytes: of the binding rank at its peak",
         "derived"},
    [SL_TERM_PEAK_RESERVED] = {"peak_reserved_bytes", "/memory/peak_reserved_bytes",
                               SL_LIFETIME_NONE, "peak_allocated_bytes + fragmentation_bytes",
                               "derived"},
    [SL_TERM_DEVICE_TOTAL] = {"device_total_bytes", "/memory/device_total_bytes", SL_LIFETIME_NONE,
                              "peak_reserved_bytes + context_bytes", "derived"},
    [SL_TERM_STEP] = {"step_s", "/time/step_s", SL_LIFETIME_NONE,
                      "forward + backward + recompute + launch + tensor_communication + "
                      "context_communication + expert_communication + activation_offload + "
                      "pipeline_communication + bubble + data_communication "
                      "+ optimizer + overhead",
                      "derived"},
    [SL_TERM_IDEAL] = {"ideal_s", "/time/ideal_s", SL_LIFETIME_NONE,
                       "causal_flops / (accelerators x peak_flops_per_s): no device is faster",
                       "derived"},
    [SL_TERM_BUBBLE_RATIO] = {"bubble_ratio", "/time/bubble_ratio", SL_LIFETIME_NONE,
                              "1 - microbatches x busy_sum_s / (pipeline x span_s)",
                              "Narayanan 2021 section 2.2"},
    [SL_TERM_TOKENS_PER_S] = {"tokens_per_s", "/throughput/tokens_per_s", SL_LIFETIME_NONE,
                              "global_batch_size x sequence_length / step_s", "derived"},
    [SL_TERM_TOKENS_PER_S_PER_ACCELERATOR] = {"tokens_per_s_per_accelerator",
                                              "/throughput/tokens_per_s_per_accelerator",
                                              SL_LIFETIME_NONE, "tokens_per_s / accelerators",
                                              "derived"},
    [SL_TERM_SAMPLES_PER_S] = {"samples_per_s", "/throughput/samples_per_s", SL_LIFETIME_NONE,
                               "global_batch_size / step_s", "derived"},
    [SL_TERM_MODEL_FLOPS_PER_S] = {"model_flops_per_s_per_accelerator",
                                   "/throughput/model_flops_per_s_per_accelerator",
                                   SL_LIFETIME_NONE,
                                   "model_flops / (step_s x accelerators); attention over all "
                                   "scores of a window or document, nothing recomputed",
                                   "Korthikanti 2022 appendix A"},
    [SL_TERM_MFU_FULL] =
        {"mfu_full", "/throughput/mfu_full", SL_LIFETIME_NONE,
         "model_flops / (step_s x accelerators x peak_flops_per_s): attention over "
         "all scores, or those of its window or document; beside adapters forward and the gradient "
         "of its inputs alone",
         "Chowdhery 2022; Korthikanti 2022 appendix A"},
    [SL_TERM_MFU_CAUSAL] = {"mfu_causal", "/throughput/mfu_causal", SL_LIFETIME_NONE,
                            "causal_flops / (step_s x accelerators x peak_flops_per_s): only the "
                            "scores a causal mask keeps",
                            "derived"},
    [SL_TERM_HFU] =
        {"hfu", "/throughput/hfu", SL_LIFETIME_NONE,
         "hardware_flops / (step_s x accelerators x peak_flops_per_s): model_flops and what "
         "is recomputed",
         "Korthikanti 2022 appendix A"},
    [SL_TERM_EXPOSED_COMMUNICATION] =
        {"exposed_communication_s", "/time/exposed_communication_s", SL_LIFETIME_NONE,
         "tensor_s + context_s + expert_s + pipeline_s + data_s: communication no computing "
         "hides",
         "derived"},
    [SL_TERM_GOODPUT] =
        {"goodput_ratio", "/goodput_ratio", SL_LIFETIME_NONE,
         "(1 - checkpoint_s / checkpoint_interval_s) x (1 - lost_s / "
         "mean_time_between_failures_s): "
         "a failure loses lost_s = restart_s + checkpoint_interval_s / 2; the interval is sqrt(2 x "
         "checkpoint_s x "
         "mean_time_between_failures_s) where it is not given; where nothing fails only the first "
         "factor, which is 1 unless an interval is given",
         "Young 1974; arXiv 2410.18124; failures of Llama 3, arXiv 2407.21783 section 3.3.4"},
    [SL_TERM_TIME_TO_TRAIN] = {"time_to_train_s", "/time_to_train_s", SL_LIFETIME_NONE,
                               "tokens / tokens_per_step x step_s / goodput_ratio", "derived"},
    [SL_TERM_ENERGY] = {"energy_j", "/energy_j", SL_LIFETIME_NONE,
                        "accelerators x power_limit_w x (idle_power_ratio + (1 - idle_power_ratio) "
                        "x load_ratio) x node_power_ratio x pue_ratio x time_to_train_s; without a "
                        "limit power_limit_w is power_w",
                        "derived; nodes after the DGX H100 datasheet, the rest coarse"},
    [SL_TERM_COST] = {"cost", "/cost", SL_LIFETIME_NONE,
                      "time_to_train_s / 3600 x nodes x price_per_node_hour", "derived"},
};
_Static_assert(sizeof terms / sizeof terms[0] == SL_TERM_ID_COUNT, "an explanation per term");

uint32_t
sl_term_find(const sl_term *term, const char *name)
{
    uint32_t i = 0;

    while (i < term->input_count && strcmp(term->inputs[i].name, name) != 0)
        i++;
    return i;
}

double
sl_term_input(const sl_term *term, const char *name)
{
    const uint32_t i = sl_term_find(term, name);

    return i < term->input_count ? term->inputs[i].value : 0.0;
}

const sl_term_info *
sl_term_describe(sl_term_id id)
{
    assert(id >= 0 && id < SL_TERM_ID_COUNT && terms[id].name != NULL);
    return &terms[id];
}

const char *
sl_term_formula(sl_term_id id, sl_schedule schedule)
{
    static const char *const bubbles[] = {
        [SL_SCHEDULE_1F1B] = ONE_SLOWER "(p - 1)(F + B)" LETTERS,
        [SL_SCHEDULE_INTERLEAVED_1F1B] = ONE_SLOWER "(p - 1)(F + B) / chunks_per_rank" LETTERS,
        [SL_SCHEDULE_NAIVE] =
            LONGEST_PATH "; microbatches x (busy_sum_s - slowest_busy_s) / chunks_per_rank where "
                         "only the slowest differs, of equal stages microbatches x "
                         "(p - 1)(F + B) / chunks_per_rank" LETTERS,
        [SL_SCHEDULE_GPIPE] = ONE_SLOWER "(p - 1)(F + B)" LETTERS,
        [SL_SCHEDULE_ZB_H1] = EQUAL "(p - 1)(F + B - 2W)" LETTERS,
        [SL_SCHEDULE_ZB_H2] = EQUAL "max(0, (p - 1)(F + B - 3W))" LETTERS,
        [SL_SCHEDULE_ZB_V] =
            EQUAL "with I = B - W ((p - 1)(I - F + max(0, F + I - 2W)) - W) / 2, or where I < F "
                  "((p - 1) max(0, 2F - W - min(W, I)) - W) / 2, no less than 0" LETTERS,
        [SL_SCHEDULE_DUALPIPE] =
            EQUAL "with I = B - W and n = p / 2 - 1 max(2n F, (n - 1) F + n I) + n (I - W), "
                  "(p / 2 - 1)(F + 2B - 3W) where F = I = W" LETTERS,
    };
    _Static_assert(sizeof bubbles / sizeof bubbles[0] == SL_SCHEDULE_COUNT, "one a schedule");

    assert(schedule < SL_SCHEDULE_COUNT);
    return id == SL_TERM_BUBBLE ? bubbles[schedule] : sl_term_describe(id)->formula;
}

const char *
sl_term_what(sl_term_id id)
{
    static const char *const whats[] = {
        [SL_TERM_PARAMETERS] = "of the model",
        [SL_TERM_WEIGHT_SCALES] = "scales of what is quantised",
        [SL_TERM_GRADIENTS] = "summed",
        [SL_TERM_MASTER_WEIGHTS] = "that the optimizer updates",
        [SL_TERM_OPTIMIZER_STATES] = "of what trains",
        [SL_TERM_ADAPTERS] = "with gradients and states",
        [SL_TERM_DEQUANTIZED] = "a matrix dequantised",
        [SL_TERM_TRANSPOSED] = "a matrix transposed",
        [SL_TERM_CACHED_WEIGHTS] = "16-bit weights of autocast",
        [SL_TERM_LOW_PRECISION_WEIGHTS] = "as they multiply",
        [SL_TERM_GATHERED_PARAMETERS] = "of what is in use",
        [SL_TERM_UNSHARDED_GRADIENTS] = "gradients not yet divided",
        [SL_TERM_PASSING_BUCKETS] = "buckets of a backward",
        [SL_TERM_WAITING_GRADIENTS] = "whole until they are reduced",
        [SL_TERM_STEPPED_GRADIENT] = "of the tensor being updated",
        [SL_TERM_GRADIENT_COPY] = "gradients that are cast",
        [SL_TERM_STEP_LISTS] = "lists of the update",
        [SL_TERM_ACTIVATIONS] = "kept for backward",
        [SL_TERM_WEIGHT_OPERANDS] = "for weight gradients that wait",
        [SL_TERM_RECOMPUTED_BLOCK] = "rebuilt in backward",
        [SL_TERM_LOGITS] = "with their gradient",
        [SL_TERM_BACKWARD_TRANSIENT] = "gradients of activations",
        [SL_TERM_DUMMY_WEIGHT_GRADIENTS] = "dummy weight gradients",
        [SL_TERM_GRADIENT_BUCKETS] = "buckets of gradients",
        [SL_TERM_REDUCE_BUFFERS] = "buckets that stay",
        [SL_TERM_GRAPH_BUFFERS] = "outputs of captured graphs",
        [SL_TERM_PIPELINE_BUFFERS] = "between stages",
        [SL_TERM_WORKSPACES] = "workspaces of products",
        [SL_TERM_FRAGMENTATION] = "reserved and not allocated",
        [SL_TERM_CONTEXT] = "driver, kernels and communicators",
    };
    _Static_assert(sizeof whats / sizeof whats[0] == SL_TERM_FORWARD,
                   "words for every memory term");

    assert(id >= 0 && id < SL_TERM_FORWARD);
    return whats[id];
}

const char *
sl_term_words(sl_term_id id)
{
    switch (id) {
    case SL_TERM_OPTIMIZER_STATES:
        return "optimizer states";
    case SL_TERM_CONTEXT:
        return "device context";
    case SL_TERM_LAUNCH:
        return "waiting for the host";
    case SL_TERM_ACTIVATION_OFFLOAD:
        return "activations to the host and back";
    case SL_TERM_BUBBLE:
        return "pipeline bubble";
    case SL_TERM_OPTIMIZER_STEP:
        return "optimizer step";
    case SL_TERM_OVERHEAD:
        return "overhead and slowest rank";
    default:
        return sl_term_describe(id)->name;
    }
}
