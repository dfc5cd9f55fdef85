/**
 * What raw tool output says of a cluster, before it is merged into an inventory: hosts, each of a
 * kind, and for every field of a kind its value and where that was read.
 *
 * A reader fills one sl_facts for what a text says of a node, and adds the hosts it is true of.
 * Equal facts are kept once, so that thousands of like nodes cost a name each. Nothing is resolved
 * or guessed here: an accelerator is the name that the tool printed.
 */
#ifndef SL_INTAKE_FINDINGS_H
#define SL_INTAKE_FINDINGS_H

#include "base/arena.h"
#include "codec/inventory/hosts.h"
#include "intake/part_names.h"
#include "shardline/error.h"

enum {
    SL_FINDINGS_KINDS_MAX = 4096,
    SL_FINDINGS_FILES_MAX = 32,
    SL_FINDINGS_WARNINGS_MAX = 128,
    SL_FOUND_NOTES_MAX = 8
};

/** What a text may say of a node. Numbers in bytes, seconds, watts and counts. */
typedef enum sl_field {
    SL_FIELD_ACCELERATOR,          /* text, as printed: "NVIDIA H200", "h100", "Tesla-T4" */
    SL_FIELD_ACCELERATORS,         /* devices in a node, slices not counted */
    SL_FIELD_MEMORY_BYTES,         /* of one device, all that the tool printed */
    SL_FIELD_RESERVED_BYTES,       /* of it, what the driver keeps */
    SL_FIELD_NOMINAL_MEMORY_BYTES, /* of one device, as somebody calls it, "80gb": a hint that tells
                                      variants of a part apart, never what there is */
    SL_FIELD_POWER_LIMIT_W,        /* of one device, where it is below the part's own */
    SL_FIELD_SLICED_ACCELERATORS,  /* devices cut by MIG, or shared between containers */
    SL_FIELD_SLICE,                /* text: what they are cut into, "MIG 1g.5gb", "shared by 4" */
    SL_FIELD_DRIVER,               /* text */
    SL_FIELD_NODE_TYPE,            /* text: instance type, machine, "p5.48xlarge" */
    SL_FIELD_HOST_MEMORY_BYTES,
    SL_FIELD_CPUS,                 /* as the operating system counts */
    SL_FIELD_LINKS,                /* scale-up links of one device */
    SL_FIELD_PAIR_LINKS,           /* those of them to one other, where each pair has its own */
    SL_FIELD_LINK_KIND,            /* text: "NVLink", "XGMI", "PCIe" */
    SL_FIELD_SCALE_UP_BYTES_PER_S, /* of one device, all links, one direction */
    SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S, /* those to one other, where each pair has its own */
    SL_FIELD_SCALE_UP_DOMAIN,           /* devices that reach one another over them */
    SL_FIELD_NIC_COUNT,       /* cards of the accelerators' network: the group that carries most */
    SL_FIELD_NIC_BYTES_PER_S, /* of one card, one direction */
    SL_FIELD_NIC_KIND,        /* text: "infiniband", "ethernet", "efa" */
    SL_FIELD_PRICE_PER_NODE_HOUR,
    SL_FIELD_COUNT
} sl_field;

/** "accelerator", "memory_bytes": as answers name the field. */
const char *sl_field_name(sl_field field);
bool sl_field_is_text(sl_field field);

/** Where something stands in its file. */
typedef struct sl_place {
    uint32_t line;    /* from 1; 0: not known */
    const char *path; /* as the format names places: "Gres", "/nodes/3/gres", "gpu/product_name" */
} sl_place;

/** Whether it is a label's word, which may mean something else: whatever says otherwise counts. */
typedef enum sl_label {
    SL_LABEL_NONE,
    SL_LABEL_CLEAR, /* "gpu_a10", "a100_40": hardly anything else */
    SL_LABEL_SHORT  /* "a10": a part, or a place in a hall */
} sl_label;

/** A field that is said. Texts may be the reader's own: they are copied when facts are added. */
typedef struct sl_fact {
    bool said;
    const char *text; /* of a text; NULL else */
    double number;    /* of a number; whole below 2^53 */
    sl_label label;
    sl_place place;
} sl_fact;

typedef struct sl_facts {
    sl_fact field[SL_FIELD_COUNT];
} sl_facts;

/** Sets a field. NULL and "" say nothing, nor do numbers that are not positive and finite, but for
 * reserved bytes and prices, which may be 0. */
void sl_facts_text(sl_facts *facts, sl_field field, const char *text, uint32_t line,
                   const char *path);
void sl_facts_number(sl_facts *facts, sl_field field, double number, uint32_t line,
                     const char *path);

/** What is unsaid is taken from `more`. Whether anything was. */
bool sl_facts_complete(sl_facts *facts, const sl_facts *more);

/** Of values, not of where they stand. */
bool sl_fact_equal(const sl_fact *a, const sl_fact *b);

/** Goes on with a hash, as sl_hash_quick; equal facts of a field have one, what is unsaid adds
 * none. */
uint64_t sl_fact_hash(uint64_t hash, uint32_t field, const sl_fact *fact);

/** Worse is later. */
typedef enum sl_host_state {
    SL_HOST_UNSAID,  /* planned hardware, or a tool that does not say */
    SL_HOST_USABLE,  /* free or at work */
    SL_HOST_DRAINED, /* takes no new work: drain, cordoned, maintenance, reserved for repair */
    SL_HOST_DOWN     /* does not answer, failed, powered off for good */
} sl_host_state;

extern const char *const sl_host_state_names[]; /* "unknown", "usable", "drained", "down" */

