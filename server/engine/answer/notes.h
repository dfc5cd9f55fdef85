/** What an answer says of itself beside its figures, in files by what it is said of. */
#ifndef SL_ENGINE_NOTES_H
#define SL_ENGINE_NOTES_H

#include "shardline/estimate.h"

/** Once, whatever number of pools it is said of. */
void sl_note_add(sl_estimate *out, bool warning, const char *code, const char *text);

/** Of each pool: its rates, its links, its memory. */
void sl_note_hardware(const sl_question *question, sl_estimate *out);

/** How states are sharded, offloaded, adapted and rebuilt, and what of that is not counted. */
void sl_note_states(const sl_question *question, sl_estimate *out);

/** Of several pools in one job. */
void sl_note_pools(const sl_question *question, sl_estimate *out);

#endif
