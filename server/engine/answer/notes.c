#include "engine/answer/notes.h"

#include <assert.h>
#include <stddef.h>

#include "engine/answer/evaluate.h"
#include "engine/placement/recompute.h"
#include "engine/placement/states.h"

void
sl_note_add(sl_estimate *out, bool warning, const char *code, const char *text)
{
    for (uint32_t i = 0; i < out->note_count; i++)
        if (out->notes[i].text == text)
            return;
    assert(out->note_count < SL_NOTES_MAX);
    out->notes[out->note_count++] = (sl_note){code, warning, text};
}

static void
note_unknown(const sl_question *question, sl_estimate *out)
{
    static const struct {
        sl_unknown field;
        const char *code, *text;
    } fields[] = {
        {SL_UNKNOWN_SOFTWARE, "software_open",
         "software was not given: every profile of the framework was evaluated"},
        {SL_UNKNOWN_ATTENTION, "attention_open",
         "attention was not given: the kernels the software may pick were evaluated"},
        {SL_UNKNOWN_DROPOUT, "dropout_open",
         "dropout was not given: what the software profile or the config says, or both, was "
         "evaluated"},
        {SL_UNKNOWN_MICRO_BATCH, "micro_batch_size_open",
         "micro_batch_size was not given: 1, 2, 4 and 8 were evaluated where they divide"},
        {SL_UNKNOWN_SEQUENCE, "sequence_open",
         "parallelism.sequence was not given: off and on were evaluated"},
        {SL_UNKNOWN_ZERO_STAGE, "zero_stage_open",
         "zero_stage was not given: the stages that the framework is taken for were evaluated"},
    };

    if ((question->unknown & (uint32_t)SL_UNKNOWN_RECOMPUTE) != 0)
        sl_note_add(out, false, "recompute_open",
                    sl_model_is_plain(question->model)
                        ? "recompute was not given: none and full were evaluated"
                        : "recompute was not given: every mode of the framework was evaluated");
    for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if ((question->unknown & (uint32_t)fields[i].field) != 0)
            sl_note_add(out, false, fields[i].code, fields[i].text);
    if (out->evaluated > 1)
        sl_note_add(
            out, false, "median_of_open_fields",
            "the answer is the combination with the median step among those that fit, of those "
            "that differ in recomputation alone the fastest; when none fits, of those that differ "
            "in recomputation, sequence parallelism and stage the one that lacks least; the "
            "interval spans them");
}

/* Whether what a layer passes on had to be guessed from what it keeps. */
static bool
has_open_outputs(const sl_model *model)
{
    for (uint32_t k = 0; k < model->kind_count; k++)
        if (model->kinds[k].operators[0].sample_output_bytes == 0)
            return true;
    return false;
}

static void
note_plain(const sl_model *model, sl_estimate *out)
{
    if (!sl_model_is_plain(model))
        return;
    sl_note_add(
        out, false, "per_sample",
        "layers are counted per sample: sequence_length is 1, and what is said of tokens holds for "
        "samples");
    sl_note_add(
        out, false, "plain_bytes",
        "activation_bytes hold in the precision that runs; forward writes and reads them once, "
        "backward takes twice the forward's FLOPs and bytes");
    sl_note_add(
        out, true, "layers_unmeasured",
        "a plain layer takes the slower of its FLOPs at the rate of large matrix products and its "
        "bytes at that of streaming kernels, a lower bound: published ResNet-50 runs on A100 take "
        "2.2 to 2.6 times as long");
    if (out->workload.optimizer == SL_OPTIMIZER_ADAFACTOR ||
        out->workload.optimizer == SL_OPTIMIZER_MUON)
        sl_note_add(out, true, "layers_without_shapes",
                    "a list of layers does not say which are matrices: states of Adafactor are "
                    "counted as of vectors, 4 bytes a parameter, of Muon as AdamW's, 8: upper "
                    "bounds");
    if (has_open_outputs(model))
        sl_note_add(
            out, true, "outputs_assumed",
            "a layer without output_bytes counts as passing on all it keeps: an upper bound of "
            "what "
            "stages send, and full recomputation frees nothing of it");
    if (out->workload.framework == SL_FRAMEWORK_MEGATRON)
        sl_note_add(
            out, false, "framework_borrowed",
            "layers are cut, scheduled and stored as Megatron would: as many in every stage, "
            "whatever they take");
}

