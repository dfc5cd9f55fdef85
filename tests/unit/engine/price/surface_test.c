/* What measured products differ by from their law, and what of it a product is given. */
#include "engine/price/kernel.h"
#include "engine/price/surface.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_gemm_surface surface;

/* 1 everywhere but at one node. */
static void
raise_node(uint32_t n, uint32_t k, uint32_t m, double ratio)
{
    for (uint32_t i = 0; i < SL_SURFACE_COLUMNS; i++)
        for (uint32_t j = 0; j < SL_SURFACE_DEPTHS; j++)
            for (uint32_t r = 0; r < SL_SURFACE_ROWS; r++)
                surface.ratio[i][j][r] = 1.0;
    surface.ratio[n][k][m] = ratio;
}

static void
a_surface_is_linear_between_its_nodes(void)
{
    raise_node(1, 1, 3, 1.4); /* 2,048 cubed */
    sl_expect_near(sl_surface_ratio(&surface, 2048, 2048, 2048), 1.4, 1e-12, "a node");
    sl_expect_near(sl_surface_ratio(&surface, 4096, 2048, 2048), 1.2, 1e-12, "half way in rows");
    sl_expect_near(sl_surface_ratio(&surface, 2048, 1024, 2048), 1.2, 1e-12, "... in columns");
    sl_expect_near(sl_surface_ratio(&surface, 4096, 4096, 4096), 1.05, 1e-12, "... in all three");
    sl_expect_near(sl_surface_ratio(&surface, 8192, 2048, 2048), 1.0, 1e-12, "the next node");
}

/* Tables end at 51,200 columns and a depth of 16,384, behind the last nodes. */
static void
beyond_the_tables_the_law_returns(void)
{
    raise_node(3, 2, 5, 1.4);
    sl_expect_near(sl_surface_ratio(&surface, 32768, 51200, 16384), 1.4, 1e-12, "the corner");
    sl_expect_near(sl_surface_ratio(&surface, 65536, 51200, 16384), 1.2, 1e-12, "an octave off");
    sl_expect_near(sl_surface_ratio(&surface, 65536, 102400, 16384), 1.1, 1e-12, "two");
    CU_ASSERT_EQUAL(sl_surface_octaves_outside(16, 512, 512), 0.0);
    sl_expect_near(sl_surface_octaves_outside(8, 256, 256), 3.0, 1e-12, "below on all sides");
    raise_node(0, 0, 0, 0.6);
    sl_expect_near(sl_surface_ratio(&surface, 16, 512, 512), 0.6, 1e-12, "the other corner");
    sl_expect_near(sl_surface_ratio(&surface, 4, 512, 512), 0.9, 1e-12, "two octaves below");
}

static sl_slice
fixture_slice(void)
{
    return (sl_slice){.accelerator = &cluster.accelerator,
                      .clock_ratio = 1.0,
                      .element_bytes = 2.0,
                      .precision = SL_PRECISION_BF16};
}

/* How much longer than by its law. */
static double
surfaced(const sl_slice *slice, sl_product product)
{
    cluster.accelerator.gemm.surface = NULL;
    const double law_s = sl_kernel_product_s(slice, product);
    cluster.accelerator.gemm.surface = &surface;
    return sl_kernel_product_s(slice, product) / law_s;
}

static void
single_products_of_the_measured_precision_have_the_surface(void)
{
    cluster = sl_fixture_cluster(1);
    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP8] = 200e12;
    raise_node(1, 1, 3, 1.4);
    sl_slice slice = fixture_slice();
    sl_product product = {1.0, 2048.0, 2048.0, 2048.0, SL_PRECISION_BF16, false};

    sl_expect_near(surfaced(&slice, product), 1.4, 1e-12, "bf16");
    slice.clock_ratio = 0.8;
    sl_expect_near(surfaced(&slice, product), 1.4, 1e-12, "at the clock of hours too");
    product.precision = SL_PRECISION_FP16;
    sl_expect_near(surfaced(&slice, product), 1.4, 1e-12, "fp16");
    product.precision = SL_PRECISION_FP32;
    sl_expect_near(surfaced(&slice, product), 1.0, 1e-12, "fp32 was not measured");
    product.precision = SL_PRECISION_FP8;
    sl_expect_near(surfaced(&slice, product), 1.0, 1e-12, "nor fp8");
    slice.by_row = true;
    sl_expect_near(surfaced(&slice, product), 1.0, 1e-12, "nor row by row");
    product = (sl_product){2.0, 2048.0, 2048.0, 2048.0, SL_PRECISION_BF16, false};
    sl_expect_near(surfaced(&slice, product), 1.0, 1e-12, "nor several at once");
}

/* A table's time has the cast in it, and long products at the clock they drive the part to. */
static void
tables_cast_and_run_hot(void)
{
    cluster = sl_fixture_cluster(1);
    sl_accelerator *part = &cluster.accelerator;
    sl_slice slice = fixture_slice();
    sl_product product = {1.0, 8192.0, 8192.0, 8192.0, SL_PRECISION_FP8, false};

    part->peak_flops_per_s[SL_PRECISION_FP8] = 200e12;
    part->low_gemm[SL_LOW_PRODUCT_FP8] = part->gemm;
    part->low_gemm[SL_LOW_PRODUCT_FP8].cast_values_per_s = 1e12;
    sl_expect_near(sl_kernel_timed_s(part, product) - sl_kernel_product_s(&slice, product),
                   8192.0 * 8192.0 / 1e12, 1e-9, "the cast of m x k");
    product.precision = SL_PRECISION_BF16;
    sl_expect_near(sl_kernel_timed_s(part, product), sl_kernel_product_s(&slice, product), 1e-12,
                   "16 bits, cool");
    part->gemm.hot_ratio = 0.8;
    part->gemm.hot_flops = 2.0 * 8192.0 * 8192.0 * 8192.0;
    slice.clock_ratio = 0.9;
    sl_expect_near(sl_kernel_timed_s(part, product), sl_kernel_product_s(&slice, product), 1e-12,
                   "half way to 0.8");
}

static const sl_case cases[] = {
    SL_CASE(a_surface_is_linear_between_its_nodes),
    SL_CASE(beyond_the_tables_the_law_returns),
    SL_CASE(single_products_of_the_measured_precision_have_the_surface),
    SL_CASE(tables_cast_and_run_hot),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "surface", cases, sizeof cases / sizeof cases[0]);
}
