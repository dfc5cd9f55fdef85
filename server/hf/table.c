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

enum { ALIAS_COUNT = sizeof aliases / sizeof aliases[0], TABLE_COUNT = 3 };

static const sl_hf_rows *const tables[TABLE_COUNT] = {
    &sl_hf_llama_rows,
    &sl_hf_gpt_rows,
    &sl_hf_expert_rows,
};

const sl_hf_type *
sl_hf_type_find(const char *model_type)
{
    assert(model_type != NULL);

    const char *wanted = model_type;
    for (size_t i = 0; i < ALIAS_COUNT; i++) {
        if (sl_text_equal(aliases[i].model_type, model_type))
            wanted = aliases[i].same_as;
    }
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        for (size_t k = 0; k < tables[i]->count; k++) {
            if (sl_text_equal(tables[i]->rows[k].model_type, wanted))
                return &tables[i]->rows[k];
        }
    }
    return NULL;
}

const char *
sl_hf_type_name(size_t at)
{
    size_t left = at;

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (left < tables[i]->count)
            return tables[i]->rows[left].model_type;
        left -= tables[i]->count;
    }
    return left < ALIAS_COUNT ? aliases[left].model_type : NULL;
}
