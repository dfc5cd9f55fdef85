/** Problem documents (RFC 9457): one table from what went wrong to status, type and title. */
#ifndef SL_HTTP_PROBLEM_H
#define SL_HTTP_PROBLEM_H

#include "http/message.h"

/** What only this layer says; the kinds below are the values of sl_code. */
enum {
    SL_PROBLEM_METHOD = SL_CODE_COUNT, /* 405 */
    SL_PROBLEM_HOST,                   /* 421 */
    SL_PROBLEM_COUNT
};

/** As sl_response_problem, with the kind given instead of taken from the first error, and one more
 * member whose value is JSON text; NULL: none. */
void sl_problem_write(sl_response *response, const sl_request *request, uint32_t kind,
                      const sl_errors *err, const sl_pair *extension);

#endif
