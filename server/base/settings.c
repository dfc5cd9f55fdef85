#include "base/settings.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { WORKERS_MAX = 1024 };
static const size_t BODY_MIN_BYTES = 1024, BODY_DEFAULT_BYTES = 1048576;
static const size_t BODY_MAX_BYTES = 1073741824;

typedef struct reader {
    const char *(*get)(const char *name);
    sl_settings *out;
    sl_errors *err;
} reader;

/* NULL when the variable is unset or empty. */
static const char *
value_of(const reader *from, const char *name)
{
    const char *const value = from->get(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* No fault quotes the value: it may be a secret pasted into the wrong variable. */
static void
refuse(const reader *from, const char *name, const char *rule, const char *why)
{
    char pointer[64];
    (void)sl_text_format(pointer, sizeof pointer, "/%s", name);
    (void)sl_fail(from->err, SL_E_RANGE, rule, pointer, "%s %s", name, why);
}

static void
copy(const reader *from, const char *name, const char *value, char *to, size_t size)
{
    if (!sl_text_copy(to, size, value))
        refuse(from, name, "too_long", "is too long");
}

static bool
starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* host:port, [address]:port. */
static void
read_listen(const reader *from)
{
    static const char name[] = "SHARDLINE_LISTEN";
    const char *const value =
        value_of(from, name) != NULL ? value_of(from, name) : "127.0.0.1:8080";
    const char *const colon = strrchr(value, ':');
    uint64_t port = 0;
    if (colon == NULL || !sl_text_to_uint(colon + 1, &port) || port > UINT16_MAX) {
        refuse(from, name, "invalid_address", "must be host:port with a port of 0 to 65535");
        return;
    }
    const char *host = value;
    size_t length = (size_t)(colon - value);
    const bool bracketed = length > 2 && host[0] == '[' && host[length - 1] == ']';
    if (bracketed) {
        host++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof from->out->listen_host ||
        strcspn(host, " \t[]/@") < length || (memchr(host, ':', length) != NULL) != bracketed) {
        refuse(from, name, "invalid_address",
               "must be host:port, an IPv6 address in brackets as in [::1]:8080");
        return;
    }
    memcpy(from->out->listen_host, host, length);
    from->out->listen_host[length] = '\0';
    from->out->listen_port = (uint16_t)port;
}

static void
read_database_url(const reader *from)
{
    static const char name[] = "SHARDLINE_DATABASE_URL";
    const char *const value = value_of(from, name);
    if (value == NULL)
        return;
    const bool url = starts_with(value, "postgresql://") || starts_with(value, "postgres://");
    if (!url && (strstr(value, "://") != NULL || strchr(value, '=') == NULL))
        refuse(from, name, "invalid_url", "must begin with postgresql:// or be key=value pairs");
    copy(from, name, value, from->out->database_url, sizeof from->out->database_url);
}

static void
read_cache_dir(const reader *from)
{
    static const char name[] = "SHARDLINE_CACHE_DIR";
    char *const to = from->out->cache_dir;
    const size_t size = sizeof from->out->cache_dir;
    const char *const value = value_of(from, name);
    const char *const xdg = value_of(from, "XDG_CACHE_HOME"), *const home = value_of(from, "HOME");
    bool whole = true;
    if (value != NULL)
        whole = sl_text_copy(to, size, value);
    else if (xdg != NULL && xdg[0] == '/') /* its specification has relative paths ignored */
        whole = sl_text_format(to, size, "%s/shardline", xdg);
    else if (home != NULL && home[0] == '/')
        whole = sl_text_format(to, size, "%s/.cache/shardline", home);
    else
        whole = sl_text_copy(to, size, ".shardline/cache");
    if (!whole)
        refuse(from, name, "too_long", "is too long");
}

static void
read_workers(const reader *from)
{
    static const char name[] = "SHARDLINE_WORKERS";
    const char *const value = value_of(from, name);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t workers = cores >= 1 && cores <= WORKERS_MAX ? (uint64_t)cores : 1;
    if (value != NULL &&
        (!sl_text_to_uint(value, &workers) || workers < 1 || workers > WORKERS_MAX))
        refuse(from, name, "out_of_range", "must be a whole number from 1 to 1024");
    else
        from->out->workers = (uint32_t)workers;
}

static void
read_log_level(const reader *from)
{
    static const char name[] = "SHARDLINE_LOG_LEVEL";
    static const char *const names[] = {[SL_LOG_DEBUG] = "debug",
                                        [SL_LOG_INFO] = "info",
                                        [SL_LOG_WARN] = "warn",
                                        [SL_LOG_ERROR] = "error"};
    const char *const value = value_of(from, name);
    const int level =
        sl_text_index(value != NULL ? value : "info", names, sizeof names / sizeof names[0]);
    if (level < 0)
        refuse(from, name, "unknown_value", "must be debug, info, warn or error");
    else
        from->out->log_level = (sl_log_level)level;
}

static void
read_max_body(const reader *from)
{
    static const char name[] = "SHARDLINE_MAX_BODY_BYTES";
    const char *const value = value_of(from, name);
    uint64_t bytes = BODY_DEFAULT_BYTES;
    if (value != NULL &&
        (!sl_text_to_uint(value, &bytes) || bytes < BODY_MIN_BYTES || bytes > BODY_MAX_BYTES))
        refuse(from, name, "out_of_range", "must be a number of bytes from 1024 to 1073741824");
    else
        from->out->max_body_bytes = (size_t)bytes;
}

/* A setting that lists names; `letters` is what they are made of. */
typedef struct name_list {
    const char *name;
    const char *letters;
    const char *fault; /* of what is made of anything else */
    char (*list)[256];
    uint32_t *count;
} name_list;

static void
add_name(const reader *from, const name_list *to, const char *text, size_t length)
{
    if (length == 0)
        return;
    if (*to->count == SL_SETTINGS_HOSTS_MAX) {
        refuse(from, to->name, "too_many", "must not list more than 16 names");
        return;
    }
    if (length >= sizeof to->list[0] || strspn(text, to->letters) < length) {
        refuse(from, to->name, "invalid_host", to->fault);
        return;
    }
    char *const copied = to->list[*to->count];
    memcpy(copied, text, length);
    copied[length] = '\0';
    ++*to->count;
}

static void
read_names(const reader *from, const name_list *to)
{
    static const char blanks[] = " \t";
    const char *at = value_of(from, to->name);
    const uint32_t faults = from->err->count;
    while (at != NULL && *at != '\0' && from->err->count == faults) {
        at += strspn(at, blanks);
        const size_t length = strcspn(at, ",");
        size_t kept = length;
        while (kept > 0 && strchr(blanks, at[kept - 1]) != NULL)
            kept--;
        add_name(from, to, at, kept);
        at += at[length] == ',' ? length + 1 : length;
    }
}

static void
read_allowed_hosts(const reader *from)
{
    const name_list hosts = {"SHARDLINE_ALLOWED_HOSTS",
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]",
                             "must be host names separated by commas", from->out->allowed_hosts,
                             &from->out->allowed_host_count};
    read_names(from, &hosts);
}

static void
read_trusted_proxies(const reader *from)
{
    const name_list proxies = {"SHARDLINE_TRUSTED_PROXIES", "0123456789abcdefABCDEF.:",
                               "must be addresses in digits separated by commas",
                               from->out->trusted_proxies, &from->out->trusted_proxy_count};
    read_names(from, &proxies);
}

static void
read_url(const reader *from, const char *name, const char *value, bool proxy, char *to, size_t size)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    const size_t accepted = proxy ? 4 : 2;
    bool known = false;
    for (size_t i = 0; i < accepted; i++) {
        const size_t length = strlen(schemes[i]);
        known = known || (starts_with(value, schemes[i]) && value[length] != '\0');
    }
    if (!known || strpbrk(value, " \t\r\n") != NULL)
        refuse(from, name, "invalid_url",
               proxy ? "must be an http, https, socks5 or socks5h URL"
                     : "must be an http or https URL");
    copy(from, name, value, to, size);
    for (size_t end = strlen(to); end > 0 && to[end - 1] == '/'; end--)
        to[end - 1] = '\0';
}

