/** What the Hub's information document says of a model, and the form it is kept in on disk. */
#ifndef SL_HUB_INFO_H
#define SL_HUB_INFO_H

#include "base/buffer.h"
#include "hub/hub.h"
#include "json/reader.h"

/** "{endpoint}/api/models/{repository}/revision/{commit}" with the fields that are read. False when
 * it does not fit. */
bool sl_hub_info_url(const char *endpoint, const char *repository, const char *commit, char *out,
                     size_t size);

/** Reads the document, of the Hub or of sl_hub_info_write. False when it is malformed or of another
 * commit; what it leaves out is unknown. */
bool sl_hub_info_read(const char *json, size_t size, const char *commit, sl_hub_info *out);

/** The same document with what was read, and nothing else. */
void sl_hub_info_write(const sl_hub_info *info, const char *commit, sl_buffer *out);

/** The member "gated" of a document of the Hub: "false", "true", "auto" or "manual"; NULL when it
 * is absent or anything else. */
const char *sl_hub_gated_of(const sl_node *object);

#endif
