#include "hub/recent.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

enum { ENTRIES = 64 };

typedef struct entry {
    char key[SL_HUB_RECENT_KEY_SIZE];
    double until_s; /* on sl_clock_now_s() */
    sl_error failure;
} entry;

struct sl_hub_recent {
    pthread_mutex_t lock; /* over everything below */
    entry entries[ENTRIES];
    uint32_t next;         /* the oldest entry */
    uint32_t asking;       /* questions on their way */
    double waits_since_s;  /* when the first of them left, or the last answer came */
    double silent_until_s; /* nobody was there */
    double limited_until_s[SL_HUB_BUCKET_COUNT];
};

sl_hub_recent *
sl_hub_recent_new(void)
{
    sl_hub_recent *const recent = calloc(1, sizeof *recent);
    if (recent != NULL && pthread_mutex_init(&recent->lock, NULL) != 0) {
        free(recent);
        return NULL;
    }
    return recent;
}

void
sl_hub_recent_free(sl_hub_recent *recent)
{
    if (recent == NULL)
        return;
    (void)pthread_mutex_destroy(&recent->lock);
    free(recent);
}

static void
lock(sl_hub_recent *recent)
{
    const int failed = pthread_mutex_lock(&recent->lock);
    assert(failed == 0);
}

static void
unlock(sl_hub_recent *recent)
{
    const int failed = pthread_mutex_unlock(&recent->lock);
    assert(failed == 0);
}

/* The entry of this key that still counts, or NULL. Under the lock. */
static entry *
find(sl_hub_recent *recent, const char *key)
{
    const double now_s = sl_clock_now_s();
    for (uint32_t i = 0; i < ENTRIES; i++) {
        entry *const at = &recent->entries[i];
        if (at->until_s > now_s && sl_text_equal(at->key, key))
            return at;
    }
    return NULL;
}

void
sl_hub_recent_add(sl_hub_recent *recent, const char *key, const sl_error *failure, double for_s)
{
    lock(recent);
    entry *at = find(recent, key);
    if (at == NULL) {
        at = &recent->entries[recent->next];
        recent->next = (recent->next + 1) % ENTRIES;
    }
    at->until_s = sl_text_copy(at->key, sizeof at->key, key) ? sl_clock_now_s() + for_s : 0.0;
    at->failure = *failure;
    unlock(recent);
}

bool
sl_hub_recent_find(sl_hub_recent *recent, const char *key, sl_error *out)
{
    lock(recent);
    const entry *const at = find(recent, key);
    if (at != NULL)
        *out = at->failure;
    unlock(recent);
    return at != NULL;
}

void
sl_hub_recent_asks(sl_hub_recent *recent)
{
    lock(recent);
    if (recent->asking++ == 0)
        recent->waits_since_s = sl_clock_now_s();
    unlock(recent);
}

void
sl_hub_recent_asked(sl_hub_recent *recent, sl_hub_hearing hearing, double silent_s)
{
    const double now_s = sl_clock_now_s();
    lock(recent);
    assert(recent->asking > 0);
    recent->asking--;
    if (hearing == SL_HUB_HEARD) {
        recent->waits_since_s = now_s;
        recent->silent_until_s = 0.0;
    } else if (hearing == SL_HUB_UNHEARD) {
        recent->silent_until_s = now_s + silent_s;
    }
    unlock(recent);
}

bool
sl_hub_recent_is_silent(sl_hub_recent *recent, double slow_s)
{
    const double now_s = sl_clock_now_s();
    lock(recent);
    const bool silent = recent->silent_until_s > now_s ||
                        (recent->asking > 0 && now_s - recent->waits_since_s > slow_s);
    unlock(recent);
    return silent;
}

void
sl_hub_recent_limit(sl_hub_recent *recent, sl_hub_bucket bucket, double for_s)
{
    const double until_s = sl_clock_now_s() + for_s;
    assert(bucket < SL_HUB_BUCKET_COUNT);
    lock(recent);
    if (until_s > recent->limited_until_s[bucket])
        recent->limited_until_s[bucket] = until_s;
    unlock(recent);
}

double
sl_hub_recent_limited_s(sl_hub_recent *recent, sl_hub_bucket bucket)
{
    const double now_s = sl_clock_now_s();
    assert(bucket < SL_HUB_BUCKET_COUNT);
    lock(recent);
    const double left_s = recent->limited_until_s[bucket] - now_s;
    unlock(recent);
    return left_s > 0.0 ? left_s : 0.0;
}
