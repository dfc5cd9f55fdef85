/** Hosts of several files, and nodes without a name, merged into classes of equal nodes. Inside
 * server/intake only. */
#ifndef SL_INTAKE_MERGE_H
#define SL_INTAKE_MERGE_H

#include "intake/draft.h"
#include "intake/part_names.h"

/* How far figures of one thing are apart. Of one part, drivers print totals within 3 % (an A10G
 * 22888 MiB here and 23028 there); of one node's memory, tools tell a few per cent less than is
 * built in: firmware, kernel and what an administrator holds back. */
#define SL_DEVICE_MEMORY_SHARE 0.03
#define SL_HOST_MEMORY_SHARE 0.05

enum { SL_CLASS_KINDS_MAX = SL_FINDINGS_FILES_MAX };

/** Nodes of which the same kinds are said, over all files. */
typedef struct sl_class {
    uint16_t kinds[SL_CLASS_KINDS_MAX]; /* that say anything, in the order of the files */
    uint32_t kind_count;
    const char *pool; /* a name that a file gives, or NULL */
    bool named;       /* its hosts are */
    bool absorbed;    /* what it says was of a node of other classes */
    uint32_t nodes;
    sl_value value[SL_FIELD_COUNT];
    const sl_part *candidates[SL_PART_CANDIDATES_MAX];
    uint32_t candidate_count;
    bool candidates_near;
    double named_bytes; /* the memory that its name says, or 0 */
    const sl_node_type *node;
    uint32_t pool_index; /* set when pools are made */
} sl_class;

typedef struct sl_merge {
    const sl_findings *findings;
    const sl_catalog *catalog;
    sl_arena *arena;
    sl_draft *draft; /* takes the notes */
    sl_class **classes;
    uint32_t class_count;
    sl_part_names names;
    uint32_t *class_of; /* of each record; SL_FOUND_NONE for all but a host's first */
} sl_merge;

/** Classes with their values, candidates found and nameless ones joined. */
sl_code sl_merge_make(sl_merge *merge, sl_errors *err) SL_MUST_CHECK;

/** Finds the part and node type of a class as far as what is said decides (resolve.c). */
void sl_class_resolve(sl_merge *merge, sl_class *class);

/** Whether any file says that these nodes have some. */
bool sl_class_has_accelerators(const sl_class *class);

/** Every named host into the groups of its pool, or of those without accelerators, and the nameless
 * ones counted; also what scale-up domains a pool's hosts are said to make. The pools are there.
 * SL_E_MEMORY (draft_hosts.c). */
sl_code sl_merge_place_hosts(const sl_merge *merge, sl_errors *err) SL_MUST_CHECK;

/** Notes on the pools of a draft and on what is in none of them (draft_notes.c). */
void sl_draft_notes(const sl_merge *merge);

void sl_draft_note_add(sl_draft *draft, sl_arena *arena, const char *code, bool guess,
                       const char *pointer, const char *format, ...) SL_PRINTF(6, 7);

double sl_value_number(const sl_value *value);    /* 0: not known */
const char *sl_value_text(const sl_value *value); /* NULL: not known */

#endif
