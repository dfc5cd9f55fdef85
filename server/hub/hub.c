#include "hub/hub.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "hub/client.h"
#include "hub/repository.h"
#include "hub/transfer.h"

enum { TOKEN_FILE_MAX_BYTES = 4096 };

static const sl_hub_limits default_limits = {
    .connect_s = 3.0,
    .transfer_s = 15.0,
    .etag_s = 10.0,
    .check_s = 3.0,
    .search_s = 5.0,
    .stalled_s = 5,
    .stalled_bytes_per_s = 100,
    .budget_s = 20.0,
    .backoff_s = 0.5,
    .backoff_max_s = 8.0,
    .rate_wait_max_s = 5.0,
    .rate_margin_s = 1.0,
    .missing_s = 30.0,
    .unchecked_s = 300.0,
    .silent_s = 5.0,
    .limited_max_s = 300.0,
    .slow_s = 2.0,
    .tries = 3,
    .redirects = 5,
};

static sl_code
refuse_token_file(sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_RANGE, "invalid_token", "",
                                 "the token file of HF_TOKEN_PATH or HF_HOME must hold one token");
    sl_hint(err, "HF_HUB_DISABLE_IMPLICIT_TOKEN=1 leaves it alone");
    return code;
}

/* The first line of a file, without the blanks around it. A file that only might be there is no
 * fault when it is not. */
static sl_code
read_token_file(const sl_settings *settings, char *out, size_t size, sl_errors *err)
{
    static const char blanks[] = " \t\r\n";
    char text[TOKEN_FILE_MAX_BYTES];
    ssize_t got = -1;

    if (settings->hub_token_path[0] == '\0')
        return SL_OK;
    const int fd = open(settings->hub_token_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        got = read(fd, text, sizeof text - 1);
        (void)close(fd);
    }
    if (got < 0)
        return settings->hub_token_path_given
                   ? sl_fail(err, SL_E_RANGE, "unreadable_token", "",
                             "the file that HF_TOKEN_PATH names cannot be read")
                   : SL_OK;
    text[got] = '\0';
    char *const token = text + strspn(text, blanks);
    for (size_t end = strlen(token); end > 0 && strchr(blanks, token[end - 1]) != NULL; end--)
        token[end - 1] = '\0';
    if (token[0] != '\0' && (!sl_hub_is_visible(token) || !sl_text_copy(out, size, token)))
        return refuse_token_file(err);
    return SL_OK;
}

static sl_code
take_token(sl_hub *hub, const sl_settings *settings, sl_errors *err)
{
    if (settings->hub_token[0] == '\0')
        return read_token_file(settings, hub->token, sizeof hub->token, err);
    if (!sl_hub_is_visible(settings->hub_token))
        return sl_fail(err, SL_E_RANGE, "invalid_token", "",
                       "HF_TOKEN must hold visible ASCII characters only");
    (void)sl_text_copy(hub->token, sizeof hub->token, settings->hub_token);
    return SL_OK;
}

static sl_code
take_settings(sl_hub *hub, const sl_settings *settings, sl_errors *err)
{
    if (!sl_hub_origin_parse(settings->hub_endpoint, &hub->origin) ||
        strpbrk(settings->hub_endpoint, "?#") != NULL ||
        !(hub->origin.https || hub->origin.loopback)) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "invalid_endpoint", "",
                                     "HF_ENDPOINT must be an https URL, or http on loopback");
        sl_hint(err, "https://huggingface.co");
        return code;
    }
    const sl_code code = take_token(hub, settings, err);
    if (code != SL_OK)
        return code;

    const bool fits =
        sl_text_copy(hub->endpoint, sizeof hub->endpoint, settings->hub_endpoint) &&
        sl_text_copy(hub->proxy, sizeof hub->proxy, settings->hub_proxy) &&
        sl_text_format(hub->user_agent, sizeof hub->user_agent, "%s%s%s", SL_HUB_USER_AGENT,
                       settings->hub_origin[0] == '\0' ? "" : "; origin/", settings->hub_origin) &&
        sl_text_copy(hub->official_dir, sizeof hub->official_dir, settings->hf_cache_dir) &&
        sl_text_format(hub->cache_dir, sizeof hub->cache_dir, "%s/hub", settings->cache_dir);
    assert(fits); /* each is at least as long as the setting it copies */
    hub->offline = settings->hub_offline;
    hub->limits = default_limits;
    if (settings->hub_download_timeout_s > 0)
        hub->limits.transfer_s = settings->hub_download_timeout_s;
    if (settings->hub_etag_timeout_s > 0)
        hub->limits.etag_s = settings->hub_etag_timeout_s;
    return SL_OK;
}

