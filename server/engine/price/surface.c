#include "engine/price/surface.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

const double sl_surface_rows[SL_SURFACE_ROWS] = {16.0, 128.0, 512.0, 2048.0, 8192.0, 32768.0};
const double sl_surface_columns[SL_SURFACE_COLUMNS] = {512.0, 2048.0, 8192.0, 32768.0};
const double sl_surface_depths[SL_SURFACE_DEPTHS] = {512.0, 2048.0, 8192.0};

/* Between two nodes: the lower one's index, and the upper one's share. */
typedef struct place {
    uint32_t at;
    double share;
} place;

static place
place_of(const double *nodes, uint32_t count, double x)
{
    uint32_t at = 0;

    if (x <= nodes[0])
        return (place){0, 0.0};
    while (at + 2 < count && x >= nodes[at + 1])
        at++;
    return (place){at, fmin(1.0, log2(x / nodes[at]) / log2(nodes[at + 1] / nodes[at]))};
}

static double
along_rows(const double ratio[SL_SURFACE_ROWS], place rows)
{
    return ratio[rows.at] + rows.share * (ratio[rows.at + 1] - ratio[rows.at]);
}

static double
along_depths(const double ratio[SL_SURFACE_DEPTHS][SL_SURFACE_ROWS], place depths, place rows)
{
    const double low = along_rows(ratio[depths.at], rows);

    return low + depths.share * (along_rows(ratio[depths.at + 1], rows) - low);
}

static double
octaves_beyond(double low, double high, double x)
{
    return x < low ? log2(low / x) : x > high ? log2(x / high) : 0.0;
}

double
sl_surface_octaves_outside(double m, double n, double k)
{
    return octaves_beyond(16.0, 32768.0, m) + octaves_beyond(512.0, 51200.0, n) +
           octaves_beyond(512.0, 16384.0, k);
}

double
sl_surface_ratio(const sl_gemm_surface *surface, double m, double n, double k)
{
    assert(surface != NULL && m > 0.0 && n > 0.0 && k > 0.0);

    const place rows = place_of(sl_surface_rows, SL_SURFACE_ROWS, m);
    const place columns = place_of(sl_surface_columns, SL_SURFACE_COLUMNS, n);
    const place depths = place_of(sl_surface_depths, SL_SURFACE_DEPTHS, k);
    const double low = along_depths(surface->ratio[columns.at], depths, rows);
    const double high = along_depths(surface->ratio[columns.at + 1], depths, rows);
    const double ratio = low + columns.share * (high - low);
    const double outside = sl_surface_octaves_outside(m, n, k);

    return outside > 0.0 ? 1.0 + (ratio - 1.0) * exp2(-outside) : ratio;
}
