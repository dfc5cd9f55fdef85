/** Llama 3.1 405B, which more than one bench evaluates. */
#ifndef SL_BENCH_LLAMA_405B_H
#define SL_BENCH_LLAMA_405B_H

#include "shardline/model.h"

static const sl_dense_spec llama_405b = {
    .naming = SL_NAMING_LLAMA,
    .blocks = 126,
    .hidden = 16384,
    .ffn = 53248,
    .vocabulary = 128256,
    .heads = 128,
    .kv_heads = 8,
    .head_dim = 128,
    .gated_mlp = true,
    .has_head = true,
};

#endif
