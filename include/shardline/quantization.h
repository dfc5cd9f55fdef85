/**
 * How a quantised checkpoint stores a matrix: facts of a storage format, and the bytes that follow
 * from them. Which format a tensor of a model has is said in shardline/model.h.
 */
#ifndef SHARDLINE_QUANTIZATION_H
#define SHARDLINE_QUANTIZATION_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/error.h"

enum {
    SL_FORMATS_MAX = 8,       /* storage formats of one checkpoint */
    SL_KEPT_LISTED_MAX = 16,  /* patterns of modules left as they were that are shown */
    SL_KEPT_PATTERN_MAX = 80, /* bytes of one, with its end */
    SL_WORD_WEIGHTS_MAX = 32
};

/**
 * One matrix of `outputs` x `inputs` weights. A scale covers scale_outputs x scale_inputs of them;
 * 0 stands for the whole side, so that 0 x 0 is one scale a matrix, 1 x 0 one an output feature,
 * 1 x 128 one for 128 inputs of an output feature, 128 x 128 one a tile.
 */
typedef struct sl_tensor_format {
    const char *dtype;        /* static: "fp8_e4m3", "int4", "nvfp4" ... */
    uint32_t bits;            /* of one weight, as packed */
    uint32_t word_weights;    /* weights of a word; a ragged end fills one more word */
    uint32_t word_bytes;      /* bytes of a word */
    bool words_along_outputs; /* words join neighbouring output features, else inputs */
    bool flat;                /* the matrix is one row of outputs * inputs weights to its scales */
    uint64_t scale_outputs;
    uint64_t scale_inputs;
    uint32_t scale_bytes;     /* of one scale */
    uint32_t nested_scales;   /* scales are quantised again, in runs of so many; 0 = they are not */
    uint32_t nested_bytes;    /* of one scale of scales */
    uint32_t word_zeros;      /* zero points of a word, one a scale, joined along the outputs; 0 =
                                  none are stored */
    uint32_t word_zero_bytes; /* bytes of such a word */
    uint32_t order_bytes;     /* group of an input feature, one for each; 0 = none */
    uint32_t input_bytes;     /* of the scales of activations that are fixed in advance, a matrix */
    uint32_t matrix_bytes;    /* of what else is stored once a matrix: second scale, table, shape */
} sl_tensor_format;

/** What one or more tensors take, apart. */
typedef struct sl_stored {
    uint64_t weight_bytes; /* the weights themselves */
    uint64_t scale_bytes;  /* everything beside them: scales, zero points, orders, tables */
} sl_stored;

/**
 * Bytes of one matrix as stored.
 *
 *   words  = rows * ceil(length / word_weights), length along which words are joined
 *   scales = ceil(outputs / scale_outputs) * ceil(inputs / scale_inputs)
 *   zeros  = ceil(ceil(outputs / scale_outputs) / word_zeros) * ceil(inputs / scale_inputs)
 *   weight_bytes = words * word_bytes
 *   scale_bytes  = scales * scale_bytes + ceil(scales / nested_scales) * nested_bytes
 *                + zeros * word_zero_bytes + inputs * order_bytes + input_bytes + matrix_bytes
 *
 * outputs, inputs  [count]  at least 1; a flat matrix is one output of outputs * inputs inputs
 * Errors: SL_E_RANGE when a product leaves uint64_t; *out is then untouched.
 * Source: spec/inference.md 2.3. Pinned by golden/quantized_bytes.csv.
 */
sl_code sl_format_bytes(const sl_tensor_format *format, uint64_t outputs, uint64_t inputs,
                        sl_stored *out) SL_MUST_CHECK;

/** What a checkpoint was quantised with, and what of it. */
typedef struct sl_quantization {
    char method[32];         /* "fp8", "gptq" ...; "" = not quantised */
    char format[32];         /* the method's own word for its layout, or "" */
    char kv_cache_dtype[16]; /* of keys and values, where the checkpoint says it; or "" */
    uint32_t format_count;   /* 0 = the layout is not modelled, and nothing below is known */
    uint32_t main_format;    /* of `formats`: the one that most parameters have */
    uint64_t quantized_parameters;
    uint64_t kept_parameters; /* the others, at the checkpoint's element size */
    uint64_t scale_bytes;     /* of everything stored beside the quantised weights */
    uint32_t kept_count;      /* patterns of modules that stay as they were */
    uint32_t kept_listed;     /* the first of them, cut to the room there is */
    char kept[SL_KEPT_LISTED_MAX][SL_KEPT_PATTERN_MAX];
    sl_tensor_format formats[SL_FORMATS_MAX];
} sl_quantization;

#endif
