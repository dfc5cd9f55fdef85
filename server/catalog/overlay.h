/**
 * The rows of users beside the tables: what they say becomes a row like those of
 * server/catalog/data and goes through the reader of those, so that nothing can be said that a
 * table could not say.
 */
#ifndef SL_CATALOG_OVERLAY_H
#define SL_CATALOG_OVERLAY_H

#include "catalog/catalog.h"

/** An accelerator as a user describes it. NULL: not said; of numbers, which are all in the units of
 * sl_accelerator, below 0. Texts are borrowed for the call. */
typedef struct sl_own_part {
    const char *id;
    const char *name;
    const char *aliases; /* separated by | */
    const char *vendor;
    const char *arch;
    const char *status;
    const char *scale_up_link;
    const char *source;
    const char *note;
    const char *like; /* a part of the tables, by any of its names */
    double memory_bytes;
    double reserved_bytes;
    double nominal_bytes;
    double memory_bytes_per_s;
    double peak_flops_per_s[SL_PRECISION_COUNT]; /* 0: not supported */
    double scale_up_bytes_per_s;
    double scale_up_domain;
    double scale_up_pair_bytes_per_s;
    double host_bytes_per_s;
    double power_w;
    double release_year;
    sl_own own;
} sl_own_part;

/** The same of a node type. */
typedef struct sl_own_node {
    const char *id;
    const char *aliases;
    const char *operator_name;
    const char *accelerator; /* an id */
    const char *nic_kind;
    const char *price_currency;
    const char *price_date;
    const char *source;
    const char *note;
    double accelerators;
    double scale_up_domain;
    double scale_up_pair_bytes_per_s;
    double nic_count;
    double nic_bytes_per_s;
    double host_memory_bytes;
    double vcpus;
    double price_per_node_hour;
    bool reference;
    sl_own own;
} sl_own_node;

/** What a user pays for a node type of the tables. */
typedef struct sl_own_price {
    const char *id; /* of the node type */
    double price_per_node_hour;
    const char *price_currency; /* NULL: US dollars */
    const char *price_date;
    sl_own own;
} sl_own_price;

/** A part without any member: everything not said. */
sl_own_part sl_own_part_unsaid(void);
sl_own_node sl_own_node_unsaid(void);

/**
 * The part whose laws a user's part has: the one it names, or the measured one whose 16-bit rate is
 * nearest. Errors: those of sl_overlay_add_part at /like.
 */
sl_code sl_own_part_like(const sl_catalog *catalog, const sl_own_part *part, const sl_part **like,
                         sl_errors *err) SL_MUST_CHECK;

/** A catalogue being made. */
typedef struct sl_overlay sl_overlay;

/** The tables, with room for `rows` of users at `revision`. NULL with the reason in err. */
sl_overlay *sl_overlay_new(uint64_t revision, uint32_t rows, sl_errors *err) SL_MUST_CHECK;
void sl_overlay_free(sl_overlay *overlay); /* NULL is fine */

/** What there is so far, to find parts by their names; laws are attached at the end. */
const sl_catalog *sl_overlay_catalog(const sl_overlay *overlay);

/**
 * Adds a part. What it leaves open follows from the part it names as `like`: rates by the ratio of
 * the first one both have, links, power and generation as they are. Its laws are those of `like`,
 * scaled by the datasheets; where none is named, of the measured part whose 16-bit rate is nearest,
 * and nothing else follows. An overlay that refused a row is as it was before.
 * SL_E_RANGE at /like: unknown_accelerator, ambiguous_accelerator, not_of_the_catalogue,
 * required_field. SL_E_MEMORY: out_of_memory.
 */
sl_code sl_overlay_add_part(sl_overlay *overlay, const sl_own_part *part,
                            sl_errors *err) SL_MUST_CHECK;

/** Adds a node type. SL_E_INTERNAL when its accelerator is not there. */
sl_code sl_overlay_add_node(sl_overlay *overlay, const sl_own_node *node,
                            sl_errors *err) SL_MUST_CHECK;

/** Sets a price. SL_E_NOT_FOUND, unknown_node_type, when the tables have no such node type. */
sl_code sl_overlay_add_price(sl_overlay *overlay, const sl_own_price *price,
                             sl_errors *err) SL_MUST_CHECK;

/** Attaches the laws and hands the catalogue over: the caller's, and no longer the overlay's. */
sl_code sl_overlay_finish(sl_overlay *overlay, sl_catalog **out, sl_errors *err) SL_MUST_CHECK;

#endif
