#include "engine/answer/evaluate.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/answer/figure.h"
#include "engine/placement/pools.h"
#include "engine/placement/recompute.h"
#include "engine/schedule/schedule.h"

static sl_slice *
slice_of_pool(sl_priced *priced, uint32_t pool)
{
    return pool == 0 ? &priced->slice : &priced->others[pool - 1];
}

static sl_kind_price *
prices_of_pool(sl_priced *priced, const sl_model *model, uint32_t pool)
{
    return &priced->prices[(size_t)pool * model->kind_count];
}

void
sl_evaluate_release(const sl_software *software, sl_workload *workload)
{
    workload->on_deepspeed = software->on_deepspeed;
    workload->own_bf16 = software->own_bf16;
}

sl_combination
sl_evaluate_combination(const sl_software *software, const sl_workload *workload,
                        const sl_plan *plan)
{
    sl_combination out = {software, *workload, *plan};

    sl_evaluate_release(software, &out.workload);
    return out;
}

/* Not the whole struct: few models have as many kinds as there is room for. */
static void
copy_priced(const sl_priced *from, uint32_t pools, uint32_t kinds, sl_priced *out)
{
    out->slice = from->slice;
    memcpy(out->others, from->others, (pools - 1) * sizeof out->others[0]);
    memcpy(out->prices, from->prices, (size_t)pools * kinds * sizeof out->prices[0]);
    out->pools = from->pools;
    for (uint32_t i = 0; i < out->pools.count; i++) {
        out->pools.list[i].slice = slice_of_pool(out, i);
        out->pools.list[i].prices = &out->prices[(size_t)i * kinds];
    }
}

void
sl_evaluate_reprice(const sl_question *question, sl_recompute recompute, const sl_priced *from,
                    sl_priced *out)
{
    const uint32_t kinds = question->model->kind_count;
    const uint32_t pools = sl_pools_count(question->cluster);

    assert(recompute != SL_RECOMPUTE_MODULES && from->slice.recompute != SL_RECOMPUTE_MODULES);
    if (out != from)
        copy_priced(from, pools, kinds, out);
    for (uint32_t i = 0; i < pools; i++) {
        sl_slice *slice = slice_of_pool(out, i);
        sl_kind_price *prices = prices_of_pool(out, question->model, i);
        slice->recompute = recompute;
        for (uint32_t k = 0; k < kinds; k++) {
            prices[k].again = sl_recompute_rerun(slice, &prices[k]);
            sl_price_passes(slice, &prices[k]);
        }
    }
}

static double
clock_ratio(const sl_accelerator *part, sl_clock clock)
{
    switch (clock) {
    case SL_CLOCK_LOW:
        return part->sustained_low_ratio;
    case SL_CLOCK_HELD:
        return part->sustained_ratio;
    case SL_CLOCK_HIGH:
        return part->sustained_high_ratio;
    case SL_CLOCK_COOL:
        break;
    }
    return 1.0;
}

void
sl_evaluate_price(const sl_question *question, const sl_combination *combination, sl_clock clock,
                  sl_priced *out)
{
    sl_question of_pool = *question;

    out->pools.count = question->cluster->pool_count;
    for (uint32_t i = 0; i < sl_pools_count(question->cluster); i++) {
        const sl_cluster *pool = sl_pools_at(question->cluster, i);
        sl_slice *slice = slice_of_pool(out, i);
        sl_kind_price *prices = prices_of_pool(out, question->model, i);
        of_pool.cluster = pool;
        *slice = sl_slice_of(&of_pool, combination->software, &combination->workload,
                             &combination->plan, clock_ratio(&pool->accelerator, clock));
        sl_price_kinds(question->model, pool, &combination->plan, slice, prices);
        if (out->pools.count == 0)
            continue;
        sl_pool_price *price = &out->pools.list[i];
        *price = (sl_pool_price){.cluster = pool, .slice = slice, .prices = prices};
        sl_pools_stages(question->cluster, &combination->plan, i, &price->first_stage,
                        &price->end_stage);
    }
}

