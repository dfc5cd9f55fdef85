/* Every field of a question from a seed, mostly such that its framework has it. */
#include "drawn_question.h"

#include <string.h>

#include "engine/price/price.h"
#include "engine_fixture.h"
#include "reading.h"

enum { SPECS = 5, CONFIGS = 4, MODELS = SPECS + 1 + CONFIGS };

static const char *const configs[CONFIGS] = {"bert_tiny", "t5_gated_tiny", "bamba_tiny",
                                             "gemma3_tiny"};
static const sl_model *models[MODELS];
static sl_model described[SPECS + 1];
static sl_reading readings[CONFIGS];
static uint64_t state;

/* Splitmix64 (Steele 2014). */
static uint64_t
draw(uint64_t below)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

/* True once in `times`. */
static bool
once_in(uint64_t times)
{
    return draw(times) == 0;
}

/* Mostly a power of two. */
static uint32_t
draw_degree(uint32_t powers)
{
    return once_in(12) ? 3 * (1 + (uint32_t)draw(2)) : 1U << draw(powers + 1);
}

/* Dense and tied; few key-value heads; experts, shared ones too; latents and dense blocks first; a
 * layer that predicts further; no transformer, with layers that hold or keep nothing; and what is
 * read from a parts list. */
void
sl_draw_models(void)
{
    static const sl_plain_layer layers[] = {{"conv", 1, 1792, 6723584, 173408256, 6422528},
                                            {"block", 5, 73856, 3211264, 1849688064, 0},
                                            {"pool", 2, 0, 0, 1000, 500},
                                            {"wide", 4, 40000000, 1000, 80000000, 1000},
                                            {"idle", 2, 0, 0, 1000, 0}};
    sl_dense_spec specs[SPECS];
    sl_errors err = {0};

    for (uint32_t i = 0; i < SPECS; i++) {
        specs[i] = sl_fixture_llama();
        specs[i].blocks = 12;
        specs[i].kv_heads = 4;
        specs[i].hidden = i == 2 ? 1024 : 2048;
    }
    specs[0] = sl_fixture_gpt(12, 2048, 32);
    specs[2].naming = SL_NAMING_QWEN2_MOE;
    specs[2].experts = (sl_experts){
        .count = 16, .per_token = 2, .width = 512, .shared_width = 1024, .shared_gate = true};
    specs[3].naming = SL_NAMING_DEEPSEEK;
    specs[3].heads = specs[3].kv_heads = 16;
    specs[3].latent = (sl_latent){
        .query_rank = 256, .kv_rank = 128, .plain_dim = 64, .rotary_dim = 32, .value_dim = 64};
    specs[3].experts = (sl_experts){.count = 8, .per_token = 3, .width = 768, .shared_width = 768};
    specs[3].block[0] = specs[3].block[1] = SL_BLOCK_DENSE_MLP;
    specs[4].tied = true;
    for (uint32_t i = 0; i < SPECS; i++)
        CU_ASSERT_EQUAL_FATAL(sl_model_describe_dense(&specs[i], &described[i], &err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_model_add_prediction(&described[4], &err), SL_OK);
    sl_model_describe_plain(layers, sizeof layers / sizeof layers[0], &described[SPECS]);
    for (uint32_t i = 0; i <= SPECS; i++)
        models[i] = &described[i];
    for (uint32_t i = 0; i < CONFIGS; i++) {
        readings[i] = read_fixture(configs[i]);
        CU_ASSERT_EQUAL_FATAL(readings[i].code, SL_OK);
        models[SPECS + 1 + i] = readings[i].model;
    }
}

static void
draw_software(sl_software *out)
{
    sl_software software = sl_fixture_software();
    if (once_in(2)) /* a release whose allocator loses nothing */
        software.fragmentation_ratio = software.fragmentation_low_ratio =
            software.fragmentation_high_ratio = 1.0;
    software.eager_activations = once_in(2);
    software.traced_sharding = once_in(8);
    software.dummy_weight_gradients = once_in(2);
    software.pytorch_workspaces = software.dummy_weight_gradients ? 2.0 : 0.0;
    software.loss_compiled = once_in(2);
    software.overlap_gradient_reduce = once_in(2);
    software.overlap_parameter_gather = once_in(2);
    software.overlap_pipeline = once_in(2);
    software.overlap_tensor_backward = once_in(2);
    software.overlap_tensor_forward = once_in(2);
    software.scatter_sends = once_in(2);
    software.divides_in_groups = true;
    *out = software;
}

static void
draw_cluster(const sl_plan *plan, sl_cluster *out)
{
    static const uint64_t sizes[] = {8, 40, 80};
    const uint64_t world = sl_plan_world(plan);
    const uint32_t each = world % 8 == 0 && !once_in(4) ? 8 : world % 4 == 0 ? 4 : (uint32_t)world;

    sl_cluster cluster = sl_fixture_cluster((uint32_t)(world / each));
    cluster.accelerators_per_node = each;
    sl_accelerator *part = &cluster.accelerator;
    part->memory_bytes = sizes[draw(3)] << 30;
    part->pytorch_workspace_bytes = 3e7;
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++)
        part->peak_flops_per_s[i] = 100e12;
    part->any_layout = once_in(2);
    part->scale_up_domain = once_in(4) ? 4 : 8;
    part->host_bytes_per_s = once_in(4) ? 0.0 : 20e9;
    *out = cluster;
}