/** A host in one file; or, without a name, `count` nodes of its kind that nobody named. */
typedef struct sl_found_host {
    const char *name; /* NULL: not named */
    uint32_t count;   /* of those that are not named; 1 of a named one */
    sl_host_state state;
    const char *reason; /* why it cannot be used, as the tool says it, or NULL */
    const char *pool;   /* a name that the file gives the group of equal nodes, or NULL */
    const char *domain; /* the scale-up domain (NVLink rack, block) it is in, or NULL */
    const char *leaf;   /* the switch above it, or NULL */
    uint32_t line;
    uint16_t file; /* set when it is added */
    uint16_t kind; /* set when it is added: of sl_findings_kind */
    uint32_t next; /* the same host in another file, or SL_FOUND_NONE; set when added */
} sl_found_host;

#define SL_FOUND_NONE UINT32_MAX

typedef struct sl_found_warning {
    const char *code; /* stable, static storage: "gres_null" */
    const char *text; /* one lower-case sentence */
    sl_place place;
    uint16_t file;
    uint32_t count; /* how often the same was said */
} sl_found_warning;

/** What joins the nodes, where a file says so. */
typedef struct sl_found_fabric {
    sl_fact kind;             /* text: "fat_tree", "block" */
    sl_fact oversubscription; /* number, >= 1 */
    uint32_t switches;
    uint16_t file;
} sl_found_fabric;

typedef struct sl_findings sl_findings;

/** All of it lives in the arena. catalog: what labels are looked up in, which outlives it; NULL:
 * no label names a part. NULL past the arena's limit. */
sl_findings *sl_findings_new(sl_arena *arena, const sl_catalog *catalog) SL_MUST_CHECK;

/** What is added from now on is of this file. SL_E_RANGE, rule too_many, past
 * SL_FINDINGS_FILES_MAX. */
sl_code sl_findings_file(sl_findings *findings, const char *name, const char *format,
                         sl_errors *err) SL_MUST_CHECK;

/**
 * Adds the nodes of which the facts are true. host->name may be a list, "gpu[001-032]"; NULL adds
 * host->count nodes without a name. A host that the same file named before is completed: what was
 * unsaid is taken, a state that is worse, and of two values for one field the first, with a warning
 * (said_twice). facts: NULL where nothing but the host is said.
 * SL_E_RANGE: malformed_hosts, too_many (hosts over SL_HOSTS_MAX or named over 32 times as often,
 * kinds over the bound). SL_E_MEMORY.
 */
sl_code sl_findings_add(sl_findings *findings, const sl_found_host *host, const sl_facts *facts,
                        sl_errors *err) SL_MUST_CHECK;

/**
 * When all files are read: gpu01.cluster.example of one file is gpu01 of another, and called that
 * from here on (host_names_shortened), where no other host is gpu01 of some domain and no file
 * names both; where one of the two is so, they stay apart (host_names_ambiguous). SL_E_MEMORY.
 */
sl_code sl_findings_join_names(sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/** Beyond the bound only counted. `code` is static. */
void sl_findings_warn(sl_findings *findings, const char *code, uint32_t line, const char *path,
                      const char *format, ...) SL_PRINTF(5, 6);

/** Warnings while they are noted, to be said again of what is like it. lost: not all are here. */
typedef struct sl_found_notes {
    uint32_t count;
    uint16_t index[SL_FOUND_NOTES_MAX];
    bool lost;
} sl_found_notes;

/** Warnings from here on are noted as well, behind those that are; NULL ends it. */
void sl_findings_note(sl_findings *findings, sl_found_notes *notes);
void sl_findings_warn_again(sl_findings *findings, const sl_found_notes *notes);

/** The first one counts; fields of a later one complete it. */
void sl_findings_fabric(sl_findings *findings, const sl_found_fabric *fabric);

/** The parts that labels of this cluster may name; NULL without a catalogue. */
sl_part_names *sl_findings_part_names(sl_findings *findings);

/** A short label that names no part, "a11": what has its letter and as many digits is a place of
 * this file's hall and no part. Others than short ones are passed over. */
void sl_findings_place(sl_findings *findings, const char *label);
bool sl_findings_is_place(const sl_findings *findings, uint32_t file, const char *label);

/** The name of the cluster, and the text of an inventory's spec (JSON) where the file is one. */
void sl_findings_cluster_name(sl_findings *findings, const char *name);
void sl_findings_spec(sl_findings *findings, const char *json);

/* Reading them back. */
uint32_t sl_findings_file_count(const sl_findings *findings);
const char *sl_findings_file_name(const sl_findings *findings, uint32_t file);
const char *sl_findings_file_format(const sl_findings *findings, uint32_t file);
uint32_t sl_findings_count(const sl_findings *findings);
const sl_found_host *sl_findings_host(const sl_findings *findings, uint32_t index);
/** Index of the first record of the host, SL_FOUND_NONE when no file names it. */
uint32_t sl_findings_find(const sl_findings *findings, const char *name);
uint32_t sl_findings_kind_count(const sl_findings *findings);
const sl_facts *sl_findings_kind(const sl_findings *findings, uint32_t kind);
uint32_t sl_findings_warning_count(const sl_findings *findings, uint32_t *dropped);
const sl_found_warning *sl_findings_warning(const sl_findings *findings, uint32_t index);
const sl_found_fabric *sl_findings_network(const sl_findings *findings);
const char *sl_findings_cluster(const sl_findings *findings);  /* NULL: not said */
const char *sl_findings_document(const sl_findings *findings); /* NULL: no file was a spec */

/** The arena, for texts that must outlive a reader. */
sl_arena *sl_findings_arena(sl_findings *findings);

#endif
