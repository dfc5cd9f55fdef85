#include "base/text.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST_LENGTH_MAX = 64 };

/* Drops the start of a UTF-8 character whose end was cut off. */
static void
trim_cut_character(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0u)
        return;
    if (sl_text_character(text + start - 1, length - start + 1) == 0)
        text[start - 1] = '\0';
}

bool
sl_text_copy(char *to, size_t size, const char *from)
{
    assert(to != NULL && from != NULL && size > 0);

    const size_t length = strnlen(from, size);
    if (length < size) {
        memmove(to, from, length + 1);
        return true;
    }
    memmove(to, from, size - 1);
    to[size - 1] = '\0';
    trim_cut_character(to, size - 1);
    return false;
}

bool
sl_text_vformat(char *to, size_t size, const char *format, va_list arguments)
{
    assert(to != NULL && format != NULL && size > 0);

    to[0] = '\0';
    const int length = vsnprintf(to, size, format, arguments);
    if (length >= 0 && (size_t)length < size)
        return true;
    trim_cut_character(to, strlen(to));
    return false;
}

bool
sl_text_format(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool whole = sl_text_vformat(to, size, format, arguments);
    va_end(arguments);
    return whole;
}

bool
sl_text_equal(const char *a, const char *b)
{
    assert(a != NULL && b != NULL);
    return strcmp(a, b) == 0;
}

bool
sl_text_is(const char *bytes, size_t size, const char *word)
{
    assert((bytes != NULL || size == 0) && word != NULL);

    for (size_t i = 0; i < size; i++)
        if (word[i] == '\0' || word[i] != bytes[i])
            return false;
    return word[size] == '\0';
}

static char
lower(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return (char)(letter - 'A' + 'a');
    return letter;
}

bool
sl_text_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length >= end_length && sl_text_equal(text + length - end_length, end);
}

bool
sl_text_equal_ignoring_case(const char *a, const char *b)
{
    assert(a != NULL && b != NULL);
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

bool
sl_text_holds_ignoring_case(const char *text, const char *part)
{
    assert(text != NULL && part != NULL);
    for (;; text++) {
        size_t same = 0;
        while (part[same] != '\0' && lower(text[same]) == lower(part[same]))
            same++;
        if (part[same] == '\0')
            return true;
        if (*text == '\0')
            return false;
    }
}

static bool
is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

bool
sl_text_to_uint(const char *text, uint64_t *out)
{
    assert(text != NULL && out != NULL);

    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (!is_digit(*text))
            return false;
        const uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* Advances over digits and says whether there was one. */
static bool
skip_digits(const char **at)
{
    const char *start = *at;
    while (is_digit(**at))
        (*at)++;
    return *at != start;
}

bool
sl_text_to_double(const char *text, double *out)
{
    assert(text != NULL && out != NULL);

    /* strtod alone would take blanks, hexadecimal, "inf" and "nan". */
    const char *at = text;
    if (*at == '-' || *at == '+')
        at++;
    bool digits = skip_digits(&at);
    if (*at == '.') {
        at++;
        digits = skip_digits(&at) || digits;
    }
    if (!digits)
        return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '-' || *at == '+')
            at++;
        if (!skip_digits(&at))
            return false;
    }
    if (*at != '\0')
        return false;

    const double value = strtod(text, NULL);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A word in lower case. */
typedef struct letters {
    char text[NEAREST_LENGTH_MAX];
    size_t length;
} letters;

static letters
letters_of(const char *word, size_t length)
{
    assert(length <= NEAREST_LENGTH_MAX);

    letters out = {.length = length};
    for (size_t i = 0; i < length; i++)
        out.text[i] = lower(word[i]);
    return out;
}

/* How often each letter stands in a word. */
typedef struct letter_counts {
    uint8_t of[UINT8_MAX + 1];
} letter_counts;

static letter_counts
count_letters(const letters *word)
{
    letter_counts counts = {{0}};
    for (size_t i = 0; i < word->length; i++)
        counts.of[(unsigned char)word->text[i]]++;
    return counts;
}

/* Letters, whatever their order, that one word has and the other lacks: each takes an edit, so
 * that words far apart are told without comparing them. */
static size_t
least_distance(letter_counts a, size_t a_length, const letters *b)
{
    size_t common = 0;
    for (size_t i = 0; i < b->length; i++) {
        uint8_t *const left = &a.of[(unsigned char)b->text[i]];
        const bool shared = *left > 0;
        *left = (uint8_t)(*left - shared);
        common += shared;
    }
    return (a_length > b->length ? a_length : b->length) - common;
}

/* Optimal string alignment over three rolling rows, or more than `most`: given up where the last
 * two rows, on which every later one builds, lead beyond it. */
static size_t
edit_distance(const letters *a, const letters *b, size_t most)
{
    size_t rows[3][NEAREST_LENGTH_MAX + 1] = {{0}};
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t above_least = 0;

    for (size_t j = 0; j <= b->length; j++)
        above[j] = j;
    for (size_t i = 1; i <= a->length; i++) {
        const char x = a->text[i - 1];
        size_t row_least = i;
        row[0] = i;
        for (size_t j = 1; j <= b->length; j++) {
            const char y = b->text[j - 1];
            size_t best = least(above[j] + 1, row[j - 1] + 1);
            best = least(best, above[j - 1] + (x == y ? 0 : 1));
            if (i > 1 && j > 1 && x == b->text[j - 2] && a->text[i - 2] == y)
                best = least(best, before[j - 2] + 1);
            row[j] = best;
            row_least = least(row_least, best);
        }
        if (row_least > most && above_least >= most)
            return most + 1;
        size_t *const reused = before;
        before = above;
        above = row;
        above_least = row_least;
        row = reused;
    }
    return above[b->length];
}

const char *
sl_text_nearest(const char *word, const char *const *list, size_t count)
{
    assert(word != NULL && (list != NULL || count == 0));

    const size_t length = strnlen(word, NEAREST_LENGTH_MAX + 1);
    if (length == 0 || length > NEAREST_LENGTH_MAX)
        return NULL;
    const letters wanted = letters_of(word, length);
    const letter_counts counts = count_letters(&wanted);

    const char *nearest = NULL;
    size_t allowed = least(length / 3 > 2 ? length / 3 : 2, length - 1);
    for (size_t i = 0; i < count; i++) {
        const size_t entry_length = strnlen(list[i], NEAREST_LENGTH_MAX + 1);
        if (entry_length > NEAREST_LENGTH_MAX || entry_length > length + allowed ||
            entry_length + allowed < length)
            continue;
        const letters entry = letters_of(list[i], entry_length);
        if (least_distance(counts, length, &entry) > allowed)
            continue;
        const size_t distance = edit_distance(&wanted, &entry, allowed);
        if (distance > allowed)
            continue;
        nearest = list[i];
        if (distance == 0)
            break;
        allowed = distance - 1;
    }
    return nearest;
}

int
sl_text_index(const char *word, const char *const *list, size_t count)
{
    assert(word != NULL && (list != NULL || count == 0) && count <= INT_MAX);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, list[i]) == 0)
            return (int)i;
    }
    return -1;
}