static bool
is_yes(const reader *from, const char *name)
{
    static const char *const yes[] = {"1", "on", "yes", "true"};
    const char *const value = value_of(from, name);
    for (size_t i = 0; value != NULL && i < sizeof yes / sizeof yes[0]; i++) {
        if (sl_text_equal_ignoring_case(value, yes[i]))
            return true;
    }
    return false;
}

/* Home of Hugging Face's own tools; false when nothing says where it is. */
static bool
hf_home(const reader *from, char *out, size_t size)
{
    const char *const given = value_of(from, "HF_HOME");
    const char *const xdg = value_of(from, "XDG_CACHE_HOME"), *const home = value_of(from, "HOME");
    bool whole = true;
    if (given != NULL)
        whole = sl_text_copy(out, size, given);
    else if (xdg != NULL && xdg[0] == '/')
        whole = sl_text_format(out, size, "%s/huggingface", xdg);
    else if (home != NULL && home[0] == '/')
        whole = sl_text_format(out, size, "%s/.cache/huggingface", home);
    else
        return false;
    if (!whole && given != NULL) /* the others were judged for our own cache */
        refuse(from, "HF_HOME", "too_long", "is too long");
    return whole;
}

/* A token in a variable goes before the file. What is left of it goes into a header. */
static void
read_token(const reader *from, const char *home)
{
    static const char *const names[] = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"};
    static const char blanks[] = " \t\r\n";
    sl_settings *const out = from->out;
    const char *name = names[0];
    const char *token = value_of(from, name);

    if (is_yes(from, "HF_HUB_DISABLE_IMPLICIT_TOKEN"))
        return;
    if (token == NULL) {
        name = names[1];
        token = value_of(from, name);
    }
    if (token == NULL) {
        const char *const path = value_of(from, "HF_TOKEN_PATH");
        out->hub_token_path_given = path != NULL;
        if (path != NULL)
            copy(from, "HF_TOKEN_PATH", path, out->hub_token_path, sizeof out->hub_token_path);
        else if (home != NULL)
            (void)sl_text_format(out->hub_token_path, sizeof out->hub_token_path, "%s/token", home);
        return;
    }
    /* Tokens are often read from a file with its line end. */
    copy(from, name, token + strspn(token, blanks), out->hub_token, sizeof out->hub_token);
    for (size_t end = strlen(out->hub_token);
         end > 0 && strchr(blanks, out->hub_token[end - 1]) != NULL; end--)
        out->hub_token[end - 1] = '\0';
    for (const char *at = out->hub_token; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            refuse(from, name, "invalid_token", "must be printable ASCII without blanks");
            break;
        }
    }
}

