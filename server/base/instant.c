#include "base/instant.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"

enum { SECONDS_A_DAY = 86400 };

static const double LAST_S = 253402300799.0; /* of the year 9999 */

double
sl_instant_now_s(void)
{
    struct timespec now;
    const int got = clock_gettime(CLOCK_REALTIME, &now);
    assert(got == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Exactly `digits` digits, then `end` unless that is '\0'. */
static bool
read_part(const char **at, int digits, char end, int *out)
{
    int value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        value = value * 10 + (**at - '0');
    }
    *out = value;
    if (end == '\0')
        return true;
    return *(*at)++ == end;
}

static bool
leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970 to the date; false where there is no such date. */
static bool
count_days(int year, int month, int day, int64_t *out)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1970 || month < 1 || month > 12)
        return false;
    if (day < 1 || day > lengths[month - 1] + (month == 2 && leap(year)))
        return false;
    const int before = year - 1;
    int64_t days = (int64_t)(year - 1970) * 365 + (before / 4 - before / 100 + before / 400) -
                   (1969 / 4 - 1969 / 100 + 1969 / 400);
    for (int i = 1; i < month; i++)
        days += lengths[i - 1] + (i == 2 && leap(year));
    *out = days + day - 1;
    return true;
}

static double
read_fraction(const char **at)
{
    double value = 0;
    double unit = 1;
    if (**at != '.')
        return 0;
    for ((*at)++; **at >= '0' && **at <= '9' && unit > 1e-9; (*at)++) {
        unit /= 10;
        value += unit * (**at - '0');
    }
    return value;
}

/* Z, or hours and minutes ahead of it. */
static bool
read_offset(const char **at, int64_t *out_s)
{
    const char sign = **at;
    int hours = 0;
    int minutes = 0;
    if (sign == '\0')
        return false;
    (*at)++;
    *out_s = 0;
    if (sign == 'Z' || sign == 'z')
        return true;
    if ((sign != '+' && sign != '-') || !read_part(at, 2, ':', &hours) ||
        !read_part(at, 2, '\0', &minutes) || hours > 23 || minutes > 59)
        return false;
    *out_s = (sign == '+' ? 1 : -1) * ((int64_t)hours * 3600 + (int64_t)minutes * 60);
    return true;
}

bool
sl_instant_read(const char *text, double *out_s)
{
    assert(text != NULL && out_s != NULL);

    const char *at = text;
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    int64_t days = 0;
    int64_t offset_s = 0;
    if (!read_part(&at, 4, '-', &year) || !read_part(&at, 2, '-', &month) ||
        !read_part(&at, 2, '\0', &day) || !count_days(year, month, day, &days))
        return false;
    if (*at != 'T' && *at != 't' && *at != ' ')
        return false;
    at++;
    if (!read_part(&at, 2, ':', &hour) || !read_part(&at, 2, ':', &minute) ||
        !read_part(&at, 2, '\0', &second) || hour > 23 || minute > 59 || second > 60)
        return false;
    const double fraction = read_fraction(&at);
    if (!read_offset(&at, &offset_s) || *at != '\0')
        return false;
    const double instant_s = (double)(days * SECONDS_A_DAY + (int64_t)hour * 3600 +
                                      (int64_t)minute * 60 + second - offset_s) +
                             fraction;
    if (instant_s < 0 || instant_s > LAST_S)
        return false;
    *out_s = instant_s;
    return true;
}

void
sl_instant_write(double instant_s, char out[SL_INSTANT_SIZE])
{
    assert(instant_s >= 0 && instant_s <= LAST_S + 1);

    const int64_t ms = (int64_t)floor(instant_s * 1000 + 0.5);
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char date[24];
    const bool known = gmtime_r(&seconds, &parts) != NULL;
    assert(known);
    const size_t length = strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    assert(length > 0);
    const bool fits = sl_text_format(out, SL_INSTANT_SIZE, "%s.%03dZ", date, (int)(ms % 1000));
    assert(fits);
}
