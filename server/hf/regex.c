/* An expression becomes a program of a few instructions a letter, and all its ways through a text
 * are followed at once (Thompson 1968): no way is tried twice, so no expression is slow. */
#include "hf/regex.h"

#include <assert.h>
#include <string.h>

enum {
    CODE_MAX = 2 * SL_HF_REGEX_MAX + 2, /* a letter takes one instruction, a sign two at most */
    SETS_MAX = 64,
    DEPTH_MAX = 32,
    LITERAL_MAX = 32,   /* with its end */
    LITERAL_STEPS = 16, /* looking for it takes as long as so many */
    SET_BYTES = 32,
    NONE = -1
};

typedef enum opcode {
    OP_BYTE,  /* this letter */
    OP_ANY,   /* any letter */
    OP_SET,   /* one of a set */
    OP_SPLIT, /* go on here and `to` instructions further */
    OP_JUMP,  /* go on `to` instructions further */
    OP_START, /* only at the start of the text */
    OP_END,   /* only at its end */
    OP_FOUND
} opcode;

typedef struct instruction {
    uint8_t op;
    uint8_t value; /* the letter, or which set */
    int16_t to;
} instruction;

struct sl_hf_regex {
    uint32_t size;
    char literal[LITERAL_MAX]; /* letters in a row that every match has; "" = none are known */
    instruction *code;
    uint8_t (*sets)[SET_BYTES];
};

/* A group that is open. Jumps out of its alternatives lead to its end, which is not known yet: each
 * holds where the one before it stands. */
typedef struct group {
    int32_t start;
    int32_t branch; /* its last alternative */
    int32_t exits;  /* the last jump, or NONE */
} group;

typedef struct compiler {
    const char *at;
    int32_t size;
    int32_t atom;  /* where that starts which a repeat would repeat, or NONE */
    bool repeated; /* a repeat came last, so that a ? makes it lazy */
    bool failed;
    uint32_t set_count;
    uint32_t depth;
    uint32_t row; /* letters in a row that lie in no group and came last */
    char letters[LITERAL_MAX];
    char literal[LITERAL_MAX]; /* the longest row so far */
    bool alternatives;         /* outside of groups: no row is in every match */
    group groups[DEPTH_MAX];
    instruction code[CODE_MAX];
    uint8_t sets[SETS_MAX][SET_BYTES];
} compiler;

static void
emit(compiler *to, opcode op, uint8_t value, int32_t offset)
{
    assert(to->size < CODE_MAX);
    to->code[to->size++] = (instruction){(uint8_t)op, value, (int16_t)offset};
}

/* Puts a split before what starts at `at`; what follows moves as a whole, so its jumps still
 * fit. */
static void
insert_split(compiler *to, int32_t at, int32_t offset)
{
    assert(to->size < CODE_MAX);
    memmove(&to->code[at + 1], &to->code[at], (size_t)(to->size - at) * sizeof to->code[0]);
    to->code[at] = (instruction){OP_SPLIT, 0, (int16_t)offset};
    to->size++;
}

static void
emit_atom(compiler *to, opcode op, uint8_t value)
{
    to->atom = to->size;
    emit(to, op, value, 0);
}

static void
set_range(uint8_t set[SET_BYTES], uint8_t first, uint8_t last)
{
    for (uint32_t byte = first; byte <= last; byte++)
        set[byte / 8] |= (uint8_t)(1U << byte % 8);
}

/* \d or \w; false for anything else. */
static bool
set_class(uint8_t set[SET_BYTES], char letter)
{
    if (letter != 'd' && letter != 'w')
        return false;
    set_range(set, '0', '9');
    if (letter == 'd')
        return true;
    set_range(set, 'a', 'z');
    set_range(set, 'A', 'Z');
    set_range(set, '_', '_');
    return true;
}

static bool
is_sign(char byte)
{
    return byte != '\0' && strchr(".-_/*+?|()^$[]{}\\:,", byte) != NULL;
}

static uint8_t *
new_set(compiler *to)
{
    if (to->set_count == SETS_MAX) {
        to->failed = true;
        return NULL;
    }
    memset(to->sets[to->set_count], 0, SET_BYTES);
    return to->sets[to->set_count++];
}

/* Stands behind the backslash. */
static void
escape(compiler *to)
{
    const char byte = *to->at;

    if (is_sign(byte)) {
        emit_atom(to, OP_BYTE, (uint8_t)byte);
        to->at++;
        return;
    }
    uint8_t *set = new_set(to);
    if (set == NULL || !set_class(set, byte)) {
        to->failed = true;
        return;
    }
    to->at++;
    emit_atom(to, OP_SET, (uint8_t)(to->set_count - 1));
}

/* One letter between brackets, which a backslash may precede; '\0' when there is none. */
static char
read_member(compiler *to)
{
    char byte = *to->at;

    if (byte == '\\') {
        byte = *++to->at;
        if (!is_sign(byte))
            return '\0';
    } else if (byte == '[' || byte == ']' || (unsigned char)byte >= 0x80) {
        return '\0';
    }
    to->at += byte != '\0';
    return byte;
}

