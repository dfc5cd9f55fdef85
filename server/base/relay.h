/**
 * Work on a sequence, such as the elements of a file: it is taken up in its order and handed over in
 * its order, by one thread at a time, and only what lies between is done on two threads at once. So
 * what comes of it does not depend on them.
 */
#ifndef SL_BASE_RELAY_H
#define SL_BASE_RELAY_H

#include <stdbool.h>

typedef struct sl_relay {
    /** The next part of the sequence into a load. False: no other follows it. */
    bool (*take)(void *context, void *load);
    /** On both threads at once, each with a load of its own. */
    void (*work)(void *context, void *load);
    /** False: nothing is taken up any more; what was already is still handed over. */
    bool (*give)(void *context, void *load);
    void *context;
} sl_relay;

/**
 * To the end of the sequence. The caller is one of the threads; the other one, which has the caller's
 * priority, starts when a second load is wanted, and where there is none the caller does it all.
 */
void sl_relay_run(const sl_relay *relay, void *first, void *second);

#endif
