/*
 * Collectives against measured ones, group by group: printed, and held to what they reach where the
 * machine is known. The tables by size are not in this repository; what needs them is skipped
 * without.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "catalog/catalog.h"
#include "engine/links/collective.h"
#include "harness.h"
#include "measured_table.h"
#include "shardline/units.h"

static sl_catalog *catalog;

static const char *const collectives[SL_COLLECTIVE_ALL_TO_ALL + 1] = {
    "all_reduce", "all_gather", "reduce_scatter", "send_recv", "alltoall"};

/* Of ln(predicted / measured). */
typedef struct score {
    double sum, bias, worst;
    uint32_t count;
} score;

static void
add(score *s, double predicted, double measured)
{
    const double error = log(predicted / measured);

    s->sum += fabs(error);
    s->bias += error;
    if (fabs(error) > fabs(s->worst))
        s->worst = error;
    s->count++;
}

static double
mean(const char *name, const score *s)
{
    if (s->count == 0)
        return 0.0;
    printf("  %-44s %4u rows  mean %5.1f %%  bias %6.1f %%  worst %6.1f %%\n", name, s->count,
           100.0 * s->sum / s->count, 100.0 * s->bias / s->count, 100.0 * s->worst);
    return s->sum / s->count;
}

typedef struct machine {
    const char *part, *fabric;
    double per_node, nics, nic_bytes_per_s;
} machine;

static sl_cluster
cluster_of(const machine *m, double nodes)
{
    const sl_part *found = NULL;
    sl_errors err = {0};

    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_part(catalog, m->part, "", &found, &err), SL_OK);
    return (sl_cluster){
        .accelerator = found->accelerator,
        .nodes = (uint32_t)nodes,
        .accelerators_per_node = (uint32_t)m->per_node,
        .nics_per_node = (uint32_t)m->nics,
        .nic_bytes_per_s = m->nic_bytes_per_s,
        .fabric = *sl_catalog_fabric(catalog, m->fabric),
        .oversubscription_ratio = 1.0,
    };
}

/* As many ranks of each node, or a whole domain; a pair one of each. */
static double
predicted_s(const machine *m, sl_collective kind, double nodes, double ranks, double bytes)
{
    const sl_cluster cluster = cluster_of(m, nodes);
    const double members = ranks / nodes;
    sl_group group = sl_group_of(&cluster, (uint64_t)ranks, 1);

    if (nodes > 1.0 && members < m->per_node)
        group = (sl_group){
            .ranks = ranks, .nodes = nodes, .members_per_node = members, .level = SL_LEVEL_NETWORK};
    return sl_collective_s(&cluster, kind, &group, bytes);
}

/* Rows of the table by size that belong together; a part of NULL: the one the row names. */
typedef struct rows {
    const char *name, *source, *system, *op, *library;
    double nodes, least_ranks, most_ranks, least_bytes;
    machine on;
    double bound; /* of the mean; 0 = the machine is not known, or its poster calls it slow */
} rows;

