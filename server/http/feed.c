#include "http/feed.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "http/feed_body.h"
#include "http/loops.h"
#include "http/message.h"

/* What the daemon asks for at once. */
enum { BLOCK_BYTES = 16 * 1024 };

struct sl_feed {
    pthread_mutex_t lock;
    struct MHD_Connection *connection; /* NULL: nobody reads */
    sl_buffer sending;                 /* of it, `sent` bytes are gone */
    sl_buffer waiting;
    size_t limit_bytes;
    size_t sent;
    size_t sent_before; /* of earlier buffers */
    bool suspended;     /* the connection waits for an event */
    bool ended;
    bool cut;
    bool detached;
    void (*room)(void *context); /* who waits for room; NULL: nobody */
    void *room_context;
};

static void
lock(sl_feed *feed)
{
    const int failed = pthread_mutex_lock(&feed->lock);
    assert(failed == 0);
}

static void
unlock(sl_feed *feed)
{
    const int failed = pthread_mutex_unlock(&feed->lock);
    assert(failed == 0);
}

sl_feed *
sl_feed_new(size_t limit_bytes)
{
    assert(limit_bytes > 0 && limit_bytes <= SL_RESPONSE_BODY_MAX_BYTES);

    sl_feed *const feed = calloc(1, sizeof *feed);
    if (feed == NULL)
        return NULL;
    if (pthread_mutex_init(&feed->lock, NULL) != 0) {
        free(feed);
        return NULL;
    }
    feed->limit_bytes = limit_bytes;
    sl_buffer_init(&feed->sending, limit_bytes + SL_RESPONSE_BODY_MAX_BYTES);
    sl_buffer_init(&feed->waiting, limit_bytes + SL_RESPONSE_BODY_MAX_BYTES);
    return feed;
}

void
sl_feed_free(sl_feed *feed)
{
    if (feed == NULL)
        return;
    assert(feed->connection == NULL);
    sl_buffer_clear(&feed->sending);
    sl_buffer_clear(&feed->waiting);
    (void)pthread_mutex_destroy(&feed->lock);
    free(feed);
}

/* Under the lock, so that the connection cannot end between the look and the call. */
static void
wake(sl_feed *feed)
{
    if (!feed->suspended)
        return;
    feed->suspended = false;
    sl_loops_resume(feed->connection);
}

bool
sl_feed_put(sl_feed *feed, const sl_buffer *event)
{
    assert(feed != NULL && event != NULL);

    lock(feed);
    const bool taken = !event->failed && !feed->ended && !feed->detached &&
                       event->size <= feed->limit_bytes - feed->waiting.size;
    if (taken) {
        sl_buffer_append(&feed->waiting, event->data, event->size);
        feed->cut = feed->waiting.failed;
        wake(feed);
    }
    unlock(feed);
    return taken;
}

bool
sl_feed_wait(void *argument, void (*call)(void *context), void *context)
{
    sl_feed *const feed = argument;

    assert(feed != NULL && call != NULL);
    lock(feed);
    assert(feed->room == NULL);
    const bool waits = feed->waiting.size > 0 && !feed->detached;
    feed->room = waits ? call : NULL;
    feed->room_context = context;
    unlock(feed);
    return waits;
}

/* Unlocks, and wakes who waits for room if there is some. From there on he may free the feed. */
static void
unlock_for_room(sl_feed *feed)
{
    void (*const room)(void *context) =
        feed->waiting.size == 0 || feed->detached ? feed->room : NULL;
    void *const context = feed->room_context;

    if (room != NULL)
        feed->room = NULL;
    unlock(feed);
    if (room != NULL)
        room(context);
}

void
sl_feed_end(sl_feed *feed, sl_buffer *last)
{
    assert(feed != NULL && last != NULL);

    lock(feed);
    if (!feed->ended && !feed->detached) {
        sl_buffer_append(&feed->waiting, last->data, last->size);
        /* A body without its end would pass for a whole one. */
        feed->cut = feed->cut || last->failed || feed->waiting.failed;
        feed->ended = true;
        wake(feed);
    }
    unlock(feed);
    sl_buffer_clear(last);
}

/* Takes what waits once everything before it was sent. Under the lock. */
static void
advance(sl_feed *feed)
{
    if (feed->sent < feed->sending.size || feed->waiting.size == 0)
        return;
    const size_t limit = feed->sending.limit;
    feed->sent_before += feed->sent;
    feed->sent = 0;
    sl_buffer_clear(&feed->sending);
    feed->sending = feed->waiting;
    sl_buffer_init(&feed->waiting, limit);
}

static ssize_t
on_read(void *cls, uint64_t position, char *out, size_t size)
{
    (void)position;
    sl_feed *const feed = cls;
    ssize_t got = 0;

    lock(feed);
    advance(feed);
    const size_t left = feed->sending.size - feed->sent;
    if (feed->cut) {
        got = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (left > 0) {
        const size_t taken = left < size ? left : size;
        memcpy(out, feed->sending.data + feed->sent, taken);
        feed->sent += taken;
        got = (ssize_t)taken;
    } else if (feed->ended) {
        got = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        feed->suspended = true;
        MHD_suspend_connection(feed->connection);
    }
    unlock_for_room(feed);
    return got;
}

struct MHD_Response *
sl_feed_response(sl_feed *feed, struct MHD_Connection *connection)
{
    assert(feed != NULL && connection != NULL);

    lock(feed);
    feed->connection = connection;
    unlock(feed);
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, feed, NULL);
}

size_t
sl_feed_detach(sl_feed *feed)
{
    assert(feed != NULL);

    lock(feed);
    assert(!feed->suspended);
    feed->connection = NULL;
    feed->detached = true;
    const size_t sent = feed->sent_before + feed->sent;
    unlock_for_room(feed);
    return sent;
}

void
sl_feed_cut(sl_feed *feed)
{
    assert(feed != NULL);

    lock(feed);
    feed->cut = feed->cut || !feed->ended;
    feed->ended = true;
    if (feed->connection != NULL)
        wake(feed);
    unlock(feed);
}
