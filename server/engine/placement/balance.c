#include "engine/placement/balance.h"

#include <assert.h>

#include "engine/answer/step_parts.h"
#include "engine/schedule/schedule.h"

/* What a stage takes of a micro-batch in all its passes: one of its blocks on the mean, and all
 * that is no block. */
static void
split_stage(const sl_memory_case *c, uint32_t stage, double *block_s, double *other_s)
{
    const sl_model *model = c->question->model;
    const sl_stage *held = &sl_holding_of(c->holdings, stage)->stage;
    const sl_held all = sl_schedule_all_held(c->plan, stage);
    sl_memory_case space;
    const sl_memory_case *at = sl_case_of_stage(c, stage, &space);

    *block_s = *other_s = 0.0;
    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (held->layers[k] == 0)
            continue;
        const bool again = sl_step_layers_again(at, &all, held, k) > 0.0;
        const sl_rank_time t = sl_step_layer(at, k, again);
        const double all_s = sl_pass_s(&t.forward) + sl_pass_s(&t.backward) + sl_pass_s(&t.again);
        if (sl_schedule_is_block(model, k))
            *block_s += held->layers[k] * all_s / held->blocks;
        else
            *other_s += held->layers[k] * all_s;
    }
}

void
sl_balance_deal(const uint32_t blocks[SL_PIPELINE_MAX], sl_plan *plan)
{
    const uint32_t held = sl_schedule_held(plan);

    plan->layout_chunks = sl_schedule_chunks(plan);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const uint32_t each = blocks[r] / held;
        const uint32_t over = blocks[r] % held;
        for (uint32_t i = 0; i < held; i++)
            plan->layout[sl_schedule_chunk(plan, r, i)] = (uint16_t)(each + (i < over));
    }
}

uint32_t
sl_balance_fewest(const sl_plan *plan, uint32_t rank)
{
    const bool end = rank == 0 || rank + 1 == plan->pipeline;

    return plan->virtual_pipeline == 1 && end ? 0 : plan->virtual_pipeline;
}

/* Ranks in a row that take as long for a block and for the rest: blocks go to them in turn. */
typedef struct run {
    uint32_t ranks;
    uint32_t each;  /* blocks of every one of them */
    uint32_t over;  /* ranks, the first, that have one more: the last to be dealt one out */
    double block_s; /* of one block there */
    double other_s; /* of what is no block */
    double end_s;   /* when the next of them would end with a block more */
} run;

static void
set_end(run *r)
{
    r->end_s = r->other_s + (r->each + 1) * r->block_s;
}

bool
sl_balance_blocks(const sl_memory_case *c, uint32_t out[SL_PIPELINE_MAX])
{
    run runs[SL_PIPELINE_MAX];
    const sl_plan *plan = c->plan;
    const uint32_t blocks = c->question->model->block_count;
    uint32_t count = 0;
    uint32_t placed = 0;

    if (plan->pipeline == 1 || sl_schedule_chunks(plan) > SL_LAYOUT_CHUNKS_MAX ||
        sl_model_is_plain(c->question->model))
        return false;
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const uint32_t fewest = sl_balance_fewest(plan, r);
        placed += fewest;
        if (r > 0 && sl_holding_repeats(c->holdings, r) && sl_case_goes_on(c, r) &&
            fewest == runs[count - 1].each) {
            runs[count - 1].ranks++;
            continue;
        }
        run *next = &runs[count++];
        *next = (run){.ranks = 1, .each = fewest};
        split_stage(c, r, &next->block_s, &next->other_s);
        if (next->block_s <= 0.0)
            return false;
    }
    assert(count > 0);
    for (uint32_t i = 0; i < count; i++)
        set_end(&runs[i]);
    /* One after the other, each to the rank that ends first with it: until all ranks of its run
     * have as many, that is one of them. */
    while (placed < blocks) {
        run *least = &runs[0];
        for (uint32_t i = 1; i < count; i++)
            if (runs[i].end_s < least->end_s)
                least = &runs[i];
        if (blocks - placed < least->ranks) {
            least->over = blocks - placed;
            placed = blocks;
            break;
        }
        placed += least->ranks;
        least->each++;
        set_end(least);
    }
    for (uint32_t i = 0, r = 0; i < count; i++)
        for (uint32_t n = 0; n < runs[i].ranks; n++)
            out[r++] = runs[i].each + (n < runs[i].over ? 1 : 0);
    return placed == blocks;
}

bool
sl_balance_plan(const sl_memory_case *c, sl_plan *plan)
{
    const sl_chunking *cut = &c->holdings->cut;
    const uint32_t given = plan->layout_chunks;
    uint32_t blocks[SL_PIPELINE_MAX];

    if (!sl_balance_blocks(c, blocks))
        return false;
    sl_balance_deal(blocks, plan);
    for (uint32_t i = 0; i < cut->chunks; i++)
        if (sl_schedule_chunk_blocks(cut, i) != plan->layout[i])
            return true;
    plan->layout_chunks = given;
    return false;
}
