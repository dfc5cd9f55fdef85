#include "engine/price/host.h"

#include <math.h>
#include <stddef.h>

#include "engine/links/links.h"
#include "engine/placement/recompute.h"

/* Shares of two Xeon 8480C by their datasheet: host.h says which. */
static const double assumed_flops_per_s = 7.2e12;
static const double assumed_memory_bytes_per_s = 4.9e11;

static double
flops_per_s(const sl_host_run *run)
{
    return run->flops_per_s > 0.0 ? run->flops_per_s : assumed_flops_per_s;
}

static double
memory_bytes_per_s(const sl_host_run *run)
{
    return run->memory_bytes_per_s > 0.0 ? run->memory_bytes_per_s : assumed_memory_bytes_per_s;
}

/* The layer of the list that block `block` is. */
static uint32_t
layer_of(const sl_model *model, uint32_t block)
{
    return block + (model->layer_count != model->block_count);
}

static bool
is_held(const sl_memory_case *c, uint32_t layer, const sl_held *held)
{
    uint32_t chunk = 0;

    while (sl_schedule_chunk_begin(c->question->model, c->plan, chunk + 1) <= layer)
        chunk++;
    for (uint32_t i = 0; i < held->count; i++)
        if (sl_schedule_chunk(c->plan, held->rank, held->first + i) == chunk)
            return true;
    return false;
}

static void
add_block(const sl_memory_case *c, const sl_host_run *run, const sl_kind_price *price,
          sl_host_time *out)
{
    const sl_elements elements = {.all = price->elements};
    const double weight_bytes = sl_states_layout(c->workload, c->plan, &elements).parameter_bytes;
    const double flops = price->matmul_flops + price->attention_flops;
    const double bytes = price->elements * weight_bytes + 2.0 * price->saved_bytes;
    const double memory = memory_bytes_per_s(run);
    const double forward_s = fmax(flops / flops_per_s(run), bytes / memory);

    out->forward_s += forward_s;
    out->backward_s += 2.0 * forward_s;
    if (c->workload->recompute == SL_RECOMPUTE_FULL)
        out->recompute_s += forward_s;
    else if (c->workload->recompute == SL_RECOMPUTE_SELECTIVE &&
             c->workload->attention == SL_ATTENTION_UNFUSED)
        out->recompute_s += price->attention_flops / flops_per_s(run);
    out->parameters += price->elements;
    out->sweep_s += price->elements / memory;
}

/* One way: what enters a part of a run that one rank has, and what leaves it. */
static void
add_sends(const sl_memory_case *c, uint32_t first, uint32_t last, sl_host_time *out)
{
    const sl_model *model = c->question->model;
    const uint32_t before = first > 0 ? first - 1 : first;
    const double bytes =
        c->prices[model->layers[before]].output_bytes + c->prices[model->layers[last]].output_bytes;
    const double seconds = sl_links_host_s(&c->cluster->accelerator, bytes);

    out->sends += 4.0;
    out->sent_bytes += 2.0 * bytes;
    out->sent_s += 2.0 * seconds;
    out->forward_s += seconds;
    out->backward_s += seconds;
}

sl_host_time
sl_host_measure(const sl_memory_case *c, const sl_held *held)
{
    const sl_model *model = c->question->model;
    sl_host_time out = {0};

    for (uint32_t i = 0; i < c->plan->host_run_count; i++) {
        const sl_host_run *run = &c->plan->host_runs[i];
        uint32_t first = UINT32_MAX;
        uint32_t last = 0;
        for (uint32_t block = run->first; block <= run->last; block++) {
            const uint32_t layer = layer_of(model, block);
            if (!is_held(c, layer, held))
                continue;
            add_block(c, run, &c->prices[model->layers[layer]], &out);
            first = first < layer ? first : layer;
            last = layer;
        }
        if (first != UINT32_MAX)
            add_sends(c, first, last, &out);
    }
    return out;
}

double
sl_host_bytes(const sl_memory_case *c, uint32_t rank, double in_flight)
{
    const sl_model *model = c->question->model;
    const sl_held held = sl_schedule_all_held(c->plan, rank);
    double bytes = 0.0;
    double rebuilt = 0.0;

    for (uint32_t i = 0; i < c->plan->host_run_count; i++) {
        for (uint32_t block = c->plan->host_runs[i].first; block <= c->plan->host_runs[i].last;
             block++) {
            const uint32_t layer = layer_of(model, block);
            const sl_kind_price *price = &c->prices[model->layers[layer]];
            if (!is_held(c, layer, &held))
                continue;
            const sl_elements elements = {.all = price->elements,
                                          .routed = price->routed_elements,
                                          .matrices = price->matrix_elements,
                                          .factored = price->factored_elements};
            const sl_layout layout = sl_states_layout(c->workload, c->plan, &elements);
            const double kept = sl_recompute_kept_bytes(c->workload->recompute, price);
            bytes += price->elements * (layout.parameter_bytes + layout.gradient_bytes +
                                        layout.master_bytes + layout.optimizer_bytes) +
                     in_flight * kept;
            rebuilt = fmax(rebuilt, price->saved_bytes - kept + price->largest_gradient_bytes);
        }
    }
    return bytes + rebuilt;
}
