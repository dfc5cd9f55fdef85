/** What the handlers of stored inventories share. */
#ifndef SL_API_INVENTORIES_H
#define SL_API_INVENTORIES_H

#include "api/app.h"
#include "api/joined.h"

enum { SL_PAGE_DEFAULT = 100, SL_PAGE_MAX = 1000 };

/** 1 to 63 of a-z, 0-9 and inner dashes: the identity of an inventory in a URL. */
bool sl_slug_ok(const char *slug);

/** ?view=spec: the bare spec instead of the wrapped answer. */
sl_code sl_view_read(const sl_request *request, bool *spec_only, sl_errors *err) SL_MUST_CHECK;

/** Sets the ETag of a row in one of its views. joined: as in sl_row_write. True: the client knows
 * it already, and the answer is complete. */
bool sl_row_known(const sl_app *app, const sl_inventory_row *row, const sl_api_joined *joined,
                  bool spec_only, const sl_request *request, sl_response *response);

/** Writes a row. spec: its own; NULL: the bare text instead of the wrapped answer. joined: NULL for
 * what is not current. warnings: NULL, or what ?unknown=warn let pass. */
void sl_row_write(const sl_inventory_row *row, const sl_api_spec *spec, const sl_api_joined *joined,
                  const sl_errors *warnings, const sl_request *request, sl_response *response);

/** Both: answers with a stored row, in the view that is asked for. */
void sl_row_answer(const sl_app *app, const sl_inventory_row *row, const sl_api_spec *spec,
                   const sl_api_joined *joined, const sl_request *request, sl_response *response);

/** The members of a row without its spec, into an open object. */
void sl_row_members(sl_writer *writer, const sl_inventory_row *row);

/** Finds of each inventory that changed since it was looked at whether its hosts are as its spec
 * says, for the list to be asked for. */
void sl_inventories_judge(const sl_app *app, sl_store *store, const atomic_bool *stopping);

/** What was done, and from where; null where a revision is older than the audit. */
void sl_event_write(sl_writer *writer, const sl_inventory_event *event);

/** A page of what counts down: *before is the last number seen, 0 at the start. */
sl_code sl_history_page(const sl_request *request, uint64_t *before, uint32_t *limit,
                        sl_errors *err) SL_MUST_CHECK;

/** Ends a page, an open object with its items written: the cursor of the next one, and a link to it
 * that keeps what else was asked. next: NULL on the last page. */
void sl_page_finish(sl_writer *writer, const char *next, const sl_request *request,
                    sl_response *response);

#endif
