/**
 * One JSON object per line on stderr: {"ts","level","msg",...}. Thread-safe, one write per line.
 * Never pass tokens, passwords or config contents.
 */
#ifndef SL_BASE_LOG_H
#define SL_BASE_LOG_H

#include <stdint.h>

#include "shardline/error.h"

typedef enum sl_log_level { SL_LOG_DEBUG, SL_LOG_INFO, SL_LOG_WARN, SL_LOG_ERROR } sl_log_level;

/** Process-wide; called once in main before threads start. Default SL_LOG_INFO. */
void sl_log_set_level(sl_log_level level);

typedef enum sl_log_kind { SL_LOG_TEXT, SL_LOG_NUMBER, SL_LOG_COUNT } sl_log_kind;

/** One key and its value; NULL text is written as null. */
typedef struct sl_log_field {
    const char *key;
    sl_log_kind kind;
    const char *text;
    double number;
    uint64_t count;
} sl_log_field;

sl_log_field sl_log_text(const char *key, const char *value);
sl_log_field sl_log_number(const char *key, double value);
sl_log_field sl_log_count(const char *key, uint64_t value);

void sl_log(sl_log_level level, const char *message, const sl_log_field *fields, uint32_t count);

#endif
