/** What a write asks of a row, against the row. Inside server/store only. */
#ifndef SL_STORE_PRECONDITION_H
#define SL_STORE_PRECONDITION_H

#include "store/inventory.h"

/** SL_E_PRECONDITION: `exists_rule` when it is there and must not be, else revision_mismatch.
 * revision: of one that is there. */
sl_code sl_precondition_check(const sl_precondition *asked, bool there, uint64_t revision,
                              const char *exists_rule, sl_errors *err) SL_MUST_CHECK;

#endif
