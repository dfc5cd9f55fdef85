#include "store/connection.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#define BACKOFF_FIRST_S 0.5
#define BACKOFF_LAST_S 5.0

/* Bounds that libpq leaves open. What the URL or libpq's own environment variable says stands. */
typedef struct preset {
    const char *keyword;
    const char *value;
} preset;

static const preset presets[] = {
    {"tcp_user_timeout", "5000"},
    {"keepalives_idle", "30"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"fallback_application_name", "shardline"},
};

enum {
    PRESET_COUNT = sizeof presets / sizeof presets[0],
    ARGUMENTS_MAX = PRESET_COUNT + 4,
    OPTIONS_SIZE = 2048
};

/* To connect to one host, unless the URL says otherwise. Less than 2 libpq takes for 2. */
static const double CONNECT_S = 3;
static const char CONNECT_TEXT[] = "3";
static const char CONNECT_IN_A_HURRY_TEXT[] = "2";

/* Connections made by this process. A store that is backing off tries at once when another got
 * through: after an outage all threads are back together, not each after its own wait. */
static atomic_uint_fast64_t connections_made;

static atomic_uint in_use;

/* The server's side of the same: of two settings of one name the later counts, so the user's own
   options follow these. Milliseconds. A list is planned for the filters that it has: a plan for all
   of them reads every row, which costs more than the planning. Nothing is compiled: where a table
   has no statistics yet, a statement of a few rows would be, in ten times what it runs. */
#define SESSION_OPTIONS                                                                            \
    "-c statement_timeout=5000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000"  \
    " -c plan_cache_mode=force_custom_plan -c jit=off"

/* Arguments of PQconnectdbParams: the URL, the presets, connect_timeout, options, client_encoding
 * and the end. */
typedef struct arguments {
    const char *keywords[ARGUMENTS_MAX + 1];
    const char *values[ARGUMENTS_MAX + 1];
    uint32_t count;
    char options[OPTIONS_SIZE];
} arguments;

static void
argue(arguments *out, const char *keyword, const char *value)
{
    assert(out->count < ARGUMENTS_MAX);
    out->keywords[out->count] = keyword;
    out->values[out->count] = value;
    out->count++;
}

/* What the URL or else the environment says for a keyword; NULL when neither does. */
static const char *
said(const PQconninfoOption *given, const char *keyword)
{
    for (; given->keyword != NULL; given++) {
        if (!sl_text_equal(given->keyword, keyword))
            continue;
        if (given->val != NULL)
            return given->val;
        return given->envvar != NULL ? getenv(given->envvar) : NULL;
    }
    return NULL;
}

/* False when the URL is not a connection string; libpq's own words could quote the password. */
static bool
arguments_from_url(const char *url, bool hurries, arguments *out)
{
    char *words = NULL;
    PQconninfoOption *given = PQconninfoParse(url, &words);
    PQfreemem(words);
    if (given == NULL)
        return false;

    memset(out, 0, sizeof *out);
    argue(out, "dbname", url); /* expanded by libpq; what follows outranks it */
    for (uint32_t i = 0; i < PRESET_COUNT; i++) {
        if (said(given, presets[i].keyword) == NULL)
            argue(out, presets[i].keyword, presets[i].value);
    }
    if (said(given, "connect_timeout") == NULL)
        argue(out, "connect_timeout", hurries ? CONNECT_IN_A_HURRY_TEXT : CONNECT_TEXT);
    const char *own = said(given, "options");
    const bool fits = sl_text_format(out->options, sizeof out->options, SESSION_OPTIONS " %s",
                                     own != NULL ? own : "");
    argue(out, "options", out->options);
    argue(out, "client_encoding", "UTF8"); /* all text of ours is, whatever the locale says */
    PQconninfoFree(given);
    return fits;
}

/*
 * The part of a failed attempt's text that is safe to log: what follows "failed: ". What precedes
 * it names the host, which for a mistyped URL can be a piece of the password.
 */
static void
reason(const PGconn *conn, char *out, size_t size)
{
    static const char mark[] = "failed: ";

    const char *text = PQerrorMessage(conn);
    const char *found = NULL;
    for (const char *at = strstr(text, mark); at != NULL; at = strstr(at, mark)) {
        at += sizeof mark - 1;
        found = at;
    }
    (void)sl_text_copy(out, size, found != NULL ? found : "the server's address cannot be used");
    out[strcspn(out, "\r\n")] = '\0';
}