static void
note_experts(const sl_question *question, sl_estimate *out)
{
    bool latent = false;

    for (uint32_t k = 0; k < question->model->kind_count; k++) {
        const sl_cache *cache = &question->model->kinds[k].cache;
        latent = latent || cache->naive_per_token != cache->per_token;
    }
    if (latent)
        sl_note_add(
            out, true, "latent_attention",
            "latent attention is priced with keys and values expanded for every head, its kernel "
            "as "
            "one of heads as wide as the mean of keys and values");
    if (question->model->experts == 0) {
        if (out->workload.routing_said)
            sl_note_add(out, true, "no_experts",
                        "workload.moe changes nothing: this model has no experts");
        return;
    }
    sl_note_add(
        out, true, "experts_coarse",
        "routed experts are priced as one product for all of a rank; how far off published runs of "
        "such models come out is in tests/accuracy/limits.md");
    if (out->workload.framework == SL_FRAMEWORK_DEEPSPEED)
        sl_note_add(
            out, true, "experts_of_deepspeed",
            out->workload.capacity > 0.0
                ? "experts padded to moe.capacity_factor are counted as deepspeed.moe's own layer: "
                  "tokens beyond it are dropped, and reach their experts by products with masks of "
                  "tokens x experts x capacity, which grow with the square of a micro-batch's "
                  "tokens; held against no measured run"
                : "experts are counted as grouped products that drop no token, as models of "
                  "Transformers and DeepSpeed's AutoEP have them: moe.capacity_factor says "
                  "deepspeed.moe's own layer, which drops tokens and keeps masks of tokens x "
                  "experts x capacity");
    if (!out->plan.overlap_experts && out->plan.expert > 1 &&
        out->workload.framework == SL_FRAMEWORK_MEGATRON)
        sl_note_add(out, false, "experts_exposed",
                    "nothing hides the tokens' way to their experts: moe.overlap says otherwise");
    if (out->workload.imbalance <= 1.0 && out->workload.capacity <= 0.0 && !out->workload.forced)
        sl_note_add(out, false, "experts_balanced",
                    "tokens are spread evenly over the experts: moe.imbalance says otherwise");
    if (out->workload.forced && out->software->deals_in_turn && out->plan.expert > 1)
        sl_note_add(out, false, "experts_in_turn",
                    "moe.balance forced deals experts to tokens in turn, as this release does: a "
                    "token's are neighbours, on fewer ranks than those that a router draws");
    if (out->plan.expert_tensor == 0 && out->plan.tensor > 1)
        sl_note_add(out, false, "expert_tensor_assumed",
                    "expert_tensor was not given: routed experts are cut as the rest, by tensor");
    if (out->workload.framework == SL_FRAMEWORK_FSDP2 && out->plan.expert == 1 &&
        out->plan.tensor > 1 && out->plan.expert_tensor == 1)
        sl_note_add(out, true, "experts_whole",
                    "routed experts are taken to be whole on each tensor rank; torchtitan cuts them "
                    "as the rest where expert is 1, which expert_tensor = tensor says");
}

static void
note_encoder(const sl_model *model, sl_estimate *out)
{
    if (model->across)
        sl_note_add(
            out, false, "source_length_assumed",
            "encoder and decoder are given sequence_length tokens each; tokens per second count "
            "them once");
    if (model->biased)
        sl_note_add(
            out, false, "bias_unfused",
            "a learned bias is added to every score: attention is unfused, as the classes of the "
            "Hugging Face library compute it");
    if (model->unmasked)
        sl_note_add(
            out, true, "encoder_unvalidated",
            "one run decides on an encoder's step time, which comes out 24 % too short: BERT-large "
            "on one A100; fused attention was fitted under a causal mask. Published peaks of "
            "BERT-large on one V100, fp32 or autocast, come out up to 15 % too low");
}

