/** What the files of this folder share. */
#ifndef SL_CATALOG_INTERNAL_H
#define SL_CATALOG_INTERNAL_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/embed.h"
#include "catalog/catalog.h"

enum {
    SL_CATALOG_PARTS_MAX = 160,
    SL_CATALOG_NODES_MAX = 160,
    SL_CATALOG_SOFTWARE_MAX = 32,
    SL_CATALOG_NAMES_MAX = 2048,
    SL_CATALOG_ARCHES_MAX = 32,
    SL_CATALOG_FABRICS_MAX = 16,
    SL_CATALOG_SURFACES_MAX = 64,
    SL_CATALOG_SOURCES_MAX = 96,
    SL_CATALOG_CONFLICTS_MAX = 256,
    SL_CATALOG_ALIASES_MAX = 16, /* of a user's row */
    SL_CATALOG_NAME_SIZE = 128   /* of a name once folded */
};

/* Where the laws of a part come from; ids of parts, "" for none. */
typedef struct sl_law_names {
    const char *sustained; /* whose clock over hours */
    const char *gemm;
    const char *attention;
    const char *attention_kernels; /* those the part can run, separated by | */
    const char *collective;
    double achieved_flops_per_s; /* best sustained bf16 product somebody found; 0 = none */
    const char *achieved_as;     /* ... or that of this part goes with the 16-bit rate; "" = none */
} sl_law_names;

typedef struct sl_sustained {
    const char *part; /* an id; "*" is any other */
    double ratio, low_ratio, high_ratio;
} sl_sustained;

typedef struct sl_workspace_row {
    const char *arch; /* as accelerators name theirs; "*" is any other */
    double pytorch_bytes, engine_bytes;
} sl_workspace_row;

typedef struct sl_fabric_row {
    sl_fabric fabric;
    const char *aliases; /* separated by | */
} sl_fabric_row;

/* How a name is compared, the strictest first. */
typedef enum sl_name_form {
    SL_NAME_FOLDED,   /* lower case, every run of separators one dash */
    SL_NAME_REDUCED,  /* without separators and words that say who made or shares the part */
    SL_NAME_LOOSENED, /* and without kinds and sizes of memory */
    SL_NAME_FORM_COUNT
} sl_name_form;

typedef struct sl_name_forms {
    uint64_t key[SL_NAME_FORM_COUNT]; /* of the texts: tells nearly all of them apart */
    const char *text[SL_NAME_FORM_COUNT];
} sl_name_forms;

struct sl_catalog {
    sl_arena *arena;
    char revision[13];
    uint64_t own_revision; /* of the users' rows it holds; 0 = none */
    bool awaits_own;       /* they are not read yet */
    uint32_t part_limit, node_limit, name_limit;
    uint32_t part_count, node_count, software_count, sustained_count, workspace_count, fabric_count,
        surface_count, name_count, source_count, conflict_count;
    sl_part *parts;
    sl_law_names *laws; /* beside parts */
    sl_node_type *nodes;
    sl_software *software;
    const char **software_aliases; /* beside software */
    sl_sustained sustained[SL_CATALOG_ARCHES_MAX];
    sl_workspace_row workspaces[SL_CATALOG_ARCHES_MAX];
    sl_fabric_row fabrics[SL_CATALOG_FABRICS_MAX];
    sl_gemm_surface *surfaces; /* of the laws that have one */
    sl_source sources[SL_CATALOG_SOURCES_MAX];
    sl_conflict conflicts[SL_CATALOG_CONFLICTS_MAX];
    /* every id, name and alias of a part, with the part it means */
    const char **names;
    uint32_t *name_parts;
    sl_name_forms *name_forms; /* beside names: made once, as every search compares them all */
};

/* catalog.c: an empty catalogue with room for that many rows of users. NULL without memory. */
sl_catalog *sl_catalog_allocate(uint32_t own_rows, size_t arena_bytes,
                                sl_errors *err) SL_MUST_CHECK;

/* catalog.c: the revision of the embedded tables and, unless that is empty, of the users' rows. */
sl_code sl_catalog_name_revision(sl_catalog *catalog, const sl_buffer *own,
                                 sl_errors *err) SL_MUST_CHECK;

extern const sl_embedded_set sl_catalog_files;

/* load.c: fills everything but the laws of parts that have none of their own. */
sl_code sl_catalog_load(sl_catalog *catalog, const sl_embedded_set *files,
                        sl_errors *err) SL_MUST_CHECK;

/* laws.c: gives every part its laws and its sustained clock. */
sl_code sl_catalog_attach_laws(sl_catalog *catalog, sl_errors *err) SL_MUST_CHECK;

/* Words of the attention tables. */
extern const char *const sl_catalog_kernels[SL_ATTENTION_KERNEL_COUNT];

/* names.c: a name in one of its forms, cut where it is longer. */
void sl_name_write(sl_name_form form, const char *name, char out[SL_CATALOG_NAME_SIZE]);

/* names.c: whether that much of `name` is this when folded; tells most apart at the first
 * letter. */
bool sl_name_folds_to(const char *name, size_t length, const char *folded);

/* find.c */
bool sl_catalog_lists(const char *list, const char *name); /* list: entries separated by | */
sl_part *sl_catalog_part_by_id(const sl_catalog *catalog, const char *id);

#endif