static void
read_timeout(const reader *from, const char *name, uint32_t *out)
{
    const char *const value = value_of(from, name);
    uint64_t seconds = 0;
    if (value != NULL && (!sl_text_to_uint(value, &seconds) || seconds < 1 || seconds > 15))
        refuse(from, name, "out_of_range", "must be a whole number of seconds from 1 to 15");
    else
        *out = (uint32_t)seconds;
}

static void
read_hub(const reader *from)
{
    sl_settings *const out = from->out;
    char home[512];

    const char *const endpoint = value_of(from, "HF_ENDPOINT");
    read_url(from, "HF_ENDPOINT", endpoint != NULL ? endpoint : "https://huggingface.co", false,
             out->hub_endpoint, sizeof out->hub_endpoint);
    const char *const proxy = value_of(from, "SHARDLINE_HUB_PROXY");
    if (proxy != NULL)
        read_url(from, "SHARDLINE_HUB_PROXY", proxy, true, out->hub_proxy, sizeof out->hub_proxy);
    out->hub_offline = is_yes(from, "HF_HUB_OFFLINE") || is_yes(from, "TRANSFORMERS_OFFLINE");
    out->hub_oidc = value_of(from, "HF_OIDC_RESOURCE") != NULL;
    const char *const origin = value_of(from, "HF_HUB_USER_AGENT_ORIGIN");
    if (origin != NULL)
        copy(from, "HF_HUB_USER_AGENT_ORIGIN", origin, out->hub_origin, sizeof out->hub_origin);
    for (const char *at = out->hub_origin; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            refuse(from, "HF_HUB_USER_AGENT_ORIGIN", "invalid_origin", "must be printable ASCII");
            break;
        }
    }
    read_timeout(from, "HF_HUB_ETAG_TIMEOUT", &out->hub_etag_timeout_s);
    read_timeout(from, "HF_HUB_DOWNLOAD_TIMEOUT", &out->hub_download_timeout_s);

    const bool at_home = hf_home(from, home, sizeof home);
    read_token(from, at_home ? home : NULL);
    static const char *const caches[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"};
    for (size_t i = 0; i < 2 && out->hf_cache_dir[0] == '\0'; i++) {
        const char *const value = value_of(from, caches[i]);
        if (value != NULL)
            copy(from, caches[i], value, out->hf_cache_dir, sizeof out->hf_cache_dir);
    }
    if (out->hf_cache_dir[0] == '\0' && at_home)
        (void)sl_text_format(out->hf_cache_dir, sizeof out->hf_cache_dir, "%s/hub", home);
}

