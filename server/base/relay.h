/**
 * Work on a sequence, such as the elements of a file, in two steps: a second thread takes it up
 * while the caller works on what was taken before, each in its order. So what comes of it does not depend
 * on the threads.
 */
#ifndef SL_BASE_RELAY_H
#define SL_BASE_RELAY_H

#include <stdbool.h>

/** As much is under way at most: a thread that waits for a core does not stop the other at once. */
enum { SL_RELAY_LOADS = 16 };

typedef struct sl_relay {
    /** The next part of the sequence into a load. False: no other follows it. */
    bool (*take)(void *context, void *load);
    /** False: nothing is taken up any more, and what was is left. */
    bool (*work)(void *context, void *load);
    void *context;
    void *loads[SL_RELAY_LOADS];
} sl_relay;

/**
 * To the end of the sequence. The second thread, which has the caller's priority, starts when a
 * second load is wanted; where there is none the caller does it all.
 */
void sl_relay_run(const sl_relay *relay);

#endif
