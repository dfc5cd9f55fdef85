#include "engine/links/collective.h"

#include <string.h>

#include "engine/links/links.h"
#include "engine_fixture.h"
#include "harness.h"

static void
a_group_that_fits_a_domain_uses_its_links(void)
{
    sl_cluster cluster = sl_fixture_cluster(4);
    const sl_group inside = sl_group_of(&cluster, 8, 1);
    const sl_group across = sl_group_of(&cluster, 4, 8);
    const sl_group wide = sl_group_of(&cluster, 16, 2);

    CU_ASSERT_EQUAL(inside.level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(across.level, SL_LEVEL_NETWORK);
    sl_expect_near(across.members_per_node, 1.0, 0.0, "stride 8 of 8");
    sl_expect_near(across.nodes, 4.0, 0.0, "one rank a node");
    sl_expect_near(wide.members_per_node, 4.0, 0.0, "stride 2 of 8");
    sl_expect_near(wide.nodes, 4.0, 0.0, "16 ranks, 4 a node");

    cluster.accelerator.scale_up_domain = 2; /* bridges between pairs, PCIe beyond */
    CU_ASSERT_EQUAL(sl_group_of(&cluster, 2, 1).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_group_of(&cluster, 4, 1).level, SL_LEVEL_HOST);

    cluster.accelerators_per_node = 4; /* one rack is one domain over many nodes */
    cluster.accelerator.scale_up_domain = 72;
    CU_ASSERT_EQUAL(sl_group_of(&cluster, 16, 1).level, SL_LEVEL_SCALE_UP);
}

/* 18 nodes of 4 are a domain: 256 ranks take 64 of each, 144 take two whole, 68 a part of one. */
static void
a_job_takes_equal_segments_of_wide_domains(void)
{
    sl_cluster cluster = sl_fixture_cluster(64);

    cluster.accelerators_per_node = 4;
    cluster.accelerator.scale_up_domain = 72;
    CU_ASSERT_EQUAL(sl_collective_domain(&cluster), 64);
    CU_ASSERT_EQUAL(sl_group_of(&cluster, 64, 1).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_group_of(&cluster, 4, 64).level, SL_LEVEL_NETWORK);
    CU_ASSERT_EQUAL(sl_group_pair(&cluster, 0, 64).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_group_pair(&cluster, 63, 65).level, SL_LEVEL_NETWORK);
    cluster.nodes = 36;
    CU_ASSERT_EQUAL(sl_collective_domain(&cluster), 72);
    cluster.nodes = 17;
    CU_ASSERT_EQUAL(sl_collective_domain(&cluster), 72);
    CU_ASSERT_EQUAL(sl_group_of(&cluster, 68, 1).level, SL_LEVEL_SCALE_UP);
}

static void
groups_that_straddle_nodes_are_network_and_say_so(void)
{
    const sl_cluster cluster = sl_fixture_cluster(3);

    for (uint64_t ranks = 3; ranks <= 6; ranks += 3) {
        const sl_group group = sl_group_of(&cluster, ranks, 1); /* some of them cross rank 8 */
        CU_ASSERT_EQUAL(group.level, SL_LEVEL_NETWORK);
        CU_ASSERT_TRUE(group.straddles);
    }
    CU_ASSERT_FALSE(sl_group_of(&cluster, 4, 1).straddles);
    CU_ASSERT_FALSE(sl_group_of(&cluster, 3, 8).straddles);
    CU_ASSERT_FALSE(sl_group_of(&cluster, 24, 1).straddles);
    CU_ASSERT_TRUE(sl_group_of(&cluster, 4, 6).straddles);
}

static void
a_pair_is_as_far_apart_as_its_ranks(void)
{
    sl_cluster cluster = sl_fixture_cluster(2);

    CU_ASSERT_EQUAL(sl_group_pair(&cluster, 0, 8).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_group_pair(&cluster, 6, 10).level, SL_LEVEL_NETWORK);
    cluster.accelerator.scale_up_domain = 4;
    CU_ASSERT_EQUAL(sl_group_pair(&cluster, 0, 4).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_group_pair(&cluster, 2, 6).level, SL_LEVEL_HOST);
}

static void
through_the_host_the_measured_law_counts_where_there_is_one(void)
{
    sl_cluster cluster = sl_fixture_cluster(1);
    cluster.accelerator.scale_up_domain = 1;
    const sl_group group = sl_group_of(&cluster, 8, 1);
    const double bytes = 1e9;

    /* The fixture's law is one between peers: 0.77 of 20 GB/s, 8.4 us and seven steps of 5.7. */
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &group, bytes),
                   8.4e-6 + 7.0 * 5.7e-6 + bytes * 7.0 / 8.0 / 15.4e9, 1e-12, "no law");
    cluster.accelerator.host_collectives = true;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &group, bytes),
                   10e-6 + bytes * 7.0 / 8.0 / 100e9, 1e-12, "its own law");
}

