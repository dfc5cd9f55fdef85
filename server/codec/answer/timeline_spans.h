/** The spans and lanes of a timeline that a query asks for, as both writers take them. */
#ifndef SL_CODEC_TIMELINE_SPANS_H
#define SL_CODEC_TIMELINE_SPANS_H

#include "codec/answer/timeline_json.h"

/** Whose traffic a lane has: what parameters and gradients of replicas travel in is apart from what
 * stages send, and what goes to the host from what comes back. */
typedef enum sl_lane_group {
    SL_LANE_OWN,
    SL_LANE_PIPELINE,
    SL_LANE_DATA,
    SL_LANE_TO_HOST,
    SL_LANE_FROM_HOST,
    SL_LANE_GROUPS
} sl_lane_group;

/** "pipeline", ...; NULL: nobody else's. */
const char *sl_lane_group_name(sl_lane_group group);

typedef struct sl_timeline_lane {
    uint32_t stage;
    sl_stream stream;
    sl_lane_group group;
} sl_timeline_lane;

enum { SL_OPERATOR_NAMES_MAX = 256 };

enum { SL_TIMELINE_LANES_MAX = SL_PIPELINE_MAX * 2 * SL_STREAM_COUNT };

/** What there is of each span, SL_SPAN_NONE where it is of none or of several. */
typedef enum sl_span_column {
    SL_COLUMN_LANE, /* in `lanes` */
    SL_COLUMN_KIND, /* sl_span_kind */
    SL_COLUMN_MICROBATCH,
    SL_COLUMN_CHUNK,
    SL_COLUMN_LAYER,
    SL_COLUMN_OPERATOR, /* in `names` */
    SL_COLUMN_STEP,     /* of its ring */
    SL_COLUMNS
} sl_span_column;

typedef struct sl_timeline_spans {
    bool asked[SL_PIPELINE_MAX]; /* stages */
    uint32_t lane_count;
    sl_timeline_lane lanes[SL_TIMELINE_LANES_MAX];
    uint32_t count, left_out; /* left out by the limit */
    uint32_t *of[SL_COLUMNS];
    double *start_s, *end_s;
    uint32_t *place; /* of each span of the timeline the first listed of it, SL_SPAN_NONE where none
                        is; NULL where nobody asks */
    uint32_t name_count;
    const char *names[SL_OPERATOR_NAMES_MAX];
    sl_pass_parts *parts; /* of every kind, pool after pool; NULL where passes are whole */
} sl_timeline_spans;

/** What the passes of one stage keep: from at_s[i] on, bytes[i]. */
typedef struct sl_stairs {
    uint64_t count;
    double *at_s;
    uint64_t *bytes;
} sl_stairs;

/** False: out of memory. Clear in any case. */
bool sl_stairs_init(const sl_timeline *timeline, uint32_t stage, sl_stairs *out) SL_MUST_CHECK;
void sl_stairs_clear(sl_stairs *stairs);

/** False: out of memory. Clear in any case. */
bool sl_timeline_spans_init(const sl_timeline_document *document, bool places,
                            sl_timeline_spans *out) SL_MUST_CHECK;
void sl_timeline_spans_clear(sl_timeline_spans *spans);

#endif
