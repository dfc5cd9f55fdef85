#include "codec/question/figures.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "json/members.h"

sl_code
sl_figures_read(const sl_node *object, const sl_figure_field *fields, uint32_t count, void *to,
                uint32_t *said, sl_errors *warnings, sl_errors *err)
{
    sl_member members[SL_FIGURE_FIELDS_MAX];

    assert(count <= SL_FIGURE_FIELDS_MAX);
    *said = 0;
    sl_code first = sl_node_object(object, err);
    if (first != SL_OK)
        return first;
    for (uint32_t i = 0; i < count; i++) {
        double value = 0.0;
        bool given = false;
        members[i] = (sl_member){fields[i].name, NULL};
        sl_keep(&first, sl_node_double(object, fields[i].name, fields[i].least, fields[i].most,
                                       &value, &given, err));
        if (!given)
            continue;
        memcpy((char *)to + fields[i].offset, &value, sizeof value);
        *said |= 1U << i;
    }
    sl_keep(&first, sl_members_check(object, members, count, warnings, err));
    return first;
}

void
sl_figures_copy(const sl_figure_field *fields, uint32_t count, uint32_t said, const void *from,
                void *to)
{
    for (uint32_t i = 0; i < count; i++)
        if ((said >> i & 1) != 0)
            memcpy((char *)to + fields[i].offset, (const char *)from + fields[i].offset,
                   sizeof(double));
}

void
sl_figures_write(sl_writer *writer, const char *key, const sl_figure_field *fields, uint32_t count,
                 const void *from)
{
    sl_write_key(writer, key);
    sl_write_object(writer);
    for (uint32_t i = 0; i < count; i++) {
        double value = 0.0;
        memcpy(&value, (const char *)from + fields[i].offset, sizeof value);
        sl_put_double(writer, fields[i].name, value);
    }
    sl_write_object_end(writer);
}
