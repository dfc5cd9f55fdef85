/**
 * An estimate request becomes a question to the engine, in steps, because its parts come from
 * several places:
 *
 *   sl_estimate_request_read      the document alone
 *   sl_estimate_request_pool      + the spec of a stored inventory, when the request names one
 *   sl_estimate_request_question  + the model, decoded by the caller from what the request names
 *   sl_estimate_request_check     every rule the combination breaks
 */
#ifndef SL_CODEC_QUESTION_H
#define SL_CODEC_QUESTION_H

#include "base/hash.h"
#include "catalog/catalog.h"
#include "codec/question/notes.h"
#include "shardline/accounting.h"
#include "shardline/plan.h"
#include "json/reader.h"

enum { SL_SOFTWARE_OPEN_MAX = 8 }; /* profiles of one framework */

/** What a request is for: what may stand beside the members that all have. */
typedef enum sl_purpose {
    SL_PURPOSE_ESTIMATE,
    SL_PURPOSE_TIMELINE,
    SL_PURPOSE_COMPARISON,
    SL_PURPOSE_SEARCH,
    SL_PURPOSE_COUNT
} sl_purpose;

typedef enum sl_model_source {
    SL_MODEL_FROM_HUB,
    SL_MODEL_FROM_CONFIG,
    SL_MODEL_FROM_LAYERS,
    SL_MODEL_FROM_PARAMETERS /* a count: the teaching accountings only */
} sl_model_source;

/**
 * A request as read. It borrows from its document and its nodes point at one another: keep it where
 * it is, and the document alive, until the answer is written.
 */
typedef struct sl_estimate_request {
    sl_node root;
    sl_node model; /* members of root, valid when the request has them */
    sl_node workload_object;
    sl_node cluster_object;
    sl_node parallelism_object;

    sl_model_source source;
    const char *hub;      /* "org/name"; FROM_HUB */
    const char *revision; /* NULL: not said */
    sl_node config;       /* FROM_CONFIG */
    sl_node layers;       /* FROM_LAYERS; for sl_layers_read to judge */
    uint64_t parameters;  /* FROM_PARAMETERS */

    const char *inventory;              /* slug; NULL: the cluster stands inline or not at all */
    const char *pool;                   /* NULL: the only one */
    bool all_hosts;                     /* whatever state they are in */
    bool counts_usable;                 /* nodes are those that are usable: none were said */
    const struct sl_host_status *hosts; /* of the inventory, the caller's to set before
                                           sl_estimate_request_pool; NULL: nobody observed it */
    char inventory_hash[SL_HASH_TEXT_SIZE];

    sl_purpose purpose;
    const char *detail;  /* of a timeline; NULL: not said */
    uint32_t slow_stage; /* likewise: one that takes slow_ratio as long; UINT32_MAX: none */
    double slow_ratio;
    sl_node sizes; /* likewise: samples of each micro-batch; value NULL: all alike */

    sl_accounting accounting;
    sl_activation_accounting activation_accounting;
    uint32_t kind;    /* index into sl_kind_names */
    bool has_cluster; /* `cluster` is complete */
    bool data_auto;
    bool data_open;  /* data_auto, and the cluster does not divide: plan.data is a guess */
    uint32_t copies; /* of the states, "replicate"; 0 = not said. Settled with the cluster */
    bool sequence_said;
    bool sharding_said; /* by word, which a changed stage or group must not contradict */
    bool hybrid;        /* one copy a node; settled with the cluster */
    bool schedule_said;
    bool mtp;                       /* the model gets a layer for multi-token prediction */
    bool precision_open;            /* not said: settled with the cluster */
    uint32_t attention_word;        /* sl_attention_word; settled with the cluster */
    uint64_t gradient_accumulation; /* 0 = not said */
    uint64_t padded_length;         /* of documents that are not packed; 0 = not said */
    const char *balance;            /* of moe, as said; NULL: not said */
    const char *dispatcher;
    sl_cluster cluster;
    uint32_t pool_count; /* under "pools"; 0: none are listed */
    sl_cluster pools[SL_POOLS_MAX];
    const sl_software *software; /* the profiles to consider: the catalogue's, or the next */
    uint32_t software_count;
    bool profile_said;          /* figures of the release by the request, which no other's has */
    const sl_software *sharded; /* PyTorch's own, where the framework replicates; else NULL */
    sl_software own_sharded;    /* ... with what a kernel's name says of it */
    sl_software
        own_software[SL_SOFTWARE_OPEN_MAX]; /* with what the request says of their overlap */
    sl_workload workload;
    uint32_t half_last;                    /* blocks at the end that stay in 16 bits */
    uint32_t half_count;                   /* ... or as far as the list goes */
    bool half_blocks[SL_MODEL_LAYERS_MAX]; /* ... of them */
    sl_plan plan;
    uint32_t unknown;    /* sl_unknown bits */
    uint32_t of;         /* sl_comparison_of */
    uint32_t strategies; /* bits 1 << sl_strategy */
    sl_notes notes;
} sl_estimate_request;

