#include "hf/rename.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { NAME_SIZE = sizeof((sl_tensor *)NULL)->name };
_Static_assert(NAME_SIZE == sizeof((sl_layer_kind *)NULL)->prefix, "one size for both");

static void
replace_start(char *name, const char *from, const char *to)
{
    const size_t length = strlen(from);
    char rest[NAME_SIZE];

    if (strncmp(name, from, length) != 0)
        return;
    const bool fits = sl_text_copy(rest, sizeof rest, name + length) &&
                      sl_text_format(name, NAME_SIZE, "%s%s", to, rest);
    assert(fits); /* all three are of our tables */
    (void)fits;
}

void
sl_hf_rename(sl_model *model, const char *from, const char *to)
{
    assert(model != NULL && from != NULL && to != NULL);

    for (uint32_t k = 0; k < model->kind_count; k++) {
        sl_layer_kind *kind = &model->kinds[k];
        replace_start(kind->prefix, from, to);
        /* Without a prefix the tensors' names are whole. */
        for (uint32_t i = 0; kind->prefix[0] == '\0' && i < kind->tensor_count; i++)
            replace_start(kind->tensors[i].name, from, to);
    }
}