static void
note_scan(const sl_model *model, sl_estimate *out)
{
    if (sl_model_does(model, SL_OPERATOR_SCAN))
        sl_note_add(
            out, true, "state_space_unmeasured",
            "a state space takes the slower of its FLOPs at the rate of large matrix products and "
            "its bytes at that of streaming kernels, a lower bound; what it keeps is what the "
            "fused kernels of mamba_ssm and flash-linear-attention keep");
}

/* What the framework does of itself with gradients that add up, where it has a choice. */
static void
note_gradient_sync(sl_estimate *out)
{
    const sl_plan *plan = &out->plan;
    const sl_framework framework = out->workload.framework;
    const bool said = plan->gradient_sync != SL_GRADIENT_SYNC_DEFAULT;

    if (said || sl_plan_microbatches(&out->workload, plan) <= 1)
        return;
    if (framework == SL_FRAMEWORK_DDP || (framework == SL_FRAMEWORK_FSDP1 && plan->zero_stage == 0))
        sl_note_add(
            out, false, "gradient_sync_assumed",
            "gradients are reduced once per step: micro-batches before the last run under no_sync, "
            "as trainers do it; gradient_sync each reduces with every one");
    else if (framework == SL_FRAMEWORK_FSDP2 && plan->pipeline > 1)
        sl_note_add(
            out, false, "gradient_sync_assumed",
            "gradients wait whole until after the last backward, as torch.distributed.pipelining "
            "keeps fully_shard's; gradient_sync each reduces them with every micro-batch");
    else if (sl_states_wait(&out->workload, plan))
        sl_note_add(
            out, false, "gradient_sync_assumed",
            "gradients wait whole for the last micro-batch: with its parameters in the host's "
            "memory, FSDP 1 can add them up under no_sync alone");
    else if (sl_framework_is_fsdp(framework))
        sl_note_add(
            out, false, "gradient_sync_assumed",
            "gradients are reduced with every micro-batch, as FSDP does unless told otherwise; "
            "gradient_sync last (no_sync) keeps them whole and reduces once");
}

static bool
has_lone_keys(const sl_model *model)
{
    for (uint32_t kind = 0; kind < model->kind_count; kind++)
        for (uint32_t i = 0; i < model->kinds[kind].operator_count; i++)
            if (model->kinds[kind].operators[i].lone_keys)
                return true;
    return false;
}

/* Eager code of the class runs what the question did not ask for. */
static void
note_attention(const sl_question *question, sl_estimate *out)
{
    const bool eager = out->workload.framework != SL_FRAMEWORK_MEGATRON && !out->workload.compile;

    if (eager && out->workload.attention != SL_ATTENTION_UNFUSED && has_lone_keys(question->model))
        sl_note_add(
            out, true, "attention_falls_back",
            "Transformers' class of this model passes one key head for all query heads, which "
            "PyTorch's fused attention refuses: its math kernel runs and keeps every score (12 "
            "layers of 4,544 on 8,192 tokens held 97 GiB where a fused kernel leaves 33 "
            "GiB); "
            "attention unfused counts them");
}