/* A letter, a range or a class between brackets. */
static bool
add_members(compiler *to, uint8_t set[SET_BYTES])
{
    if (to->at[0] == '\\' && set_class(set, to->at[1])) {
        to->at += 2;
        return to->at[0] != '-' || to->at[1] == ']';
    }
    const char first = read_member(to);
    char last = first;
    if (to->at[0] == '-' && to->at[1] != ']') {
        to->at++;
        last = read_member(to);
    }
    if (first == '\0' || last < first)
        return false;
    set_range(set, (uint8_t)first, (uint8_t)last);
    return true;
}

/* Stands behind the opening bracket; leaves behind the closing one. */
static void
brackets(compiler *to)
{
    const bool others = *to->at == '^';
    uint8_t *set = new_set(to);

    to->at += others;
    to->failed = to->failed || *to->at == ']';
    while (!to->failed && *to->at != ']')
        to->failed = !add_members(to, set);
    if (to->failed)
        return;
    to->at++;
    for (uint32_t i = 0; others && i < SET_BYTES; i++)
        set[i] = (uint8_t)~set[i];
    emit_atom(to, OP_SET, (uint8_t)(to->set_count - 1));
}

static void
open_group(compiler *to)
{
    if (to->at[0] == '?' && to->at[1] == ':')
        to->at += 2;
    else if (to->at[0] == '?')
        to->failed = true;
    if (to->depth == DEPTH_MAX)
        to->failed = true;
    else
        to->groups[to->depth++] = (group){to->size, to->size, NONE};
    to->atom = NONE;
}

/* Every alternative but the last starts with a way to the next one and ends with one out. */
static void
next_alternative(compiler *to)
{
    group *open = &to->groups[to->depth - 1];

    to->alternatives = to->alternatives || to->depth == 1;
    insert_split(to, open->branch, to->size - open->branch + 2);
    emit(to, OP_JUMP, 0, open->exits);
    open->exits = to->size - 1;
    open->branch = to->size;
    to->atom = NONE;
}

static void
close_group(compiler *to)
{
    const group *open = &to->groups[--to->depth];

    for (int32_t jump = open->exits; jump != NONE;) {
        const int32_t before = to->code[jump].to;
        to->code[jump].to = (int16_t)(to->size - jump);
        jump = before;
    }
    to->atom = open->start;
}

static void
repeat(compiler *to, char byte)
{
    const int32_t atom = to->atom;

    /* Whether a text matches does not depend on which of its matches is taken first. */
    if (to->repeated && byte == '?') {
        to->repeated = false;
        return;
    }
    if (atom == NONE) {
        to->failed = true;
        return;
    }
    const int32_t length = to->size - atom;
    if (byte == '+') {
        emit(to, OP_SPLIT, 0, -length);
    } else {
        insert_split(to, atom, length + (byte == '*' ? 2 : 1));
        if (byte == '*')
            emit(to, OP_JUMP, 0, -(length + 1));
    }
    to->atom = NONE;
    to->repeated = true;
}

static void
end_row(compiler *to)
{
    if (to->row > strlen(to->literal)) {
        memcpy(to->literal, to->letters, to->row);
        to->literal[to->row] = '\0';
    }
    to->row = 0;
}

/* After what stands at instruction `before` was compiled. */
static void
note_letter(compiler *to, int32_t before)
{
    if (to->depth != 1 || to->size != before + 1 || to->code[before].op != OP_BYTE) {
        end_row(to);
        return;
    }
    if (to->row + 1 == LITERAL_MAX)
        end_row(to);
    to->letters[to->row++] = (char)to->code[before].value;
}

/* A letter that may be repeated or left out ends the row before it. */
static void
note_repeat(compiler *to, char byte)
{
    if (byte != '+' && to->row != 0)
        to->row--;
    end_row(to);
}

static void
anchor(compiler *to, opcode op)
{
    emit(to, op, 0, 0);
    to->atom = NONE;
}

static void
compile_letter(compiler *to, char byte)
{
    if (byte == '\\')
        escape(to);
    else if (byte == '[')
        brackets(to);
    else if (byte == '(')
        open_group(to);
    else if (byte == '|')
        next_alternative(to);
    else if (byte == ')' && to->depth > 1)
        close_group(to);
    else if (byte == '^' || byte == '$')
        anchor(to, byte == '^' ? OP_START : OP_END);
    else if (byte == '.')
        emit_atom(to, OP_ANY, 0);
    else if (strchr("){}]", byte) != NULL || (unsigned char)byte >= 0x80)
        to->failed = true;
    else
        emit_atom(to, OP_BYTE, (uint8_t)byte);
}