size_t
sl_text_character(const char *bytes, size_t length)
{
    assert(bytes != NULL && length >= 1);

    const unsigned char *const at = (const unsigned char *)bytes;
    if (at[0] < 0x80u)
        return 1;
    const size_t size = at[0] >= 0xF0u ? 4 : at[0] >= 0xE0u ? 3 : 2;
    if (at[0] < 0xC2u || at[0] > 0xF4u || size > length)
        return 0;
    /* The second byte also rules out overlong forms, surrogates and what lies past U+10FFFF. */
    const unsigned char second_min = at[0] == 0xE0u ? 0xA0u : at[0] == 0xF0u ? 0x90u : 0x80u;
    const unsigned char second_max = at[0] == 0xEDu ? 0x9Fu : at[0] == 0xF4u ? 0x8Fu : 0xBFu;
    if (at[1] < second_min || at[1] > second_max)
        return 0;
    for (size_t i = 2; i < size; i++) {
        if ((at[i] & 0xC0u) != 0x80u)
            return 0;
    }
    return size;
}

size_t
sl_text_put_character(uint32_t code, char out[SL_TEXT_CHARACTER_MAX])
{
    assert(out != NULL);

    const bool half = code >= 0xD800 && code < 0xE000;
    const uint32_t c = half || code > 0x10FFFF ? 0xFFFD : code;
    const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint32_t first[] = {0, 0x00, 0xC0, 0xE0, 0xF0};

    for (size_t i = size - 1; i > 0; i--)
        out[i] = (char)(0x80 | (c >> (6 * (size - 1 - i)) & 0x3F));
    out[0] = (char)(first[size] | c >> (6 * (size - 1)));
    return size;
}

const char *
sl_text_closing_quote(const char *from, const char *end)
{
    assert(from != NULL && end >= from);

    for (const char *at = from; at < end; at++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (at == NULL)
            return NULL;
        /* Backslashes escape one another, and an odd one the quote. */
        const char *run = at;
        while (run > from && run[-1] == '\\')
            run--;
        if ((at - run) % 2 == 0)
            return at;
    }
    return NULL;
}

size_t
sl_text_json_escape(const char *bytes, size_t length, char out[SL_TEXT_ESCAPED_MAX], size_t *taken)
{
    assert(bytes != NULL && length >= 1 && out != NULL && taken != NULL);

    static const char digits[] = "0123456789abcdef";
    static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    static const char control[] = {'\\', 'u', '0', '0'};
    static const char replacement[] = {'\xEF', '\xBF', '\xBD'};

    const unsigned char first = (unsigned char)bytes[0];
    *taken = 1;
    const char *const found = first != 0 ? strchr(special, bytes[0]) : NULL;
    if (found != NULL) {
        out[0] = '\\';
        out[1] = letter[found - special];
        return 2;
    }
    if (first < 0x20u || first == 0x7Fu) {
        memcpy(out, control, sizeof control);
        out[4] = digits[first >> 4];
        out[5] = digits[first & 0xFu];
        return 6;
    }
    const size_t size = sl_text_character(bytes, length);
    if (size == 0) {
        memcpy(out, replacement, sizeof replacement);
        return sizeof replacement;
    }
    memcpy(out, bytes, size);
    *taken = size;
    return size;
}
