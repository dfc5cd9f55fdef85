/** What Slurm's readers found, in lines that a test can state. */
#ifndef SL_TESTS_INTAKE_SLURM_READING_H
#define SL_TESTS_INTAKE_SLURM_READING_H

#include "intake/slurm/slurm.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "catalogued.h"

enum { SHOWN_MAX = 64 * 1024 };

/* A text as it was read. */
typedef struct outcome {
    sl_arena *arena;
    sl_findings *findings;
    const sl_format *format;
    uint32_t confidence;
    sl_code code;
    sl_errors err;
    char shown[SHOWN_MAX];
} outcome;

static outcome now;
static sl_catalog *catalog;

static inline void
end(void)
{
    sl_arena_free(now.arena);
    now = (outcome){.code = SL_OK};
}

static inline void
show_text(sl_buffer *out, const sl_facts *facts, sl_field field, const char *label)
{
    if (facts->field[field].said)
        sl_buffer_format(out, " %s%s%s", label,
                         facts->field[field].label != SL_LABEL_NONE ? "~" : "",
                         facts->field[field].text);
}

static inline void
show_number(sl_buffer *out, const sl_facts *facts, sl_field field, const char *label, double unit)
{
    if (facts->field[field].said)
        sl_buffer_format(out, " %s%.0f", label, facts->field[field].number / unit);
}

static inline void
show_host(sl_buffer *out, const sl_found_host *host)
{
    const sl_facts *const facts = sl_findings_kind(now.findings, host->kind);
    const double mib = 1048576.0, gib = 1073741824.0;

    if (host->name != NULL)
        sl_buffer_text(out, host->name);
    else
        sl_buffer_format(out, "(%u)", host->count);
    sl_buffer_format(out, " %s", sl_host_state_names[host->state]);
    show_number(out, facts, SL_FIELD_ACCELERATORS, "", 1.0);
    show_text(out, facts, SL_FIELD_ACCELERATOR, "");
    show_number(out, facts, SL_FIELD_NOMINAL_MEMORY_BYTES, "label ", gib);
    show_number(out, facts, SL_FIELD_SLICED_ACCELERATORS, "sliced ", 1.0);
    show_text(out, facts, SL_FIELD_SLICE, "");
    show_text(out, facts, SL_FIELD_NODE_TYPE, "type ");
    show_number(out, facts, SL_FIELD_HOST_MEMORY_BYTES, "mem ", mib);
    show_number(out, facts, SL_FIELD_CPUS, "cpus ", 1.0);
    CU_ASSERT_FALSE(facts->field[SL_FIELD_MEMORY_BYTES].said);
    if (host->reason != NULL)
        sl_buffer_format(out, " (%s)", host->reason);
    if (host->pool != NULL)
        sl_buffer_format(out, " in %s", host->pool);
    if (host->domain != NULL)
        sl_buffer_format(out, " domain %s", host->domain);
    if (host->leaf != NULL)
        sl_buffer_format(out, " leaf %s", host->leaf);
    sl_buffer_text(out, "\n");
}

/* A line per host ("~" before what a label says), then the cluster, the fabric, and the warnings
 * with how often they came. */
static inline void
show(void)
{
    sl_buffer out;
    uint32_t dropped = 0;

    sl_buffer_init(&out, SHOWN_MAX - 1);
    if (now.code != SL_OK)
        sl_buffer_format(&out, "error %s\n", now.err.list[0].rule);
    for (uint32_t i = 0; i < sl_findings_count(now.findings); i++)
        show_host(&out, sl_findings_host(now.findings, i));
    if (sl_findings_cluster(now.findings) != NULL)
        sl_buffer_format(&out, "cluster %s\n", sl_findings_cluster(now.findings));
    const sl_found_fabric *const fabric = sl_findings_network(now.findings);
    if (fabric->kind.said)
        sl_buffer_format(&out, "fabric %s of %u\n", fabric->kind.text, fabric->switches);
    for (uint32_t i = 0; i < sl_findings_warning_count(now.findings, &dropped); i++) {
        const sl_found_warning *const w = sl_findings_warning(now.findings, i);
        sl_buffer_format(&out, "! %s %u\n", w->code, w->count);
    }
    (void)sl_text_copy(now.shown, sizeof now.shown, out.size > 0 ? out.data : "");
    sl_buffer_clear(&out);
}

static inline void
read_text(const char *text, size_t size)
{
    const sl_raw raw = {.name = "", .text = text, .size = size};

    now = (outcome){.arena = sl_arena_new(256 << 20)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(now.arena);
    now.findings = sl_findings_new(now.arena, catalog);
    CU_ASSERT_PTR_NOT_NULL_FATAL(now.findings);
    now.code = sl_intake_read(&raw, NULL, now.findings, &now.format, &now.confidence, &now.err);
    CU_ASSERT_EQUAL(now.code == SL_OK, now.err.count == 0);
    show();
}

static inline void
expect(const char *format, const char *shown, const char *what)
{
    sl_expect_text(now.format == NULL ? "none" : now.format->name, format, what);
    sl_expect_text(now.shown, shown, what);
}

/* A text of ours is recognised as `format`, and says what is shown. */
static inline void
expect_text(const char *text, const char *format, const char *shown)
{
    read_text(text, strlen(text));
    expect(format, shown, text);
    end();
}

static inline void
expect_path(const char *path, const char *format, const char *shown)
{
    size_t size = 0;
    char *const text = sl_read_file(path, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    read_text(text, size);
    expect(format, shown, path);
    CU_ASSERT_TRUE(now.confidence >= 85);
    end();
    free(text);
}

static inline void
expect_fixture(const char *name, const char *format, const char *shown)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "fixtures/inventories/%s", name);
    expect_path(sl_tests_path(relative), format, shown);
}

static inline void
expect_shared(const char *name, const char *format, const char *shown)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "inventories/%s", name);
    const char *const path = sl_shared_path(relative);
    if (path == NULL)
        sl_skip("the folder of real files is not here");
    else
        expect_path(path, format, shown);
}

#endif
