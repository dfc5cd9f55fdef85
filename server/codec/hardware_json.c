#include "codec/hardware_json.h"

#include "codec/names.h"

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

void
sl_part_write(sl_writer *writer, const sl_part *entry)
{
    const sl_accelerator *part = &entry->accelerator;

    sl_write_object(writer);
    sl_put_text(writer, "id", part->id);
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
    sl_put_uint(writer, "memory_bytes", part->memory_bytes);
    sl_put_uint(writer, "reserved_bytes", part->reserved_bytes);
    sl_put_bool(writer, "reserved_assumed", part->reserved_assumed);
    sl_put_known_double(writer, "memory_bandwidth_bytes_per_s", part->memory_bytes_per_s);
    write_rates(writer, part);
    sl_put_text(writer, "scale_up_link", entry->scale_up_link);
    sl_put_known_double(writer, "scale_up_bytes_per_s", part->scale_up_bytes_per_s);
    sl_put_uint(writer, "scale_up_domain", part->scale_up_domain);
    sl_put_known_double(writer, "host_bytes_per_s", part->host_bytes_per_s);
    sl_put_known_double(writer, "power_w", part->power_w);
    sl_put_text(writer, "source", part->source);
    sl_put_text(writer, "provenance", part->provenance);
    sl_put_text(writer, "recalled", entry->recalled);
    sl_put_text(writer, "note", entry->note);
    sl_write_object_end(writer);
}

void
sl_node_type_write(sl_writer *writer, const sl_node_type *type)
{
    sl_write_object(writer);
    sl_put_text(writer, "id", type->id);
    sl_put_text(writer, "operator", type->operator_name);
    sl_put_text(writer, "accelerator", type->accelerator == NULL ? NULL : type->accelerator->id);
    sl_put_uint(writer, "accelerators_per_node", type->accelerators);
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
    sl_put_known_uint(writer, "host_memory_bytes", type->host_memory_bytes);
    sl_put_known_double(writer, "price_per_node_hour_usd", type->price_per_node_hour_usd);
    sl_put_text(writer, "price_date", type->price_date);
    sl_put_text(writer, "source", type->source);
    sl_put_text(writer, "provenance", type->provenance);
    sl_put_text(writer, "note", type->note);
    sl_put_bool(writer, "reference", type->reference);
    sl_write_object_end(writer);
}
