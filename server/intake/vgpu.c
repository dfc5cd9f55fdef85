#include "intake/vgpu.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { GIGABYTES_DIGITS_MAX = 3, SLICES_MAX = 7 };

/* Boards by the codes in the names of their types. slices: of MIG that are all of the card, where
 * its compute and links lose nothing by it; 0: it loses some. */
static const struct {
    const char *code, *card;
    uint32_t gigabytes, slices;
} boards[] = {
    {"A100DX", "NVIDIA A100-SXM4-80GB", 80, 0},
    {"A100D", "NVIDIA A100 80GB PCIe", 80, 0},
    {"A100X", "NVIDIA A100-SXM4-40GB", 40, 0},
    {"A100", "NVIDIA A100-PCIE-40GB", 40, 0},
    {"A800DX", "NVIDIA A800-SXM4-80GB", 80, 0},
    {"A800D", "NVIDIA A800 80GB PCIe", 80, 0},
    {"A800", "NVIDIA A800 40GB Active", 40, 0},
    {"A30", "NVIDIA A30", 24, 0},
    {"A40", "NVIDIA A40", 48, 0},
    {"A16", "NVIDIA A16", 16, 0},
    {"A10", "NVIDIA A10", 24, 0},
    {"A2", "NVIDIA A2", 16, 0},
    {"RTXA6000", "NVIDIA RTX A6000", 48, 0},
    {"RTXA5500", "NVIDIA RTX A5500", 24, 0},
    {"RTXA5000", "NVIDIA RTX A5000", 24, 0},
    {"H100XM", "NVIDIA H100 SXM5 80GB", 80, 0},
    {"H100XL", "NVIDIA H100 SXM5 94GB", 94, 0},
    {"H100XS", "NVIDIA H100 SXM5 64GB", 64, 0},
    {"H100L", "NVIDIA H100 NVL", 94, 0},
    {"H100", "NVIDIA H100 PCIe", 80, 0},
    {"H200X", "NVIDIA H200 SXM 141GB", 141, 0},
    {"H200", "NVIDIA H200 NVL", 141, 0},
    {"H800XM", "NVIDIA H800 SXM5 80GB", 80, 0},
    {"H800L", "NVIDIA H800 NVL", 94, 0},
    {"H800", "NVIDIA H800 PCIe", 80, 0},
    {"H20X", "NVIDIA H20 141GB", 141, 0},
    {"H20", "NVIDIA H20 96GB", 96, 0},
    {"L40S", "NVIDIA L40S", 48, 0},
    {"L40", "NVIDIA L40", 48, 0},
    {"L20", "NVIDIA L20", 48, 0},
    {"L4", "NVIDIA L4", 24, 0},
    {"L2", "NVIDIA L2", 24, 0},
    {"RTX6000-Ada", "NVIDIA RTX 6000 Ada Generation", 48, 0},
    {"RTX5880-Ada", "NVIDIA RTX 5880 Ada Generation", 48, 0},
    {"RTX5000-Ada", "NVIDIA RTX 5000 Ada Generation", 32, 0},
    {"RTX Pro 6000 Blackwell DC", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 96, 4},
    {"T4", "Tesla T4", 16, 0},
    {"RTX8000P", "Quadro RTX 8000", 48, 0},
    {"RTX8000", "Quadro RTX 8000", 48, 0},
    {"RTX6000P", "Quadro RTX 6000", 24, 0},
    {"RTX6000", "Quadro RTX 6000", 24, 0},
    {"V100DX", "Tesla V100-SXM2-32GB", 32, 0},
    {"V100D", "Tesla V100-PCIE-32GB", 32, 0},
    {"V100X", "Tesla V100-SXM2-16GB", 16, 0},
    {"V100S", "Tesla V100S-PCIE-32GB", 32, 0},
    {"V100L", "Tesla V100-FHHL-16GB", 16, 0},
    {"V100", "Tesla V100-PCIE-16GB", 16, 0},
    {"P100X", "Tesla P100-SXM2-16GB", 16, 0},
    {"P100C", "Tesla P100-PCIE-12GB", 12, 0},
    {"P100", "Tesla P100-PCIE-16GB", 16, 0},
    {"P40", "Tesla P40", 24, 0},
    {"P6", "Tesla P6", 16, 0},
    {"P4", "Tesla P4", 8, 0},
    {"M60", "Tesla M60", 8, 0},
    {"M10", "Tesla M10", 8, 0},
    {"M6", "Tesla M6", 8, 0},
};

bool
sl_vgpu_is_board(const char *word)
{
    assert(word != NULL);

    for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++)
        if (sl_text_equal_ignoring_case(word, boards[i].code))
            return true;
    return false;
}

static bool
is_separator(char c)
{
    return c == ' ' || c == '-' || c == '_';
}

