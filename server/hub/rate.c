#include "hub/rate.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

enum { DIGITS_MAX = 9 }; /* thirty years of seconds */

/* Value of a parameter of one letter: ";r=0". False when it is absent or no number. */
static bool
read_parameter(const char *text, char name, double *out)
{
    for (const char *at = strchr(text, ';'); at != NULL; at = strchr(at, ';')) {
        at++;
        while (*at == ' ')
            at++;
        if (at[0] != name || at[1] != '=')
            continue;
        double value = 0.0;
        int digits = 0;
        for (at += 2; digits < DIGITS_MAX && *at >= '0' && *at <= '9'; at++, digits++)
            value = value * 10.0 + (*at - '0');
        *out = value;
        return digits > 0;
    }
    return false;
}

double
sl_hub_wait_asked_for(const char *ratelimit, const char *retry_after)
{
    double left = -1.0, seconds = -1.0;
    if (ratelimit != NULL && read_parameter(ratelimit, 'r', &left) && left < 0.5 &&
        read_parameter(ratelimit, 't', &seconds))
        return seconds;

    uint64_t whole = 0;
    if (retry_after != NULL && strlen(retry_after) <= DIGITS_MAX &&
        sl_text_to_uint(retry_after, &whole))
        return (double)whole;
    return -1.0;
}