void
sl_figure_set(sl_estimate *out, sl_term_id id, double value, const sl_input *inputs, uint32_t count)
{
    sl_term *term = &out->figures[id - SL_TERM_USABLE];

    assert(id >= SL_TERM_USABLE && count <= SL_TERM_INPUTS_MAX);
    *term = (sl_term){.id = id, .value = value, .input_count = count};
    memcpy(term->inputs, inputs, count * sizeof *inputs);
}

static double
term_value(const sl_rank_memory *rank, sl_term_id id)
{
    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == id)
            return rank->terms[i].value;
    return 0.0;
}

/* Bytes inside the allocator that live as long as `lifetime` says; fragmentation is not
 * allocated. */
static double
lifetime_bytes(const sl_rank_memory *rank, sl_lifetime lifetime)
{
    double bytes = 0.0;

    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id != SL_TERM_FRAGMENTATION &&
            sl_term_describe(rank->terms[i].id)->lifetime == lifetime)
            bytes += rank->terms[i].value;
    return bytes;
}

static void
set_memory_figures(sl_estimate *out)
{
    const sl_memory *memory = &out->memory;
    const sl_rank_memory *rank = &memory->ranks[memory->binding];
    const double allocated = (double)rank->peak_allocated_bytes;
    const double reserved = (double)rank->peak_reserved_bytes;
    const double total = (double)rank->device_total_bytes;

    SL_SET_FIGURE(out, SL_TERM_USABLE, (double)memory->usable_bytes,
                  {"capacity_bytes", (double)memory->capacity_bytes},
                  {"reserved_bytes", (double)memory->reserved_bytes});
    SL_SET_FIGURE(out, SL_TERM_HEADROOM, (double)memory->headroom_bytes,
                  {"usable_bytes", (double)memory->usable_bytes}, {"device_total_bytes", total});
    SL_SET_FIGURE(out, SL_TERM_PEAK_ALLOCATED, allocated,
                  {"persistent_bytes", lifetime_bytes(rank, SL_LIFETIME_PERSISTENT)},
                  {"activation_bytes", lifetime_bytes(rank, SL_LIFETIME_ACTIVATION)},
                  {"transient_bytes", lifetime_bytes(rank, SL_LIFETIME_TRANSIENT)});
    SL_SET_FIGURE(out, SL_TERM_PEAK_RESERVED, reserved, {"peak_allocated_bytes", allocated},
                  {"fragmentation_bytes", term_value(rank, SL_TERM_FRAGMENTATION)});
    SL_SET_FIGURE(out, SL_TERM_DEVICE_TOTAL, total, {"peak_reserved_bytes", reserved},
                  {"context_bytes", term_value(rank, SL_TERM_CONTEXT)});
}

/* The step is the sum of its terms: they are its inputs, by name. */
static void
set_step(sl_estimate *out)
{
    sl_input inputs[SL_TIME_TERMS];

    for (uint32_t i = 0; i < SL_TIME_TERMS; i++)
        inputs[i] =
            (sl_input){sl_term_describe(out->time.terms[i].id)->name, out->time.terms[i].value};
    sl_figure_set(out, SL_TERM_STEP, out->time.step_s, inputs, SL_TIME_TERMS);
}

