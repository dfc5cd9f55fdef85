/* nvidia-smi -q -x: the DTDs from v4 to v13, one document per node, any number of them. */
#include <string.h>

#include "base/text.h"
#include "intake/captures.h"
#include "intake/nvidia/log.h"
#include "intake/nvidia/nvidia.h"
#include "intake/syntax/xml.h"

static const char root_end[] = "</nvidia_smi_log>";

typedef struct reading {
    sl_nvidia_log log;
    uint32_t logs;
} reading;

static sl_code
on_open(void *context, const char *path, const char *const *attributes, uint32_t line,
        sl_errors *err)
{
    (void)attributes;

    if (strchr(path, '/') == NULL && !sl_text_equal(path, "nvidia_smi_log"))
        return sl_fail(err, SL_E_SYNTAX, "malformed_xml", "",
                       "line %u: <%.40s> is not the log of nvidia-smi", line, path);
    if (sl_text_equal(path, "nvidia_smi_log/gpu"))
        sl_nvidia_log_begin_gpu(context, line);
    return SL_OK;
}

static sl_code
on_close(void *context, const char *path, const char *text, uint32_t line, sl_errors *err)
{
    static const char in_log[] = "nvidia_smi_log/";

    if (strncmp(path, in_log, sizeof in_log - 1) != 0)
        return SL_OK;
    path += sizeof in_log - 1;
    if (sl_text_equal(path, "gpu"))
        return sl_nvidia_log_end_gpu(context, err);
    sl_nvidia_log_take(context, path, text, line);
    return SL_OK;
}

static sl_code
read_log(sl_nvidia_log *log, const char *text, size_t size, uint32_t line, const char *host,
         sl_errors *err)
{
    const sl_xml_visit visit = {.context = log, .open = on_open, .close = on_close};

    sl_code code = sl_nvidia_log_begin(log, host, line, err);
    if (code == SL_OK)
        code = sl_xml_read(text, size, line, &visit, err);
    return code == SL_OK ? sl_nvidia_log_end(log, err) : code;
}

/* Bytes of the log that begins at `text`, its end tag included; all of it where it does not end. */
static size_t
log_size(const char *text, size_t size)
{
    const char *at = text;
    const char *const end = text + size;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= sizeof root_end - 1 &&
            memcmp(at, root_end, sizeof root_end - 1) == 0)
            return (size_t)(at - text) + sizeof root_end - 1;
        at++;
    }
    return size;
}

/* Logs with anything between them: lines that name a host say whose the next log is. `first`: the
 * line of the file on which the text begins. */
static sl_code
read_logs(void *context, const char *text, size_t size, const char *whose, uint32_t first,
          sl_errors *err)
{
    reading *const r = context;
    sl_captures captures;
    char line[512];
    char host[SL_HOST_NAME_MAX + 1];

    (void)sl_text_copy(host, sizeof host, whose);
    sl_captures_open(&captures, text, size);
    captures.lines.number = first - 1;
    for (;;) {
        const char *const begin = captures.lines.at;
        if (!sl_captures_next(&captures, line, sizeof line))
            return SL_OK;
        if (captures.named)
            memcpy(host, captures.host, sizeof host);
        if (line[strspn(line, " ")] != '<')
            continue;
        const char *const from = memchr(begin, '<', (size_t)(captures.lines.end - begin));
        const size_t used = log_size(from, (size_t)(captures.lines.end - from));
        if (r->logs++ == SL_HOSTS_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d logs",
                           SL_HOSTS_MAX);
        const sl_code code = read_log(&r->log, from, used, captures.lines.number, host, err);
        if (code != SL_OK)
            return code;
        sl_captures_pass(&captures, from, used);
        (void)sl_text_copy(host, sizeof host, whose);
    }
}

static sl_code
read_xml(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.log = {.findings = findings}};
    sl_code code = sl_devices_new(findings, &r.log.devices, err);

    if (code == SL_OK)
        code = sl_captures_runs(raw->text, raw->size, read_logs, &r, err);
    if (code == SL_OK && r.logs == 0)
        return sl_fail(err, SL_E_SYNTAX, "malformed_xml", "", "line 1: no XML begins in it");
    return code == SL_OK ? sl_devices_finish(r.log.devices, err) : code;
}

static uint32_t
recognise_xml(const sl_sample *sample)
{
    return sl_sample_holds(sample, "<nvidia_smi_log") ? 98 : 0;
}

const sl_format sl_nvidia_xml_format = {"nvidia_smi_xml", "nvidia-smi -q -x", recognise_xml,
                                        read_xml, 90};
