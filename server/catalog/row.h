/** A row of a table being read: fields by column, and what is wrong with them. */
#ifndef SL_CATALOG_ROW_H
#define SL_CATALOG_ROW_H

#include "base/csv.h"
#include "catalog/internal.h"

/* A fault of a field sets `code` and reading goes on, so that one run names every fault of a
 * table. */
typedef struct sl_row {
    sl_catalog *catalog;
    const char *file;
    sl_csv csv;
    sl_errors *err;
    sl_code code;
} sl_row;

typedef void (*sl_row_reader)(sl_row *t);

void sl_row_fault(sl_row *t, const char *column, const char *what);

/* 0 where the field is empty. */
double sl_row_number(sl_row *t, const char *column);
uint64_t sl_row_whole(sl_row *t, const char *column, double max);
uint32_t sl_row_whole32(sl_row *t, const char *column);

/* "" where there is no such column. */
const char *sl_row_text(sl_row *t, const char *column);
const char *sl_row_required(sl_row *t, const char *column);
void sl_row_copy(sl_row *t, const char *column, char *to, size_t size);
bool sl_row_flag(sl_row *t, const char *column); /* 1 says yes */

/* load.c: what is kept of a user's row; empty in the tables. */
sl_own sl_row_own(sl_row *t);

/* load.c: of the embedded tables and of users' rows alike. */
void sl_read_part(sl_row *t);
void sl_read_node(sl_row *t);

/* load_laws.c */
void sl_read_gemm_law(sl_row *t);
void sl_read_gemm_surface(sl_row *t);
void sl_read_attention_law(sl_row *t);
void sl_read_collective_law(sl_row *t);

#endif
