/** Entries of the catalogue, told apart by their kind. */
#ifndef SL_API_HARDWARE_H
#define SL_API_HARDWARE_H

#include "api/app.h"

/** Whose rows of the kind: all zero in an entry of the tables, and where nobody set a price. NULL:
 * there is no entry of that id, name or alias. */
const sl_own *sl_hardware_entry_own(const sl_catalog *catalog, sl_own_kind kind, const char *name);

/** The entry itself: an accelerator, a node type, or the price of one. It is there. warnings: NULL,
 * or what ?unknown=warn let pass. */
void sl_hardware_entry_write(sl_writer *writer, const sl_catalog *catalog, sl_own_kind kind,
                             const char *name, const sl_errors *warnings);

/** Sets the ETag, as sl_response_etag: "<catalogue>", or of a private row "<revision>-<catalogue>",
 * and of its bare spec "<revision>". */
bool sl_hardware_entry_not_modified(const sl_catalog *catalog, const sl_own *own, bool spec_only,
                                    const sl_request *request, sl_response *response);

/** ?view=spec: the bare spec of a private row. */
sl_code sl_hardware_entry_view(const sl_request *request, bool *spec_only,
                               sl_errors *err) SL_MUST_CHECK;

#endif
