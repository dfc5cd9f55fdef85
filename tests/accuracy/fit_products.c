/*
 * Fits the laws of low-precision products and the surfaces of all to a table of measured kernels,
 * and prints both as rows of server/catalog/data. Shapes that are powers of two are fitted, all
 * others only scored; so are, in five rounds, (n, k) left out of the fit. Build the release preset
 * and run
 *   build/release/tests/accuracy/fit_products TABLE [laws | surfaces]
 * TABLE has the columns gpu, dtype, m, n, k, time_us and source (which names the collection).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "catalog/catalog.h"
#include "engine/price/kernel.h"
#include "engine/price/surface.h"

enum {
    SHAPES_MAX = 512,
    PARAMETERS = 10, /* of a law, in the order of the table */
    HEAT = 8,        /* the first of those that are fitted for laws older than this */
    NODES = SL_SURFACE_COLUMNS * SL_SURFACE_DEPTHS * SL_SURFACE_ROWS,
    ROUNDS = 5,
    TEXT_BYTES = 4 << 20
};

/* Towards 1, and between neighbouring nodes, in shapes: the least mean error on (n, k) left out. */
static const double ridge = 0.03, smoothness = 0.1;

/* Low precisions are those of TensorRT-LLM, which scatter by 3 to 7 % around one law; SGLang's by 7
 * to 17 %, so that H200, GB200 and GB300 have the laws of their dies instead, and L40S alone has
 * SGLang's. */
static const struct collection {
    const char *gpu, *dtype, *software;
    const char *part, *word;
    sl_precision precision;
    uint32_t multiprocessors;
} collections[] = {
    {"A100-SXM4-80GB", "bfloat16", "sglang/0.5.10", "nvidia-a100-sxm4-80gb", "bf16",
     SL_PRECISION_BF16, 108},
    {"H100-SXM5-80GB", "bfloat16", "sglang/0.5.14", "nvidia-h100-sxm5-80gb", "bf16",
     SL_PRECISION_BF16, 132},
    {"H200-SXM5-141GB", "bfloat16", "sglang/0.5.14", "nvidia-h200-sxm-141gb", "bf16",
     SL_PRECISION_BF16, 132},
    {"B200-SXM", "bfloat16", "sglang/0.5.14", "nvidia-b200-sxm-180gb", "bf16", SL_PRECISION_BF16,
     148},
    {"GB200", "bfloat16", "sglang/0.5.14", "nvidia-gb200", "bf16", SL_PRECISION_BF16, 152},
    {"L40S", "bfloat16", "sglang/0.5.14", "nvidia-l40s", "bf16", SL_PRECISION_BF16, 142},
    {"GB300", "bfloat16", "sglang/0.5.14", "nvidia-gb300", "bf16", SL_PRECISION_BF16, 152},
    {"B300-SXM", "bfloat16", "trtllm/1.3.0rc20", "nvidia-b300-sxm", "bf16", SL_PRECISION_BF16, 148},
    {"H100-SXM5-80GB", "fp8", "trtllm/1.3.0rc20", "nvidia-h100-sxm5-80gb", "fp8", SL_PRECISION_FP8,
     132},
    {"L40S", "fp8", "sglang/0.5.14", "nvidia-l40s", "fp8", SL_PRECISION_FP8, 142},
    {"B200-SXM", "fp8", "trtllm/1.3.0rc20", "nvidia-b200-sxm-180gb", "fp8", SL_PRECISION_FP8, 148},
    {"B300-SXM", "fp8", "trtllm/1.3.0rc20", "nvidia-b300-sxm", "fp8", SL_PRECISION_FP8, 148},
    {"B200-SXM", "nvfp4", "trtllm/1.3.0rc20", "nvidia-b200-sxm-180gb", "nvfp4", SL_PRECISION_NVFP4,
     148},
    {"B300-SXM", "nvfp4", "trtllm/1.3.0rc20", "nvidia-b300-sxm", "nvfp4", SL_PRECISION_NVFP4, 148},
};

