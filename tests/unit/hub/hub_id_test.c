/* Names, addresses and origins: what a user may ask for and where an answer may lead. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "hub/address.h"
#include "hub/hub.h"
#include "hub/origin.h"
#include "hub/reach.h"
#include "hub/repository.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const char commit[] = "0123456789abcdef0123456789abcdef01234567";

/* Rules of the errors, joined by a space. */
static const char *
rules_of(const char *repository, const char *revision)
{
    static char rules[256];
    sl_errors err = {0};
    const sl_code code = sl_hub_check_id(repository, revision, "/model", &err);
    rules[0] = '\0';
    size_t used = 0;
    for (uint32_t i = 0; i < err.count; i++) {
        CU_ASSERT_EQUAL(err.list[i].code, SL_E_RANGE);
        CU_ASSERT_STRING_EQUAL(err.list[i].pointer, "/model");
        used += (size_t)snprintf(rules + used, sizeof rules - used, "%s%s", i > 0 ? " " : "",
                                 err.list[i].rule);
    }
    CU_ASSERT_EQUAL(code == SL_OK, err.count == 0);
    return rules;
}

static void
ids_of_the_hub_are_accepted(void)
{
    static const char *const ids[] = {"gpt2", "org/name", "meta-llama/Llama-3.1-8B",
                                      "a/b",  "_a/b_",    "0x/1.2_3-4"};
    for (size_t i = 0; i < COUNT(ids); i++)
        sl_expect_text(rules_of(ids[i], "main"), "", ids[i]);
}

static void
ids_that_break_a_rule_are_refused(void)
{
    static const char *const ids[] = {
        "",        "/",     "a/",     "/b",       "a/b/c",    "a--b/c",     "a/b..c",
        "a/.b",    "a/b.",  "-a/b",   "a-/b",     "a/-b",     "a/b-",       "a/b.git",
        "b.git",   "a b/c", "a/b%2f", "a/b?c",    "a/b#c",    "a/\xc3\xa9", "..",
        "../../x", "a/b\n", "a\\b",   "http://x", "a/b@main", "a:b/c",      "a/b~"};
    for (size_t i = 0; i < COUNT(ids); i++)
        sl_expect_text(rules_of(ids[i], "main"), "invalid_repository", ids[i]);
}

static void
a_part_of_an_id_has_at_most_96_characters(void)
{
    char id[200];
    memset(id, 'a', sizeof id);
    id[96] = '\0';
    sl_expect_text(rules_of(id, "main"), "", "96");
    id[96] = 'a';
    id[97] = '\0';
    sl_expect_text(rules_of(id, "main"), "invalid_repository", "97");
    memset(id, 'a', sizeof id);
    id[96] = '/';
    id[193] = '\0';
    sl_expect_text(rules_of(id, "main"), "", "96/96");
}

