/**
 * What a quantised checkpoint stores, from its quantization_config or hf_quant_config.json. Counts
 * never change: they come from the shapes.
 */
#ifndef SL_HF_QUANTIZATION_H
#define SL_HF_QUANTIZATION_H

#include "shardline/model.h"
#include "json/reader.h"

enum { SL_HF_REFUSED_MAX = 96, SL_HF_KEPT_MAX = 2 };

/** What a method does to linear layers that its lists do not name. */
typedef enum sl_hf_reach {
    SL_HF_CONVERTED,
    SL_HF_SPARED,
    SL_HF_UNSURE /* its versions differ: taken to be spared, with a warning */
} sl_hf_reach;

/** One storage format and the linear layers that have it, in the order they are tried. */
typedef struct sl_hf_group {
    sl_tensor_format format;
    bool scales_as_weights; /* scales have the dtype the weights had: of its size, whatever `format`
                               says */
    bool everywhere;        /* every linear layer; else those `targets` names */
    sl_node targets;
    const char *algorithm; /* of targets' members; NULL = all of them */
} sl_hf_group;

/** Points into the document, which must outlive it, and into itself: never copied once read. */
typedef struct sl_hf_quantization {
    bool present;
    sl_node wrapper; /* text_config, where the section is in that */
    sl_node section;
    const char *method;              /* "unknown" when the file does not say */
    const char *format;              /* the method's own word for its layout, or NULL */
    const char *kv_cache;            /* static, or NULL */
    const char *assumed;             /* static: what the config leaves open, for the warning */
    char refused[SL_HF_REFUSED_MAX]; /* what of the section is not modelled; "" = nothing */
    bool head;                       /* the head is a linear layer like any other */
    const char *elsewhere; /* static: a key that says it in a way that is not read; or NULL */
    bool whole_names;      /* of modules: vLLM and compressed-tensors match an entry exactly */
    bool experts_only;
    bool stacks_kept; /* experts that are one tensor are not linear layers to this method */
    sl_hf_reach routers;
    sl_hf_reach beside; /* towers, projectors and what else is not attention, MLP or state space */
    uint32_t kept_count;
    sl_node kept[SL_HF_KEPT_MAX]; /* modules that stay as they are: lists, or objects with their
                                     names as keys */
    uint32_t group_count;
    sl_hf_group groups[SL_FORMATS_MAX];
} sl_hf_quantization;

/**
 * Reads quantization_config of `config`, or that of its text_config; absent or null is fine.
 * Rules: wrong_type, out_of_range.
 */
sl_code sl_hf_quantization_read(const sl_node *config, sl_hf_quantization *out,
                                sl_errors *err) SL_MUST_CHECK;

/**
 * Fills quantization, how tensors are stored and quantized_weights_bytes of a model whose kinds and
 * dtype are already there. Returns the steps that comparing its lists took (hf/modules.h).
 *
 * A method, layout or pattern that is not modelled leaves quantized_weights_bytes at 0 and the
 * tensors at the checkpoint's dtype, with a warning that names it; else a warning says what was
 * assumed, and another what may be quantised besides. All have the rule quantization. A dtype of
 * one byte is that of the quantised weights: the unquantised checkpoint has two.
 */
uint64_t sl_hf_quantization_apply(const sl_hf_quantization *quantization, sl_model *model,
                                  sl_errors *warnings);

/**
 * The separate file hf_quant_config.json of the same repository, after sl_hf_config_read of its
 * config. A model whose config has a section of its own keeps that: NVIDIA's files say the same
 * twice. On failure *model is untouched. Rules: wrong_type, out_of_range.
 */
sl_code sl_hf_quantization_read_file(const sl_node *file, sl_model *model, sl_errors *warnings,
                                     sl_errors *err) SL_MUST_CHECK;

/* Shared by the files of quantisation, and by nothing else. */

/** What the tensors of a model take. */
typedef struct sl_hf_account {
    uint64_t bytes;                          /* of all tensors, without ... */
    uint64_t scale_bytes;                    /* ... what is stored beside the quantised ones */
    uint64_t parameters[SL_FORMATS_MAX + 1]; /* by format, from 1; kept ones first */
    uint64_t unsure;                         /* of the kept ones, those that may be quantised */
    uint64_t steps;                          /* of comparing lists */
    char refused[SL_HF_REFUSED_MAX];         /* why it came to no end; "" = it did */
} sl_hf_account;

/** Reckons by the lists and reaches of `from`, and writes how each tensor is stored into the model,
 * whose formats are there. */
void sl_hf_account_model(const sl_hf_quantization *from, sl_model *model, sl_hf_account *out);

/** Fills what the method says from the section; `out` has the section and nothing else. */
sl_code sl_hf_quantization_methods(sl_hf_quantization *out, sl_errors *err) SL_MUST_CHECK;
sl_code sl_hf_read_compressed(sl_hf_quantization *out, sl_errors *err) SL_MUST_CHECK;
sl_code sl_hf_read_modelopt(sl_hf_quantization *out, sl_errors *err) SL_MUST_CHECK;

/** Keeps the first reason. */
void sl_hf_refuse(sl_hf_quantization *out, const char *format, ...) SL_PRINTF(2, 3);

/** Another group with this format, everywhere; NULL, refused, past SL_FORMATS_MAX. */
sl_hf_group *sl_hf_add_group(sl_hf_quantization *out, const sl_tensor_format *format);

/** Weights of one group; -1, null and absence are the whole row, 0. */
sl_code sl_hf_read_group_size(const sl_node *section, const char *name, uint64_t *out,
                              sl_errors *err) SL_MUST_CHECK;

/** A list of rows and columns; *present is false when there is none. */
sl_code sl_hf_read_block(const sl_node *section, const char *name, sl_tensor_format *format,
                         bool *present, sl_errors *err) SL_MUST_CHECK;

/** The section's member `name` as modules to be kept, when it is there, beside those it was told of
 * before. */
sl_code sl_hf_read_kept(sl_hf_quantization *out, const sl_node *section, const char *name,
                        sl_errors *err) SL_MUST_CHECK;

/** *out = the node without its parents, after a look at what it holds. Rule: wrong_type. */
sl_code sl_hf_read_names(const sl_node *names, sl_node *out, sl_errors *err) SL_MUST_CHECK;

/** "fp8_e4m3" and so on for bits of an integer or a float, or NULL. */
const char *sl_hf_dtype(bool is_float, uint64_t bits);

/** kv_cache_scheme of the section. */
sl_code sl_hf_read_kv_scheme(sl_hf_quantization *out, const sl_node *section,
                             sl_errors *err) SL_MUST_CHECK;

#endif
