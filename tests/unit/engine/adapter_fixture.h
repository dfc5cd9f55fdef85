/** What the tests of adapters ask: Llama 3.2 3B on one device, LoRA on its q and v. */
#ifndef SL_TESTS_ADAPTER_FIXTURE_H
#define SL_TESTS_ADAPTER_FIXTURE_H

#include <string.h>

#include "engine_fixture.h"
#include "harness.h"

#define ON_Q_AND_V .target_count = 2, .targets = {"q_proj", "v_proj"}

static sl_cluster cluster;
static sl_software software;

/* Llama 3.2 3B, whose trainable counts PEFT's method comparison publishes. */
static const double LAYERS = 28.0, HIDDEN = 3072.0, KEYS = 1024.0, FFN = 8192.0;
static const double TOKENS = 2048.0;

static inline sl_question
llama_question(const sl_adapter *adapter)
{
    const sl_dense_spec spec = {
        .naming = SL_NAMING_LLAMA,
        .blocks = 28,
        .hidden = 3072,
        .ffn = 8192,
        .vocabulary = 128256,
        .heads = 24,
        .kv_heads = 8,
        .head_dim = 128,
        .gated_mlp = true,
        .tied = true,
        .has_head = true,
    };
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.adapter = *adapter;
    return q;
}

static const sl_adapter lora = {.method = SL_ADAPTER_LORA, .rank = 32, ON_Q_AND_V};
static const double LORA_TRAINED = 9175040.0;

/* Of the only rank: an input of the term of adapters, or of activations. */
static inline double
input_in(const sl_question *q, sl_term_id id, const char *name)
{
    const sl_rank_memory *rank = &sl_fixture_answer(q)->memory.ranks[0];

    for (uint32_t t = 0; t < rank->term_count; t++)
        for (uint32_t i = 0; rank->terms[t].id == id && i < rank->terms[t].input_count; i++)
            if (strcmp(rank->terms[t].inputs[i].name, name) == 0)
                return rank->terms[t].inputs[i].value;
    CU_FAIL("the term has such an input");
    return 0.0;
}

#endif