static void
the_slowest_link_in_a_node_also_bounds_what_leaves_it(void)
{
    sl_cluster cluster = sl_fixture_cluster(2);
    const sl_group all = sl_group_of(&cluster, 16, 1);
    const double peers_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &all, 64e9);

    cluster.accelerator.scale_up_domain = 1;
    const sl_group same = sl_group_of(&cluster, 16, 1);
    const double host_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &same, 64e9);
    sl_expect_near(host_s, 64e9 * 15.0 / 16.0 / (15.4e9 * 8.0 / 7.0), 1e-3, "ring over PCIe");
    CU_ASSERT_TRUE(host_s > 2.0 * peers_s);
}

static void
links_without_a_rate_are_known_to_be_unknown(void)
{
    sl_cluster cluster = sl_fixture_cluster(1);

    CU_ASSERT_TRUE(sl_links_known(&cluster));
    cluster.accelerator.scale_up_domain = 2;
    CU_ASSERT_TRUE(sl_links_known(&cluster));
    cluster.accelerator.host_bytes_per_s = 0.0;
    CU_ASSERT_FALSE(sl_links_known(&cluster));
    cluster.accelerators_per_node = 1;
    CU_ASSERT_TRUE(sl_links_known(&cluster));
}

static void
inside_a_node_the_bus_factor_applies(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_group group = sl_group_of(&cluster, 8, 1);

    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &group, 1e9),
                   10e-6 + 1e9 * 2.0 * 7.0 / 8.0 / 100e9, 1e-12, "2 (n - 1) / n");
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &group, 1e9),
                   10e-6 + 1e9 * 7.0 / 8.0 / 100e9, 1e-12, "(n - 1) / n");
}

static void
across_nodes_each_member_brings_its_card(void)
{
    const sl_cluster cluster = sl_fixture_cluster(4);
    const sl_group lone = sl_group_of(&cluster, 4, 8);
    const sl_group full = sl_group_of(&cluster, 32, 1);
    const double bytes = 64e9;

    /* One card of 10 GB/s at 0.96; steps / n of the buffer. Latency is lost in 64 GB. */
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &lone, bytes),
                   bytes * 3.0 / 4.0 / 9.6e9, 1e-4, "one NIC");
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &full, bytes),
                   bytes * 31.0 / 32.0 / 76.8e9, 1e-3, "eight NICs");
}

static void
oversubscription_slows_the_network_only(void)
{
    sl_cluster cluster = sl_fixture_cluster(4);
    const sl_group across = sl_group_of(&cluster, 4, 8);
    const sl_group inside = sl_group_of(&cluster, 8, 1);
    const double before_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &across, 10e9);
    const double inside_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &inside, 10e9);

    cluster.oversubscription_ratio = 2.0;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &across, 10e9),
                   2.0 * before_s, 1e-3, "half the rate");
    CU_ASSERT_EQUAL(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &inside, 10e9), inside_s);
}

