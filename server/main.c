/*
 * Reads the settings, wires the parts together, serves until SIGTERM or SIGINT, drains.
 * Threads: two signals are blocked before any thread starts and waited for here, so that no
 * handler ever runs in the middle of something.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/app.h"
#include "api/plan_keeper.h"
#include "api/search_run.h"
#include "base/log.h"
#include "shardline/version.h"

enum { EXIT_SETTINGS = 2, STOP_MAX_S = 12 };

/* A stop is over within 10 s as a rule: 6 for running requests, the rest for last answers and
 * threads. After STOP_MAX_S what is left is given up, which must be said in the log before the 15 s
 * are over that docker/compose.yml gives. */
static const double grace_s = 6.0;

static const char *
environment(const char *name)
{
    return getenv(name);
}

static void
print_errors(const sl_errors *err)
{
    for (uint32_t i = 0; i < err->count; i++) {
        const sl_error *error = &err->list[i];
        (void)fprintf(stderr, "shardlined: %s%s%s%s%s\n", error->pointer,
                      error->pointer[0] == '\0' ? "" : ": ", error->message,
                      error->hint[0] == '\0' ? "" : "; ", error->hint);
    }
}

/* A request needs a model, half a megabyte of which little is touched. Memory that is given back
 * after each and faulted in again costs a fifth of the estimates a second. */
static void
keep_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

static void
warn_settings(const sl_settings *settings)
{
    if (settings->hub_oidc)
        sl_log(SL_LOG_WARN,
               "HF_OIDC_RESOURCE is set, but tokens are not exchanged here: HF_TOKEN is used", NULL,
               0);
}

/* Private hardware is another's to change too; whoever looks first migrates, so that a wrong
 * database is known at once. It has a thread of its own: this one has to hear a signal whatever the
 * database does. */
static void
watch(sl_app *app)
{
    if (app->settings->database_url[0] == '\0')
        sl_log(SL_LOG_INFO, "no database is configured: planning works, storage answers 503", NULL,
               0);
    else if (!sl_stock_watch(app->stock, app->settings->database_url, sl_api_open, app))
        sl_log(SL_LOG_ERROR, "private hardware is not watched: no thread", NULL, 0);
}

static uint32_t
at_least(uint32_t value, uint32_t least)
{
    return value > least ? value : least;
}

/* Some waits have no bound of ours: a name that is resolved, a connection whose URL asks for
 * connect_timeout=0. What is committed by now is, and nothing else is lost. */
static void *
give_up_threads(void *argument)
{
    const struct timespec patience = {.tv_sec = STOP_MAX_S};

    (void)argument;
    (void)nanosleep(&patience, NULL);
    sl_log(SL_LOG_ERROR, "threads that do not come to an end are given up", NULL, 0);
    _Exit(EXIT_FAILURE);
}

/* From here on the process ends, whatever its threads wait for. */
static void
bound_stop(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, give_up_threads, NULL) == 0)
        (void)pthread_detach(thread);
    else
        sl_log(SL_LOG_ERROR, "the stop has no bound: no thread", NULL, 0);
}

static int
serve(sl_app *app, const sigset_t *signals)
{
    const uint32_t cores = app->settings->workers;
    const sl_server_config config = {
        .settings = app->settings,
        .routes = sl_api_routes,
        .route_count = sl_api_route_count,
        .app = app,
        .lane_threads = {[SL_LANE_COMPUTE] = at_least(cores, 1),
                         [SL_LANE_STORE] = 4,
                         [SL_LANE_HUB] = 8,
                         [SL_LANE_PROBE] = 1,
                         [SL_LANE_BULK] = 2}, /* one for what is short, beside the longest */
        .lane_depth = {[SL_LANE_COMPUTE] = 1024,
                       [SL_LANE_STORE] = 256,
                       [SL_LANE_HUB] = 256,
                       [SL_LANE_PROBE] = 256,
                       [SL_LANE_BULK] = 32},
        .worker_new = sl_worker_new,
        .worker_free = sl_worker_free,
        .enter = sl_api_enter,
        .leave = sl_api_leave,
        .give_up = sl_api_give_up,
    };
    sl_errors err = {.count = 0};
    sl_server *server = NULL;
    uint16_t port = 0;
    int received = 0;

    if (app->settings->database_url[0] != '\0')
        app->keeper = sl_plan_keeper_start(app);
    app->searches = sl_searches_start(at_least(cores, 1));
    if (app->searches == NULL)
        sl_log(SL_LOG_ERROR, "nothing can be searched: no threads", NULL, 0);
    if (sl_server_start(&config, &server, &port, &err) != SL_OK) {
        print_errors(&err);
        sl_api_give_up(app);
        sl_searches_stop(app->searches);
        sl_plan_keeper_stop(app->keeper);
        return EXIT_FAILURE;
    }

    const char *host = app->settings->listen_host;
    const bool v6 = strchr(host, ':') != NULL;
    (void)printf("http://%s%s%s:%u\n", v6 ? "[" : "", host, v6 ? "]" : "", (unsigned)port);
    (void)fflush(stdout);
    warn_settings(app->settings);
    watch(app);

    (void)sigwait(signals, &received);
    sl_log(SL_LOG_INFO, "stopping",
           (const sl_log_field[]){sl_log_text("signal", strsignal(received))}, 1);
    bound_stop();
    const uint32_t cancelled = sl_server_stop(server, grace_s);
    sl_searches_stop(app->searches);
    sl_stock_stop(app->stock); /* it stirs the keeper */
    sl_plan_keeper_stop(app->keeper);
    sl_log(SL_LOG_INFO, "stopped",
           (const sl_log_field[]){sl_log_count("requests_cancelled", cancelled)}, 1);
    return EXIT_SUCCESS;
}

static int
run(const sl_settings *settings, const sigset_t *signals)
{
    sl_errors err = {.count = 0};
    sl_hub *hub = NULL;
    sl_catalog *catalog = sl_catalog_new(&err);
    sl_stock *stock = catalog != NULL ? sl_stock_new(catalog) : NULL;
    int status = EXIT_FAILURE;

    if (catalog != NULL && settings->database_url[0] != '\0')
        sl_catalog_await_own(catalog);
    if (stock != NULL && sl_hub_new(settings, &hub, &err) == SL_OK) {
        sl_app app = {.settings = settings, .catalog = catalog, .hub = hub, .stock = stock};
        sl_app_init(&app);
        status = serve(&app, signals);
    } else {
        print_errors(&err);
    }
    sl_hub_free(hub);
    sl_stock_free(stock);
    sl_catalog_free(catalog);
    return status;
}

int
main(int argc, char **argv)
{
    sl_settings settings;
    sl_errors err = {.count = 0};
    sigset_t signals;

    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        (void)printf("shardlined %s: cluster capacity planner\n\nSettings, by environment:\n%s",
                     SL_VERSION, sl_settings_help());
        return EXIT_SUCCESS;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        (void)printf("shardlined %s\n", SL_VERSION);
        return EXIT_SUCCESS;
    }
    if (argc > 1) {
        (void)fprintf(stderr, "shardlined: no argument %s; see --help\n", argv[1]);
        return EXIT_SETTINGS;
    }
    if (sl_settings_read(environment, &settings, &err) != SL_OK) {
        print_errors(&err);
        return EXIT_SETTINGS;
    }

    sl_log_set_level(settings.log_level);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0)
        return EXIT_FAILURE;
    keep_memory();
    sl_json_start();
    return run(&settings, &signals);
}