static void
state_free(sl_hub_state *state)
{
    if (state == NULL)
        return;
    assert(state->leaders == NULL);
    (void)pthread_mutex_destroy(&state->flights_lock);
    sl_hub_recent_free(state->recent);
    free(state);
}

static sl_hub_state *
state_new(void)
{
    sl_hub_state *const state = calloc(1, sizeof *state);
    sl_hub_recent *const recent = sl_hub_recent_new();
    if (state == NULL || recent == NULL || pthread_mutex_init(&state->flights_lock, NULL) != 0) {
        sl_hub_recent_free(recent);
        free(state);
        return NULL;
    }
    state->recent = recent;
    return state;
}

sl_code
sl_hub_new(const sl_settings *settings, sl_hub **out, sl_errors *err)
{
    assert(settings != NULL && out != NULL && err != NULL);

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "libcurl could not be started");
    sl_hub *const hub = calloc(1, sizeof *hub);
    if (hub != NULL)
        hub->state = state_new();
    const sl_code code = hub != NULL && hub->state != NULL
                             ? take_settings(hub, settings, err)
                             : sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory was left");
    if (code != SL_OK) {
        if (hub != NULL)
            state_free(hub->state);
        free(hub);
        curl_global_cleanup();
        return code;
    }
    *out = hub;
    return SL_OK;
}

void
sl_hub_free(sl_hub *hub)
{
    if (hub == NULL)
        return;
    state_free(hub->state);
    free(hub);
    curl_global_cleanup();
}

sl_hub_worker *
sl_hub_worker_new(const sl_hub *hub)
{
    assert(hub != NULL);

    sl_hub_worker *const worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->hub = hub;
    worker->handle = curl_easy_init();
    if (worker->handle == NULL || !sl_hub_transfer_prepare(worker)) {
        sl_hub_worker_free(worker);
        return NULL;
    }
    return worker;
}

void
sl_hub_worker_free(sl_hub_worker *worker)
{
    if (worker == NULL)
        return;
    curl_easy_cleanup(worker->handle);
    free(worker);
}

const char *
sl_hub_result_text(sl_hub_result result)
{
    static const char *const texts[] = {
        [SL_HUB_RESULT_DOWNLOADED] = "downloaded", [SL_HUB_RESULT_REVALIDATED] = "revalidated",
        [SL_HUB_RESULT_CACHED] = "cached",         [SL_HUB_RESULT_SHARED] = "shared",
        [SL_HUB_RESULT_STALE] = "stale",           [SL_HUB_RESULT_NOT_FOUND] = "not_found",
        [SL_HUB_RESULT_FORBIDDEN] = "forbidden",   [SL_HUB_RESULT_RATE_LIMITED] = "rate_limited",
        [SL_HUB_RESULT_TIMEOUT] = "timeout",       [SL_HUB_RESULT_OFFLINE] = "offline",
        [SL_HUB_RESULT_FAILED] = "failed"};
    _Static_assert(sizeof texts / sizeof texts[0] == SL_HUB_RESULT_COUNT, "every result is named");
    assert(result < SL_HUB_RESULT_COUNT);
    return texts[result];
}

uint64_t
sl_hub_result_count(const sl_hub *hub, sl_hub_result result)
{
    assert(hub != NULL && result < SL_HUB_RESULT_COUNT);
    return atomic_load_explicit(&hub->state->results[result], memory_order_relaxed);
}
