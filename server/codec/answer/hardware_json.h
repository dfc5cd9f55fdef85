/** Catalogue entries as the API shows them, with where each rate comes from. */
#ifndef SL_CODEC_HARDWARE_JSON_H
#define SL_CODEC_HARDWARE_JSON_H

#include "catalog/catalog.h"
#include "json/writer.h"

/**
 * Rates in FLOP/s and bytes/s; null where the catalogue has none. The catalogue is the entry's.
 * warnings: NULL, or what ?unknown=warn let pass.
 */
void sl_part_write(sl_writer *writer, const sl_catalog *catalog, const sl_part *part,
                   const sl_errors *warnings);
void sl_node_type_write(sl_writer *writer, const sl_catalog *catalog, const sl_node_type *type,
                        const sl_errors *warnings);

/** What it costs, and who says so. */
void sl_node_price_write(sl_writer *writer, const sl_node_type *type, const sl_errors *warnings);

#endif
