/** Lists of modules as quantisation configs write them: which modules do they name? */
#ifndef SL_HF_MODULES_H
#define SL_HF_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "json/reader.h"

enum { SL_HF_MODULE_PATH_MAX = 160, SL_HF_ENTRY_MAX = 80 };

/** Steps that comparing all lists of one config may take, each some three nanoseconds: a step of a
 * wildcard or an expression by a letter, or as much else as takes that long. */
#define SL_HF_WORK_MAX (UINT64_C(3) << 24)

/** What comparing took so far: one for all lists of a config. */
typedef struct sl_hf_work {
    uint64_t steps;
} sl_hf_work;

/**
 * Entries are one of
 * - a plain name: the module itself, one it lies in, or neighbouring parts of its path;
 * - a wildcard (* and ?): the module or one it lies in, from the start of its path;
 * - a regular expression, behind "re:" or "-:" or told by its signs: from the start of the path, to
 *   wherever it ends, as Python's re.match.
 * A name may end with ".weight". The part "language_model", which wrappers of a decoder put in
 * different places, is left out of names and paths alike. An entry that names q_proj also names the
 * qkv_proj it is fused into, and the other way round.
 */
typedef struct sl_hf_modules sl_hf_modules;

/** Which entries of a list are asked. */
typedef enum sl_hf_entries {
    /* No number of an expert is written in them: they name experts alike whose numbers have equally
     * many digits. */
    SL_HF_ENTRIES_COMMON,
    SL_HF_ENTRIES_NUMBERED, /* they may name one expert of a block and not another */
    SL_HF_ENTRIES_COUNT
} sl_hf_entries;

/**
 * names     a list of texts, or of lists of texts; or an object, whose keys are the names
 * algorithm of an object's members, only those with this quant_algo; NULL = all
 * whole     a plain name is that of a module itself; else also of what holds it
 * arena     owns the list
 * work      of comparing; outlives the list
 * refused   the entry that cannot be read, or why there are too many; SL_HF_ENTRY_MAX bytes
 *
 * NULL, with `refused` filled, when an entry is beyond what is translated, or memory is short.
 */
sl_hf_modules *sl_hf_modules_new(sl_arena *arena, const sl_node *names, const char *algorithm,
                                 bool whole, sl_hf_work *work,
                                 char refused[SL_HF_ENTRY_MAX]) SL_MUST_CHECK;

/** Cuts ".weight" off the end of a tensor's name: what is left is its module's. */
void sl_hf_module_cut(char *name);

/** True when one of those entries names the module at `path`, as "model.layers.3.mlp.up_proj". */
bool sl_hf_modules_name(const sl_hf_modules *modules, sl_hf_entries entries, const char *path);

/** True when an entry may tell one expert of a block from another by its number. */
bool sl_hf_modules_numbered(const sl_hf_modules *modules);

/** True when comparing took more work than a request may: answers since are false. */
bool sl_hf_work_exhausted(const sl_hf_work *work);

#endif
