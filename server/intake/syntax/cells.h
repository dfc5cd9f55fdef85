/** What the tables of command line tools have in common: cells, and numbers with their units. */
#ifndef SL_INTAKE_SYNTAX_CELLS_H
#define SL_INTAKE_SYNTAX_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_CELLS_MAX = 512, SL_CELL_LINE_SIZE = 64 * 1024 };

/** A line that is cut in place; the cells point into it. */
typedef struct sl_cells {
    uint32_t count;
    char *at[SL_CELLS_MAX];
} sl_cells;

/** Ends `text` behind its last byte that is no blank and returns where the first one stands. */
char *sl_cell_trim(char *text);

/** Cuts at the separator; blanks around a cell are not of it, and one that begins with a quote ends
 * with it ("" inside stands for one). Cells past the bound are not there. */
void sl_cells_split(char *line, char separator, sl_cells *out);

/** Cuts at blanks, any number of them. */
void sl_cells_words(char *line, sl_cells *out);

/** The cell that stands there, or "" where there is none or it says nothing. */
const char *sl_cell_at(const sl_cells *cells, uint32_t at);

/** Whole numbers of decimal digits at the start of a text; *end is what follows. */
bool sl_cell_count(const char *text, uint32_t *out, const char **end);

/**
 * "81920 MiB", "700.00 W", "750000 mW": bytes and watts; a number without a unit has `unit`. MB and
 * GB are powers of two here: the tools of both vendors of accelerators mean MiB where they print
 * MB. False where it is no number or the unit is another: "[N/A]", "ERR!", "[Not Supported]".
 */
bool sl_cell_quantity(const char *text, const char *unit, double *out);

/** Not a value: "", N/A, [N/A], [Not Supported], Unknown Error, ERR!, None. */
bool sl_cell_is_nothing(const char *text);

/** What nvidia-smi says in the place of a value that a device does not answer with: it may have
 * failed. "[N/A]" is of a device that has none. */
bool sl_cell_is_failure(const char *text);

#endif
