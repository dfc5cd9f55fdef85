#include "codec/search/search_relax_json.h"

#include <string.h>

#include "base/text.h"
#include "codec/comparison/comparison_entry.h"
#include "codec/search/search_plan.h"
#include "codec/search/search_space.h"
#include "codec/search/search_words.h"

enum { VALUE_BYTES = 64 };

static const sl_search_relax nothing_relaxed;

static const sl_search_relax *
relax_of(const sl_search_document *document)
{
    const sl_search_relax *const relax = document->relax;

    return relax != NULL && relax->from != NULL ? relax : &nothing_relaxed;
}

/* The sizes that were searched, of all clusters. */
static void
sizes_write(sl_writer *writer, const sl_search_document *document)
{
    for (uint32_t c = 0; c < document->asked->cluster_count; c++) {
        const uint32_t *sizes = NULL;
        const uint32_t count = sl_search_sizes(document->search, c, &sizes);
        for (uint32_t i = 0; i < count; i++)
            sl_write_uint(writer, sizes[i]);
    }
}

static void
asked_write(sl_writer *writer, const sl_search_document *document, sl_dimension dimension)
{
    const sl_values *const values = &sl_search_space(document->search)->of[dimension];

    sl_write_key(writer, "from");
    sl_write_array(writer);
    if (dimension == SL_DIMENSION_ACCELERATORS)
        sizes_write(writer, document);
    else
        for (uint32_t i = 0; i < values->count; i++)
            sl_dimension_write(writer, dimension, values->list[i]);
    sl_write_array_end(writer);
}

static void
value_write(sl_writer *writer, sl_dimension dimension, const sl_search_point *point)
{
    sl_write_key(writer, sl_dimension_name(dimension));
    sl_write_array(writer);
    sl_dimension_write(writer, dimension, point->value[dimension]);
    sl_write_array_end(writer);
}

/* The space has the last word on what plan and workload say too. */
static void
space_write(sl_writer *writer, const sl_search_document *document, const sl_relaxation *relaxed)
{
    const bool shards = relaxed->dimension == SL_DIMENSION_ZERO_STAGE ||
                        relaxed->dimension == SL_DIMENSION_SHARD_GROUP;
    const bool sizes = relaxed->dimension == SL_DIMENSION_ACCELERATORS;

    sl_write_key(writer, "space");
    sl_write_object(writer);
    if (sizes && document->asked->request.space.nodes.count > 0)
        sl_put_null(writer, "nodes");
    if (shards && sl_space_says(document->asked, "sharding")) {
        /* One word says both. */
        sl_put_null(writer, "sharding");
        value_write(writer, SL_DIMENSION_ZERO_STAGE, &relaxed->point);
        value_write(writer, SL_DIMENSION_SHARD_GROUP, &relaxed->point);
    } else {
        value_write(writer, relaxed->dimension, &relaxed->point);
    }
    sl_write_object_end(writer);
}

static void
change_write(sl_writer *writer, const sl_search_document *document, const sl_relaxation *relaxed)
{
    const uint64_t most = document->asked->request.constraints.max_accelerators;
    const uint64_t value = relaxed->point.value[relaxed->dimension];

    sl_write_key(writer, "change");
    sl_write_object(writer);
    space_write(writer, document, relaxed);
    if (relaxed->dimension == SL_DIMENSION_ACCELERATORS && most > 0 && value > most) {
        sl_write_key(writer, "constraints");
        sl_write_object(writer);
        sl_put_uint(writer, "max_accelerators", value);
        sl_write_object_end(writer);
    }
    sl_write_object_end(writer);
}

static void
relaxation_write(sl_writer *writer, const sl_search_document *document,
                 const sl_relaxation *relaxed)
{
    char pointer[VALUE_BYTES];

    sl_dimension_pointer(document->asked, relaxed->dimension, &relaxed->point, pointer,
                         sizeof pointer);
    sl_write_object(writer);
    sl_put_text(writer, "dimension", sl_dimension_name(relaxed->dimension));
    sl_put_text(writer, "pointer", pointer);
    asked_write(writer, document, relaxed->dimension);
    sl_write_key(writer, "to");
    sl_dimension_write(writer, relaxed->dimension, relaxed->point.value[relaxed->dimension]);
    change_write(writer, document, relaxed);
    sl_write_key(writer, "plan");
    sl_search_glimpse_write(writer, &relaxed->point);
    sl_write_object_end(writer);
}

void
sl_relaxations_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_relax *const relax = relax_of(document);

    sl_write_key(writer, "relaxations");
    sl_write_array(writer);
    for (uint32_t i = 0; i < relax->count; i++)
        relaxation_write(writer, document, &relax->found[i]);
    sl_write_array_end(writer);
    sl_put_bool(writer, "relaxed_together", relax->count > 0 && relax->together);
    if (relax->from != NULL)
        sl_put_bool(writer, "relaxations_complete", relax->complete);
    else
        sl_put_null(writer, "relaxations_complete");
}

/* "tensor 8 and pipeline 1" */
static void
changes_say(const sl_search_relax *relax, char *out, size_t size)
{
    const uint32_t said = relax->together ? relax->count : 1;
    size_t used = 0;

    for (uint32_t i = 0; i < said; i++) {
        const sl_relaxation *const relaxed = &relax->found[i];
        const char *const between = i == 0 ? "" : i + 1 == said ? " and " : ", ";
        char value[VALUE_BYTES], name[VALUE_BYTES];
        sl_dimension_say(relaxed->dimension, relaxed->point.value[relaxed->dimension], value,
                         sizeof value);
        sl_spell(sl_dimension_name(relaxed->dimension), name, sizeof name);
        (void)sl_text_format(out + used, size - used, "%s%s %s", between, name, value);
        used += strlen(out + used);
    }
}

void
sl_relaxed_say(const sl_search_document *document, const char *before, char *out, size_t size)
{
    const sl_search_relax *const relax = relax_of(document);
    char said[SL_SEARCH_SENTENCE_BYTES];

    *out = '\0';
    if (relax->count > 0) {
        changes_say(relax, said, sizeof said);
        (void)sl_text_format(out, size, " With %s there is one.", said);
    } else if (relax->hopeless) {
        const sl_search_reason *const tightest =
            sl_reason_tightest(document->relaxed, &relax->request);
        if (tightest == NULL)
            return;
        sl_reason_say(tightest, said);
        const bool told = strstr(before, said) != NULL;
        (void)sl_text_format(out, size, " Nor would any other value of what is searched help%s%s.",
                             told ? "" : "; ", told ? "" : said);
    }
}
