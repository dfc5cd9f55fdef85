/** The columns of what sinfo prints. Inside server/intake/slurm only. */
#ifndef SL_INTAKE_SLURM_SINFO_COLUMNS_H
#define SL_INTAKE_SLURM_SINFO_COLUMNS_H

#include "intake/slurm/slurm.h"

enum { SL_SINFO_CELLS_MAX = 64 };

/** What a column is of use for, besides the items of a node. */
enum { SL_SINFO_NODES = SL_SLURM_ITEM_COUNT, SL_SINFO_PARTITION, SL_SINFO_CLUSTER, SL_SINFO_OTHER };

/** A part of a line, borrowed. */
typedef struct sl_sinfo_cell {
    const char *at;
    size_t length;
} sl_sinfo_cell;

typedef struct sl_sinfo_table {
    char between; /* ' ': columns are padded with blanks */
    bool guessed; /* no header named the columns */
    uint32_t count;
    int column[SL_SINFO_CELLS_MAX];   /* an sl_slurm_item, or one of the above */
    size_t start[SL_SINFO_CELLS_MAX]; /* in the header line */
} sl_sinfo_table;

/** Without the blanks around it. */
sl_sinfo_cell sl_sinfo_trim(const char *from, const char *to);

/** Whether the line names columns. A column that only a newer sinfo has is no reason against. */
bool sl_sinfo_header_read(const char *line, sl_sinfo_table *out);

/** The same, faster where lines are many: names of columns are in capitals, so that most rows are
 * known by their first letters. */
bool sl_sinfo_is_header(const char *line, sl_sinfo_table *out);

/**
 * The columns of a text that has no header. Rows are the lines with as many cells as the first one
 * that tells of devices. False where it leaves a choice; out->count is then 0 where no line tells
 * of devices.
 */
bool sl_sinfo_guess(const char *text, const char *end, sl_sinfo_table *out);

bool sl_sinfo_has_column(const sl_sinfo_table *table, int column);

/**
 * The cells of a row, one for each column, within `line`. False where it does not fit its header.
 * *whole: values stand apart; else one that may have lost its end is empty.
 */
bool sl_sinfo_cut_row(const sl_sinfo_table *table, const char *line,
                      sl_sinfo_cell cells[SL_SINFO_CELLS_MAX], bool *whole);

#endif