static const rows groups[] = {
    {"all-reduce in a node",
     "/comm/nccl/",
     "",
     "all_reduce",
     "",
     1,
     2,
     8,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.09},
    {"all-gather in a node",
     "/comm/nccl/",
     "",
     "all_gather",
     "",
     1,
     2,
     8,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.08},
    {"reduce-scatter in a node",
     "/comm/nccl/",
     "",
     "reduce_scatter",
     "",
     1,
     2,
     8,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.08},
    {"all-to-all in a node",
     "/comm/nccl/",
     "",
     "alltoall",
     "",
     1,
     2,
     8,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.08},
    {"L40S, a pair",
     "l40s/comm/nccl",
     "",
     "all",
     "",
     1,
     2,
     2,
     0,
     {"nvidia-l40s", "infiniband", 8, 8, 50e9},
     0.06},
    {"L40S, four of one socket",
     "l40s/comm/nccl",
     "",
     "all",
     "",
     1,
     4,
     4,
     0,
     {"nvidia-l40s", "infiniband", 8, 8, 50e9},
     0.16},
    {"L40S, eight on two sockets",
     "l40s/comm/nccl",
     "",
     "all",
     "",
     1,
     8,
     8,
     0,
     {"nvidia-l40s", "infiniband", 8, 8, 50e9},
     0.20},
    {"RTX PRO 6000, two to eight",
     "rtx_pro_6000_server/comm/nccl",
     "",
     "all",
     "",
     1,
     2,
     8,
     0,
     {"nvidia-rtx-pro-6000-blackwell-server", "infiniband", 8, 8, 50e9},
     0.08},
    {"A100, H200, B200: eight, other runs",
     "network/README.md",
     "",
     "all_reduce",
     "",
     1,
     8,
     8,
     1048576,
     {NULL, "infiniband", 8, 8, 50e9},
     0.20},
    {"DGX H100: eight, other runs",
     "dgxc-benchmarking",
     "",
     "all_reduce",
     "",
     1,
     8,
     8,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.10},
    {"H200, B200: four to seven, 8 GiB",
     "network/README.md",
     "",
     "all_reduce",
     "NCCL default",
     1,
     4,
     7,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.10},
    {"pairs in a node, A100 and H100",
     "/send_recv.csv",
     "",
     "send_recv",
     "",
     1,
     2,
     2,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.10},
    {"EFA, 4 nodes of B200",
     "network/README.md",
     "EFAv4",
     "all_reduce",
     "",
     4,
     32,
     32,
     262144,
     {NULL, "efa", 8, 8, 50e9},
     0.05},
    {"pairs across nodes, H100",
     "h100_dgx/send_recv",
     "",
     "send_recv",
     "",
     2,
     2,
     2,
     0,
     {NULL, "infiniband", 8, 8, 50e9},
     0.07},
    {"128 bytes, 32 nodes of A100, 4 x HDR",
     "issue 652",
     "",
     "all_reduce",
     "",
     32,
     256,
     256,
     0,
     {NULL, "infiniband", 8, 4, 25e9},
     0.05},
    {"128 bytes, NVLSTree forced, H20",
     "issue 1244",
     "",
     "all_reduce",
     "",
     2,
     16,
     16,
     0,
     {"nvidia-h20-96gb", "infiniband", 8, 8, 50e9},
     0.0},
    {"4 nodes, machine not said, as 4 x HDR",
     "benchmarks/README.md",
     "",
     "all_reduce",
     "",
     4,
     32,
     32,
     0,
     {"nvidia-a100-sxm4-80gb", "infiniband", 8, 4, 25e9},
     0.0},
    {"EFA, p4d, posted as slow",
     "issue 527",
     "",
     "all_reduce",
     "",
     0,
     16,
     32,
     0,
     {"nvidia-a100-sxm4-40gb", "efa", 8, 4, 12.5e9},
     0.0},
    {"pairs across nodes, A100, network not said",
     "a100_dgx/send_recv",
     "",
     "send_recv",
     "",
     2,
     2,
     2,
     0,
     {NULL, "infiniband", 8, 8, 25e9},
     0.0},
    {"two nodes of A100, network not said",
     "a100_dgx/all_reduce",
     "",
     "all_reduce",
     "",
     2,
     2,
     16,
     0,
     {NULL, "infiniband", 8, 8, 25e9},
     0.0},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static const char *
part_named(const sl_table *t)
{
    static const char *const parts[][2] = {
        {"A100-SXM4-80GB", "nvidia-a100-sxm4-80gb"},
        {"A100-SXM4-40GB", "nvidia-a100-sxm4-40gb"},
        {"H100-SXM5-80GB", "nvidia-h100-sxm5-80gb"},
        {"H200-SXM5-141GB", "nvidia-h200-sxm-141gb"},
        {"B200-SXM", "nvidia-b200-sxm-180gb"},
        {"B300-SXM", "nvidia-b300-sxm"},
        {"GB200", "nvidia-gb200"},
        {"GB300", "nvidia-gb300"},
        {"L40S", "nvidia-l40s"},
        {"RTX-PRO-6000-Blackwell-Server", "nvidia-rtx-pro-6000-blackwell-server"},
    };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (sl_table_is(t, "gpu", parts[i][0]))
            return parts[i][1];
    return NULL;
}

static int
kind_named(const sl_table *t, const char *column)
{
    for (int i = 0; i <= SL_COLLECTIVE_ALL_TO_ALL; i++)
        if (sl_table_is(t, column, collectives[i]))
            return i;
    return -1;
}

static bool
belongs(const sl_table *t, const rows *g)
{
    const double ranks = sl_table_number(t, "gpus"), nodes = sl_table_number(t, "nodes");

    return sl_table_has(t, "source", g->source) && sl_table_has(t, "system", g->system) &&
           sl_table_has(t, "op", g->op) && sl_table_has(t, "library", g->library) &&
           !sl_table_has(t, "library", "NVLS off") && ranks >= g->least_ranks &&
           ranks <= g->most_ranks && (g->nodes > 0.0 ? nodes == g->nodes : nodes > 1.0) &&
           sl_table_number(t, "time_us") > 0.0 &&
           sl_table_number(t, "message_bytes") >= g->least_bytes;
}

static void
collectives_take_as_long_as_measured(void)
{
    score scores[GROUPS] = {{0.0, 0.0, 0.0, 0}};
    sl_table t;

    if (!sl_table_open_shared(&t, "data/collectives.csv"))
        return;
    while (sl_table_next(&t)) {
        const int kind = kind_named(&t, "op");
        for (int i = 0; kind >= 0 && i < GROUPS; i++) {
            machine on = groups[i].on;
            if (on.part == NULL)
                on.part = part_named(&t);
            if (on.part != NULL && belongs(&t, &groups[i]))
                add(&scores[i],
                    predicted_s(&on, (sl_collective)kind, sl_table_number(&t, "nodes"),
                                sl_table_number(&t, "gpus"), sl_table_number(&t, "message_bytes")),
                    SL_US_S * sl_table_number(&t, "time_us"));
        }
    }
    sl_table_close(&t);
    for (int i = 0; i < GROUPS; i++) {
        const double error = mean(groups[i].name, &scores[i]);
        CU_ASSERT_TRUE(scores[i].count > 0);
        if (groups[i].bound > 0.0 && error > groups[i].bound)
            sl_fail_for(groups[i].name);
    }
}

/* SimAI's bandwidths from 2 to 128 nodes of eight, Simple rings alone: NCCL's other protocols are
 * faster below 1 GiB. All-to-all has no such choice. */
static void
ratios_of_line_rate_are_those_of_simai(void)
{
    const machine on = {"nvidia-h100-sxm5-80gb", "infiniband", 8, 8, 50e9};
    score large = {0.0, 0.0, 0.0, 0}, all = {0.0, 0.0, 0.0, 0}, exchange = {0.0, 0.0, 0.0, 0};
    sl_table t;

    if (!sl_table_open_shared(&t, "data/busbw_ratio_by_size.csv"))
        return;
    while (sl_table_next(&t)) {
        const double nodes = sl_table_number(&t, "nodes"), ranks = 8.0 * nodes;
        const double bytes = sl_table_number(&t, "message_bytes");
        const double ratio = sl_table_number(&t, "ratio_of_ideal_busbw");
        if (nodes < 2.0)
            continue;
        if (sl_table_has(&t, "bottleneck", "all-to-all")) {
            add(&exchange, predicted_s(&on, SL_COLLECTIVE_ALL_TO_ALL, nodes, ranks, bytes),
                bytes * (nodes - 1.0) / nodes / (ratio * on.nic_bytes_per_s));
        } else if (sl_table_has(&t, "bottleneck", "NIC")) {
            const double s = predicted_s(&on, SL_COLLECTIVE_ALL_GATHER, nodes, ranks, bytes);
            const double measured_s =
                bytes * (ranks - 1.0) / ranks / (ratio * on.nics * on.nic_bytes_per_s);
            add(&all, s, measured_s);
            if (bytes >= 1e9)
                add(&large, s, measured_s);
        }
    }
    sl_table_close(&t);
    (void)mean("SimAI rings, 16 MiB to 16 GiB", &all);
    CU_ASSERT_TRUE(mean("SimAI rings, from 1 GiB", &large) <= 0.06);
    CU_ASSERT_TRUE(mean("SimAI all-to-all", &exchange) <= 0.13);
}

static void
published_runs_take_as_long_as_measured(void)
{
    static const struct {
        const char *name;
        double bound;
    } wanted[] = {{"rack of 72", 0.04},
                  {"odd groups", 0.05},
                  {"infiniband", 0.08},
                  {"roce", 0.0},
                  {"efa of 8 bytes", 0.15}};
    score scores[sizeof wanted / sizeof wanted[0]] = {{0.0, 0.0, 0.0, 0}};
    sl_table t;

    sl_table_open(&t, sl_tests_path("golden/collectives_public.csv"));
    while (sl_table_next(&t)) {
        const machine on = {sl_csv_get(&t.csv, "part"), sl_csv_get(&t.csv, "fabric"),
                            sl_table_number(&t, "per_node"), sl_table_number(&t, "nics"),
                            sl_table_number(&t, "nic_bytes_per_s")};
        const double nodes = sl_table_number(&t, "nodes"), ranks = nodes * on.per_node;
        const double bytes = sl_table_number(&t, "bytes");
        const sl_collective kind = (sl_collective)kind_named(&t, "collective");
        const double moved =
            bytes * (kind == SL_COLLECTIVE_ALL_REDUCE ? 2.0 : 1.0) * (ranks - 1.0) / ranks;
        const double measured_s = sl_table_number(&t, "time_s") > 0.0
                                      ? sl_table_number(&t, "time_s")
                                      : moved / sl_table_number(&t, "bus_bytes_per_s");
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (sl_table_is(&t, "group", wanted[i].name))
                add(&scores[i], predicted_s(&on, kind, nodes, ranks, bytes), measured_s);
    }
    sl_table_close(&t);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const double error = mean(wanted[i].name, &scores[i]);
        CU_ASSERT_TRUE(scores[i].count > 0);
        if (wanted[i].bound > 0.0 && error > wanted[i].bound)
            sl_fail_for(wanted[i].name);
    }
}