static void
note_plan(const sl_question *question, sl_estimate *out)
{
    const sl_model *model = question->model;
    const sl_plan *plan = &out->plan;

    if (model->position_limit > 0 && question->workload.sequence_length > model->position_limit)
        sl_note_add(out, true, "beyond_declared_context",
                    "the sequence is longer than the context the config declares");
    if (!model->has_head && !sl_model_is_plain(model))
        sl_note_add(out, true, "no_head",
                    "this class has no language-model head: logits and loss are not counted");
    if (sl_schedule_split(model, plan) == SL_SPLIT_UNEVEN)
        sl_note_add(
            out, true, "uneven_stages",
            "the layers do not divide by the stages, embedding and head counted or not: the first "
            "chunks hold one more each; pipeline_layout says otherwise");
    if (sl_schedule_split(model, plan) == SL_SPLIT_LAYERS)
        sl_note_add(
            out, false, "embedding_and_head_are_layers",
            "the layers do not divide by the stages, but with embedding and head they do: each "
            "counts as a layer (account_for_embedding_in_pipeline_split and its twin for the "
            "loss)");
    if (plan->context > 1)
        sl_note_add(
            out, true, "context_unvalidated",
            "the time of context parallelism is a closed form: a ring hides under the attention, "
            "exchanges and gathers do not; torchtitan runs from 131072 tokens on come out 15 to "
            "20 % too fast");
    if (plan->context > 1 && plan->context_kind != SL_CONTEXT_EXCHANGE &&
        out->workload.framework == SL_FRAMEWORK_DEEPSPEED)
        sl_note_add(
            out, false, "context_of_a_library",
            "deepspeed itself exchanges a sequence for heads (Ulysses, context_kind a2a): a ring "
            "or a gather is that of a library beside it");
    if (!sl_recompute_matters(&out->workload))
        sl_note_add(
            out, false, "selective_changes_nothing",
            "selective recomputation drops the attention scores, which fused kernels never keep");
    if (plan->sequence && plan->tensor == 1)
        sl_note_add(
            out, false, "sequence_needs_tensor",
            "sequence parallelism splits over the tensor group: with tensor 1 it does nothing");
    if (model->kv_heads % plan->tensor != 0)
        sl_note_add(
            out, false, "key_values_gathered",
            out->workload.framework == SL_FRAMEWORK_MEGATRON
                ? "fewer key-value heads than tensor ranks: as in Megatron the projection is cut "
                  "evenly, its output gathered over the tensor ranks, and each keeps a whole "
                  "key-value head"
                : "fewer key-value heads than tensor ranks: torchtitan refuses such a plan; it is "
                  "counted as Megatron does it, the projection cut evenly and its output gathered");
    note_gradient_sync(out);
    note_attention(question, out);
    if (out->workload.framework == SL_FRAMEWORK_DP)
        sl_note_add(
            out, true, "dp_first_device",
            "dp computes the loss of the whole batch on its first device and replicates the "
            "model's "
            "modules in Python at every pass: neither is priced; links are taken as NCCL's ring");
    if (out->software->eager_activations && !out->workload.compile)
        sl_note_add(
            out, true, "eager_host",
            "what the host takes to issue an eager operator (the step's term launch) is coarse, "
            "and "
            "decides how long small layers take");
    if (out->software->overlap_tensor_forward)
        sl_note_add(
            out, true, "userbuffers",
            "tensor collectives in pieces under their products are priced as hidden as any other: "
            "what the pieces cost and the buffers of the library are not counted");
    if (!out->fits)
        sl_note_add(
            out, true, "does_not_fit",
            "the plan needs more device memory than is usable: times are those of a run that "
            "cannot start");
}

static void
note_host(const sl_question *question, sl_estimate *out)
{
    const uint64_t room = question->cluster->host_memory_bytes;

    if (out->memory.host_lacking_bytes > 0)
        sl_note_add(
            out, true, "host_memory_exceeded",
            "a node's memory is smaller than what the plan keeps there, and a run cannot start: "
            "fits speaks of devices only");
    else if (room > 0 && out->memory.host_per_node.high_bytes > room)
        sl_note_add(
            out, true, "host_memory_tight",
            "a node's memory has room for what the plan keeps there, and not for the half more "
            "that DeepSpeed's own estimator adds for buffers");
    if (room > 0 && out->memory.host_per_node.start_bytes > room)
        sl_note_add(
            out, true, "host_memory_at_start",
            "outside of zero.Init each rank of a node builds its part of the model in fp32 before "
            "ZeRO divides it: together more than the node's memory, even without the half more "
            "that DeepSpeed's estimators add here too");
    if (out->plan.host_run_count == 0)
        return;
    sl_note_add(
        out, true, "host_blocks_coarse",
        "blocks on the cpu take the slower of their FLOPs and their bytes at the host's rates, and "
        "the device waits: coarse, held against no measured run");
    for (uint32_t i = 0; i < out->plan.host_run_count; i++)
        if (out->plan.host_runs[i].flops_per_s <= 0.0 ||
            out->plan.host_runs[i].memory_bytes_per_s <= 0.0) {
            sl_note_add(
                out, false, "host_rates_assumed",
                "rates of the host were not given: 7.2e12 FLOP/s and 4.9e11 bytes/s, shares of two "
                "56-core processors' datasheet, are assumed");
            return;
        }
}

