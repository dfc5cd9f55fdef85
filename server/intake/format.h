/**
 * The formats that are read: each recognises its own texts and reads them into findings. Adding a
 * tool is writing its file, which ends with its sl_format, and a line in its family's list.
 */
#ifndef SL_INTAKE_FORMAT_H
#define SL_INTAKE_FORMAT_H

#include "intake/findings.h"

enum {
    SL_SAMPLE_HEAD_BYTES = 64 * 1024, /* what recognising looks at */
    SL_SAMPLE_KEYS_MAX = 48,
    SL_SAMPLE_KEY_SIZE = 48
};

/** A file as it came. Not NUL-terminated; borrowed. */
typedef struct sl_raw {
    const char *name; /* of the file, or "" */
    const char *text;
    size_t size;
} sl_raw;

typedef enum sl_shape { SL_SHAPE_EMPTY, SL_SHAPE_JSON, SL_SHAPE_XML, SL_SHAPE_TEXT } sl_shape;

/** What recognising needs to know of a file. */
typedef struct sl_sample {
    const sl_raw *raw;
    sl_shape shape;
    bool list; /* of JSON: its root is a list */
    uint32_t key_count;
    char keys
        [SL_SAMPLE_KEYS_MAX]
        [SL_SAMPLE_KEY_SIZE]; /* of JSON: the members of its root, or of a list's first element */
    char head[SL_SAMPLE_HEAD_BYTES + 1]; /* the beginning, NUL-terminated, NUL bytes as blanks */
} sl_sample;

/** Large: the caller's, not on a stack. */
void sl_sample_take(const sl_raw *raw, sl_sample *out);
bool sl_sample_has_key(const sl_sample *sample, const char *key);
bool sl_sample_holds(const sl_sample *sample, const char *text); /* in its head, case counts */
/** A line of the head begins with `text`, blanks before it aside. */
bool sl_sample_line_begins(const sl_sample *sample, const char *text);

typedef struct sl_format {
    const char *name;  /* for ?format= and in answers: "slurm_nodes_json" */
    const char *title; /* for people: "scontrol show nodes --json" */
    /** How sure it is, 0 to 100; nothing else sets a format apart from others. */
    uint32_t (*recognise)(const sl_sample *sample);
    /**
     * Total: any bytes. What a text does not say stays unsaid, what is odd is warned of, and only a
     * text that is not what it claims to be is an error: SL_E_SYNTAX with the line, rule
     * malformed_...; SL_E_UNSUPPORTED, rule no_..., where it is read but holds nothing that an
     * inventory needs.
     */
    sl_code (*read)(const sl_raw *raw, sl_findings *findings, sl_errors *err);
    /**
     * Whom to believe where two files say the same field of a host: the higher one. What the user
     * wrote (100), then how near the tool is to the hardware: it asks the device (70 to 90), a
     * node's agent (60), the scheduler (40 to 50), what was planned or named (25 to 30), what
     * people state (0).
     */
    uint32_t rank;
} sl_format;

/** A family of formats: the tools of one project. */
typedef struct sl_formats {
    const sl_format *const *list;
    uint32_t count;
} sl_formats;

/** All formats, over all families. */
uint32_t sl_format_count(void);
const sl_format *sl_format_get(uint32_t index);
const sl_format *sl_format_find(const char *name); /* NULL: none */

/**
 * Reads one file as `format`, or when that is NULL as what it is recognised to be by the most sure.
 * *confidence 0 to 100.
 * SL_E_UNSUPPORTED, rule unknown_format, when nothing recognises it, with what the text looks like.
 */
sl_code sl_intake_read(const sl_raw *raw, const sl_format *format, sl_findings *findings,
                       const sl_format **used, uint32_t *confidence, sl_errors *err) SL_MUST_CHECK;

#endif
