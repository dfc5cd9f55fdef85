#include "catalog/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "catalog/internal.h"

enum { ARENA_BYTES = 8 << 20, REVISION_TEXT_BYTES = 1 << 16 };

sl_code
sl_catalog_name_revision(sl_catalog *catalog, const sl_buffer *own, sl_errors *err)
{
    char digest[SL_HASH_TEXT_SIZE];
    sl_buffer text;
    sl_buffer_init(&text, REVISION_TEXT_BYTES);
    for (size_t i = 0; i < sl_catalog_files.count; i++) {
        const sl_embedded *const file = &sl_catalog_files.files[i];
        sl_hash_text(file->data, file->size, digest);
        sl_buffer_format(&text, "%s %s\n", digest, file->name);
    }
    if (own != NULL && own->size > 0) {
        sl_hash_text(own->data, own->size, digest);
        sl_buffer_format(&text, "%s\n", digest);
    }
    sl_code code = SL_OK;
    if (text.failed) {
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
    } else {
        sl_hash_text(text.data, text.size, digest);
        memcpy(catalog->revision, digest, sizeof catalog->revision - 1);
    }
    sl_buffer_clear(&text);
    return code;
}

static bool
allocate_tables(sl_catalog *catalog)
{
    sl_arena *const arena = catalog->arena;
    catalog->parts = sl_arena_alloc(arena, catalog->part_limit, sizeof *catalog->parts);
    catalog->laws = sl_arena_alloc(arena, catalog->part_limit, sizeof *catalog->laws);
    catalog->nodes = sl_arena_alloc(arena, catalog->node_limit, sizeof *catalog->nodes);
    catalog->software = sl_arena_alloc(arena, SL_CATALOG_SOFTWARE_MAX, sizeof *catalog->software);
    catalog->software_aliases =
        sl_arena_alloc(arena, SL_CATALOG_SOFTWARE_MAX, sizeof *catalog->software_aliases);
    catalog->surfaces = sl_arena_alloc(arena, SL_CATALOG_SURFACES_MAX, sizeof *catalog->surfaces);
    catalog->names = sl_arena_alloc(arena, catalog->name_limit, sizeof *catalog->names);
    catalog->name_parts = sl_arena_alloc(arena, catalog->name_limit, sizeof *catalog->name_parts);
    catalog->name_forms = sl_arena_alloc(arena, catalog->name_limit, sizeof *catalog->name_forms);
    return catalog->parts != NULL && catalog->laws != NULL && catalog->nodes != NULL &&
           catalog->software != NULL && catalog->software_aliases != NULL &&
           catalog->names != NULL && catalog->name_parts != NULL && catalog->name_forms != NULL &&
           catalog->surfaces != NULL;
}

sl_catalog *
sl_catalog_allocate(uint32_t own_rows, size_t arena_bytes, sl_errors *err)
{
    assert(own_rows <= SL_OWN_ROWS_MAX && err != NULL);

    sl_catalog *const catalog = calloc(1, sizeof *catalog);
    if (catalog != NULL) {
        catalog->part_limit = SL_CATALOG_PARTS_MAX + own_rows;
        catalog->node_limit = SL_CATALOG_NODES_MAX + own_rows;
        catalog->name_limit = SL_CATALOG_NAMES_MAX + own_rows * (SL_CATALOG_ALIASES_MAX + 2);
        catalog->arena = sl_arena_new(arena_bytes);
        if (catalog->arena != NULL && allocate_tables(catalog))
            return catalog;
    }
    (void)sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
    sl_catalog_free(catalog);
    return NULL;
}

sl_catalog *
sl_catalog_new(sl_errors *err)
{
    assert(err != NULL);

    sl_catalog *const catalog = sl_catalog_allocate(0, ARENA_BYTES, err);
    if (catalog == NULL)
        return NULL;
    sl_code code = sl_catalog_load(catalog, &sl_catalog_files, err);
    if (code == SL_OK)
        code = sl_catalog_attach_laws(catalog, err);
    if (code == SL_OK)
        code = sl_catalog_name_revision(catalog, NULL, err);
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

uint64_t
sl_catalog_own_revision(const sl_catalog *catalog)
{
    assert(catalog != NULL);
    return catalog->own_revision;
}

void
sl_catalog_await_own(sl_catalog *catalog)
{
    assert(catalog != NULL);
    catalog->awaits_own = true;
}

const sl_source *
sl_catalog_next_source(const sl_catalog *catalog, const char **codes)
{
    assert(catalog != NULL && codes != NULL && *codes != NULL);

    while (**codes != '\0') {
        const char *const code = *codes;
        const size_t length = strcspn(code, " ");
        *codes += length + (code[length] == ' ');
        for (uint32_t i = 0; i < catalog->source_count; i++) {
            const sl_source *const source = &catalog->sources[i];
            if (strlen(source->code) == length && memcmp(source->code, code, length) == 0)
                return source;
        }
    }
    return NULL;
}

const sl_conflict *
sl_catalog_conflicts(const sl_catalog *catalog, const char *id, uint32_t *count)
{
    assert(catalog != NULL && id != NULL && count != NULL);

    const sl_conflict *first = NULL;
    *count = 0;
    for (uint32_t i = 0; i < catalog->conflict_count; i++) {
        if (!sl_text_equal(catalog->conflicts[i].id, id))
            continue;
        if (first == NULL)
            first = &catalog->conflicts[i];
        (*count)++;
    }
    return first;
}
