#include "hf/table.h"

#include <assert.h>

#include "base/text.h"

/* Other names that circulate for a type of the rows. */
static const struct {
    const char *model_type;
    const char *same_as;
} aliases[] = {
    {"kimi_k2", "deepseek_v3"},        {"stablelm_epoch", "stablelm"}, {"qwen3_vl_text", "qwen3"},
    {"paddleocr_vl_text", "ernie4_5"}, {"qwen2_vl_text", "qwen2"},     {"qwen2_5_vl_text", "qwen2"},
};

enum { ALIAS_COUNT = sizeof aliases / sizeof aliases[0], GROUP_COUNT = 3 };

static sl_hf_rows
group(size_t at)
{
    static sl_hf_rows (*const groups[GROUP_COUNT])(void) = {
        sl_hf_llama_rows,
        sl_hf_gpt_rows,
        sl_hf_expert_rows,
    };

    assert(at < GROUP_COUNT);
    return groups[at]();
}

const sl_hf_type *
sl_hf_type_find(const char *model_type)
{
    assert(model_type != NULL);

    const char *wanted = model_type;
    for (size_t i = 0; i < ALIAS_COUNT; i++) {
        if (sl_text_equal(aliases[i].model_type, model_type))
            wanted = aliases[i].same_as;
    }
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        const sl_hf_rows rows = group(i);
        for (size_t k = 0; k < rows.count; k++) {
            if (sl_text_equal(rows.rows[k].model_type, wanted))
                return &rows.rows[k];
        }
    }
    return NULL;
}

const char *
sl_hf_type_name(size_t at)
{
    size_t left = at;

    for (size_t i = 0; i < GROUP_COUNT; i++) {
        const sl_hf_rows rows = group(i);
        if (left < rows.count)
            return rows.rows[left].model_type;
        left -= rows.count;
    }
    return left < ALIAS_COUNT ? aliases[left].model_type : NULL;
}
