#include "hub/info.h"

#include "base/text.h"
#include "hub/client.h"
#include "hub/repository.h"
#include "json/writer.h"

static const char quantization_file[] = "hf_quant_config.json";
static const char single_file[] = "model.safetensors";
static const char index_file[] = "model.safetensors.index.json";
static const char by_headers[] = "headers";

bool
sl_hub_info_url(const char *endpoint, const char *repository, const char *commit, char *out,
                size_t size)
{
    return sl_text_format(out, size,
                          "%s/api/models/%s/revision/%s?expand=safetensors&expand=gated&expand=sha"
                          "&expand=siblings",
                          endpoint, repository, commit);
}

const char *
sl_hub_gated_of(const sl_node *object)
{
    static const char *const words[] = {"auto", "manual"};
    sl_errors faults = {.count = 0};
    const char *text = "";
    bool gated = false, present = false;
    if (sl_node_bool(object, "gated", &gated, &present, &faults) == SL_OK)
        return !present ? NULL : gated ? "true" : "false";
    if (sl_node_text(object, "gated", &text, NULL, &faults) != SL_OK)
        return NULL;
    const int word = sl_text_index(text, words, 2);
    return word < 0 ? NULL : words[word];
}

/* Which of the files that matter there are. */
static void
read_siblings(const sl_node *root, sl_hub_info *out)
{
    sl_errors faults = {.count = 0};
    sl_node list, item;
    if (!sl_node_member(root, "siblings", &list))
        return;
    for (size_t i = 0; sl_node_at(&list, i, &item); i++) {
        const char *name = "";
        if (sl_node_text(&item, "rfilename", &name, NULL, &faults) != SL_OK)
            continue;
        out->has_quantization_file |= sl_text_equal(name, quantization_file);
        out->has_safetensors |= sl_text_equal(name, single_file);
        out->has_index |= sl_text_equal(name, index_file);
    }
}

/* {"parameters": {"BF16": 7}, "total": 7}; false when it is there and is no such thing. */
static bool
read_counts(const sl_node *root, sl_hub_info *out)
{
    sl_errors faults = {.count = 0};
    const char *by = "";
    void *state = NULL;
    sl_node counts, types, type;
    bool present = false;

    if (!sl_node_member(root, "safetensors", &counts))
        return true;
    if (sl_node_uint(&counts, "total", 0, INT64_MAX, &out->total, &present, &faults) != SL_OK ||
        !present || sl_node_text(root, "counted_by", &by, NULL, &faults) != SL_OK)
        return false;
    if (sl_node_member(&counts, "parameters", &types)) {
        while (sl_node_next(&types, &state, &type)) {
            const uint32_t at = out->dtype_count;
            if (at == SL_HUB_DTYPES_MAX || !sl_hub_is_visible(type.key) ||
                !sl_text_copy(out->dtypes[at].name, sizeof out->dtypes[at].name, type.key) ||
                sl_node_as_uint(&type, 0, INT64_MAX, &out->dtypes[at].elements, &faults) != SL_OK)
                return false;
            out->dtype_count++;
        }
    }
    out->source = sl_text_equal(by, by_headers) ? SL_HUB_COUNTED_HEADERS : SL_HUB_COUNTED_METADATA;
    return true;
}

bool
sl_hub_info_read(const char *json, size_t size, const char *commit, sl_hub_info *out)
{
    static const sl_json_limits limits = {
        .max_bytes = SL_HUB_FILE_MAX_BYTES, .max_depth = 32, .accept_python_numbers = true};
    sl_hub_info read = {.known = true};
    sl_errors faults = {.count = 0};
    const char *sha = "";
    sl_json *document = NULL;

    if (sl_json_parse(json, size, &limits, &document, &faults) != SL_OK)
        return false;
    const sl_node root = sl_json_root(document);
    bool good = sl_node_object(&root, &faults) == SL_OK &&
                sl_node_text(&root, "sha", &sha, NULL, &faults) == SL_OK &&
                sl_text_equal(sha, commit);
    if (good) {
        read.gated = sl_hub_gated_of(&root);
        read_siblings(&root, &read);
        good = read_counts(&root, &read);
    }
    sl_json_free(document);
    if (good)
        *out = read;
    return good;
}

static void
write_sibling(sl_writer *writer, bool there, const char *name)
{
    if (!there)
        return;
    sl_write_object(writer);
    sl_put_text(writer, "rfilename", name);
    sl_write_object_end(writer);
}

static void
write_counts(sl_writer *writer, const sl_hub_info *info)
{
    sl_write_key(writer, "safetensors");
    sl_write_object(writer);
    sl_write_key(writer, "parameters");
    sl_write_object(writer);
    for (uint32_t i = 0; i < info->dtype_count; i++)
        sl_put_uint(writer, info->dtypes[i].name, info->dtypes[i].elements);
    sl_write_object_end(writer);
    sl_put_uint(writer, "total", info->total);
    sl_write_object_end(writer);
    if (info->source == SL_HUB_COUNTED_HEADERS)
        sl_put_text(writer, "counted_by", by_headers);
}

void
sl_hub_info_write(const sl_hub_info *info, const char *commit, sl_buffer *out)
{
    sl_writer writer;
    sl_writer_init(&writer, out);
    sl_write_object(&writer);
    sl_put_text(&writer, "sha", commit);
    if (info->gated != NULL &&
        (sl_text_equal(info->gated, "true") || sl_text_equal(info->gated, "false")))
        sl_put_bool(&writer, "gated", sl_text_equal(info->gated, "true"));
    else
        sl_put_text(&writer, "gated", info->gated);
    sl_write_key(&writer, "siblings");
    sl_write_array(&writer);
    write_sibling(&writer, info->has_quantization_file, quantization_file);
    write_sibling(&writer, info->has_safetensors, single_file);
    write_sibling(&writer, info->has_index, index_file);
    sl_write_array_end(&writer);
    if (info->source != SL_HUB_NOT_COUNTED)
        write_counts(&writer, info);
    sl_write_object_end(&writer);
}
