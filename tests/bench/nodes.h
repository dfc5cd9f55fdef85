/** The cluster of a bench: nodes of eight devices, with a card for each. */
#ifndef SL_BENCH_NODES_H
#define SL_BENCH_NODES_H

#include <stdio.h>
#include <stdlib.h>

#include "catalog/catalog.h"

/** Ends the bench where the catalogue has no such part. */
static inline sl_cluster
nodes_of(const sl_catalog *catalog, const char *id, uint32_t nodes, double nic_bytes_per_s)
{
    const sl_part *part = NULL;
    sl_errors err = {0};

    if (sl_catalog_find_part(catalog, id, "", &part, &err) != SL_OK) {
        fprintf(stderr, "%s\n", err.list[0].message);
        exit(EXIT_FAILURE);
    }
    return (sl_cluster){
        .accelerator = part->accelerator,
        .nodes = nodes,
        .accelerators_per_node = 8,
        .nics_per_node = 8,
        .nic_bytes_per_s = nic_bytes_per_s,
        .fabric = *sl_catalog_fabric(catalog, "infiniband"),
        .oversubscription_ratio = 1.0,
    };
}

#endif
