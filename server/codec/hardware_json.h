/** Catalogue entries as the API shows them, with where each rate comes from. */
#ifndef SL_CODEC_HARDWARE_JSON_H
#define SL_CODEC_HARDWARE_JSON_H

#include "catalog/catalog.h"
#include "json/writer.h"

/** Rates in FLOP/s and bytes/s; null where the catalogue has none. */
void sl_part_write(sl_writer *writer, const sl_part *part);
void sl_node_type_write(sl_writer *writer, const sl_node_type *type);

#endif
