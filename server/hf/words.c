#include "hf/words.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

bool
sl_hf_word_find(const char *words, const char *text, bool ignore_case, uint64_t *index)
{
    char word[80];

    assert(words != NULL && text != NULL && index != NULL);
    *index = 0;
    for (const char *at = words; *at != '\0'; (*index)++) {
        const size_t length = strcspn(at, " ");
        const bool fits = sl_text_format(word, sizeof word, "%.*s", (int)length, at);
        assert(fits); /* a word of our tables */
        if (fits &&
            (ignore_case ? sl_text_equal_ignoring_case(word, text) : sl_text_equal(word, text)))
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

void
sl_hf_name_append(char *list, size_t size, const char *name)
{
    const size_t length = strlen(list);

    if (!sl_text_format(list + length, size - length, "%s%s", length == 0 ? "" : ", ", name))
        list[length] = '\0';
}
