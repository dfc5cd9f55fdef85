/**
 * The hardware and software we know: accelerators with their laws, node types, and what framework
 * releases do. Read from the tables of server/catalog/data, which are compiled in, and from the
 * rows that users store beside them (overlay.h); never changed after, so any number of threads may
 * read it. When users' rows change there is another one (shelf.h).
 */
#ifndef SL_CATALOG_CATALOG_H
#define SL_CATALOG_CATALOG_H

#include "shardline/hardware.h"

typedef struct sl_catalog sl_catalog;

enum { SL_OWN_ROWS_MAX = 1000 }; /* of users, of all kinds together */

/** What is kept of a user's row beside its figures; all zero or "" in the tables' own rows. */
typedef struct sl_own {
    uint64_t revision; /* 0 = a row of the tables */
    const char *spec;  /* JSON text as it was accepted */
    const char *created_at;
    const char *updated_at;
} sl_own;

/** A code of the source columns. */
typedef struct sl_source {
    const char *code;
    const char *where;
    const char *what;
} sl_source;

/** What one source says of a field of a part or node type about which sources disagree. */
typedef struct sl_conflict {
    const char *id;
    const char *field; /* as answers call it */
    double value;
    const char *source; /* a code, or "recalled" */
    const char *why;    /* what the reader should know of it, or "" */
} sl_conflict;

/** An accelerator with what only people read about it. Texts live as long as the catalogue. */
typedef struct sl_part {
    sl_accelerator accelerator;
    const char *const *aliases; /* names that tools print and people type */
    uint32_t alias_count;
    const char *status;        /* "shipping", "announced" */
    const char *scale_up_link; /* "NVLink4" */
    const char *recalled;      /* columns whose value is from memory, separated by | */
    const char *note;          /* where sources disagree, or "" */
    bool memory_assumed;       /* no tool's total was found: the nominal size */
    sl_own own;
    /* Of a user's row: the part of the tables whose laws it uses, "" otherwise. */
    const char *like;
    bool like_assumed;  /* the user named none */
    const char *scaled; /* columns that were not given and follow from `like`, separated by | */
} sl_part;

typedef struct sl_node_type {
    const char *id;
    const char *aliases; /* separated by | */
    const char *operator_name;
    const sl_accelerator *accelerator; /* NULL: a part the catalogue does not have */
    uint32_t accelerators;
    bool reference; /* assumed for its accelerator when nobody says which node */
    uint32_t scale_up_domain;
    double scale_up_pair_bytes_per_s; /* 0: as the part is joined by itself */
    double power_limit_w; /* of each accelerator in it; 0: as the part may have by itself */
    uint32_t nic_count;   /* of the accelerator fabric; 0 = not known */
    double nic_bytes_per_s;
    const char *nic_kind;
    bool amd_host;
    uint64_t host_memory_bytes; /* 0 = not known */
    uint32_t vcpus;
    double price_per_node_hour; /* the tables': on demand, indicative; 0 = not known */
    const char *price_currency; /* ISO 4217 */
    const char *price_date;
    const char *source;
    const char *provenance;
    const char *recalled; /* columns whose value is from memory, separated by | */
    const char *note;
    sl_own own;
    sl_own own_price; /* of a user's price of a node type of the tables */
} sl_node_type;

/**
 * NULL with the reason in err: out of memory, or a table that is not what the code expects (a fault
 * of the build, which the caller reports and stops at).
 */
sl_catalog *sl_catalog_new(sl_errors *err) SL_MUST_CHECK;
void sl_catalog_free(sl_catalog *catalog); /* NULL is fine */

/** First 12 hexadecimal digits of a hash of all tables and users' rows: equal revisions give equal
 * estimates. */
const char *sl_catalog_revision(const sl_catalog *catalog);

/** The revision of the users' rows it was made with; 0: none were ever read. */
uint64_t sl_catalog_own_revision(const sl_catalog *catalog);

/** Users' rows are still to come: until another catalogue has them, a name that is not known may be
 * one of theirs. */
void sl_catalog_await_own(sl_catalog *catalog);

/** The source of the first code in *codes, a list separated by spaces, and moves behind it; codes
 * that are none are passed over. NULL at the end. */
const sl_source *sl_catalog_next_source(const sl_catalog *catalog, const char **codes);

/** Where sources disagree about a part or node type: values of one field beside each other. */
const sl_conflict *sl_catalog_conflicts(const sl_catalog *catalog, const char *id, uint32_t *count);

