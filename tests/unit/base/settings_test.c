#include "base/settings.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

/* The environment of the running case: pairs of name and value, ended by NULL. */
static const char *const *environment;

static const char *
get(const char *name)
{
    for (const char *const *at = environment; *at != NULL; at += 2) {
        if (strcmp(at[0], name) == 0)
            return at[1];
    }
    return NULL;
}

static sl_code
read_settings(const char *const *pairs, sl_settings *out, sl_errors *err)
{
    environment = pairs;
    *err = (sl_errors){0};
    return sl_settings_read(get, out, err);
}

static void
an_empty_environment_gives_the_defaults(void)
{
    sl_settings s = {0};
    sl_errors err;
    CU_ASSERT_EQUAL(read_settings((const char *const[]){NULL}, &s, &err), SL_OK);
    sl_expect_text(s.listen_host, "127.0.0.1", "host");
    CU_ASSERT_EQUAL(s.listen_port, 8080);
    sl_expect_text(s.database_url, "", "database");
    sl_expect_text(s.cache_dir, ".shardline/cache", "cache");
    sl_expect_text(s.static_dir, "static/dist", "static");
    CU_ASSERT_TRUE(s.workers >= 1);
    CU_ASSERT_EQUAL(s.log_level, SL_LOG_INFO);
    CU_ASSERT_EQUAL(s.max_body_bytes, 1048576);
    CU_ASSERT_EQUAL(s.allowed_host_count, 0);
    sl_expect_text(s.hub_endpoint, "https://huggingface.co", "endpoint");
    sl_expect_text(s.hub_proxy, "", "proxy");
    sl_expect_text(s.hub_token, "", "token");
    CU_ASSERT_FALSE(s.hub_offline);
    sl_expect_text(s.hub_token_path, "", "token file");
    sl_expect_text(s.hf_cache_dir, "", "official cache");
    CU_ASSERT_EQUAL(s.hub_etag_timeout_s, 0);
    CU_ASSERT_EQUAL(s.hub_download_timeout_s, 0);
}

static void
every_variable_is_read(void)
{
    static const char *const pairs[] = {"SHARDLINE_LISTEN",
                                        "[::1]:0",
                                        "SHARDLINE_DATABASE_URL",
                                        "postgresql:///plans",
                                        "SHARDLINE_CACHE_DIR",
                                        "/var/cache/s",
                                        "SHARDLINE_STATIC_DIR",
                                        "/srv/dashboard",
                                        "SHARDLINE_WORKERS",
                                        "3",
                                        "SHARDLINE_LOG_LEVEL",
                                        "debug",
                                        "SHARDLINE_MAX_BODY_BYTES",
                                        "2048",
                                        "SHARDLINE_ALLOWED_HOSTS",
                                        "plan.example.org , other:8080,",
                                        "SHARDLINE_HUB_PROXY",
                                        "http://proxy.example.org:3128",
                                        "HF_ENDPOINT",
                                        "http://127.0.0.1:9/hub//",
                                        "HF_TOKEN",
                                        " hf_abc\n",
                                        "HF_HUB_OFFLINE",
                                        "Yes",
                                        "HF_HOME",
                                        "/data/hf",
                                        "HF_HUB_ETAG_TIMEOUT",
                                        "2",
                                        "HF_HUB_DOWNLOAD_TIMEOUT",
                                        "15",
                                        NULL};
    sl_settings s = {0};
    sl_errors err;
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_OK);
    sl_expect_text(s.listen_host, "::1", "host");
    CU_ASSERT_EQUAL(s.listen_port, 0);
    sl_expect_text(s.database_url, "postgresql:///plans", "database");
    sl_expect_text(s.cache_dir, "/var/cache/s", "cache");
    sl_expect_text(s.static_dir, "/srv/dashboard", "static");
    CU_ASSERT_EQUAL(s.workers, 3);
    CU_ASSERT_EQUAL(s.log_level, SL_LOG_DEBUG);
    CU_ASSERT_EQUAL(s.max_body_bytes, 2048);
    CU_ASSERT_EQUAL(s.allowed_host_count, 2);
    sl_expect_text(s.allowed_hosts[0], "plan.example.org", "first name");
    sl_expect_text(s.allowed_hosts[1], "other:8080", "second name");
    sl_expect_text(s.hub_proxy, "http://proxy.example.org:3128", "proxy");
    sl_expect_text(s.hub_endpoint, "http://127.0.0.1:9/hub", "endpoint");
    sl_expect_text(s.hub_token, "hf_abc", "token");
    CU_ASSERT_TRUE(s.hub_offline);
    sl_expect_text(s.hf_cache_dir, "/data/hf/hub", "official cache");
    sl_expect_text(s.hub_token_path, "", "a token in a variable goes before the file");
    CU_ASSERT_EQUAL(s.hub_etag_timeout_s, 2);
    CU_ASSERT_EQUAL(s.hub_download_timeout_s, 15);
}