/* 64 GB between four lone ranks: 3/4 of it over one card of 10 GB/s at 0.96. */
static void
the_kind_of_network_decides_rate_latency_and_algorithm(void)
{
    sl_cluster cluster = sl_fixture_cluster(4);
    const sl_group lone = sl_group_of(&cluster, 4, 8);
    const double bytes = 64e9, plain_s = bytes * 3.0 / 4.0 / 9.6e9;

    cluster.fabric.line_rate_ratio = 0.48;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &lone, bytes), 2.0 * plain_s,
                   1e-4, "share of the rate");
    cluster.fabric.line_rate_ratio = 0.96;
    cluster.fabric.congestion_ratio = 1.05;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &lone, bytes),
                   1.05 * plain_s, 1e-4, "congestion");
    cluster.nodes = 1024;
    cluster.fabric.large_congestion_ratio = 1.1;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &lone, bytes), 1.1 * plain_s,
                   1e-4, "of 8,192");
    cluster = sl_fixture_cluster(4);

    /* 8.4 us and three steps of 14, twice as long; LL and PAT take less. */
    const double small_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &lone, 4.0);
    cluster.fabric.ring_only = true;
    cluster.fabric.latency_ratio = 2.0;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &lone, 4.0), 92.4e-6, 1e-4,
                   "ring only");
    CU_ASSERT_TRUE(small_s < 25e-6);
}

/* Up to 64 MB for each card a byte takes 1.37 times as long, and none takes longer than 64 MB
 * do. */
static void
small_messages_of_some_networks_go_slower(void)
{
    sl_cluster cluster = sl_fixture_cluster(4);
    const sl_group lone = sl_group_of(&cluster, 4, 8);
    const double plain_s = sl_collective_s(&cluster, SL_COLLECTIVE_SEND_RECEIVE, &lone, 64e6);
    const double half_s = sl_collective_s(&cluster, SL_COLLECTIVE_SEND_RECEIVE, &lone, 32e6);

    cluster.fabric.small_ratio = 1.37;
    cluster.fabric.small_bytes = 64e6;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_SEND_RECEIVE, &lone, 32e6) - half_s,
                   0.37 * 32e6 / 7.2e9, 1e-9, "half of it");
    CU_ASSERT_EQUAL(sl_collective_s(&cluster, SL_COLLECTIVE_SEND_RECEIVE, &lone, 60e6), plain_s);
    CU_ASSERT_EQUAL(sl_collective_s(&cluster, SL_COLLECTIVE_SEND_RECEIVE, &lone, 64e6), plain_s);
}

/* Over two nodes trees through the switches carry 2 x 15/16 of the cards' rate, up to what the
 * switches do. */
static void
switches_that_add_up_beat_the_ring(void)
{
    sl_cluster cluster = sl_fixture_cluster(2);
    const sl_group all = sl_group_of(&cluster, 16, 1);
    const double bytes = 64e9, moved = bytes * 2.0 * 15.0 / 16.0;

    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &all, bytes), moved / 76.8e9,
                   1e-3, "ring");
    cluster.accelerator.reducing_ranks = 5;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &all, bytes), moved / 100e9,
                   1e-3, "the law inside the node");
    cluster.nic_bytes_per_s = 2.5e9;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &all, bytes),
                   moved / (19.2e9 * 15.0 / 8.0), 1e-3, "twice the cards");
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &all, bytes),
                   moved / 2.0 / 19.2e9, 1e-3, "all-reduce alone");
}

static void
groups_between_measured_sizes_lie_between_them(void)
{
    sl_cluster cluster = sl_fixture_cluster(1);
    sl_accelerator *part = &cluster.accelerator;
    const double bytes = 64e9, gathered_s = bytes * 5.0 / 6.0 / 100e9;

    part->collective[SL_COLLECTIVE_ALL_GATHER][1].bus_bytes_per_s = 50e9;
    part->collective[SL_COLLECTIVE_ALL_REDUCE][1].bus_bytes_per_s = 50e9;
    const sl_group six = {.ranks = 6.0, .nodes = 1.0, .members_per_node = 6.0};
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &six, bytes),
                   1.5 * gathered_s, 1e-4, "half way from 4 to 8");
    part->reducing_ranks = 6; /* 9 / 7 of 5 / 7 */
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &six, bytes),
                   2.0 * gathered_s * 49.0 / 45.0, 1e-4, "added up");
    part->reducing_ranks = 7;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &six, bytes),
                   4.0 * gathered_s, 1e-4, "not yet");
}