static char
upper(char c)
{
    if (c >= 'a' && c <= 'z')
        return (char)(c - 'a' + 'A');
    return c;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of `text` that are `word`, capitals aside and separators like one another; 0 where it is
 * another. Schedulers and labels write blanks as dashes or underscores. */
static size_t
match(const char *text, const char *word)
{
    size_t length = 0;

    for (; word[length] != '\0'; length++)
        if (upper(text[length]) != upper(word[length]) &&
            !(is_separator(text[length]) && is_separator(word[length])))
            return 0;
    return length;
}

/* "4C", "10CME", "2B4": what ends a type. False where that is no end of one. */
static bool
read_share(const char *text, uint32_t *gigabytes, char *series)
{
    size_t digits = 0;

    *gigabytes = 0;
    for (; is_digit(text[digits]) && digits <= GIGABYTES_DIGITS_MAX; digits++)
        *gigabytes = 10 * *gigabytes + (uint32_t)(text[digits] - '0');
    *series = upper(text[digits]);
    if (digits == 0 || digits > GIGABYTES_DIGITS_MAX || *series == '\0' ||
        strchr("ABCQ", *series) == NULL)
        return false;
    const char *const variant = text + digits + 1;
    return *variant == '\0' || (*series == 'B' && sl_text_equal(variant, "4")) ||
           sl_text_equal_ignoring_case(variant, "ME");
}

/* Behind a board's code: "-4C", "-3-20C". */
static bool
read_type(const char *text, sl_vgpu *out, char *series)
{
    if (!is_separator(*text))
        return false;
    text++;
    out->slices = 0;
    if (*text > '0' && *text <= '0' + SLICES_MAX && is_separator(text[1])) {
        out->slices = (uint32_t)(*text - '0');
        text += 2;
    }
    return read_share(text, &out->gigabytes, series);
}

/* A board that is not known: its code ends where a type begins. */
static bool
read_unknown(const char *text, sl_vgpu *out, char *series)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (at == text || !read_type(at, out, series))
            continue;
        const size_t length = (size_t)(at - text);
        if (length >= sizeof out->card)
            return false;
        memcpy(out->card, text, length);
        out->card[length] = '\0';
        return strpbrk(out->card, "0123456789") != NULL;
    }
    return false;
}

bool
sl_vgpu_read(const char *name, sl_vgpu *out)
{
    static const char *const makers[] = {"NVIDIA ", "GRID ", "Tesla ", "Quadro "};
    assert(name != NULL && out != NULL);

    const size_t size = strlen(name);
    char series = '\0';
    bool made = false;

    /* Thousands of nodes have names that are none, and nearly all of them end otherwise. */
    if (size == 0 || strchr("ABCQ4E", upper(name[size - 1])) == NULL)
        return false;
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        const size_t length = match(name, makers[i]);
        made = made || (length > 0 && i < 2);
        name += length;
    }
    if (!sl_text_format(out->type, sizeof out->type, "vGPU %s", name))
        return false;
    for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++) {
        const size_t length = match(name, boards[i].code);
        if (length == 0 || !read_type(name + length, out, &series))
            continue;
        (void)sl_text_copy(out->card, sizeof out->card, boards[i].card);
        out->whole = (out->slices == 0 || out->slices == boards[i].slices) &&
                     (series == 'C' || series == 'Q') && out->gigabytes >= boards[i].gigabytes;
        return true;
    }
    out->whole = false;
    return made && read_unknown(name, out, &series);
}

/* What is said of a device and is not true of the card that it is a share of. */
static void
forget_share(sl_facts *facts)
{
    static const sl_field of_share[] = {SL_FIELD_ACCELERATORS,   SL_FIELD_MEMORY_BYTES,
                                        SL_FIELD_RESERVED_BYTES, SL_FIELD_NOMINAL_MEMORY_BYTES,
                                        SL_FIELD_POWER_LIMIT_W,  SL_FIELD_SLICED_ACCELERATORS};

    for (size_t i = 0; i < sizeof of_share / sizeof of_share[0]; i++)
        facts->field[of_share[i]] = (sl_fact){.said = false};
}

void
sl_vgpu_settle(const sl_vgpu *vgpu, sl_facts *facts, sl_findings *findings)
{
    assert(vgpu != NULL && facts != NULL && findings != NULL);

    sl_fact *const named = &facts->field[SL_FIELD_ACCELERATOR];
    const sl_place place = named->place;

    assert(named->said);
    named->text = vgpu->card;
    if (vgpu->whole) {
        sl_findings_warn(findings, "vgpu_whole", place.line, place.path,
                         "%s has all memory of one %s: it counts as the card, though a hypervisor "
                         "stands between",
                         vgpu->type, vgpu->card);
        return;
    }
    forget_share(facts);
    facts->field[SL_FIELD_SLICE] = (sl_fact){.said = true, .text = vgpu->type, .place = place};
    sl_findings_warn(
        findings, "vgpu_shares", place.line, place.path,
        "%s is a share of one %s: number and memory are those of shares, how many cards "
        "are behind them is not printed",
        vgpu->type, vgpu->card);
}
