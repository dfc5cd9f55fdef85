#include "codec/answer/hardware_json.h"

#include <string.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/notes.h"

static void
write_rates(sl_writer *writer, const sl_accelerator *part)
{
    sl_write_key(writer, "peak_flops_per_s");
    sl_write_object(writer);
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++)
        sl_put_known_double(writer, sl_name(&sl_precision_names, i), part->peak_flops_per_s[i]);
    sl_write_object_end(writer);

    sl_write_key(writer, "laws");
    sl_write_object(writer);
    sl_put_text(writer, "part", part->law_part);
    sl_put_text(writer, "products", sl_name(&sl_origin_names, part->gemm_origin));
    sl_put_text(writer, "attention", sl_name(&sl_origin_names, part->attention_origin));
    sl_put_text(writer, "collectives", sl_name(&sl_origin_names, part->collective_origin));
    sl_write_object_end(writer);

    sl_write_key(writer, "sustained_ratio");
    sl_write_object(writer);
    sl_put_double(writer, "value", part->sustained_ratio);
    sl_put_double(writer, "low", part->sustained_low_ratio);
    sl_put_double(writer, "high", part->sustained_high_ratio);
    sl_write_object_end(writer);
}

/* What the tool prints, what of it CUDA never sees, and the gigabytes of the name beside them. */
static void
write_memory(sl_writer *writer, const sl_part *entry)
{
    const sl_accelerator *part = &entry->accelerator;

    sl_put_uint(writer, "memory_bytes", part->memory_bytes);
    sl_put_bool(writer, "memory_assumed", entry->memory_assumed);
    sl_put_uint(writer, "reserved_bytes", part->reserved_bytes);
    sl_put_bool(writer, "reserved_assumed", part->reserved_assumed);
    sl_put_uint(writer, "usable_bytes", part->memory_bytes - part->reserved_bytes);
    sl_put_known_uint(writer, "nominal_bytes", part->nominal_bytes);
}

/* An entry of a list of texts that a separator stands between. */
static void
write_list(sl_writer *writer, const char *key, const char *list)
{
    sl_write_key(writer, key);
    sl_write_array(writer);
    for (const char *at = list; *at != '\0';) {
        const size_t length = strcspn(at, "|");
        char entry[128];
        (void)sl_text_format(entry, sizeof entry, "%.*s", (int)length, at);
        sl_write_text(writer, entry);
        at += length + (at[length] == '|');
    }
    sl_write_array_end(writer);
}