/* Beyond the largest law a ring goes on in LL where bytes are few: 56 steps of 0.6 us more. */
static void
groups_larger_than_measured_pay_for_their_steps(void)
{
    sl_cluster cluster = sl_fixture_cluster(16);
    cluster.accelerators_per_node = 4;
    cluster.accelerator.scale_up_domain = 72;
    cluster.accelerator.collective[SL_COLLECTIVE_ALL_GATHER][3] = (sl_collective_law){0};
    const sl_group rack = sl_group_of(&cluster, 64, 1);

    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &rack, 64.0),
                   10e-6 + 56.0 * 0.6e-6, 1e-4, "few bytes");
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &rack, 64e9),
                   64e9 * 63.0 / 64.0 / 100e9 + 56.0 * 3.4e-6, 1e-4, "many");
    const double as_priced_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &rack, 64e9);
    cluster.excess.wide_ratio = 0.3;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &rack, 64e9),
                   1.3 * as_priced_s, 1e-12, "the far end of an interval");
}

/* 14 steps of Simple inside the nodes, each posted three times: 6 us in place of 3.4. */
static void
a_host_that_posts_slowly_shows_in_every_step(void)
{
    sl_cluster cluster = sl_fixture_cluster(2);
    const sl_group all = sl_group_of(&cluster, 16, 1);
    const double before_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &all, 64e9);

    cluster.amd_host = true;
    sl_expect_near(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_GATHER, &all, 64e9) - before_s,
                   14.0 * 2.6e-6, 1e-6, "steps");
}

static double
byte_s(const sl_cluster *cluster, sl_collective kind, uint64_t ranks)
{
    const sl_group group = sl_group_of(cluster, ranks, 1);

    return (sl_collective_s(cluster, kind, &group, 3e9) -
            sl_collective_s(cluster, kind, &group, 1e9)) /
           2e9;
}

/* Three links of 20 GB/s of a board of four, of which a ring gets 0.81. */
static void
without_a_switch_a_group_has_the_links_of_its_pairs(void)
{
    sl_cluster cluster = sl_fixture_cluster(1);
    sl_accelerator *const part = &cluster.accelerator;

    cluster.accelerators_per_node = 4;
    part->scale_up_domain = 4;
    part->scale_up_bytes_per_s = 60e9;
    for (uint32_t measured = 0; measured < 2; measured++) {
        part->scale_up_pair_bytes_per_s = 20e9;
        for (uint64_t ranks = 2; ranks <= 4; ranks++) {
            const double peers = (double)(ranks - 1);
            const double bus = 0.81 * 20e9 * peers;
            const double factor = peers / (double)ranks;
            sl_expect_near(sl_links_shared_ratio(part, (double)ranks), peers / 3.0, 1e-12, "share");
            sl_expect_near(byte_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, ranks), 2.0 * factor / bus,
                           1e-9, "all-reduce");
            sl_expect_near(byte_s(&cluster, SL_COLLECTIVE_ALL_TO_ALL, ranks), factor / bus, 1e-9,
                           "all-to-all");
            sl_expect_near(byte_s(&cluster, SL_COLLECTIVE_SEND_RECEIVE, ranks), 1.0 / (0.81 * 20e9),
                           1e-9, "a message has two ends");
        }
        part->scale_up_pair_bytes_per_s = 60e9;
        const double whole_s = byte_s(&cluster, SL_COLLECTIVE_ALL_GATHER, 2);
        part->scale_up_pair_bytes_per_s = 0.0;
        CU_ASSERT_EQUAL(byte_s(&cluster, SL_COLLECTIVE_ALL_GATHER, 2), whole_s);
        memset(part->collective, 0, sizeof part->collective); /* nor where nothing was measured */
    }
}