static bool
is_fsdp(const sl_workload *w)
{
    return w->framework == SL_FRAMEWORK_FSDP1 || w->framework == SL_FRAMEWORK_FSDP2;
}

static bool
is_replicated(const sl_workload *w)
{
    return w->framework == SL_FRAMEWORK_DDP || w->framework == SL_FRAMEWORK_DP;
}

/* Mostly what the framework has: what it has not is refused, and others test that. */
static bool
goes_with(bool framework)
{
    return framework || once_in(16);
}

static void
draw_recompute(sl_workload *w)
{
    w->recompute = (sl_recompute)draw(SL_RECOMPUTE_COUNT);
    if ((w->recompute == SL_RECOMPUTE_MODULES &&
         !goes_with(w->framework == SL_FRAMEWORK_MEGATRON)) ||
        (w->recompute == SL_RECOMPUTE_OPERATORS && !goes_with(is_fsdp(w))))
        w->recompute = SL_RECOMPUTE_FULL;
    if (w->recompute == SL_RECOMPUTE_FULL && once_in(2)) {
        w->recompute_method = (sl_recompute_method)(1 + draw(2));
        w->recompute_layers = 1 + (uint32_t)draw(6);
    }
    if (w->recompute == SL_RECOMPUTE_MODULES)
        w->recompute_modules = 1 + (uint32_t)draw((1U << SL_MODULE_COUNT) - 1);
}

static void
draw_adapter(sl_adapter *adapter)
{
    *adapter = (sl_adapter){.method = (sl_adapter_method)draw(SL_ADAPTER_METHOD_COUNT),
                            .rank = 1 + (uint32_t)draw(64),
                            .half = once_in(2),
                            .fused = once_in(4),
                            .base = (sl_adapter_base)draw(SL_ADAPTER_BASE_COUNT)};
    adapter->wide_rest = adapter->base != SL_ADAPTER_BASE_BF16 && once_in(2);
    adapter->virtual_tokens = adapter->method >= SL_ADAPTER_PROMPT_TUNING ? 20 : 0;
    adapter->block_size = adapter->method == SL_ADAPTER_BOFT ? 4 : 0;
}

static void
draw_offload(sl_workload *w)
{
    const bool disks = goes_with(w->framework == SL_FRAMEWORK_DEEPSPEED);
    sl_offload *offload = &w->offload;

    offload->optimizer = once_in(2);
    const bool divides = is_fsdp(w) || w->framework == SL_FRAMEWORK_DEEPSPEED;
    offload->parameters = goes_with(divides && offload->optimizer) && once_in(2);
    offload->activations = once_in(2);
    offload->activation_layers = offload->activations && once_in(2) ? 1 : 0;
    offload->optimizer_on_nvme = disks && offload->optimizer && once_in(2);
    offload->parameters_on_nvme = disks && offload->parameters && once_in(2);
    if (goes_with(w->framework == SL_FRAMEWORK_MEGATRON) && offload->optimizer && once_in(2))
        offload->optimizer_fraction = 0.25;
}