static void
an_empty_variable_is_not_set(void)
{
    static const char *const pairs[] = {"SHARDLINE_LISTEN",
                                        "",
                                        "SHARDLINE_WORKERS",
                                        "",
                                        "SHARDLINE_LOG_LEVEL",
                                        "",
                                        "HF_ENDPOINT",
                                        "",
                                        "SHARDLINE_HUB_PROXY",
                                        "",
                                        NULL};
    sl_settings s = {0};
    sl_errors err;
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_OK);
    CU_ASSERT_EQUAL(s.listen_port, 8080);
    sl_expect_text(s.hub_endpoint, "https://huggingface.co", "endpoint");
}

static void
the_cache_follows_xdg_then_home(void)
{
    sl_settings s = {0};
    sl_errors err;
    CU_ASSERT_EQUAL(
        read_settings((const char *const[]){"XDG_CACHE_HOME", "/x", "HOME", "/h", NULL}, &s, &err),
        SL_OK);
    sl_expect_text(s.cache_dir, "/x/shardline", "XDG");
    CU_ASSERT_EQUAL(
        read_settings((const char *const[]){"XDG_CACHE_HOME", "relative", "HOME", "/h", NULL}, &s,
                      &err),
        SL_OK);
    sl_expect_text(s.cache_dir, "/h/.cache/shardline", "home");
}

static void
every_fault_is_collected_and_names_its_variable(void)
{
    static const char *const pairs[] = {"SHARDLINE_LISTEN",
                                        "8080",
                                        "SHARDLINE_DATABASE_URL",
                                        "mysql://x",
                                        "SHARDLINE_WORKERS",
                                        "0",
                                        "SHARDLINE_LOG_LEVEL",
                                        "loud",
                                        "SHARDLINE_MAX_BODY_BYTES",
                                        "12 MB",
                                        "SHARDLINE_ALLOWED_HOSTS",
                                        "a b",
                                        "SHARDLINE_HUB_PROXY",
                                        "proxy:3128",
                                        "HF_ENDPOINT",
                                        "huggingface.co",
                                        "HF_TOKEN",
                                        "two words",
                                        NULL};
    const sl_settings untouched = {.listen_port = 9};
    sl_settings s = untouched;
    sl_errors err;
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(s.listen_port, 9);
    CU_ASSERT_EQUAL(err.count, 9);
    static const char *const rules[] = {"invalid_address", "invalid_url",  "out_of_range",
                                        "unknown_value",   "out_of_range", "invalid_host",
                                        "invalid_url",     "invalid_url",  "invalid_token"};
    for (size_t i = 0; pairs[2 * i] != NULL; i++) {
        const char *rule = "";
        for (uint32_t j = 0; j < err.count; j++)
            if (strstr(err.list[j].message, pairs[2 * i]) != NULL)
                rule = err.list[j].rule;
        sl_expect_text(rule, rules[i], pairs[2 * i]);
    }
}

static void
faults_never_show_a_value(void)
{
    static const char *const pairs[] = {"SHARDLINE_LISTEN",
                                        "SECRET",
                                        "SHARDLINE_DATABASE_URL",
                                        "SECRET",
                                        "SHARDLINE_WORKERS",
                                        "SECRET",
                                        "SHARDLINE_LOG_LEVEL",
                                        "SECRET",
                                        "SHARDLINE_MAX_BODY_BYTES",
                                        "SECRET",
                                        "SHARDLINE_ALLOWED_HOSTS",
                                        "SECRET!",
                                        "SHARDLINE_HUB_PROXY",
                                        "SECRET",
                                        "HF_ENDPOINT",
                                        "SECRET",
                                        "HF_TOKEN",
                                        "SECRET SECRET",
                                        NULL};
    sl_settings s = {0};
    sl_errors err;
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(err.count, 9);
    for (uint32_t i = 0; i < err.count; i++) {
        CU_ASSERT_PTR_NULL(strstr(err.list[i].message, "SECRET"));
        CU_ASSERT_PTR_NULL(strstr(err.list[i].hint, "SECRET"));
    }
}

