#include "intake/syntax/xml.h"

#include <assert.h>
#include <expat.h>
#include <limits.h>
#include <string.h>

typedef struct reading {
    XML_Parser parser;
    const sl_xml_visit *visit;
    sl_errors *err;
    sl_code code;        /* why it was stopped */
    uint32_t first_line; /* of the document in its file */
    uint32_t depth;
    size_t path_length;
    size_t text_length;
    uint16_t starts[SL_XML_DEPTH_MAX]; /* where the path ends without this element */
    char path[SL_XML_PATH_MAX];
    char text[SL_XML_TEXT_MAX];
} reading;

static uint32_t
line_of(const reading *r)
{
    return r->first_line + (uint32_t)XML_GetCurrentLineNumber(r->parser) - 1;
}

static void
stop(reading *r, sl_code code)
{
    r->code = code;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static void
refuse(reading *r, const char *rule, const char *what)
{
    stop(r, sl_fail(r->err, SL_E_SYNTAX, rule, "", "line %u: %s", line_of(r), what));
}

static void XMLCALL
on_open(void *data, const XML_Char *name, const XML_Char **attributes)
{
    reading *const r = data;
    const size_t length = strlen(name);

    if (r->code != SL_OK)
        return;
    if (r->depth == SL_XML_DEPTH_MAX || r->path_length + length + 2 > sizeof r->path) {
        refuse(r, "too_deep", "elements are nested too deep");
        return;
    }
    r->starts[r->depth++] = (uint16_t)r->path_length;
    if (r->path_length > 0)
        r->path[r->path_length++] = '/';
    memcpy(r->path + r->path_length, name, length + 1);
    r->path_length += length;
    r->text_length = 0;
    if (r->visit->open == NULL)
        return;
    const sl_code code = r->visit->open(r->visit->context, r->path, (const char *const *)attributes,
                                        line_of(r), r->err);
    if (code != SL_OK)
        stop(r, code);
}

static void XMLCALL
on_close(void *data, const XML_Char *name)
{
    reading *const r = data;
    (void)name;

    if (r->code != SL_OK)
        return;
    while (r->text_length > 0 && strchr(" \t\r\n", r->text[r->text_length - 1]) != NULL)
        r->text_length--;
    r->text[r->text_length] = '\0';
    const sl_code code = r->visit->close == NULL ? SL_OK
                                                 : r->visit->close(r->visit->context, r->path,
                                                                   r->text, line_of(r), r->err);
    r->path_length = r->starts[--r->depth];
    r->path[r->path_length] = '\0';
    r->text_length = 0;
    if (code != SL_OK)
        stop(r, code);
}

static void XMLCALL
on_text(void *data, const XML_Char *text, int length)
{
    reading *const r = data;

    for (int i = 0; i < length && r->text_length + 1 < sizeof r->text; i++) {
        const bool blank = strchr(" \t\r\n", text[i]) != NULL;
        if (r->text_length > 0 || !blank)
            r->text[r->text_length++] = text[i];
    }
}

static void XMLCALL
on_entity(void *data, const XML_Char *name, int is_parameter, const XML_Char *value,
          int value_length, const XML_Char *base, const XML_Char *system_id,
          const XML_Char *public_id, const XML_Char *notation)
{
    reading *const r = data;
    (void)name, (void)is_parameter, (void)value, (void)value_length, (void)base, (void)system_id,
        (void)public_id, (void)notation;

    if (r->code == SL_OK)
        refuse(r, "xml_entity", "an entity is declared: entities are refused");
}

/* One that is used and was not declared here: its declaration would stand in the DTD. */
static void XMLCALL
on_skipped(void *data, const XML_Char *name, int is_parameter)
{
    reading *const r = data;
    (void)name, (void)is_parameter;

    if (r->code == SL_OK)
        refuse(r, "xml_entity", "an entity is used: entities are refused");
}

sl_code
sl_xml_read(const char *text, size_t size, uint32_t line, const sl_xml_visit *visit, sl_errors *err)
{
    assert((text != NULL || size == 0) && visit != NULL && err != NULL);

    if (size > INT_MAX)
        return sl_fail(err, SL_E_TOO_LARGE, "too_large", "", "one document of %zu bytes", size);
    reading r = {.visit = visit, .err = err, .code = SL_OK, .first_line = line};
    r.parser = XML_ParserCreate(NULL);
    if (r.parser == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read XML");
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_open, on_close);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    XML_SetSkippedEntityHandler(r.parser, on_skipped);
    const enum XML_Status status = XML_Parse(r.parser, text, (int)size, 1);
    if (status != XML_STATUS_OK && r.code == SL_OK) {
        const enum XML_Error why = XML_GetErrorCode(r.parser);
        r.code = why == XML_ERROR_UNDEFINED_ENTITY
                     ? sl_fail(err, SL_E_SYNTAX, "xml_entity", "",
                               "line %u: an entity is used: entities are refused", line_of(&r))
                     : sl_fail(err, SL_E_SYNTAX, "malformed_xml", "", "line %u: %s", line_of(&r),
                               XML_ErrorString(why));
    }
    XML_ParserFree(r.parser);
    return r.code;
}

const char *
sl_xml_attribute(const char *const *attributes, const char *name)
{
    assert(attributes != NULL && name != NULL);

    for (size_t i = 0; attributes[i] != NULL && attributes[i + 1] != NULL; i += 2)
        if (strcmp(attributes[i], name) == 0)
            return attributes[i + 1];
    return "";
}
