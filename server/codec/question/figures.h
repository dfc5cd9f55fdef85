/** Figures of a struct by name: one table reads them from a request and writes them back. */
#ifndef SL_CODEC_FIGURES_H
#define SL_CODEC_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "json/writer.h"

/** A member of type double, at `offset` of its struct, and the bounds of what may be said. */
typedef struct sl_figure_field {
    const char *name;
    size_t offset;
    double least, most;
} sl_figure_field;

/** At most so many in one table: `said` has a bit for each. */
enum { SL_FIGURE_FIELDS_MAX = 16 };

/** The members of *object that were said, into *to; bit i of *said: fields[i] was. Rules:
 * wrong_type, out_of_range, unknown_field. */
sl_code sl_figures_read(const sl_node *object, const sl_figure_field *fields, uint32_t count,
                        void *to, uint32_t *said, sl_errors *warnings,
                        sl_errors *err) SL_MUST_CHECK;

/** Those of `said`, from one struct to another. */
void sl_figures_copy(const sl_figure_field *fields, uint32_t count, uint32_t said, const void *from,
                     void *to);

/** An object of them all. */
void sl_figures_write(sl_writer *writer, const char *key, const sl_figure_field *fields,
                      uint32_t count, const void *from);

#endif