/**
 * Reads everything that needs neither model nor inventory. All faults are collected.
 * warnings   NULL, or where unknown fields go instead of being errors (?unknown=warn)
 * Rules: required_field, wrong_type, out_of_range, unknown_field, unknown_value,
 * conflicting_fields, inconsistent, those of sl_pool_resolve (SL_E_RANGE); not_modelled
 * (SL_E_UNSUPPORTED) at each field or value of the API that nothing models yet. On failure *out
 * holds what could be read and is good for nothing but its notes.
 */
sl_code sl_estimate_request_read(const sl_node *root, const sl_catalog *catalog,
                                 sl_errors *warnings, sl_estimate_request *out,
                                 sl_errors *err) SL_MUST_CHECK;

/** The same for a timeline, which may say its "detail", a "slow_stage" and "micro_batch_sizes". */
sl_code sl_timeline_request_read(const sl_node *root, const sl_catalog *catalog,
                                 sl_errors *warnings, sl_estimate_request *out,
                                 sl_errors *err) SL_MUST_CHECK;

/** The same for a comparison: "of" and "strategies" may stand beside the members of an estimate
 * request, and without a plan none is given. */
sl_code sl_comparison_request_read(const sl_node *root, const sl_catalog *catalog,
                                   sl_errors *warnings, sl_estimate_request *out,
                                   sl_errors *err) SL_MUST_CHECK;

/** The same for one cluster of a search, which stands at `cluster`; value NULL: the request has
 * none. What is missing of the plan is the search's choice, and nothing is settled that depends on
 * it. */
sl_code sl_search_part_read(const sl_node *root, const sl_node *cluster, const sl_catalog *catalog,
                            sl_errors *warnings, sl_estimate_request *out,
                            sl_errors *err) SL_MUST_CHECK;

/**
 * Fills the cluster from the spec of the inventory that the request names, one pool or several; the
 * members of the request's own cluster override the pool's. spec: its JSON text, not kept.
 * SL_E_RANGE: required_field when there are several pools and none is named, unknown_value for
 * another pool's name, out_of_range above its nodes, not_enough_hosts above its usable ones,
 * unknown_accelerator and the like for a pool the catalogue cannot price; SL_E_INTERNAL when the
 * text is no inventory.
 */
sl_code sl_estimate_request_pool(sl_estimate_request *request, const char *spec, size_t size,
                                 const sl_catalog *catalog, sl_errors *err) SL_MUST_CHECK;

/** Blocks of the model that the request keeps in 16 bits become so (sl_model_keep_half);
 * out_of_range where it has fewer. */
sl_code sl_estimate_request_model(const sl_estimate_request *request, sl_model *model,
                                  sl_errors *err) SL_MUST_CHECK;

/** The question about `model`, borrowing from the request. Needs has_cluster. */
sl_question sl_estimate_request_question(const sl_estimate_request *request, const sl_model *model);

/** Whether what is asked about is fine-tuning. */
bool sl_request_tunes(const sl_estimate_request *request);

/** Whether a named accounting is all that can answer: for a bare number of parameters, and for ZeRO
 * stages that the framework does not have. */
bool sl_estimate_accounting_alone(const sl_estimate_request *request);

/** sl_question_check, and not_divisible at /parallelism with the legal products when "data": "auto"
 * has no solution. question: NULL for a bare number of parameters, which only has the latter. */
sl_code sl_estimate_request_check(const sl_estimate_request *request, const sl_question *question,
                                  sl_errors *err) SL_MUST_CHECK;

/**
 * What equal answers have in common: SHA-256 of the canonical request, the resolved revision of the
 * model ("" for none), the inventory's spec and the versions of engine and catalogue.
 */
sl_code sl_estimate_request_hash(const sl_estimate_request *request, const char *model_revision,
                                 const char *engine_version, const sl_catalog *catalog,
                                 char out[SL_HASH_TEXT_SIZE], sl_errors *err) SL_MUST_CHECK;

#endif