static void
bad_addresses_are_refused(void)
{
    static const char *const refused[] = {"host",      ":8080",          "host:",  "host:65536",
                                          "host:-1",   "::1:8080",       "[::1]",  "[]:80",
                                          "[host]:80", "http://host:80", "a b:80", "host:80:90"};
    static const char *const accepted[] = {"host:0", "0.0.0.0:65535", "[::]:1", "localhost:8080"};
    sl_settings s = {0};
    sl_errors err;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *const pairs[] = {"SHARDLINE_LISTEN", refused[i], NULL};
        CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
        sl_expect_text(err.list[0].pointer, "/SHARDLINE_LISTEN", refused[i]);
    }
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        const char *const pairs[] = {"SHARDLINE_LISTEN", accepted[i], NULL};
        CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_OK);
    }
}

static void
too_long_values_are_refused(void)
{
    static const char *const names[] = {"SHARDLINE_LISTEN",
                                        "SHARDLINE_CACHE_DIR",
                                        "SHARDLINE_STATIC_DIR",
                                        "SHARDLINE_ALLOWED_HOSTS",
                                        "HF_TOKEN",
                                        "HF_HOME",
                                        "XDG_CACHE_HOME"};
    char wide[2000];
    memset(wide, 'a', sizeof wide - 1);
    wide[0] = '/';
    wide[sizeof wide - 1] = '\0';
    sl_settings s = {0};
    sl_errors err;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const pairs[] = {names[i], wide, NULL};
        CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
        CU_ASSERT_EQUAL(err.count, 1);
    }
    const char *const pairs[] = {"SHARDLINE_CACHE_DIR", wide, NULL};
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "too_long", "rule");
}

static void
at_most_sixteen_hosts_are_allowed(void)
{
    char list[64] = "";
    sl_settings s = {0};
    sl_errors err;
    const char *const pairs[] = {"SHARDLINE_ALLOWED_HOSTS", list, NULL};
    for (int i = 0; i < 16; i++)
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%c,", 'a' + i);
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_OK);
    CU_ASSERT_EQUAL(s.allowed_host_count, 16);
    (void)snprintf(list + strlen(list), sizeof list - strlen(list), "q,r");
    CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(err.count, 1);
    sl_expect_text(err.list[0].rule, "too_many", "rule");
}

static void
offline_means_what_the_hub_library_takes_for_true(void)
{
    static const char *const yes[] = {"1", "ON", "yes", "True"}, *const no[] = {"0", "off", "2",
                                                                                "y"};
    sl_settings s = {0};
    sl_errors err;
    for (size_t i = 0; i < 4; i++) {
        const char *const on[] = {"HF_HUB_OFFLINE", yes[i], NULL};
        CU_ASSERT_EQUAL(read_settings(on, &s, &err), SL_OK);
        CU_ASSERT_TRUE(s.hub_offline);
        const char *const off[] = {"HF_HUB_OFFLINE", no[i], NULL};
        CU_ASSERT_EQUAL(read_settings(off, &s, &err), SL_OK);
        CU_ASSERT_FALSE(s.hub_offline);
    }
}

static void
either_library_can_be_told_to_stay_offline(void)
{
    static const char *const other[] = {"TRANSFORMERS_OFFLINE", "YES", "HF_HUB_OFFLINE", "0", NULL};
    sl_settings s = {0};
    sl_errors err;
    CU_ASSERT_EQUAL(read_settings(other, &s, &err), SL_OK);
    CU_ASSERT_TRUE(s.hub_offline);
}