static void
set_time_figures(const sl_combination *combination, sl_estimate *out)
{
    const sl_time *time = &out->time;
    const sl_throughput *t = &out->throughput;
    const double world = (double)sl_plan_world(&combination->plan);
    const double sequence = (double)combination->workload.sequence_length;
    const double batch = (double)combination->workload.global_batch;
    const double peak = t->peak_flops_per_s;
    const double full = t->model_flops;
    const sl_term *terms = time->terms;
    const sl_input *bubble = terms[SL_TERM_BUBBLE - SL_TERM_FORWARD].inputs;
    const double microbatches =
        (double)sl_plan_microbatches(&combination->workload, &combination->plan);

    set_step(out);
    SL_SET_FIGURE(out, SL_TERM_IDEAL, time->ideal_s, {"causal_flops", t->causal_flops},
                  {"accelerators", world}, {"peak_flops_per_s", peak});
    SL_SET_FIGURE(
        out, SL_TERM_BUBBLE_RATIO, time->bubble_ratio, {"microbatches", microbatches}, bubble[0],
        {"pipeline", combination->plan.pipeline},
        {"span_s", microbatches * bubble[1].value + terms[SL_TERM_BUBBLE - SL_TERM_FORWARD].value});
    SL_SET_FIGURE(out, SL_TERM_EXPOSED_COMMUNICATION, time->exposed_communication_s,
                  {"tensor_s", terms[SL_TERM_TENSOR_COMMUNICATION - SL_TERM_FORWARD].value},
                  {"context_s", terms[SL_TERM_CONTEXT_COMMUNICATION - SL_TERM_FORWARD].value},
                  {"expert_s", terms[SL_TERM_EXPERT_COMMUNICATION - SL_TERM_FORWARD].value},
                  {"pipeline_s", terms[SL_TERM_PIPELINE_COMMUNICATION - SL_TERM_FORWARD].value},
                  {"data_s", terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD].value});
    SL_SET_FIGURE(out, SL_TERM_TOKENS_PER_S, t->tokens_per_s, {"global_batch_size", batch},
                  {"sequence_length", sequence}, {"step_s", time->step_s});
    SL_SET_FIGURE(out, SL_TERM_TOKENS_PER_S_PER_ACCELERATOR, t->tokens_per_s_per_accelerator,
                  {"tokens_per_s", t->tokens_per_s}, {"accelerators", world});
    SL_SET_FIGURE(out, SL_TERM_SAMPLES_PER_S, t->samples_per_s, {"global_batch_size", batch},
                  {"step_s", time->step_s});
    SL_SET_FIGURE(out, SL_TERM_MODEL_FLOPS_PER_S, t->model_flops_per_s_per_accelerator,
                  {"model_flops", full}, {"step_s", time->step_s}, {"accelerators", world});
    SL_SET_FIGURE(out, SL_TERM_MFU_FULL, t->mfu_full, {"model_flops", full},
                  {"step_s", time->step_s}, {"accelerators", world}, {"peak_flops_per_s", peak});
    SL_SET_FIGURE(out, SL_TERM_MFU_CAUSAL, t->mfu_causal, {"causal_flops", t->causal_flops},
                  {"step_s", time->step_s}, {"accelerators", world}, {"peak_flops_per_s", peak});
    SL_SET_FIGURE(out, SL_TERM_HFU, t->hfu, {"hardware_flops", t->hardware_flops},
                  {"step_s", time->step_s}, {"accelerators", world}, {"peak_flops_per_s", peak});
}

/* Memory binds when some lacks: its largest term. Else the largest loss of time. */
static void
set_binding(sl_estimate *out)
{
    const sl_rank_memory *rank = &out->memory.ranks[out->memory.binding];
    const sl_term *largest = NULL;

    if (!sl_memory_has_room(&out->memory)) {
        out->binding_limit = out->fits ? "host_memory" : "memory";
        for (uint32_t i = 0; i < rank->term_count; i++)
            if (largest == NULL || rank->terms[i].value > largest->value)
                largest = &rank->terms[i];
        assert(largest != NULL);
        out->binding_term = *largest;
        return;
    }
    for (uint32_t i = SL_TERM_RECOMPUTE - SL_TERM_FORWARD; i < SL_TIME_TERMS; i++)
        if (largest == NULL || out->time.terms[i].value > largest->value)
            largest = &out->time.terms[i];
    /* Below a tenth of the step no loss is worth naming: the products themselves take the time. */
    if (largest->value < 0.1 * out->time.step_s) {
        out->binding_limit = "compute";
        out->binding_term = out->time.terms[SL_TERM_BACKWARD - SL_TERM_FORWARD];
    } else {
        out->binding_limit = sl_term_describe(largest->id)->name;
        out->binding_term = *largest;
    }
}

sl_memory_case
sl_evaluate_bare_case(const sl_question *question, const sl_combination *combination,
                      const sl_priced *priced)
{
    return (sl_memory_case){
        .question = question,
        .cluster = sl_pools_at(question->cluster, 0),
        .pools = priced->pools.count > 0 ? &priced->pools : NULL,
        .workload = &combination->workload,
        .plan = &combination->plan,
        .software = combination->software,
        .slice = &priced->slice,
        .prices = priced->prices,
    };
}