sl_code
sl_settings_read(const char *(*get)(const char *name), sl_settings *out, sl_errors *err)
{
    assert(get != NULL && out != NULL && err != NULL);

    sl_settings read = {0};
    const reader from = {.get = get, .out = &read, .err = err};
    const uint32_t before = err->count + err->dropped;
    read_listen(&from);
    read_database_url(&from);
    read_cache_dir(&from);
    const char *const folder = value_of(&from, "SHARDLINE_STATIC_DIR");
    copy(&from, "SHARDLINE_STATIC_DIR", folder != NULL ? folder : "static/dist", read.static_dir,
         sizeof read.static_dir);
    read_workers(&from);
    read_log_level(&from);
    read_max_body(&from);
    read_allowed_hosts(&from);
    read_trusted_proxies(&from);
    read_hub(&from);
    if (err->count + err->dropped != before)
        return SL_E_RANGE;
    *out = read;
    return SL_OK;
}

const char *
sl_settings_help(void)
{
    return "SHARDLINE_LISTEN          address and port to serve on; port 0 takes a free one\n"
           "                          (127.0.0.1:8080)\n"
           "SHARDLINE_DATABASE_URL    PostgreSQL to store in; without one only planning works "
           "(none)\n"
           "SHARDLINE_CACHE_DIR       folder for files of the Hub and, while they are read, for "
           "large\n"
           "                          bodies of requests ($XDG_CACHE_HOME/shardline,\n"
           "                          ~/.cache/shardline or .shardline/cache)\n"
           "SHARDLINE_STATIC_DIR      folder of the built dashboard (static/dist)\n"
           "SHARDLINE_WORKERS         threads that compute, 1 to 1024 (one per core)\n"
           "SHARDLINE_LOG_LEVEL       debug, info, warn or error (info)\n"
           "SHARDLINE_MAX_BODY_BYTES  largest request body, 1024 to 1073741824 (1048576);\n"
           "                          traces, uploads, batches and hardware have limits of their "
           "own\n"
           "SHARDLINE_ALLOWED_HOSTS   further Host names to answer to, comma-separated, at most "
           "16\n"
           "                          (loopback names and the address of SHARDLINE_LISTEN)\n"
           "SHARDLINE_TRUSTED_PROXIES addresses of reverse proxies whose X-Forwarded-For is "
           "believed\n"
           "                          in the audit of writes, comma-separated, at most 16 (none)\n"
           "SHARDLINE_HUB_PROXY       http, https, socks5 or socks5h proxy towards the Hub (none)\n"
           "HF_ENDPOINT               address of the Hub (https://huggingface.co)\n"
           "HF_TOKEN                  token for gated and private models\n"
           "                          (HUGGING_FACE_HUB_TOKEN, or else what HF_TOKEN_PATH holds)\n"
           "HF_TOKEN_PATH             file with the token ($HF_HOME/token)\n"
           "HF_HUB_DISABLE_IMPLICIT_TOKEN\n"
           "                          1, on, yes or true: send no token, wherever it is (0)\n"
           "HF_HUB_OFFLINE            1, on, yes or true: never ask the Hub (0);\n"
           "                          TRANSFORMERS_OFFLINE means the same\n"
           "HF_HUB_USER_AGENT_ORIGIN  who asks, told to the Hub behind our own name\n"
           "HF_HUB_ETAG_TIMEOUT       seconds to ask whether a cached model changed, 1 to 15 (10)\n"
           "HF_HUB_DOWNLOAD_TIMEOUT   seconds of one try to fetch a file, 1 to 15 (15)\n"
           "HF_HOME                   home folder of Hugging Face's own tools\n"
           "                          ($XDG_CACHE_HOME/huggingface or ~/.cache/huggingface)\n"
           "HF_HUB_CACHE              cache of Hugging Face's own tools, which is read and never\n"
           "                          written (HUGGINGFACE_HUB_CACHE or $HF_HOME/hub)\n";
}