static void
a_token_is_looked_for_in_the_order_of_the_hub_library(void)
{
    static const struct {
        const char *pairs[9];
        const char *token, *path;
        bool given;
    } rows[] = {
        {{"HF_TOKEN", "hf_a", "HUGGING_FACE_HUB_TOKEN", "hf_b", NULL}, "hf_a", "", false},
        {{"HUGGING_FACE_HUB_TOKEN", " hf_b\n", "HF_TOKEN_PATH", "/t", NULL}, "hf_b", "", false},
        {{"HF_TOKEN_PATH", "/t", "HF_HOME", "/h", NULL}, "", "/t", true},
        {{"HF_HOME", "/h", "XDG_CACHE_HOME", "/x", NULL}, "", "/h/token", false},
        {{"XDG_CACHE_HOME", "/x", "HOME", "/u", NULL}, "", "/x/huggingface/token", false},
        {{"HOME", "/u", NULL}, "", "/u/.cache/huggingface/token", false},
        {{"HF_TOKEN", "hf_a", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "true", NULL}, "", "", false},
        {{"HF_TOKEN_PATH", "/t", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1", NULL}, "", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_settings s = {0};
        sl_errors err;
        CU_ASSERT_EQUAL(read_settings(rows[i].pairs, &s, &err), SL_OK);
        sl_expect_text(s.hub_token, rows[i].token, "token");
        sl_expect_text(s.hub_token_path, rows[i].path, "path");
        CU_ASSERT_EQUAL(s.hub_token_path_given, rows[i].given);
    }
}

static void
the_official_cache_is_where_its_own_tools_have_it(void)
{
    static const struct {
        const char *pairs[9];
        const char *folder;
    } rows[] = {
        {{"HF_HUB_CACHE", "/c", "HUGGINGFACE_HUB_CACHE", "/d", "HF_HOME", "/h", NULL}, "/c"},
        {{"HUGGINGFACE_HUB_CACHE", "/d", "HF_HOME", "/h", NULL}, "/d"},
        {{"HF_HOME", "/h", "XDG_CACHE_HOME", "/x", NULL}, "/h/hub"},
        {{"XDG_CACHE_HOME", "/x", "HOME", "/u", NULL}, "/x/huggingface/hub"},
        {{"HOME", "/u", NULL}, "/u/.cache/huggingface/hub"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_settings s = {0};
        sl_errors err;
        CU_ASSERT_EQUAL(read_settings(rows[i].pairs, &s, &err), SL_OK);
        sl_expect_text(s.hf_cache_dir, rows[i].folder, "folder");
    }
}

static void
time_outs_have_bounds(void)
{
    static const char *const wrong[] = {"0", "16", "-1", "1.5", "x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *const pairs[] = {"HF_HUB_ETAG_TIMEOUT", wrong[i], "HF_HUB_DOWNLOAD_TIMEOUT",
                                     wrong[i], NULL};
        sl_settings s = {0};
        sl_errors err;
        CU_ASSERT_EQUAL(read_settings(pairs, &s, &err), SL_E_RANGE);
        CU_ASSERT_EQUAL(err.count, 2);
        sl_expect_text(err.list[0].rule, "out_of_range", wrong[i]);
    }
}

static void
help_lists_every_variable(void)
{
    static const char *const names[] = {"SHARDLINE_LISTEN",
                                        "SHARDLINE_DATABASE_URL",
                                        "SHARDLINE_CACHE_DIR",
                                        "SHARDLINE_STATIC_DIR",
                                        "SHARDLINE_WORKERS",
                                        "SHARDLINE_LOG_LEVEL",
                                        "SHARDLINE_MAX_BODY_BYTES",
                                        "SHARDLINE_ALLOWED_HOSTS",
                                        "SHARDLINE_HUB_PROXY",
                                        "HF_ENDPOINT",
                                        "HF_TOKEN",
                                        "HUGGING_FACE_HUB_TOKEN",
                                        "HF_TOKEN_PATH",
                                        "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                                        "HF_HUB_OFFLINE",
                                        "TRANSFORMERS_OFFLINE",
                                        "HF_HUB_ETAG_TIMEOUT",
                                        "HF_HUB_DOWNLOAD_TIMEOUT",
                                        "HF_HOME",
                                        "HF_HUB_CACHE",
                                        "HUGGINGFACE_HUB_CACHE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(sl_settings_help(), names[i]));
    CU_ASSERT_PTR_NOT_NULL(strstr(sl_settings_help(), "limits of their own"));
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(an_empty_environment_gives_the_defaults),
        SL_CASE(every_variable_is_read),
        SL_CASE(an_empty_variable_is_not_set),
        SL_CASE(the_cache_follows_xdg_then_home),
        SL_CASE(every_fault_is_collected_and_names_its_variable),
        SL_CASE(faults_never_show_a_value),
        SL_CASE(bad_addresses_are_refused),
        SL_CASE(too_long_values_are_refused),
        SL_CASE(at_most_sixteen_hosts_are_allowed),
        SL_CASE(offline_means_what_the_hub_library_takes_for_true),
        SL_CASE(either_library_can_be_told_to_stay_offline),
        SL_CASE(a_token_is_looked_for_in_the_order_of_the_hub_library),
        SL_CASE(the_official_cache_is_where_its_own_tools_have_it),
        SL_CASE(time_outs_have_bounds),
        SL_CASE(help_lists_every_variable),
    };
    return sl_run_cases(argc, argv, "settings", cases, sizeof cases / sizeof cases[0]);
}
