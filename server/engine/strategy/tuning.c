#include "engine/strategy/tuning.h"

#include <stddef.h>

#include "engine/placement/adapter.h"

/* PEFT's guides. */
static const uint32_t usual_rank = 16;

static const sl_adapter_base bases[SL_TUNING_METHOD_COUNT] = {
    [SL_TUNING_LORA_INT8] = SL_ADAPTER_BASE_INT8,
    [SL_TUNING_QLORA] = SL_ADAPTER_BASE_NF4,
    [SL_TUNING_QLORA_DOUBLE] = SL_ADAPTER_BASE_NF4_DOUBLE,
};

/* The newest that is possible, or unfused; FlashAttention 1 is older than what fine-tunes today. */
static sl_attention_kernel
fused_kernel(const sl_question *question)
{
    const sl_accelerator *part = &question->cluster->accelerator;
    static const sl_attention_kernel newest_first[] = {SL_ATTENTION_FLASH3, SL_ATTENTION_CUDNN,
                                                       SL_ATTENTION_FLASH2, SL_ATTENTION_EFFICIENT};

    if (sl_model_is_plain(question->model) || question->model->biased)
        return SL_ATTENTION_UNFUSED;
    for (size_t i = 0; i < sizeof newest_first / sizeof newest_first[0]; i++)
        if (sl_attention_possible(part, newest_first[i], question->workload.precision))
            return newest_first[i];
    return SL_ATTENTION_UNFUSED;
}

uint32_t
sl_tunings_list(const sl_question *question, sl_tuning out[SL_TUNINGS_MAX])
{
    const sl_attention_kernel fused = fused_kernel(question);
    uint32_t count = 0;

    for (uint32_t method = 0; method < SL_TUNING_METHOD_COUNT; method++)
        for (uint32_t form = 0; form < 4; form++) {
            const bool flash = form % 2 == 1;
            if (flash && fused == SL_ATTENTION_UNFUSED)
                continue;
            out[count++] = (sl_tuning){
                .method = (sl_tuning_method)method,
                .recompute = form >= 2,
                .kernel = flash ? fused : SL_ATTENTION_UNFUSED,
            };
        }
    return count;
}

sl_question
sl_tuning_question(const sl_question *question, const sl_tuning *tuning)
{
    sl_question q = *question;
    sl_adapter *adapter = &q.workload.adapter;

    q.workload.recompute = tuning->recompute ? SL_RECOMPUTE_FULL : SL_RECOMPUTE_NONE;
    q.workload.recompute_method = SL_RECOMPUTE_EACH;
    q.workload.attention = tuning->kernel;
    q.unknown &= ~(uint32_t)(SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_ATTENTION | SL_UNKNOWN_MICRO_BATCH);
    if (tuning->method == SL_TUNING_FULL) {
        *adapter = (sl_adapter){.method = SL_ADAPTER_NONE};
        return q;
    }
    if (!sl_adapter_on(adapter))
        *adapter = (sl_adapter){.method = SL_ADAPTER_LORA,
                                .rank = usual_rank,
                                .half = sl_adapter_half_by_default(&q.workload),
                                .autocast = sl_adapter_autocast_by_default(&q.workload)};
    adapter->base = bases[tuning->method];
    adapter->wide_rest = adapter->wide_rest && adapter->base != SL_ADAPTER_BASE_BF16;
    return q;
}