uint32_t sl_catalog_part_count(const sl_catalog *catalog);
const sl_part *sl_catalog_part(const sl_catalog *catalog, uint32_t index);

/**
 * By id, full name or alias; case, spaces, dashes and the vendor do not matter. Errors at
 * `pointer`, SL_E_RANGE: ambiguous_accelerator ("a100" is several parts) with the candidates as
 * hint, unknown_accelerator with the nearest id; SL_E_UNAVAILABLE: private_hardware_unread in place
 * of the latter while users' rows are still to come.
 */
sl_code sl_catalog_find_part(const sl_catalog *catalog, const char *name, const char *pointer,
                             const sl_part **out, sl_errors *err) SL_MUST_CHECK;

/** All parts that go by a name, as sl_catalog_find_part compares, or without the words that free
 * text adds ("MI300X 192GB HBM3"); where none does, those that its
 * longest word with a digit stands in ("h100" of "H100 NVL2"), and *near says so. At most
 * `most`. */
uint32_t sl_catalog_candidates(const sl_catalog *catalog, const char *name, const sl_part **out,
                               uint32_t most, bool *near);

/** The user's part of that id, or NULL. */
const sl_part *sl_catalog_own_part(const sl_catalog *catalog, const char *id);

uint32_t sl_catalog_node_count(const sl_catalog *catalog);
const sl_node_type *sl_catalog_node(const sl_catalog *catalog, uint32_t index);

/** By id or alias, case and separators aside. SL_E_RANGE unknown_node_type with the nearest id. */
sl_code sl_catalog_find_node(const sl_catalog *catalog, const char *name, const char *pointer,
                             const sl_node_type **out, sl_errors *err) SL_MUST_CHECK;

/** The node usually built around this accelerator, or NULL. */
const sl_node_type *sl_catalog_reference_node(const sl_catalog *catalog,
                                              const sl_accelerator *accelerator);

/** The first node of so many of them that joins them pair by pair, without a switch, or NULL. */
const sl_node_type *sl_catalog_paired_node(const sl_catalog *catalog,
                                           const sl_accelerator *accelerator,
                                           uint32_t accelerators);

/** The network of this kind, by its name or alias, case and separators aside; NULL when it is not
 * one we know. */
const sl_fabric *sl_catalog_fabric(const sl_catalog *catalog, const char *kind);

/** Profiles of one framework ("megatron"), oldest first and side by side. */
const sl_software *sl_catalog_software(const sl_catalog *catalog, const char *framework,
                                       uint32_t *count);

/** The first of them: those that are meant where none is named. */
const sl_software *sl_catalog_open_software(const sl_catalog *catalog, const char *framework,
                                            uint32_t *count);

/** The profile that describes a release: by its name, or by that of a sibling release it stands
 * for (*exact is then false). NULL when there is none. */
const sl_software *sl_catalog_find_software(const sl_catalog *catalog, const char *name,
                                            bool *exact);

/**
 * Overrides of one reading, keeping the laws consistent with it: rates that were fitted with the
 * catalogue's figure move in proportion, and a measured origin becomes a scaled one.
 */
void sl_accelerator_set_memory_rate(sl_accelerator *accelerator, double bytes_per_s);

/** The same of fused attention: all its kernels at `ratio` of the rates of their laws. */
void sl_accelerator_set_attention_ratio(sl_accelerator *accelerator, double ratio);

/** What a driver is taken to keep of a part's memory where no tool printed it: 1 %. The parts that
 * were read keep 0.3 to 2.9 % (data/accelerators.csv). */
uint64_t sl_accelerator_reserved_guess(uint64_t memory_bytes);

/**
 * Clock at `share` of the board's power over that at all of it.
 *
 *   ((share - still) / (1 - still))^(1/3)
 *
 * share  [ratio]  of the limit, above `still`
 * still  [ratio]  what does not follow the core's clock: memory, links, leakage
 * Dynamic power is C f V^2, and V follows f near the top of its range. Source: derived.
 */
double sl_accelerator_power_clock(double share, double still);

/** A lower power limit, and the sustained clocks under it: still 0.3, and 0.4 and 0.2 for the low
 * and high end. watts: half the part's own power to all of it. */
void sl_accelerator_set_power(sl_accelerator *accelerator, double watts);

void sl_accelerator_set_scale_up(sl_accelerator *accelerator, double bytes_per_s);

/** Joins it to others pair by pair, by so many of its links; all of them, or 0: over a switch. What
 * was measured is then no law of it. */
void sl_accelerator_set_pair(sl_accelerator *accelerator, double bytes_per_s);

#endif
