/** What every pipeline rank holds at rest, worked out once: memory and step both start from it. */
#ifndef SL_ENGINE_HOLDING_H
#define SL_ENGINE_HOLDING_H

#include <assert.h>

#include "engine/placement/states.h"

typedef struct sl_holding {
    uint32_t end_rank; /* after the last that holds it: they follow one another */
    sl_stage stage;
    sl_elements elements;
    sl_layouts layouts;
} sl_holding;

/* Of one layer, what the fullest rank has beyond an even part [count of elements]. */
typedef struct sl_padding {
    double dense, routed;
} sl_padding;

typedef struct sl_holdings {
    sl_chunking cut;
    sl_shards shards;
    bool own_bf16;    /* layouts are of DeepSpeed's BF16_Optimizer */
    bool flat;        /* ... and of an optimizer that steps on flat parts */
    sl_degree padded; /* over as many ranks elements have their padding; 0: none has any */
    sl_padding kinds[SL_KINDS_MAX]; /* ... of each kind of layer, where it is not 0 */
    uint8_t
        of[SL_PIPELINE_MAX]; /* index into list: what repeats the rank before shares its entry */
    sl_holding list[SL_PIPELINE_MAX];
} sl_holdings;

/** The part that goes by how states are sharded; all else is the same of any plan that is cut
 * alike. Where parameters are divided, the fullest rank has of fully_shard the whole rows of each
 * tensor, of ZeRO 3 equal parts of each flat tensor, of FSDP 1 of each unit laid flat. */
void sl_hold_shards(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
                    const sl_slice *slice, const sl_kind_price *prices, sl_holdings *out);

/** Of the ranks 0 to p - 1. The split of the layers must not be NONE. */
void sl_hold(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
             const sl_slice *slice, const sl_kind_price *prices, sl_holdings *out);

static inline const sl_holding *
sl_holding_of(const sl_holdings *holdings, uint32_t rank)
{
    assert(rank < SL_PIPELINE_MAX);
    return &holdings->list[holdings->of[rank]];
}

/** What a rank gathers and reduces of its elements. */
static inline sl_elements
sl_holding_sent(const sl_holdings *holdings, const sl_holding *holding)
{
    return sl_states_sent(&holding->elements, &holdings->padded);
}

/** Whether rank > 0 holds the same as the one before it (sl_schedule_repeats). */
static inline bool
sl_holding_repeats(const sl_holdings *holdings, uint32_t rank)
{
    assert(rank > 0 && rank < SL_PIPELINE_MAX);
    return holdings->of[rank] == holdings->of[rank - 1];
}

#endif
