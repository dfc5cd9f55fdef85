/**
 * What the formats of Slurm have in common: a node as any of its tools tells of it, the grammar of
 * generic resources, and the words of a state.
 *
 * A reader finds the texts; here they are understood once, so that the same node reads the same
 * from scontrol, sinfo, the REST interface and the configuration.
 */
#ifndef SL_INTAKE_SLURM_H
#define SL_INTAKE_SLURM_H

#include "intake/format.h"

extern const sl_formats sl_slurm_formats;

enum { SL_SLURM_TYPE_SIZE = 96, SL_SLURM_TYPES_MAX = 32, SL_SLURM_DEVICES_MAX = 1024 };

/** Accelerators of a node, as "gpu:a100:4(S:0-1),gpu:1g.5gb:7,shard:16" or its trackable resources
 * tell of them. What is no accelerator is left out. */
typedef struct sl_slurm_gres {
    uint32_t devices; /* whole ones */
    uint32_t type_count;
    struct {
        char name[SL_SLURM_TYPE_SIZE]; /* as printed; "": of no type */
        uint32_t count;
    } types[SL_SLURM_TYPES_MAX];
    uint32_t slices;                  /* MIG instances */
    uint32_t slice_parts;             /* parts of a device in all of them, 14 of seven 2g ones */
    uint32_t sliced_devices;          /* the fewest devices that can hold them */
    char profile[SL_SLURM_TYPE_SIZE]; /* of the first slices: "1g.5gb" */
    char sliced_type[SL_SLURM_TYPE_SIZE]; /* of their device: "a100", "" where it is not told */
    uint32_t shares;                      /* shard and mps units */
    bool uncounted;                       /* an accelerator has no number: it counts one */
    bool open;                            /* the text ends inside a parenthesis */
    bool odd;                             /* an entry is not understood, and left out */
} sl_slurm_gres;

/** Generic resources that are accelerators, whatever a site calls them: "gpu", "gcd". */
bool sl_slurm_is_accelerator(const char *name);

/** Reads a Gres= text. Any text; one without accelerators gives zeros. */
void sl_slurm_gres_read(const char *text, sl_slurm_gres *out);

/** Reads trackable resources, "cpu=80,mem=386619M,gres/gpu=8,gres/gpu:h100=8". */
void sl_slurm_tres_read(const char *text, sl_slurm_gres *out);

/** "48gb", "gpu_mem:80GB", "vram40g", "hbm80g": gigabytes that a label gives a device. Without a
 * word for memory only "gb" counts, since "10g" is a network more often. *titled: it says that it
 * is a device's, where "512gb" may be the node's. */
bool sl_slurm_feature_memory(const char *feature, double *gigabytes, bool *titled);

/** "p3dn.24xlarge", "a3-megagpu-8g": the type of an instance of a cloud. */
bool sl_slurm_feature_instance(const char *feature);

/** A part that a label names. */
typedef struct sl_slurm_model {
    char name[SL_SLURM_TYPE_SIZE]; /* "a100", "v100-32g", as the label spells it */
    sl_part_name part;             /* what goes by it */
    bool titled;                   /* the label says that it is a device: "gpu_a10" */
} sl_slurm_model;

/** "h100", "GPU_SKU:A100_SXM4", "a100_40": a name of the catalogue and nothing else; "h100-rack3"
 * is none. */
bool sl_slurm_feature_model(sl_part_names *names, const char *feature, sl_slurm_model *out);

/** What the words of a state come to. */
typedef struct sl_slurm_state {
    sl_host_state state; /* the worst counts */
    bool reserved;       /* for a reservation's jobs */
    bool future;         /* planned: it may not exist yet */
    char unknown[32];    /* the first word that is none of Slurm's, or "" */
} sl_slurm_state;

/** Reads long and short forms, joined by '+' or ',', with sinfo's suffixes. */
void sl_slurm_state_read(const char *words, sl_slurm_state *out);

/** What can be said of a node, each as text. */
typedef enum sl_slurm_item {
    SL_SLURM_NAME, /* or a list of hosts */
    SL_SLURM_GRES,
    SL_SLURM_TRES,
    SL_SLURM_FEATURES,
    SL_SLURM_STATE,
    SL_SLURM_REASON,
    SL_SLURM_PARTITIONS,
    SL_SLURM_MEMORY, /* MiB */
    SL_SLURM_CPUS,
    SL_SLURM_INSTANCE,
    SL_SLURM_DRAINED, /* generic resources that are drained */
    SL_SLURM_ITEM_COUNT
} sl_slurm_item;

typedef struct sl_slurm_said {
    const char *text; /* NULL: not said; "(null)", "N/A" and the like say nothing either */
    uint32_t line;
} sl_slurm_said;

typedef struct sl_slurm_node {
    sl_slurm_said item[SL_SLURM_ITEM_COUNT];
    const char *const *paths; /* how the format names each item */
    uint32_t line;            /* where the node begins */
    uint32_t count;           /* of nodes without a name */
    bool may_be_cut;          /* of columns: a resource without its number lost it at their end */
} sl_slurm_node;

/** Whether the text says something: NULL, "", "(null)", "N/A", "none" and "null" do not. */
bool sl_slurm_says(const char *text);

/** The nodes of a file. What the resources and labels of one say is kept for those like it that
 * follow. */
typedef struct sl_slurm_nodes sl_slurm_nodes;

/** Lives in the arena of the findings. SL_E_MEMORY. */
sl_code sl_slurm_nodes_new(sl_findings *findings, sl_slurm_nodes **out,
                           sl_errors *err) SL_MUST_CHECK;

/** Adds the node. A list of hosts that is none is warned of and left out. */
sl_code sl_slurm_node_add(sl_slurm_nodes *nodes, const sl_slurm_node *node,
                          sl_errors *err) SL_MUST_CHECK;

/** SL_E_UNSUPPORTED, rule no_hosts, when a file added no host to those that were there before
 * it. */
sl_code sl_slurm_need_hosts(const sl_findings *findings, uint32_t before,
                            sl_errors *err) SL_MUST_CHECK;

/** Whether nodes are shown as they are, with keys that no configuration has. */
bool sl_slurm_is_shown(const sl_sample *sample);

/* The readers, for the family's list. */
extern const sl_format sl_slurm_nodes_json_format;
extern const sl_format sl_slurm_sinfo_json_format;
extern const sl_format sl_slurm_nodes_text_format;
extern const sl_format sl_slurm_sinfo_text_format;
extern const sl_format sl_slurm_conf_format;
extern const sl_format sl_slurm_gres_conf_format;
extern const sl_format sl_slurm_nodes_yaml_format;
extern const sl_format sl_slurm_sinfo_yaml_format;
extern const sl_format sl_slurm_topology_yaml_format;
extern const sl_format sl_slurm_topology_conf_format;

#endif
