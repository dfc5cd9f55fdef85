#include "catalog/shelf.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct copy {
    const sl_catalog *catalog;
    sl_catalog *owned; /* the same; NULL: the first one, which is borrowed */
    uint64_t users;
    struct copy *older;
} copy;

struct sl_shelf {
    pthread_mutex_t lock;
    copy *current; /* before those that are still worked with */
};

static void
copy_free(copy *old)
{
    sl_catalog_free(old->owned);
    free(old);
}

sl_shelf *
sl_shelf_new(const sl_catalog *first)
{
    assert(first != NULL);

    sl_shelf *const shelf = calloc(1, sizeof *shelf);
    copy *const only = calloc(1, sizeof *only);
    if (shelf == NULL || only == NULL || pthread_mutex_init(&shelf->lock, NULL) != 0) {
        free(shelf);
        free(only);
        return NULL;
    }
    only->catalog = first;
    shelf->current = only;
    return shelf;
}

void
sl_shelf_free(sl_shelf *shelf)
{
    if (shelf == NULL)
        return;
    assert(shelf->current->users == 0 && shelf->current->older == NULL);
    copy_free(shelf->current);
    (void)pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

static void
lock(sl_shelf *shelf)
{
    const int failed = pthread_mutex_lock(&shelf->lock);
    assert(failed == 0);
}

static void
unlock(sl_shelf *shelf)
{
    const int failed = pthread_mutex_unlock(&shelf->lock);
    assert(failed == 0);
}

const sl_catalog *
sl_shelf_take(sl_shelf *shelf)
{
    assert(shelf != NULL);

    lock(shelf);
    shelf->current->users++;
    const sl_catalog *const catalog = shelf->current->catalog;
    unlock(shelf);
    return catalog;
}

void
sl_shelf_give_back(sl_shelf *shelf, const sl_catalog *catalog)
{
    assert(shelf != NULL && catalog != NULL);

    copy *done = NULL;
    lock(shelf);
    copy **at = &shelf->current;
    while (*at != NULL && (*at)->catalog != catalog)
        at = &(*at)->older;
    assert(*at != NULL && (*at)->users > 0);
    (*at)->users--;
    if ((*at)->users == 0 && at != &shelf->current) {
        done = *at;
        *at = done->older;
    }
    unlock(shelf);
    if (done != NULL)
        copy_free(done);
}

bool
sl_shelf_replace(sl_shelf *shelf, sl_catalog *next)
{
    assert(shelf != NULL && next != NULL);

    copy *const newest = calloc(1, sizeof *newest);
    if (newest == NULL)
        return false;
    newest->catalog = next;
    newest->owned = next;
    lock(shelf);
    copy *const before = shelf->current;
    const bool unused = before->users == 0;
    newest->older = unused ? before->older : before;
    shelf->current = newest;
    unlock(shelf);
    if (unused)
        copy_free(before);
    return true;
}