static sl_hf_regex *
keep(sl_arena *arena, const compiler *from)
{
    sl_hf_regex *regex = sl_arena_alloc(arena, 1, sizeof *regex);
    if (regex == NULL)
        return NULL;
    regex->size = (uint32_t)from->size;
    regex->code = sl_arena_alloc(arena, regex->size, sizeof regex->code[0]);
    regex->sets = sl_arena_alloc(arena, from->set_count + 1, sizeof regex->sets[0]);
    if (regex->code == NULL || regex->sets == NULL)
        return NULL;
    if (!from->alternatives)
        memcpy(regex->literal, from->literal, strlen(from->literal) + 1);
    memcpy(regex->code, from->code, regex->size * sizeof regex->code[0]);
    memcpy(regex->sets, from->sets, from->set_count * sizeof regex->sets[0]);
    return regex;
}

static void
compile(compiler *to)
{
    while (!to->failed && *to->at != '\0') {
        const int32_t before = to->size;
        const char byte = *to->at++;
        if (byte == '*' || byte == '+' || byte == '?') {
            note_repeat(to, byte);
            repeat(to, byte);
            continue;
        }
        to->repeated = false;
        compile_letter(to, byte);
        note_letter(to, before);
    }
    to->failed = to->failed || to->depth != 1;
    if (to->failed)
        return;
    end_row(to);
    close_group(to);
    emit(to, OP_FOUND, 0, 0);
}

sl_hf_regex *
sl_hf_regex_new(sl_arena *arena, const char *python)
{
    assert(arena != NULL && python != NULL);

    compiler to;
    if (strlen(python) >= SL_HF_REGEX_MAX)
        return NULL;
    to.at = python;
    to.size = 0;
    to.atom = NONE;
    to.repeated = to.failed = to.alternatives = false;
    to.set_count = to.row = 0;
    to.literal[0] = '\0';
    to.depth = 1;
    to.groups[0] = (group){0, 0, NONE};
    compile(&to);
    return to.failed ? NULL : keep(arena, &to);
}

/* The instructions that wait for a letter, each once. */
typedef struct waiting {
    uint32_t count;
    uint16_t at[CODE_MAX];
} waiting;

typedef struct run {
    const sl_hf_regex *regex;
    const char *text;
    uint32_t marks[CODE_MAX]; /* the place in the text, from 1, where an instruction came up last */
    uint64_t work;
} run;

/* Follows all ways from instruction `first`, at a place in the text, to the next letters they wait
 * for. True when one of them is through. */
static bool
follow(run *of, uint32_t first, uint32_t place, waiting *out)
{
    uint16_t stack[CODE_MAX];
    uint32_t depth = 0;
    bool found = false;

    stack[depth++] = (uint16_t)first;
    while (depth != 0) {
        const uint32_t at = stack[--depth];
        if (of->marks[at] == place + 1)
            continue;
        of->marks[at] = place + 1;
        of->work++;
        const instruction code = of->regex->code[at];
        /* Ways not followed yet are at most one for each split that was. */
        assert(depth + 2 <= CODE_MAX);
        if (code.op == OP_FOUND)
            found = true;
        else if (code.op <= OP_SET)
            out->at[out->count++] = (uint16_t)at;
        if (code.op == OP_SPLIT || code.op == OP_JUMP)
            stack[depth++] = (uint16_t)((int32_t)at + code.to);
        if (code.op == OP_SPLIT || (code.op == OP_START && place == 0) ||
            (code.op == OP_END && of->text[place] == '\0'))
            stack[depth++] = (uint16_t)(at + 1);
    }
    return found;
}

static bool
fits(const sl_hf_regex *regex, instruction code, uint8_t byte)
{
    if (code.op == OP_BYTE)
        return code.value == byte;
    return code.op == OP_ANY || (regex->sets[code.value][byte / 8] >> byte % 8 & 1) != 0;
}

bool
sl_hf_regex_match(const sl_hf_regex *regex, const char *text, uint64_t *work)
{
    assert(regex != NULL && text != NULL && work != NULL);

    run of;
    waiting lists[2];
    *work += LITERAL_STEPS;
    if (strstr(text, regex->literal) == NULL)
        return false;
    of.regex = regex;
    of.text = text;
    of.work = 1;
    memset(of.marks, 0, regex->size * sizeof of.marks[0]);
    lists[0].count = 0;
    bool found = follow(&of, 0, 0, &lists[0]);
    for (uint32_t place = 0; !found && lists[place % 2].count != 0 && text[place] != '\0';
         place++) {
        const waiting *now = &lists[place % 2];
        waiting *next = &lists[(place + 1) % 2];
        next->count = 0;
        of.work += now->count;
        for (uint32_t i = 0; i < now->count; i++) {
            const uint32_t at = now->at[i];
            if (fits(regex, regex->code[at], (uint8_t)text[place]))
                found = follow(&of, at + 1, place + 1, next) || found;
        }
    }
    *work += of.work;
    return found;
}