static void
revisions_follow_the_rules_of_git(void)
{
    static const char *const good[] = {"main", "refs/pr/1", "v1.0", "feature_x-2", "a%2Fb", commit};
    static const char *const bad[] = {"",     "a b",   "a..b", "/a",  "a/", "a//b",    ".a",
                                      "a/.b", "a~1",   "a^",   "a:b", "a?", "a*",      "a[0]",
                                      "a\\b", "a@{1}", "a.",   "a\n", "..", "\xc3\xa9"};
    for (size_t i = 0; i < COUNT(good); i++)
        sl_expect_text(rules_of("org/name", good[i]), "", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        sl_expect_text(rules_of("org/name", bad[i]), "invalid_revision", bad[i]);

    char revision[202];
    memset(revision, 'a', sizeof revision);
    revision[200] = '\0';
    sl_expect_text(rules_of("org/name", revision), "", "200");
    revision[200] = 'a';
    revision[201] = '\0';
    sl_expect_text(rules_of("org/name", revision), "invalid_revision", "201");
}

static void
both_faults_of_a_name_are_told_at_once(void)
{
    sl_expect_text(rules_of("a b", "c d"), "invalid_repository invalid_revision", "both");
}

static void
only_forty_hexadecimal_digits_are_a_commit(void)
{
    CU_ASSERT_TRUE(sl_hub_is_commit(commit));
    CU_ASSERT_FALSE(sl_hub_is_commit(commit + 1));
    CU_ASSERT_FALSE(sl_hub_is_commit("0123456789abcdef0123456789abcdef012345678"));
    CU_ASSERT_FALSE(sl_hub_is_commit("0123456789abcdef0123456789abcdef0123456g"));
    CU_ASSERT_FALSE(sl_hub_is_commit(""));
}

static void
a_revision_is_encoded_without_safe_characters(void)
{
    char text[64];
    CU_ASSERT_TRUE(sl_hub_percent_encode("refs/pr/1", text, sizeof text));
    CU_ASSERT_STRING_EQUAL(text, "refs%2Fpr%2F1");
    CU_ASSERT_TRUE(sl_hub_percent_encode("a-b._~%+\xc3", text, sizeof text));
    CU_ASSERT_STRING_EQUAL(text, "a-b._~%25%2B%C3");
    CU_ASSERT_TRUE(sl_hub_percent_encode("a/", text, 5));
    CU_ASSERT_FALSE(sl_hub_percent_encode("a/", text, 4));
}

static void
the_address_of_a_file_names_repository_and_revision(void)
{
    const sl_hub_subject config = {
        .repository = "org/name", .revision = "refs/pr/1", .file = "config.json"};
    const sl_hub_subject odd = {.repository = "a", .revision = "main", .file = "b/c d"};
    char url[128];
    CU_ASSERT_TRUE(sl_hub_file_url("https://huggingface.co", &config, url, sizeof url));
    CU_ASSERT_STRING_EQUAL(url,
                           "https://huggingface.co/org/name/resolve/refs%2Fpr%2F1/config.json");
    CU_ASSERT_FALSE(sl_hub_file_url("https://huggingface.co", &config, url, 40));
    CU_ASSERT_TRUE(sl_hub_file_url("https://huggingface.co", &odd, url, sizeof url));
    CU_ASSERT_STRING_EQUAL(url, "https://huggingface.co/a/resolve/main/b%2Fc%20d");
}

static void
a_folder_gives_its_repository_back(void)
{
    static const char *const none[] = {
        "datasets--org--name", "models--",           "models--a--b--c",
        "models--org--",       "models--..",         "org--name",
        "models--org--na\nme", "models--org--x.git", ""};
    char id[SL_HUB_ID_SIZE];
    CU_ASSERT_TRUE(sl_hub_id_of_folder("models--org--name", id));
    CU_ASSERT_STRING_EQUAL(id, "org/name");
    CU_ASSERT_TRUE(sl_hub_id_of_folder("models--gpt2", id));
    CU_ASSERT_STRING_EQUAL(id, "gpt2");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CU_ASSERT_FALSE(sl_hub_id_of_folder(none[i], id));
}

static void
no_two_repositories_share_a_folder(void)
{
    char folder[SL_HUB_ID_SIZE + 16];
    sl_hub_folder_name("org/name", folder);
    CU_ASSERT_STRING_EQUAL(folder, "models--org--name");
    sl_hub_folder_name("org-name", folder);
    CU_ASSERT_STRING_EQUAL(folder, "models--org-name");
}

static void
addresses_inside_a_network_are_told_from_public_ones(void)
{
    static const struct {
        const char *text;
        sl_hub_address kind;
    } rows[] = {
        {"1.1.1.1", SL_HUB_ADDRESS_PUBLIC},
        {"172.15.255.255", SL_HUB_ADDRESS_PUBLIC},
        {"172.32.0.0", SL_HUB_ADDRESS_PUBLIC},
        {"100.63.255.255", SL_HUB_ADDRESS_PUBLIC},
        {"100.128.0.0", SL_HUB_ADDRESS_PUBLIC},
        {"223.255.255.255", SL_HUB_ADDRESS_PUBLIC},
        {"2606:4700::1111", SL_HUB_ADDRESS_PUBLIC},
        {"64:ff9b::1.1.1.1", SL_HUB_ADDRESS_PUBLIC},
        {"127.0.0.1", SL_HUB_ADDRESS_LOOPBACK},
        {"127.255.255.255", SL_HUB_ADDRESS_LOOPBACK},
        {"::1", SL_HUB_ADDRESS_LOOPBACK},
        {"0.0.0.0", SL_HUB_ADDRESS_RESERVED},
        {"10.0.0.1", SL_HUB_ADDRESS_RESERVED},
        {"100.64.0.1", SL_HUB_ADDRESS_RESERVED},
        {"100.127.255.255", SL_HUB_ADDRESS_RESERVED},
        {"169.254.169.254", SL_HUB_ADDRESS_RESERVED},
        {"172.16.0.1", SL_HUB_ADDRESS_RESERVED},
        {"172.31.255.255", SL_HUB_ADDRESS_RESERVED},
        {"192.168.1.1", SL_HUB_ADDRESS_RESERVED},
        {"198.19.255.255", SL_HUB_ADDRESS_RESERVED},
        {"224.0.0.1", SL_HUB_ADDRESS_RESERVED},
        {"255.255.255.255", SL_HUB_ADDRESS_RESERVED},
        {"::", SL_HUB_ADDRESS_RESERVED},
        {"::ffff:127.0.0.1", SL_HUB_ADDRESS_RESERVED},
        {"::ffff:1.1.1.1", SL_HUB_ADDRESS_RESERVED},
        {"64:ff9b::10.0.0.1", SL_HUB_ADDRESS_RESERVED},
        {"64:ff9b::127.0.0.1", SL_HUB_ADDRESS_RESERVED},
        {"fe80::1", SL_HUB_ADDRESS_RESERVED},
        {"fe80::1%eth0", SL_HUB_ADDRESS_RESERVED},
        {"fc00::1", SL_HUB_ADDRESS_RESERVED},
        {"fd12:3456::1", SL_HUB_ADDRESS_RESERVED},
        {"ff02::1", SL_HUB_ADDRESS_RESERVED},
        {"2001::1", SL_HUB_ADDRESS_RESERVED},
        {"2001:db8::1", SL_HUB_ADDRESS_RESERVED},
        {"2002:a00:1::", SL_HUB_ADDRESS_RESERVED},
        {"huggingface.co", SL_HUB_ADDRESS_NONE},
        {"", SL_HUB_ADDRESS_NONE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const char *const names[] = {"none", "public", "loopback", "reserved"};
        sl_expect_text(names[sl_hub_address_kind(rows[i].text)], names[rows[i].kind], rows[i].text);
    }
}

static bool
may_lead(const char *endpoint, const char *target)
{
    sl_hub_origin from, to;
    const bool parsed = sl_hub_origin_parse(endpoint, &from);
    CU_ASSERT_TRUE(parsed);
    return sl_hub_origin_parse(target, &to) && sl_hub_origin_allowed(&to, &from);
}

static void
the_hub_may_lead_to_public_https_only(void)
{
    static const char hub[] = "https://huggingface.co";
    static const char *const good[] = {"https://huggingface.co/x", "https://cdn-lfs.hf.co/a?b=c",
                                       "https://1.1.1.1/", "https://[2606:4700::1111]/"};
    static const char *const bad[] = {"http://huggingface.co/x",
                                      "http://cdn.example/x",
                                      "https://127.0.0.1/",
                                      "https://localhost/",
                                      "https://10.0.0.1/",
                                      "https://[::1]/",
                                      "https://[fe80::1]/",
                                      "https://0x7f.1/",
                                      "https://2130706433/",
                                      "https://169.254.169.254",
                                      "ftp://cdn.example/",
                                      "file:///etc/hostname",
                                      "gopher://1.1.1.1/",
                                      "https://a:b@cdn.example/",
                                      "/relative",
                                      "https://[::ffff:10.0.0.1]/",
                                      ""};
    for (size_t i = 0; i < COUNT(good); i++)
        sl_expect_text(may_lead(hub, good[i]) ? "yes" : "no", "yes", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        sl_expect_text(may_lead(hub, bad[i]) ? "yes" : "no", "no", bad[i]);
}

static void
a_stand_in_on_loopback_may_lead_to_loopback(void)
{
    static const char hub[] = "http://127.0.0.1:8000";
    CU_ASSERT_TRUE(may_lead(hub, "http://127.0.0.2:9000/x"));
    CU_ASSERT_TRUE(may_lead(hub, "http://localhost:9000/x"));
    CU_ASSERT_TRUE(may_lead(hub, "https://cdn.example/x"));
    CU_ASSERT_FALSE(may_lead(hub, "http://cdn.example/x"));
    CU_ASSERT_FALSE(may_lead(hub, "http://169.254.169.254/latest/meta-data/"));
    CU_ASSERT_FALSE(may_lead(hub, "https://10.0.0.1/"));
}

static void
an_origin_is_scheme_host_and_port(void)
{
    sl_hub_origin a, b;
    CU_ASSERT_TRUE(sl_hub_origin_parse("https://huggingface.co/x", &a));
    CU_ASSERT_TRUE(sl_hub_origin_parse("https://HuggingFace.co:443", &b));
    CU_ASSERT_TRUE(sl_hub_origin_equal(&a, &b));
    CU_ASSERT_TRUE(sl_hub_origin_parse("https://huggingface.co:444", &b));
    CU_ASSERT_FALSE(sl_hub_origin_equal(&a, &b));
    CU_ASSERT_TRUE(sl_hub_origin_parse("http://huggingface.co:443", &b));
    CU_ASSERT_FALSE(sl_hub_origin_equal(&a, &b));
    CU_ASSERT_TRUE(sl_hub_origin_parse("https://huggingface.co.example", &b));
    CU_ASSERT_FALSE(sl_hub_origin_equal(&a, &b));
}

static void
only_the_endpoints_own_addresses_inside_our_network_are_reached(void)
{
    static const char *const inside[] = {"10.1.2.3", "192.168.0.1",     "169.254.169.254",
                                         "fe80::1",  "::ffff:10.1.2.3", "fd00::1",
                                         "0.0.0.0"};
    sl_hub_reach reach = {.next = 0};
    char address[32];
    for (size_t i = 0; i < COUNT(inside); i++)
        CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, false, inside[i]));
    CU_ASSERT_TRUE(sl_hub_reach_allows(&reach, false, "93.184.216.34"));
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, false, "127.0.0.1"));
    CU_ASSERT_TRUE(sl_hub_reach_allows(&reach, true, "127.0.0.1"));
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, true, "10.1.2.3"));
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, true, ""));
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, true, "localhost"));

    sl_hub_reach_learn(&reach, "10.1.2.3");
    CU_ASSERT_TRUE(sl_hub_reach_allows(&reach, false, "10.1.2.3"));
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, false, "10.1.2.4"));
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, false, "::ffff:10.1.2.3"));
    /* The latest are remembered. */
    for (int i = 0; i < SL_HUB_OWN_ADDRESSES_MAX; i++) {
        (void)sl_text_format(address, sizeof address, "10.0.0.%d", i);
        sl_hub_reach_learn(&reach, address);
        sl_hub_reach_learn(&reach, address);
    }
    CU_ASSERT_FALSE(sl_hub_reach_allows(&reach, false, "10.1.2.3"));
    CU_ASSERT_TRUE(sl_hub_reach_allows(&reach, false, "10.0.0.0"));
}

static const sl_case cases[] = {
    SL_CASE(only_the_endpoints_own_addresses_inside_our_network_are_reached),
    SL_CASE(ids_of_the_hub_are_accepted),
    SL_CASE(ids_that_break_a_rule_are_refused),
    SL_CASE(a_part_of_an_id_has_at_most_96_characters),
    SL_CASE(revisions_follow_the_rules_of_git),
    SL_CASE(both_faults_of_a_name_are_told_at_once),
    SL_CASE(only_forty_hexadecimal_digits_are_a_commit),
    SL_CASE(a_revision_is_encoded_without_safe_characters),
    SL_CASE(the_address_of_a_file_names_repository_and_revision),
    SL_CASE(a_folder_gives_its_repository_back),
    SL_CASE(no_two_repositories_share_a_folder),
    SL_CASE(addresses_inside_a_network_are_told_from_public_ones),
    SL_CASE(the_hub_may_lead_to_public_https_only),
    SL_CASE(a_stand_in_on_loopback_may_lead_to_loopback),
    SL_CASE(an_origin_is_scheme_host_and_port),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub_id", cases, COUNT(cases));
}