/* NVIDIA, GTC 2024 S62129 and GTC 2025 S72583: rings across four nodes, an all-to-all in a rack. */
static void
large_messages_reach_what_nvidia_shows(void)
{
    static const struct {
        machine on;
        sl_collective kind;
        double nodes, bus_bytes_per_s;
    } shown[] = {
        {{"nvidia-a100-sxm4-80gb", "infiniband", 8, 8, 25e9}, SL_COLLECTIVE_ALL_GATHER, 4, 192e9},
        {{"nvidia-h100-sxm5-80gb", "infiniband", 8, 8, 50e9}, SL_COLLECTIVE_ALL_GATHER, 4, 380e9},
        {{"nvidia-l40s", "infiniband", 1, 1, 25e9}, SL_COLLECTIVE_ALL_GATHER, 4, 24e9},
        {{"nvidia-l40s", "roce", 1, 1, 50e9}, SL_COLLECTIVE_ALL_GATHER, 4, 48e9},
        {{"nvidia-l40s", "ethernet", 1, 1, 12.5e9}, SL_COLLECTIVE_ALL_GATHER, 4, 10e9},
        {{"nvidia-gb200", "infiniband", 4, 4, 50e9}, SL_COLLECTIVE_ALL_TO_ALL, 8, 640e9},
    };
    score s = {0.0, 0.0, 0.0, 0};

    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        const double bytes = 17179869184.0, ranks = shown[i].nodes * shown[i].on.per_node;
        add(&s, predicted_s(&shown[i].on, shown[i].kind, shown[i].nodes, ranks, bytes),
            bytes * (ranks - 1.0) / ranks / shown[i].bus_bytes_per_s);
    }
    CU_ASSERT_TRUE(mean("NVIDIA's slides, 16 GiB", &s) <= 0.05);
}

static const sl_case cases[] = {
    SL_CASE(collectives_take_as_long_as_measured),
    SL_CASE(ratios_of_line_rate_are_those_of_simai),
    SL_CASE(published_runs_take_as_long_as_measured),
    SL_CASE(large_messages_reach_what_nvidia_shows),
};

int
main(int argc, char **argv)
{
    sl_errors err = {0};

    catalog = sl_catalog_new(&err);
    if (catalog == NULL)
        return EXIT_FAILURE;
    const int code =
        sl_run_cases(argc, argv, "collectives_measured", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(catalog);
    return code;
}