/* Where a schedule comes from, what it asks of the release, and what of it is not counted. */
static void
note_schedule(sl_estimate *out)
{
    if (!sl_schedule_splits_backward(&out->plan))
        return;
    if (out->plan.schedule == SL_SCHEDULE_DUALPIPE)
        sl_note_add(
            out, true, "schedule_support",
            "dualpipe is DeepSeek's own and, as DualPipeV, in torchtitan: other releases lack it; "
            "its time was held against no measured run yet");
    else
        sl_note_add(
            out, true, "schedule_support",
            "zero-bubble schedules are in the zero-bubble fork of Megatron-LM and, as "
            "ZBVZeroBubble and a variant of ZB-H1, in PyTorch: other releases may lack them; their "
            "time was held against no measured run yet");
    sl_note_add(
        out, false, "weight_gradients_wait",
        "gradients of the weights of blocks wait, those of embedding and head do not; what they "
        "wait "
        "with is the products' inputs and output gradients, and collectives stay with the other "
        "half of backward");
    if (out->plan.schedule == SL_SCHEDULE_ZB_H2 || out->plan.schedule == SL_SCHEDULE_ZB_V)
        sl_note_add(
            out, true, "no_optimizer_barrier",
            "the span is that of one rank, from its own first pass on: it needs an optimizer that "
            "does not wait for the norm of all gradients (post-validation)");
    if (out->plan.schedule == SL_SCHEDULE_ZB_V)
        sl_note_add(
            out, true, "zb_v_approximate",
            "zb_v has no published closed form but for passes of equal length, where nothing is "
            "idle: the bubble is a lower bound of what its authors' scheduler finds, 1 % of 1f1b's "
            "below it on average");
    if (out->plan.schedule == SL_SCHEDULE_DUALPIPE)
        sl_note_add(
            out, false, "two_copies",
            "both copies of the model have their own gradients and optimizer states, sharded over "
            "their own data ranks; gradients of the two are added up once a step");
}

/* The closed form is what a search goes by; where it is coarse the step simulated is the figure. */
static void
note_coarse(sl_estimate *out)
{
    static const char *const texts[] = {
        [SL_COARSE_TRAFFIC] =
            "a tenth of the step is traffic that nothing hides, or sends come late; both "
            "are added up by stage: simulated layer by layer and link by link, as timelines do, "
            "the step may be more than 5 % off this figure",
        [SL_COARSE_FEW] =
            "zb_v has fewer than 2 pipeline - 1 micro-batches: simulated, as timelines do, the "
            "step may be more than 5 % off this figure",
        [SL_COARSE_COPIES] =
            "activations that go to the host are of blocks of several kinds: simulated one by "
            "one, as timelines do, the step may be more than 5 % off this figure",
        [SL_COARSE_CHUNKS] =
            "chunks of interleaved stages differ in length: simulated, as timelines do, the step "
            "may be more than 5 % off this figure",
    };

    if (out->time.coarse != SL_COARSE_NONE)
        sl_note_add(out, true, "closed_form_coarse", texts[out->time.coarse]);
}

static void
note_launch(sl_estimate *out)
{
    const double told_ratio = 0.01; /* less of a step changes nothing that anybody reads */

    if (!out->software->host_said &&
        out->time.terms[SL_TERM_LAUNCH - SL_TERM_FORWARD].value > told_ratio * out->time.step_s)
        sl_note_add(
            out, false, "host_speed_assumed",
            "the device waits for the host to issue kernels: the host is taken as fast as those "
            "the release was measured on, and the interval has one of 0.85 to 1.3 times its time");
}

void
sl_evaluate_notes(const sl_question *question, sl_estimate *out)
{
    out->note_count = 0;
    note_unknown(question, out);
    sl_note_hardware(question, out);
    sl_note_pools(question, out);
    sl_note_states(question, out);
    note_plan(question, out);
    note_schedule(out);
    note_coarse(out);
    note_host(question, out);
    note_launch(out);
    note_experts(question, out);
    note_encoder(question->model, out);
    note_scan(question->model, out);
    note_plain(question->model, out);
    sl_note_add(
        out, true, "not_modelled",
        "data loading and contention between collectives are not modelled yet, nor ranks that are "
        "slower than the usual spread");
}
