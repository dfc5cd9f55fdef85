/** Ways of fine-tuning: what trains, how the rest is stored, what is kept and how attention
 * runs. */
#ifndef SL_ENGINE_TUNING_H
#define SL_ENGINE_TUNING_H

#include "shardline/plan.h"

typedef enum sl_tuning_method {
    SL_TUNING_FULL,
    SL_TUNING_LORA,
    SL_TUNING_LORA_INT8,    /* LLM.int8() under it */
    SL_TUNING_QLORA,        /* NF4 */
    SL_TUNING_QLORA_DOUBLE, /* ... with scales quantised too */
    SL_TUNING_METHOD_COUNT
} sl_tuning_method;

enum { SL_TUNINGS_MAX = SL_TUNING_METHOD_COUNT * 4 };

typedef struct sl_tuning {
    sl_tuning_method method;
    bool recompute;             /* every block, from its input */
    sl_attention_kernel kernel; /* unfused, or the newest fused one of the part */
} sl_tuning;

/** All of them, the methods in their order, of each first what keeps most; without a choice of
 * kernel where the part or the model has none. Returns their number. */
uint32_t sl_tunings_list(const sl_question *question, sl_tuning out[SL_TUNINGS_MAX]);

/** The question with one of them: the request's adapter where it has one, else LoRA of rank 16 on
 * every linear layer of the blocks. */
sl_question sl_tuning_question(const sl_question *question, const sl_tuning *tuning);

#endif