typedef struct shape {
    double m, n, k, seconds;
    uint32_t round; /* in which its (n, k) is left out */
    bool off_grid;  /* a side is no power of two: never fitted */
    double weight;  /* in a fit of a surface */
} shape;

typedef struct table {
    const struct collection *of;
    sl_accelerator part;
    shape shapes[SHAPES_MAX];
    uint32_t count;
} table;

static sl_catalog *catalog;
static char text[TEXT_BYTES];
static table t;

static void
stop(const char *why)
{
    (void)fprintf(stderr, "fit_products: %s\n", why);
    exit(EXIT_FAILURE);
}

static bool
is_power_of_two(double x)
{
    return exp2(floor(log2(x))) == x;
}

/* The same for all rows of an (n, k), in the order of the file. */
static uint32_t
round_of(double n, double k)
{
    static uint32_t met;

    for (uint32_t i = 0; i < t.count; i++)
        if (t.shapes[i].n == n && t.shapes[i].k == k)
            return t.shapes[i].round;
    return met++ % ROUNDS;
}

static void
read_shape(const sl_csv *csv)
{
    if (t.count == SHAPES_MAX)
        stop("there are too many shapes");
    shape s = {.m = strtod(sl_csv_get(csv, "m"), NULL),
               .n = strtod(sl_csv_get(csv, "n"), NULL),
               .k = strtod(sl_csv_get(csv, "k"), NULL),
               .seconds = 1e-6 * strtod(sl_csv_get(csv, "time_us"), NULL)};
    s.round = round_of(s.n, s.k);
    s.off_grid = !is_power_of_two(s.m) || !is_power_of_two(s.n) || !is_power_of_two(s.k);
    t.shapes[t.count++] = s;
}

static void
read_table(const struct collection *of, size_t size)
{
    sl_arena *arena = sl_arena_new(64 << 20);
    const sl_part *found = NULL;
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;

    if (arena == NULL || sl_csv_open(&csv, text, size, arena, &err) != SL_OK ||
        sl_catalog_find_part(catalog, of->part, "", &found, &err) != SL_OK)
        stop("the table or its part cannot be read");
    t.of = of;
    t.part = found->accelerator;
    t.count = 0;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more)
        if (strcmp(sl_csv_get(&csv, "gpu"), of->gpu) == 0 &&
            strcmp(sl_csv_get(&csv, "dtype"), of->dtype) == 0 &&
            strstr(sl_csv_get(&csv, "source"), of->software) != NULL)
            read_shape(&csv);
    sl_arena_free(arena);
    if (t.count == 0)
        stop("a collection has no rows");
}

static sl_gemm_law *
law(void)
{
    return t.of->precision == SL_PRECISION_FP8     ? &t.part.low_gemm[SL_LOW_PRODUCT_FP8]
           : t.of->precision == SL_PRECISION_NVFP4 ? &t.part.low_gemm[SL_LOW_PRODUCT_NVFP4]
                                                   : &t.part.gemm;
}

static double
predicted_s(const shape *s)
{
    return sl_kernel_timed_s(
        &t.part, (sl_product){1.0, s->m, s->n, s->k, t.of->precision,
                              sl_worse_alignment(sl_kernel_alignment(s->n, t.of->precision),
                                                 sl_kernel_alignment(s->k, t.of->precision))});
}

/* Of that, what is no product and has no surface. */
static double
cast_s(const shape *s)
{
    const sl_slice slice = {.accelerator = &t.part, .clock_ratio = 1.0};

    return sl_kernel_cast_s(&slice, t.of->precision, s->m * s->k);
}

/* Whether a shape is fitted where `left_out` is (ROUNDS: none is). */
static bool
is_fitted(const shape *s, uint32_t left_out)
{
    return !s->off_grid && s->round != left_out;
}

/* Of a tile; below 0.05 it is never the fastest. */
static double
tile_rate(double x)
{
    return fmin(1.0, fmax(0.05, exp(x)));
}

static bool
is_older(void)
{
    return t.of->precision == SL_PRECISION_BF16;
}