static void
draw_workload(sl_workload *w, const sl_model *model)
{
    static const sl_framework frameworks[] = {
        SL_FRAMEWORK_MEGATRON, SL_FRAMEWORK_MEGATRON,  SL_FRAMEWORK_MEGATRON,
        SL_FRAMEWORK_FSDP1,    SL_FRAMEWORK_FSDP2,     SL_FRAMEWORK_FSDP2,
        SL_FRAMEWORK_FSDP2,    SL_FRAMEWORK_DEEPSPEED, SL_FRAMEWORK_DEEPSPEED,
        SL_FRAMEWORK_DDP,      SL_FRAMEWORK_DP};
    const bool plain = sl_model_is_plain(model);

    *w = (sl_workload){
        .framework = frameworks[draw(sizeof frameworks / sizeof frameworks[0])],
        .sequence_length = plain ? 1 : UINT64_C(256) << draw(4),
        .micro_batch = draw_degree(2),
        .precision = (sl_precision)draw(SL_PRECISION_COUNT),
        .optimizer = (sl_optimizer)draw(SL_OPTIMIZER_COUNT),
        .attention = plain || once_in(3) ? SL_ATTENTION_UNFUSED : SL_ATTENTION_FLASH2,
        .loss = (sl_loss)draw(SL_LOSS_COUNT),
        .imbalance = once_in(3) ? 1.5 : 0.0,
        .capacity = once_in(6) ? 1.25 : 0.0,
        .compile = once_in(4),
        .activations = (sl_activation_profile)draw(SL_ACTIVATIONS_COUNT),
        .graphs = once_in(4) ? (sl_cuda_graphs)draw(SL_GRAPHS_COUNT) : SL_GRAPHS_NONE,
        .dropout = !plain && once_in(4),
        .tokens = once_in(2) ? UINT64_C(1000000000) : 0,
        .layout = {-1.0, -1.0, -1.0, -1.0},
    };
    w->document_length = once_in(4) ? w->sequence_length / 2 : 0;
    if (sl_precision_is_low(w->precision))
        w->fp8 = (sl_fp8){.recipe = (sl_recipe)draw(SL_RECIPE_COUNT),
                          .primary_weights =
                              goes_with(w->framework == SL_FRAMEWORK_MEGATRON) && once_in(3)};
    w->fp8.transposed_anew = w->fp8.primary_weights && once_in(3);
    w->fp8.activation_inputs = w->fp8.transposed_anew; /* as MLPerf's runs with adapters do */
    w->fp8.attention = w->fp8.transposed_anew && once_in(2);
    w->optimizer_in_backward = goes_with(is_fsdp(w)) && once_in(6);
    w->expandable_segments = once_in(4);
    w->reduce = once_in(3) ? (sl_wire)draw(SL_WIRE_FP16) : SL_WIRE_DEFAULT;
    w->gather =
        goes_with(is_fsdp(w)) && once_in(3) ? (sl_wire)draw(SL_WIRE_COUNT) : SL_WIRE_DEFAULT;
    draw_recompute(w);
    if (once_in(4))
        draw_adapter(&w->adapter);
    if (once_in(4))
        draw_offload(w);
    if (w->framework != SL_FRAMEWORK_MEGATRON && w->compile && w->tokens > 0)
        w->mlp_tiles = 4; /* draws nothing, so that what follows stays as it was */
}

/* Any numbers of blocks that add up. */
static void
draw_layout(sl_plan *plan, const sl_model *model)
{
    const uint32_t chunks = plan->pipeline * plan->virtual_pipeline;
    uint32_t left = model->block_count;

    if (chunks > left)
        return;
    plan->layout_chunks = chunks;
    for (uint32_t i = 0; i < chunks; i++) {
        const uint32_t others = chunks - 1 - i;
        const uint32_t own = others == 0 ? left : 1 + (uint32_t)draw(left - others);
        plan->layout[i] = (uint16_t)own;
        left -= own;
    }
}

static void
draw_unit(sl_unit *unit)
{
    unit->kind = (sl_unit_kind)(1 + draw(3));
    unit->least = UINT64_C(1) << (16 + draw(12));
    if (unit->kind == SL_UNIT_BY_MODULE) {
        unit->module_count = 1;
        memcpy(unit->modules[0], "mlp", sizeof "mlp");
    }
}