static void
log_notice(void *context, const PGresult *notice)
{
    (void)context;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const bool warning = severity != NULL && sl_text_equal(severity, "WARNING");
    const sl_log_field fields[] = {
        sl_log_text("sqlstate", PQresultErrorField(notice, PG_DIAG_SQLSTATE)),
        sl_log_text("notice", PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY)),
    };
    sl_log(warning ? SL_LOG_WARN : SL_LOG_DEBUG, "database notice", fields, 2);
}

static sl_code
unavailable(sl_errors *err)
{
    return sl_fail(err, SL_E_UNAVAILABLE, "database_unavailable", "",
                   "the database cannot be reached");
}

/* The caller hears that the database is gone; the log hears once per outage why it is. */
static sl_code
back_off(sl_store *store, const char *why, sl_errors *err)
{
    if (store->backoff_s <= 0.0) {
        const sl_log_field fields[] = {sl_log_text("reason", why)};
        sl_log(SL_LOG_WARN, "database unreachable", fields, 1);
        store->backoff_s = BACKOFF_FIRST_S;
    } else {
        store->backoff_s *= 2.0;
        if (store->backoff_s > BACKOFF_LAST_S)
            store->backoff_s = BACKOFF_LAST_S;
    }
    store->retry_at_s = sl_clock_now_s() + store->backoff_s;
    store->made_before = atomic_load(&connections_made);
    return unavailable(err);
}

sl_code
sl_connection_open(sl_store *store, sl_errors *err)
{
    if (store->conn != NULL)
        return SL_OK;
    if (store->url[0] == '\0') {
        const sl_code code = sl_fail(err, SL_E_UNAVAILABLE, "database_not_configured", "",
                                     "nothing can be stored: no database is configured");
        sl_hint(err, "set SHARDLINE_DATABASE_URL");
        return code;
    }
    if (sl_clock_now_s() < store->retry_at_s &&
        store->made_before == atomic_load(&connections_made))
        return unavailable(err);

    arguments list;
    const bool hurries = store->deadline_s > 0 && store->deadline_s - sl_clock_now_s() < CONNECT_S;
    if (!arguments_from_url(store->url, hurries, &list))
        return back_off(store, "SHARDLINE_DATABASE_URL is not a connection string", err);

    PGconn *conn = PQconnectdbParams(list.keywords, list.values, 1);
    if (PQstatus(conn) != CONNECTION_OK) {
        char why[192] = "out of memory";
        if (conn != NULL)
            reason(conn, why, sizeof why);
        PQfinish(conn);
        return back_off(store, why, err);
    }
    PQsetNoticeReceiver(conn, log_notice, NULL);
    /* A large statement must not be waited for in libpq: wait.c sends what is left. */
    const int nonblocking = PQsetnonblocking(conn, 1);
    assert(nonblocking == 0);
    if (store->backoff_s > 0.0)
        sl_log(SL_LOG_INFO, "database reachable again", NULL, 0);
    (void)atomic_fetch_add(&connections_made, 1);
    store->conn = conn;
    store->backoff_s = 0.0;
    store->retry_at_s = 0.0;
    return SL_OK;
}

void
sl_connection_enter(void)
{
    (void)atomic_fetch_add(&in_use, 1);
}

void
sl_connection_leave(void)
{
    (void)atomic_fetch_sub(&in_use, 1);
}

uint32_t
sl_store_in_use(void)
{
    return atomic_load(&in_use);
}

void
sl_connection_discard(sl_store *store)
{
    PQfinish(store->conn);
    store->conn = NULL;
    memset(store->prepared, 0, sizeof store->prepared);
}

sl_store *
sl_store_new(const char *url)
{
    assert(url != NULL);

    sl_store *store = calloc(1, sizeof *store);
    if (store != NULL)
        store->url = url;
    return store;
}

void
sl_store_free(sl_store *store)
{
    if (store == NULL)
        return;
    sl_connection_discard(store);
    free(store);
}