sl_memory_case
sl_evaluate_case(const sl_question *question, const sl_combination *combination,
                 const sl_priced *priced, sl_holdings *holdings)
{
    sl_memory_case c = sl_evaluate_bare_case(question, combination, priced);

    sl_hold(question->model, &combination->workload, &combination->plan, &priced->slice,
            priced->prices, holdings);
    c.holdings = holdings;
    return c;
}

void
sl_evaluate_know(const sl_question *question, const sl_estimate *estimate, sl_known *out)
{
    out->combination = (sl_combination){estimate->software, estimate->workload, estimate->plan};
    sl_evaluate_price(question, &out->combination, SL_CLOCK_HELD, &out->priced);
    out->c = sl_evaluate_case(question, &out->combination, &out->priced, &out->holdings);
    out->c.workload = &estimate->workload; /* what outlives the call */
    out->c.plan = &estimate->plan;
}

/* Spread over pools, all ranks wait for those of the slowest, and what they send each other for the
 * slowest links, which may be another's. */
static void
evaluate_spread_step(const sl_memory_case *c, sl_time *out)
{
    out->step_s = 0.0;
    for (uint32_t i = 0; i < c->pools->count; i++)
        for (uint32_t links = 0; links < c->pools->count; links++) {
            sl_memory_case space;
            sl_time time;
            sl_step_evaluate(sl_case_of_spread(c, i, links, &space), &time);
            time.slowest_pool = i;
            time.slowest_links = links;
            if (time.step_s > out->step_s)
                *out = time;
        }
}

void
sl_evaluate_time(const sl_memory_case *c, sl_time *out)
{
    if (sl_case_is_spread(c))
        evaluate_spread_step(c, out);
    else
        sl_step_evaluate(c, out);
    assert(isfinite(out->step_s) && out->step_s > 0.0);
}

bool
sl_evaluate_is_certain(const sl_memory *memory, uint64_t low_bytes, uint64_t high_bytes)
{
    const sl_rank_memory *fullest = &memory->ranks[memory->binding];
    const uint64_t outside = fullest->device_total_bytes - fullest->peak_reserved_bytes;

    if (memory->headroom_bytes < 0)
        return outside + low_bytes > memory->usable_bytes;
    return memory->host_lacking_bytes == 0 && outside + high_bytes <= memory->usable_bytes;
}

/* What both kinds of evaluation come to. */
static bool
evaluate(const sl_memory_case *c, const sl_combination *combination, sl_estimate *out)
{
    assert(c->slice->recompute == combination->workload.recompute);
    if (!sl_memory_evaluate(c, &out->memory))
        return false;
    sl_evaluate_time(c, &out->time);
    out->fits = out->memory.headroom_bytes >= 0;
    out->fits_certain = sl_evaluate_is_certain(&out->memory, out->memory.reserved_low_bytes,
                                               out->memory.reserved_high_bytes);
    return true;
}

bool
sl_evaluate(const sl_question *question, const sl_combination *combination, const sl_priced *priced,
            sl_estimate *out)
{
    sl_holdings holdings;
    sl_memory_case c = sl_evaluate_case(question, combination, priced, &holdings);

    c.fullest_only = true;
    return evaluate(&c, combination, out);
}

bool
sl_evaluate_explained(const sl_question *question, const sl_combination *combination,
                      const sl_priced *priced, sl_estimate *out)
{
    sl_holdings holdings;
    sl_memory_case c = sl_evaluate_case(question, combination, priced, &holdings);

    c.explained = true;
    if (!evaluate(&c, combination, out))
        return false;
    out->software = combination->software;
    out->workload = combination->workload;
    out->plan = combination->plan;
    sl_step_throughput(&c, &out->time, &out->throughput);
    out->time.ideal_s = out->throughput.mfu_causal * out->time.step_s;
    set_memory_figures(out);
    set_time_figures(combination, out);
    set_binding(out);
    return true;
}
