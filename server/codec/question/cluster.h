/**
 * A pool of equal nodes, as inventories store it and requests say it inline; both are read by the
 * same code into a description, which the catalogue then completes to the engine's cluster.
 */
#ifndef SL_CODEC_CLUSTER_H
#define SL_CODEC_CLUSTER_H

#include "catalog/catalog.h"
#include "codec/question/notes.h"
#include "json/reader.h"

enum {
    SL_CLUSTER_NODES_MAX = 1 << 17,
    SL_CLUSTER_PER_NODE_MAX = 1 << 9,
    SL_POOL_NICS_MAX = 16 /* kinds of network cards in one node */
};

/** What was said; zero and NULL: nothing. Texts are borrowed from the document. */
typedef struct sl_pool {
    const char *accelerator;
    const char *node_type;
    uint64_t nodes;
    uint64_t accelerators; /* per node */
    uint64_t memory_bytes;
    uint64_t reserved_bytes; /* of them, what the driver keeps */
    bool reserved_said;
    double memory_bytes_per_s;
    double power_limit_w;
    double sustained_ratio; /* 0 = the catalogue's */
    double attention_ratio; /* of the laws' rates; 0 = nothing said */
    double scale_up_bytes_per_s;
    double scale_up_pair_bytes_per_s;
    uint64_t scale_up_domain;
    uint64_t host_memory_bytes;
    bool nics_said;
    bool nics_differ;   /* several rates; the group that carries most is kept here */
    uint64_t nic_count; /* per node */
    double nic_bytes_per_s;
    const char *nic_kind;    /* of the cards that are kept */
    const char *fabric_kind; /* of what joins them: counts where it is a kind of network */
    double oversubscription_ratio;
    double price_per_node_hour;
    sl_operating operation;
    uint32_t operation_said; /* bits, in the order of its members */
} sl_pool;

/** The members of a node, wherever they stand (an inventory's "node" or an inline "cluster").
 * Members that are absent leave *pool as it is, so that a second reading overrides a first. */
sl_code sl_pool_read_node(const sl_node *object, sl_pool *pool, sl_errors *warnings,
                          sl_errors *err) SL_MUST_CHECK;

/** {"kind", "oversubscription"}. */
sl_code sl_pool_read_fabric(const sl_node *object, sl_pool *pool, sl_errors *warnings,
                            sl_errors *err) SL_MUST_CHECK;

/** Network cards of a node with so many accelerators that is built like the usual one: in
 * proportion, rounded up. 0 where the usual one has none. */
uint32_t sl_pool_usual_nics(const sl_node_type *usual, uint64_t accelerators);

/** Accelerators that reach one another at `domain` of them where each node has so many: a domain
 * ends with the node unless the usual node of the part is of a rack. usual: may be NULL. */
uint32_t sl_pool_usual_domain(const sl_node_type *usual, uint64_t accelerators, uint32_t domain);

/** The node whose board joins so many accelerators: the one that was named, or the usual one, of
 * which a node that holds fewer is a part. NULL: nobody knows. */
const sl_node_type *sl_pool_board(const sl_node_type *node, const sl_node_type *usual,
                                  uint64_t accelerators);

/** Of the links of a part, those to one other on that board [bytes/s, one way]; 0: over a switch.
 * board: may be NULL. */
double sl_pool_usual_pair(const sl_node_type *board, const sl_accelerator *part);

/**
 * Completes the description from the catalogue. `where` is the object that names accelerator and
 * node type: errors point into it. `notes` takes what was assumed; NULL: nobody asks.
 * SL_E_RANGE: required_field, unknown_accelerator, ambiguous_accelerator, unknown_node_type,
 * inconsistent.
 */
sl_code sl_pool_resolve(const sl_pool *pool, const sl_catalog *catalog, const sl_node *where,
                        sl_notes *notes, sl_cluster *out, sl_errors *err) SL_MUST_CHECK;

#endif