static void
draw_plan(sl_plan *plan, const sl_workload *w, const sl_model *model)
{
    static const uint32_t stages[SL_FRAMEWORK_COUNT][4] = {
        [SL_FRAMEWORK_MEGATRON] = {0, 1, 0, 1},
        [SL_FRAMEWORK_FSDP1] = {0, 2, 3, 3},
        [SL_FRAMEWORK_FSDP2] = {2, 3, 2, 3},
        [SL_FRAMEWORK_DEEPSPEED] = {0, 1, 2, 3},
    };
    const bool plain = sl_model_is_plain(model);
    const bool megatron = w->framework == SL_FRAMEWORK_MEGATRON;
    const bool replicated = is_replicated(w);
    const bool fsdp = is_fsdp(w);
    const bool shares = goes_with(megatron || w->framework == SL_FRAMEWORK_FSDP2 ||
                                  w->framework == SL_FRAMEWORK_DEEPSPEED);

    *plan = (sl_plan){
        .tensor = plain || replicated ? 1 : draw_degree(fsdp ? 2 : 3),
        .pipeline = replicated || once_in(2) ? 1 : draw_degree(2),
        .virtual_pipeline = 1,
        .context = plain || !shares || once_in(2) ? 1 : draw_degree(1),
        .context_kind = (sl_context_kind)draw(SL_CONTEXT_COUNT),
        .expert = model->experts > 0 && shares ? draw_degree(2) : 1,
        .data = draw_degree(3),
        .zero_stage = stages[w->framework][draw(4)],
        .schedule = (sl_schedule)draw(SL_SCHEDULE_COUNT),
        .order =
            goes_with(megatron) && once_in(4) ? SL_ORDER_PIPELINE_DATA : SL_ORDER_DATA_PIPELINE,
    };
    if (plan->pipeline == 1 || (w->framework == SL_FRAMEWORK_DEEPSPEED && !once_in(8)))
        plan->schedule = SL_SCHEDULE_1F1B;
    if (plan->schedule == SL_SCHEDULE_ZB_V || plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B)
        plan->virtual_pipeline = once_in(8) ? 3 : 2;
    plan->sequence = plan->tensor > 1 && (once_in(2) || (plan->expert > 1 && !once_in(8)));
    plan->expert_tensor = once_in(2) ? 1 : plan->tensor;
    if (megatron && model->experts > 0 && w->tokens > 0 && plan->tensor > 2)
        plan->expert_tensor = plan->expert_tensor == 1 ? plan->tensor / 2 : 2; /* draws nothing */
    if (fsdp && once_in(3))
        plan->shard_group = draw_degree(2);
    if (megatron && plan->zero_stage == 1 && w->tokens > 0)
        plan->shard_group = (plan->data + 1) / 2; /* draws nothing */
    if (fsdp && once_in(3))
        plan->reshard = (sl_reshard)draw(SL_RESHARD_COUNT);
    if (fsdp && once_in(3))
        draw_unit(&plan->unit);
    if (once_in(fsdp ? 2 : 12))
        plan->gradient_sync = (sl_gradient_sync)draw(SL_GRADIENT_SYNC_COUNT);
    if (plan->pipeline > 1 && once_in(3))
        draw_layout(plan, model);
    plan->overlap_experts = megatron && plan->expert > 1 && w->tokens > 0 &&
                            w->recompute != SL_RECOMPUTE_FULL &&
                            (plan->pipeline == 1 || plan->virtual_pipeline > 1 ||
                             plan->schedule == SL_SCHEDULE_DUALPIPE); /* draws nothing either */
    if (once_in(12)) {
        plan->tensor = plan->context = plan->data = plan->expert = 1;
        plan->sequence = false;
        plan->host_run_count = 1;
        plan->host_runs[0].first = (uint32_t)draw(model->block_count);
        plan->host_runs[0].last = plan->host_runs[0].first +
                                  (uint32_t)draw(model->block_count - plan->host_runs[0].first);
    }
}

/* Fields that nobody said; a plain model has none that only an architecture gives a meaning. */
static uint32_t
draw_unknown(const sl_question *q)
{
    const uint32_t architecture = SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT | SL_UNKNOWN_SEQUENCE;
    uint32_t unknown = (uint32_t)draw(UINT64_C(2) * SL_UNKNOWN_ZERO_STAGE);

    if (sl_model_is_plain(q->model))
        unknown &= ~architecture;
    if (q->workload.recompute_method != SL_RECOMPUTE_EACH ||
        q->workload.recompute == SL_RECOMPUTE_MODULES)
        unknown &= ~(uint32_t)SL_UNKNOWN_RECOMPUTE;
    return unknown;
}

/* Mostly divisible by the stages. */
static uint64_t
draw_microbatches(const sl_question *q)
{
    if (q->workload.optimizer_in_backward)
        return 1;

    const uint64_t some = draw_degree(5);
    return once_in(3) ? some : some * q->plan.pipeline;
}

void
sl_draw_question(uint64_t number, sl_drawn *out)
{
    sl_question q = {.cluster = &out->cluster, .software = &out->software, .software_count = 1};

    state = number << 32;
    q.model = models[draw(MODELS)];
    draw_workload(&q.workload, q.model);
    draw_plan(&q.plan, &q.workload, q.model);
    q.workload.global_batch = draw_microbatches(&q) * q.workload.micro_batch * q.plan.data;
    draw_software(&out->software);
    draw_cluster(&q.plan, &out->cluster);
    q.nodes_fixed = once_in(2);
    if (once_in(8))
        q.unknown = draw_unknown(&q);
    out->question = q;
}

void
sl_draw_clear(void)
{
    for (uint32_t i = 0; i < CONFIGS; i++)
        clear_reading(&readings[i]);
}