static sl_gemm_law
law_at(const double x[PARAMETERS])
{
    sl_gemm_law at = is_older() ? *law()
                                : (sl_gemm_law){.multiprocessors = t.of->multiprocessors,
                                                .peak_flops_per_s = exp(x[0]),
                                                .prologue_k = exp(x[1]),
                                                .launch_s = exp(x[2]),
                                                .bandwidth_bytes_per_s = exp(x[3]),
                                                .rate_128x128_ratio = tile_rate(x[4]),
                                                .rate_128x64_ratio = tile_rate(x[5]),
                                                .rate_64x64_ratio = tile_rate(x[6]),
                                                .cast_values_per_s = exp(x[7])};

    at.hot_ratio = fmin(1.0, fmax(0.6, exp(x[HEAT])));
    /* Halfway after 1 to 10 ms at the peak: without an end on either side it trades with the
     * peak. */
    at.hot_flops = at.peak_flops_per_s * fmin(1e-2, fmax(1e-3, exp(x[HEAT + 1])));
    at.surface = NULL;
    return at;
}

/* Mean |ln| of shapes of a tile's rows and more. */
static double
cost(const double x[PARAMETERS], uint32_t left_out)
{
    double sum = 0.0, count = 0.0;

    *law() = law_at(x);
    for (uint32_t i = 0; i < t.count; i++) {
        const shape *s = &t.shapes[i];
        if (!is_fitted(s, left_out) || s->m < 128.0)
            continue;
        sum += fabs(log(predicted_s(s) / s->seconds));
        count += 1.0;
    }
    return sum / count;
}

typedef struct corner {
    double x[PARAMETERS];
    double cost;
} corner;

static int
by_cost(const void *a, const void *b)
{
    const double one = ((const corner *)a)->cost, other = ((const corner *)b)->cost;

    return (one > other) - (one < other);
}

static corner
moved(const corner *worst, const double middle[PARAMETERS], double by, uint32_t left_out)
{
    corner to;

    for (uint32_t j = 0; j < PARAMETERS; j++)
        to.x[j] = middle[j] + by * (worst->x[j] - middle[j]);
    to.cost = cost(to.x, left_out);
    return to;
}

/* c: `count` + 1 corners, the best first. */
static void
step(corner *c, uint32_t count, uint32_t left_out)
{
    double middle[PARAMETERS] = {0};

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < PARAMETERS; j++)
            middle[j] += c[i].x[j] / count;
    corner *worst = &c[count];
    const corner over = moved(worst, middle, -1.0, left_out);
    if (over.cost < c[0].cost) {
        const corner further = moved(worst, middle, -2.0, left_out);
        *worst = further.cost < over.cost ? further : over;
        return;
    }
    if (over.cost < c[count - 1].cost) {
        *worst = over;
        return;
    }
    const corner nearer = moved(worst, middle, over.cost < worst->cost ? -0.5 : 0.5, left_out);
    if (nearer.cost < fmin(over.cost, worst->cost)) {
        *worst = nearer;
        return;
    }
    for (uint32_t i = 1; i <= count; i++)
        c[i] = moved(&c[i], c[0].x, 0.5, left_out);
}

/* Nelder and Mead 1965, of the logarithms, begun anew around the best with ever smaller corners. */
static void
fit_law(uint32_t left_out)
{
    const double peak = t.part.peak_flops_per_s[t.of->precision];
    const double memory = t.part.memory_bytes_per_s;
    const double start[PARAMETERS] = {0.7 * peak, 200.0, 6e-6,          0.7 * memory, 0.8,
                                      0.7,        0.6,   0.12 * memory, 0.9,          3e-3};
    static const double widths[] = {0.3, -0.3, 0.6, -0.6, 0.2, -0.2, 0.1, -0.1, 0.05};
    const uint32_t first = is_older() ? HEAT : 0, count = PARAMETERS - first;
    corner c[PARAMETERS + 1];

    for (uint32_t j = 0; j < PARAMETERS; j++)
        c[0].x[j] = log(start[j]);
    c[0].cost = cost(c[0].x, left_out);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (uint32_t i = 1; i <= count; i++) {
            c[i] = c[0];
            c[i].x[first + i - 1] += widths[w];
            c[i].cost = cost(c[i].x, left_out);
        }
        for (uint32_t i = 0; i < 600; i++) {
            qsort(c, count + 1, sizeof c[0], by_cost);
            step(c, count, left_out);
        }
        qsort(c, count + 1, sizeof c[0], by_cost);
    }
    *law() = law_at(c[0].x);
}

