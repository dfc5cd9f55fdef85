/** What requests and refusals call what the engine enumerates, in the order of the enumerators. */
#ifndef SHARDLINE_WORDS_H
#define SHARDLINE_WORDS_H

/* As many as SL_FRAMEWORK_COUNT, SL_PRECISION_COUNT, SL_SCHEDULE_COUNT and SL_CONTEXT_COUNT say. */
extern const char *const sl_framework_words[];
extern const char *const sl_precision_words[];
extern const char *const sl_schedule_words[];
extern const char *const sl_context_words[];

#endif
