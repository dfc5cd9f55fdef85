/** What adapters may be asked of a model. */
#ifndef SL_ENGINE_CHECK_ADAPTER_H
#define SL_ENGINE_CHECK_ADAPTER_H

#include "shardline/plan.h"

/**
 * Refuses a target that no linear layer of the model goes by (rule no_such_module, with the names
 * there are) and adapters of a list of plain layers (no_tensors).
 */
sl_code sl_check_adapter(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