static double *
node(sl_gemm_surface *surface, uint32_t i)
{
    const uint32_t m = i % SL_SURFACE_ROWS, rest = i / SL_SURFACE_ROWS;

    return &surface->ratio[rest / SL_SURFACE_DEPTHS][rest % SL_SURFACE_DEPTHS][m];
}

/* A ratio is linear in its nodes: what each adds to it. */
static void
shares_of(const shape *s, double share[NODES])
{
    for (uint32_t i = 0; i < NODES; i++) {
        sl_gemm_surface one = {0};
        *node(&one, i) = 1.0;
        share[i] = sl_surface_ratio(&one, s->m, s->n, s->k);
    }
}

/* Cholesky, in place. */
static void
solve(double a[NODES][NODES], double b[NODES])
{
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t j = 0; j <= i; j++) {
            for (uint32_t k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(a[i][i]) : a[i][j] / a[j][j];
        }
    for (uint32_t i = 0; i < NODES; i++) {
        for (uint32_t k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (uint32_t i = NODES; i-- > 0;) {
        for (uint32_t k = i + 1; k < NODES; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

static void
tie(double a[NODES][NODES], uint32_t i, uint32_t j)
{
    a[i][i] += smoothness;
    a[j][j] += smoothness;
    a[i > j ? i : j][i > j ? j : i] -= smoothness;
}

static void
tie_neighbours(double a[NODES][NODES])
{
    const uint32_t column = SL_SURFACE_DEPTHS * SL_SURFACE_ROWS;

    for (uint32_t i = 0; i < NODES; i++) {
        a[i][i] += ridge;
        if (i % SL_SURFACE_ROWS > 0)
            tie(a, i, i - 1);
        if (i % column >= SL_SURFACE_ROWS)
            tie(a, i, i - SL_SURFACE_ROWS);
        if (i >= column)
            tie(a, i, i - column);
    }
}

/* Least squares of what the ratios differ from 1, weighted anew until it is about the least mean
 * error. */
static void
fit_surface(sl_gemm_surface *surface, uint32_t left_out)
{
    static double a[NODES][NODES], b[NODES], share[NODES];

    law()->surface = NULL;
    for (uint32_t i = 0; i < t.count; i++)
        t.shapes[i].weight = 1.0;
    for (uint32_t pass = 0; pass < 6; pass++) {
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        for (uint32_t r = 0; r < t.count; r++) {
            const shape *s = &t.shapes[r];
            if (!is_fitted(s, left_out))
                continue;
            const double product = (predicted_s(s) - cast_s(s)) / s->seconds;
            const double off = 1.0 - predicted_s(s) / s->seconds;
            shares_of(s, share);
            for (uint32_t i = 0; i < NODES; i++) {
                b[i] += s->weight * product * share[i] * off;
                for (uint32_t j = 0; j <= i; j++)
                    a[i][j] += s->weight * product * product * share[i] * share[j];
            }
        }
        tie_neighbours(a);
        solve(a, b);
        for (uint32_t i = 0; i < NODES; i++)
            *node(surface, i) = 1.0 + b[i];
        for (uint32_t r = 0; r < t.count; r++) {
            shape *s = &t.shapes[r];
            const double predicted = cast_s(s) + (predicted_s(s) - cast_s(s)) *
                                                     sl_surface_ratio(surface, s->m, s->n, s->k);
            const double off = log(s->seconds / predicted);
            s->weight = 0.05 / fmax(0.02, fabs(off));
        }
    }
}

typedef struct score {
    double sum, count;
} score;

static void
add(score *to, const shape *s)
{
    to->sum += fabs(log(predicted_s(s) / s->seconds));
    to->count += 1.0;
}

static double
mean_of(score s)
{
    return s.sum / fmax(1.0, s.count);
}

/* Mean errors of the law alone and with its surface: (n, k) left out with 1,024 and more on each
 * side, and shapes off the grid. */
static void
print_scores(score apart[2], const sl_gemm_surface *surface)
{
    score off_grid[2] = {{0.0, 0.0}, {0.0, 0.0}};

    for (uint32_t with = 0; with < 2; with++) {
        law()->surface = with == 1 ? surface : NULL;
        for (uint32_t i = 0; i < t.count; i++)
            if (t.shapes[i].off_grid)
                add(&off_grid[with], &t.shapes[i]);
    }
    (void)fprintf(stderr,
                  "%-24s %-6s left out %4.1f %%, with surface %4.1f %%; off grid %4.1f, %4.1f %%\n",
                  t.of->part, t.of->word, 100.0 * mean_of(apart[0]), 100.0 * mean_of(apart[1]),
                  100.0 * mean_of(off_grid[0]), 100.0 * mean_of(off_grid[1]));
}

static void
print_law(double error_ratio)
{
    const sl_gemm_law *l = law();
    uint32_t fitted = 0;

    for (uint32_t i = 0; i < t.count; i++)
        fitted += is_fitted(&t.shapes[i], ROUNDS) && t.shapes[i].m >= 128.0;
    printf(
        "%s,%s,%g,%.4g,%.3g,%.3g,%.4g,%.3g,%.3g,%.3g,%.4g,%.3f,%.3g,%.3f,\"fit to %u %s shapes of "
        "ai-dynamo/aiconfigurator (095f58a) %s, checked on columns left out\"\n",
        t.of->part, t.of->word, l->multiprocessors, l->peak_flops_per_s, l->prologue_k, l->launch_s,
        l->bandwidth_bytes_per_s, l->rate_128x128_ratio, l->rate_128x64_ratio, l->rate_64x64_ratio,
        l->cast_values_per_s, l->hot_ratio, l->hot_flops, error_ratio, fitted, t.of->word,
        t.of->software);
}

static void
print_surface(const sl_gemm_surface *surface)
{
    for (uint32_t n = 0; n < SL_SURFACE_COLUMNS; n++)
        for (uint32_t k = 0; k < SL_SURFACE_DEPTHS; k++) {
            printf("%s,%s,%g,%g", t.of->part, t.of->word, sl_surface_columns[n],
                   sl_surface_depths[k]);
            for (uint32_t m = 0; m < SL_SURFACE_ROWS; m++)
                printf(",%.3f", surface->ratio[n][k][m]);
            printf(",ai-dynamo/aiconfigurator (095f58a) %s\n", t.of->software);
        }
}

static void
fit(bool laws)
{
    const sl_gemm_law committed = *law();
    sl_gemm_surface surface;
    score apart[2] = {{0.0, 0.0}, {0.0, 0.0}};

    for (uint32_t left_out = 0; left_out <= ROUNDS; left_out++) {
        *law() = committed;
        if (laws || left_out < ROUNDS)
            fit_law(left_out);
        fit_surface(&surface, left_out);
        for (uint32_t with = 0; with < 2; with++) {
            law()->surface = with == 1 ? &surface : NULL;
            for (uint32_t i = 0; i < t.count; i++) {
                const shape *s = &t.shapes[i];
                if (s->round == left_out && fmin(s->m, fmin(s->n, s->k)) >= 1024.0)
                    add(&apart[with], s);
            }
        }
    }
    print_scores(apart, &surface);
    if (!laws)
        print_surface(&surface);
    else
        print_law(mean_of(apart[0]));
}

int
main(int argc, char **argv)
{
    sl_errors err = {0};
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;

    catalog = sl_catalog_new(&err);
    if (file == NULL || catalog == NULL)
        stop("usage: fit_products TABLE laws|surfaces");
    const size_t size = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    for (size_t i = 0; i < sizeof collections / sizeof collections[0]; i++) {
        read_table(&collections[i], size);
        fit(strcmp(argv[2], "laws") == 0);
    }
    sl_catalog_free(catalog);
    return EXIT_SUCCESS;
}
