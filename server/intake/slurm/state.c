#include "intake/slurm/slurm.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { WORD_SIZE = 32 };

/* What a word of a state says of a node. Power is apart: a node that is switched off to save power
 * does not answer either, and starts when it is asked for. */
typedef enum meaning { NOTHING, FUTURE, USABLE, RESERVED, POWER, SILENT, DRAINED, DOWN } meaning;

static const struct {
    const char *word;
    meaning meaning;
} words[] = {
    {"idle", USABLE},
    {"alloc", USABLE},
    {"allocated", USABLE},
    {"mix", USABLE},
    {"mixed", USABLE},
    {"comp", USABLE},
    {"completing", USABLE},
    {"plnd", USABLE},
    {"planned", USABLE},
    {"resv", RESERVED},
    {"reserved", RESERVED},
    {"block", USABLE},
    {"blocked", USABLE},
    {"npc", USABLE},
    {"perfctrs", USABLE},
    {"reboot", USABLE}, /* asked for, and waits until the node is free */
    {"reboot_requested", USABLE},
    {"reboot_canceled", USABLE},
    {"cloud", NOTHING},
    {"dynamic_norm", NOTHING},
    {"dynamic_future", NOTHING},
    {"external", NOTHING},
    {"parameters", NOTHING},
    {"cert", NOTHING},
    {"undrain", NOTHING},
    {"resume", NOTHING},
    {"unk", NOTHING}, /* the controller has just begun, or the node was never seen */
    {"unknown", NOTHING},
    {"futr", FUTURE},
    {"future", FUTURE},
    {"n/a", NOTHING},
    {"power", POWER}, /* saving it, before 21.08 */
    {"power_down", POWER},
    {"power_drain", POWER},
    {"pow_dn", POWER},
    {"powered_down", POWER},
    {"powering_down", POWER},
    {"power_saving", POWER},
    {"power_up", POWER},
    {"pow_up", POWER},
    {"powering_up", POWER},
    {"powered_up", POWER},
    {"not_responding", SILENT},
    {"no_respond", SILENT},
    {"drain", DRAINED},
    {"drained", DRAINED},
    {"draining", DRAINED},
    {"drng", DRAINED},
    {"failg", DRAINED}, /* at work still, and about to fail */
    {"failing", DRAINED},
    {"maint", DRAINED},
    {"maintenance", DRAINED},
    {"inval", DRAINED}, /* it has less than its configuration says */
    {"invalid", DRAINED},
    {"invalid_reg", DRAINED},
    {"boot", DRAINED},
    {"rboot", DRAINED},
    {"reboot_issued", DRAINED},
    {"down", DOWN},
    {"error", DOWN},
    {"fail", DOWN},
};

/* sinfo's characters behind a state, which stand for flags. */
static meaning
suffix_meaning(char c)
{
    switch (c) {
    case '*':
        return SILENT;
    case '~': /* off */
    case '#': /* starting */
    case '!': /* to be switched off */
    case '%': /* being switched off */
        return POWER;
    case '$': /* maintenance */
    case '^': /* starting again */
        return DRAINED;
    default: /* '@' to be started again, '-' planned for a job */
        return NOTHING;
    }
}

/* A word in lower case, without its suffixes, whose meanings are gathered in *seen. */
static void
read_word(const char *from, size_t length, bool seen[DOWN + 1], sl_slurm_state *out)
{
    char word[WORD_SIZE];

    while (length > 0 && strchr("*~#!%$@^-", from[length - 1]) != NULL)
        seen[suffix_meaning(from[--length])] = true;
    if (length == 0)
        return;
    const size_t kept = length < WORD_SIZE - 1 ? length : WORD_SIZE - 1;
    memcpy(word, from, kept);
    word[kept] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (sl_text_equal_ignoring_case(words[i].word, word)) {
            seen[words[i].meaning] = true;
            return;
        }
    }
    if (out->unknown[0] == '\0')
        (void)sl_text_copy(out->unknown, sizeof out->unknown, word);
}

void
sl_slurm_state_read(const char *text, sl_slurm_state *out)
{
    assert(text != NULL && out != NULL);

    bool seen[DOWN + 1] = {false};

    *out = (sl_slurm_state){.state = SL_HOST_UNSAID};
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "+,| ");
        read_word(at, length, seen, out);
        at += length + (at[length] != '\0');
    }
    out->reserved = seen[RESERVED];
    out->future = seen[FUTURE];
    if (seen[DOWN] || (seen[SILENT] && !seen[POWER]))
        out->state = SL_HOST_DOWN;
    else if (seen[DRAINED])
        out->state = SL_HOST_DRAINED;
    else if (seen[USABLE] || seen[RESERVED] || seen[POWER])
        out->state = SL_HOST_USABLE;
}
