/**
 * Accelerators, node types and prices that users store beside the catalogue: their specs, and the
 * catalogue that comes of all of them.
 */
#ifndef SL_CODEC_PRIVATE_HARDWARE_H
#define SL_CODEC_PRIVATE_HARDWARE_H

#include "base/hash.h"
#include "catalog/overlay.h"
#include "json/reader.h"
#include "json/writer.h"

typedef enum sl_own_kind {
    SL_OWN_ACCELERATOR,
    SL_OWN_NODE_TYPE,
    SL_OWN_PRICE, /* of a node type of the catalogue */
    SL_OWN_KIND_COUNT
} sl_own_kind;

/** As they are stored. */
extern const char *const sl_own_kinds[SL_OWN_KIND_COUNT];

/** A stored row. */
typedef struct sl_own_row {
    sl_own_kind kind;
    const char *id;
    sl_own own;
} sl_own_row;

/**
 * Checks a spec, all faults at once, against the catalogue that it is to stand in. warnings: as in
 * sl_estimate_request_read. *uses, which may be NULL, is the id of a private part it needs, in the
 * catalogue, or NULL.
 * SL_E_RANGE: required_field, wrong_type, out_of_range, unknown_field, unknown_accelerator,
 * ambiguous_accelerator, not_of_the_catalogue, name_taken, inconsistent, invalid_text.
 */
sl_code sl_own_check(sl_own_kind kind, const char *id, const sl_node *spec,
                     const sl_catalog *catalog, const char **uses, sl_errors *warnings,
                     sl_errors *err) SL_MUST_CHECK;

/** 1 to 63 of a-z, 0-9, and inner dots and dashes. SL_E_RANGE, invalid_id. */
sl_code sl_own_check_id(const char *id, sl_errors *err) SL_MUST_CHECK;

/**
 * Adds a stored row to a catalogue being made; accelerators come before the node types that have
 * them. Fails as sl_own_check does when the tables changed under it since it was stored.
 */
sl_code sl_own_add(sl_overlay *overlay, const sl_own_row *row, sl_errors *err) SL_MUST_CHECK;

#endif
