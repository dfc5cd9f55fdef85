#include "catalog/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "catalog/internal.h"

enum { ARENA_BYTES = 8 << 20, REVISION_TEXT_BYTES = 1 << 16 };

extern const sl_embedded_set sl_catalog_files;

static sl_code
compute_revision(sl_catalog *catalog, sl_errors *err)
{
    sl_buffer text;
    sl_buffer_init(&text, REVISION_TEXT_BYTES);
    for (size_t i = 0; i < sl_catalog_files.count; i++) {
        const sl_embedded *const file = &sl_catalog_files.files[i];
        char digest[SL_HASH_TEXT_SIZE];
        sl_hash_text(file->data, file->size, digest);
        sl_buffer_format(&text, "%s %s\n", digest, file->name);
    }
    sl_code code = SL_OK;
    if (text.failed) {
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
    } else {
        char digest[SL_HASH_TEXT_SIZE];
        sl_hash_text(text.data, text.size, digest);
        memcpy(catalog->revision, digest, sizeof catalog->revision - 1);
    }
    sl_buffer_clear(&text);
    return code;
}

static sl_code
allocate(sl_catalog *catalog, sl_errors *err)
{
    catalog->arena = sl_arena_new(ARENA_BYTES);
    if (catalog->arena != NULL) {
        sl_arena *const arena = catalog->arena;
        catalog->parts = sl_arena_alloc(arena, SL_CATALOG_PARTS_MAX, sizeof *catalog->parts);
        catalog->laws = sl_arena_alloc(arena, SL_CATALOG_PARTS_MAX, sizeof *catalog->laws);
        catalog->nodes = sl_arena_alloc(arena, SL_CATALOG_NODES_MAX, sizeof *catalog->nodes);
        catalog->software =
            sl_arena_alloc(arena, SL_CATALOG_SOFTWARE_MAX, sizeof *catalog->software);
        catalog->software_aliases =
            sl_arena_alloc(arena, SL_CATALOG_SOFTWARE_MAX, sizeof *catalog->software_aliases);
        catalog->surfaces =
            sl_arena_alloc(arena, SL_CATALOG_SURFACES_MAX, sizeof *catalog->surfaces);
        catalog->names = sl_arena_alloc(arena, SL_CATALOG_NAMES_MAX, sizeof *catalog->names);
        catalog->name_parts =
            sl_arena_alloc(arena, SL_CATALOG_NAMES_MAX, sizeof *catalog->name_parts);
    }
    if (catalog->parts == NULL || catalog->laws == NULL || catalog->nodes == NULL ||
        catalog->software == NULL || catalog->software_aliases == NULL || catalog->names == NULL ||
        catalog->name_parts == NULL || catalog->surfaces == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
    return SL_OK;
}

sl_catalog *
sl_catalog_new(sl_errors *err)
{
    assert(err != NULL);

    sl_catalog *const catalog = calloc(1, sizeof *catalog);
    if (catalog == NULL) {
        (void)sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
        return NULL;
    }
    sl_code code = allocate(catalog, err);
    if (code == SL_OK)
        code = sl_catalog_load(catalog, &sl_catalog_files, err);
    if (code == SL_OK)
        code = sl_catalog_attach_laws(catalog, err);
    if (code == SL_OK)
        code = compute_revision(catalog, err);
    if (code != SL_OK) {
        sl_catalog_free(catalog);
        return NULL;
    }
    return catalog;
}

void
sl_catalog_free(sl_catalog *catalog)
{
    if (catalog == NULL)
        return;
    sl_arena_free(catalog->arena);
    free(catalog);
}

const char *
sl_catalog_revision(const sl_catalog *catalog)
{
    assert(catalog != NULL);
    return catalog->revision;
}

uint32_t
sl_catalog_part_count(const sl_catalog *catalog)
{
    assert(catalog != NULL);
    return catalog->part_count;
}

const sl_part *
sl_catalog_part(const sl_catalog *catalog, uint32_t index)
{
    assert(catalog != NULL && index < catalog->part_count);
    return &catalog->parts[index];
}

uint32_t
sl_catalog_node_count(const sl_catalog *catalog)
{
    assert(catalog != NULL);
    return catalog->node_count;
}

const sl_node_type *
sl_catalog_node(const sl_catalog *catalog, uint32_t index)
{
    assert(catalog != NULL && index < catalog->node_count);
    return &catalog->nodes[index];
}