static void
write_sources(sl_writer *writer, const sl_catalog *catalog, const char *codes)
{
    const char *at = codes;

    sl_write_key(writer, "sources");
    sl_write_array(writer);
    for (const sl_source *source; (source = sl_catalog_next_source(catalog, &at)) != NULL;) {
        sl_write_object(writer);
        sl_put_text(writer, "code", source->code);
        sl_put_text(writer, "where", source->where);
        sl_put_text(writer, "what", source->what);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
write_conflicts(sl_writer *writer, const sl_catalog *catalog, const char *id)
{
    uint32_t count = 0;
    const sl_conflict *list = sl_catalog_conflicts(catalog, id, &count);

    sl_write_key(writer, "conflicts");
    sl_write_array(writer);
    for (uint32_t i = 0; i < count;) {
        const char *field = list[i].field;
        sl_write_object(writer);
        sl_put_text(writer, "field", field);
        sl_write_key(writer, "values");
        sl_write_array(writer);
        for (; i < count && sl_text_equal(list[i].field, field); i++) {
            sl_write_object(writer);
            sl_put_double(writer, "value", list[i].value);
            sl_put_text(writer, "source", list[i].source);
            sl_put_text(writer, "why", *list[i].why != '\0' ? list[i].why : NULL);
            sl_write_object_end(writer);
        }
        sl_write_array_end(writer);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* Whose row it is; a revision and times only where somebody stored it, which a dry run did not. */
static void
write_own(sl_writer *writer, const sl_own *own)
{
    const bool stored = own->revision > 0;

    sl_put_text(writer, "origin", stored ? "private" : "catalog");
    sl_put_known_uint(writer, "revision", own->revision);
    sl_put_text(writer, "created_at", stored && *own->created_at != '\0' ? own->created_at : NULL);
    sl_put_text(writer, "updated_at", stored && *own->updated_at != '\0' ? own->updated_at : NULL);
}

static void
write_warnings(sl_writer *writer, const sl_errors *warnings)
{
    if (warnings == NULL)
        return;
    sl_write_key(writer, "warnings");
    sl_write_array(writer);
    sl_faults_write(writer, warnings);
    sl_write_array_end(writer);
}

void
sl_part_write(sl_writer *writer, const sl_catalog *catalog, const sl_part *entry,
              const sl_errors *warnings)
{
    const sl_accelerator *part = &entry->accelerator;

    sl_write_object(writer);
    sl_put_text(writer, "id", part->id);
    write_own(writer, &entry->own);
    sl_put_text(writer, "name", part->name);
    sl_put_text(writer, "vendor", part->vendor);
    sl_put_text(writer, "arch", part->arch);
    sl_write_key(writer, "aliases");
    sl_write_array(writer);
    for (uint32_t i = 0; i < entry->alias_count; i++)
        sl_write_text(writer, entry->aliases[i]);
    sl_write_array_end(writer);
    sl_put_text(writer, "status", entry->status);
    sl_put_known_uint(writer, "release_year", part->release_year);
    write_memory(writer, entry);
    sl_put_known_double(writer, "memory_bandwidth_bytes_per_s", part->memory_bytes_per_s);
    write_rates(writer, part);
    sl_put_text(writer, "scale_up_link", entry->scale_up_link);
    sl_put_known_double(writer, "scale_up_bytes_per_s", part->scale_up_bytes_per_s);
    sl_put_known_double(writer, "scale_up_pair_bytes_per_s", part->scale_up_pair_bytes_per_s);
    sl_put_uint(writer, "scale_up_domain", part->scale_up_domain);
    sl_put_known_double(writer, "host_bytes_per_s", part->host_bytes_per_s);
    sl_put_known_double(writer, "power_w", part->power_w);
    sl_put_text(writer, "like", *entry->like != '\0' ? entry->like : NULL);
    sl_put_bool(writer, "like_assumed", entry->like_assumed);
    write_list(writer, "scaled_from_like", entry->scaled);
    sl_put_text(writer, "source", part->source);
    write_sources(writer, catalog, part->source);
    sl_put_text(writer, "provenance", part->provenance);
    sl_put_text(writer, "recalled", entry->recalled);
    write_conflicts(writer, catalog, part->id);
    sl_put_text(writer, "note", entry->note);
    write_warnings(writer, warnings);
    sl_write_object_end(writer);
}

static void
write_price(sl_writer *writer, const sl_node_type *type)
{
    const bool known = type->price_per_node_hour > 0;
    const bool own = type->own.revision > 0 || type->own_price.revision > 0;

    sl_put_known_double(writer, "price_per_node_hour", type->price_per_node_hour);
    sl_put_text(writer, "price_currency", known ? type->price_currency : NULL);
    sl_put_text(writer, "price_date", type->price_date);
    sl_put_text(writer, "price_origin", !known ? NULL : own ? "private" : "catalog");
}

void
sl_node_type_write(sl_writer *writer, const sl_catalog *catalog, const sl_node_type *type,
                   const sl_errors *warnings)
{
    sl_write_object(writer);
    sl_put_text(writer, "id", type->id);
    write_own(writer, &type->own);
    write_list(writer, "aliases", type->aliases);
    sl_put_text(writer, "operator", type->operator_name);
    sl_put_text(writer, "accelerator", type->accelerator == NULL ? NULL : type->accelerator->id);
    sl_put_uint(writer, "accelerators_per_node", type->accelerators);
    sl_put_known_double(writer, "scale_up_pair_bytes_per_s", type->scale_up_pair_bytes_per_s);
    sl_put_known_double(writer, "power_limit_w", type->power_limit_w);
    sl_put_uint(writer, "scale_up_domain", type->scale_up_domain);
    if (type->nic_count > 0) {
        sl_write_key(writer, "nics");
        sl_write_object(writer);
        sl_put_uint(writer, "count", type->nic_count);
        sl_put_double(writer, "bytes_per_s", type->nic_bytes_per_s);
        sl_put_text(writer, "kind", type->nic_kind);
        sl_write_object_end(writer);
    } else {
        sl_put_null(writer, "nics");
    }
    sl_put_known_uint(writer, "vcpus", type->vcpus);
    sl_put_known_uint(writer, "host_memory_bytes", type->host_memory_bytes);
    write_price(writer, type);
    sl_put_text(writer, "source", type->source);
    write_sources(writer, catalog, type->source);
    sl_put_text(writer, "provenance", type->provenance);
    sl_put_text(writer, "recalled", type->recalled);
    write_conflicts(writer, catalog, type->id);
    sl_put_text(writer, "note", type->note);
    sl_put_bool(writer, "reference", type->reference);
    write_warnings(writer, warnings);
    sl_write_object_end(writer);
}

void
sl_node_price_write(sl_writer *writer, const sl_node_type *type, const sl_errors *warnings)
{
    sl_write_object(writer);
    sl_put_text(writer, "id", type->id);
    write_own(writer, type->own.revision > 0 ? &type->own : &type->own_price);
    write_price(writer, type);
    write_warnings(writer, warnings);
    sl_write_object_end(writer);
}
