/** Llamas that more than one bench evaluates. */
#ifndef SL_BENCH_LLAMAS_H
#define SL_BENCH_LLAMAS_H

#include "shardline/model.h"

/* Llama 3.1 70B and 405B. */
static const sl_dense_spec llama_70b = {
    .naming = SL_NAMING_LLAMA,
    .blocks = 80,
    .hidden = 8192,
    .ffn = 28672,
    .vocabulary = 128256,
    .heads = 64,
    .kv_heads = 8,
    .head_dim = 128,
    .gated_mlp = true,
    .has_head = true,
};

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