static void
without_a_switch_nothing_adds_up_and_less_leaves_the_node(void)
{
    sl_cluster cluster = sl_fixture_cluster(4);
    sl_accelerator *const part = &cluster.accelerator;

    part->reducing_ranks = 4;
    CU_ASSERT_TRUE(sl_links_switch_bytes_per_s(part, 8.0) > 0.0);
    sl_expect_near(sl_links_ring_bytes_per_s(part, 2.0), 100e9, 1e-12, "law over a switch");
    part->scale_up_pair_bytes_per_s = 10e9;
    CU_ASSERT_EQUAL(sl_links_switch_bytes_per_s(part, 8.0), 0.0);
    sl_expect_near(sl_links_ring_bytes_per_s(part, 2.0), 8.1e9, 1e-12, "one pair");
    sl_expect_near(sl_links_ring_bytes_per_s(part, 8.0), 56.7e9, 1e-12, "seven of them");
    part->scale_up_domain = 4; /* through the host all is as before */
    sl_expect_near(sl_links_ring_bytes_per_s(part, 8.0), 15.4e9, 1e-12, "PCIe");
}

static void
one_rank_or_no_byte_costs_nothing(void)
{
    const sl_cluster cluster = sl_fixture_cluster(4);
    const sl_group one = sl_group_of(&cluster, 1, 1);
    const sl_group two = sl_group_of(&cluster, 2, 8);

    CU_ASSERT_EQUAL(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &one, 1e9), 0.0);
    CU_ASSERT_EQUAL(sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &two, 0.0), 0.0);
}

static void
time_grows_with_bytes_and_with_ranks(void)
{
    const sl_cluster cluster = sl_fixture_cluster(64);

    for (uint32_t kind = 0; kind < SL_COLLECTIVE_SEND_RECEIVE; kind++)
        for (uint64_t stride = 1; stride <= 8; stride *= 8) {
            double before_s = 0.0;
            for (uint64_t bytes = 1000; bytes <= 10000000000; bytes *= 10) {
                const sl_group group = sl_group_of(&cluster, 16, stride);
                const double s =
                    sl_collective_s(&cluster, (sl_collective)kind, &group, (double)bytes);
                CU_ASSERT_TRUE(s > before_s);
                before_s = s;
            }
            before_s = 0.0;
            for (uint64_t bytes = 64; bytes < 1000000000; bytes += 1 + bytes / 64) {
                const sl_group group = sl_group_of(&cluster, 16, stride);
                const double s =
                    sl_collective_s(&cluster, (sl_collective)kind, &group, (double)bytes);
                CU_ASSERT_TRUE(s > before_s);
                before_s = s;
            }
            before_s = 0.0;
            for (uint64_t ranks = 16; ranks <= 64; ranks *= 2) {
                const sl_group group = sl_group_of(&cluster, ranks, 8);
                const double s = sl_collective_s(&cluster, (sl_collective)kind, &group, 1e9);
                CU_ASSERT_TRUE(s > before_s);
                before_s = s;
            }
        }
}

static const sl_case cases[] = {
    SL_CASE(links_without_a_rate_are_known_to_be_unknown),
    SL_CASE(the_slowest_link_in_a_node_also_bounds_what_leaves_it),
    SL_CASE(through_the_host_the_measured_law_counts_where_there_is_one),
    SL_CASE(a_pair_is_as_far_apart_as_its_ranks),
    SL_CASE(a_job_takes_equal_segments_of_wide_domains),
    SL_CASE(groups_that_straddle_nodes_are_network_and_say_so),
    SL_CASE(a_group_that_fits_a_domain_uses_its_links),
    SL_CASE(inside_a_node_the_bus_factor_applies),
    SL_CASE(across_nodes_each_member_brings_its_card),
    SL_CASE(oversubscription_slows_the_network_only),
    SL_CASE(the_kind_of_network_decides_rate_latency_and_algorithm),
    SL_CASE(small_messages_of_some_networks_go_slower),
    SL_CASE(switches_that_add_up_beat_the_ring),
    SL_CASE(groups_between_measured_sizes_lie_between_them),
    SL_CASE(groups_larger_than_measured_pay_for_their_steps),
    SL_CASE(a_host_that_posts_slowly_shows_in_every_step),
    SL_CASE(without_a_switch_a_group_has_the_links_of_its_pairs),
    SL_CASE(without_a_switch_nothing_adds_up_and_less_leaves_the_node),
    SL_CASE(one_rank_or_no_byte_costs_nothing),
    SL_CASE(time_grows_with_bytes_and_with_ranks),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "collective", cases, sizeof cases / sizeof cases[0]);
}
