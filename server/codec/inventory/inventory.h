/** Inventories: what a team says it has. A spec is checked here and stored as it came. */
#ifndef SL_CODEC_INVENTORY_H
#define SL_CODEC_INVENTORY_H

#include "base/hash.h"
#include "catalog/catalog.h"
#include "codec/question/cluster.h"
#include "json/reader.h"
#include "json/writer.h"

enum {
    SL_INVENTORY_POOLS_MAX = 256,
    SL_INVENTORY_HOSTS_MAX = 4096,
    SL_INVENTORY_ID_SIZE = 129 /* of an accelerator, where inventories are found by it */
};

/** A pool of a spec, borrowed from its document. Its nodes point at one another: it stays where it
 * was read. */
typedef struct sl_inventory_pool {
    sl_node pools;  /* the list it stands in */
    sl_node object; /* the pool */
    sl_node node;   /* its "node" */
    const char *name;
    sl_pool pool;
} sl_inventory_pool;

/** What a pool amounts to; one whose part the catalogue does not know counts by what it says. Texts
 * are the spec's and the catalogue's. */
typedef struct sl_pool_hardware {
    const char *name;           /* "" where none is said */
    const char *accelerator;    /* id in the catalogue; NULL: it does not know it */
    const char *said;           /* what the spec calls it; NULL: it names a node type only */
    uint64_t nodes;             /* 0: the pool does not read, by the rules of another release */
    uint64_t accelerators;      /* of a node */
    uint64_t memory_bytes;      /* of an accelerator */
    uint64_t usable_bytes;      /* likewise */
    uint64_t host_memory_bytes; /* of a node; 0: not said */
} sl_pool_hardware;

/** Pool by pool, in the order of the spec. */
typedef struct sl_inventory_hardware {
    uint32_t count;
    sl_pool_hardware pools[SL_INVENTORY_POOLS_MAX];
} sl_inventory_hardware;

/**
 * Checks a spec: all faults at once. warnings: as in sl_estimate_request_read.
 * SL_E_RANGE: required_field, wrong_type, out_of_range, unknown_field, duplicate_name,
 * inconsistent (hosts against nodes), unknown_accelerator unless the node carries memory_bytes,
 * ambiguous_accelerator, unknown_node_type.
 */
sl_code sl_inventory_check(const sl_node *spec, const sl_catalog *catalog, sl_errors *warnings,
                           sl_errors *err) SL_MUST_CHECK;

/** The hardware of a spec that passed the check, of this release or of the one that stored it. */
void sl_inventory_count(const sl_node *spec, const sl_catalog *catalog, sl_inventory_hardware *out);

/** The `hardware` object of an inventory's status: totals, and per pool the part it resolved to
 * (null when the catalogue does not know it). */
void sl_inventory_hardware_write(sl_writer *writer, const sl_inventory_hardware *hardware);

/** Its accelerators as a JSON array of texts in order, each once: ids of the catalogue, or what the
 * spec says where the catalogue does not know it. */
void sl_inventory_accelerators_write(sl_writer *writer, const sl_inventory_hardware *hardware);

/** Content address of a spec: equal documents, equal hash, whatever their spelling. */
sl_code sl_inventory_hash(const sl_node *spec, char out[SL_HASH_TEXT_SIZE],
                          sl_errors *err) SL_MUST_CHECK;

/**
 * The pool of that name, or the only one when name is NULL. Faults of the name go to err, at
 * `pointer`; faults of the spec, which passed its check when it was stored, to inner.
 */
sl_code sl_inventory_find_pool(const sl_node *spec, const char *name, const char *pointer,
                               sl_inventory_pool *out, sl_errors *inner,
                               sl_errors *err) SL_MUST_CHECK;

/** Pool `index` of the spec; false when there are fewer. Faults of the spec go to inner, as
 * above. */
bool sl_inventory_pool_at(const sl_node *spec, size_t index, sl_inventory_pool *out,
                          sl_errors *inner);

#endif
