/** The main of a suite whose cases ask the catalogue. */
#ifndef SL_TESTS_CATALOGUED_H
#define SL_TESTS_CATALOGUED_H

#include <stdio.h>

#include "catalog/catalog.h"
#include "harness.h"
#include "json/reader.h"

/** sl_run_cases, with the catalogue in *catalog while they run. */
static inline int
sl_run_catalogued(int argc, char **argv, const char *suite, const sl_case *cases, size_t count,
                  sl_catalog **catalog)
{
    sl_errors err = {.count = 0};

    sl_json_start();
    *catalog = sl_catalog_new(&err);
    if (*catalog == NULL) {
        for (uint32_t i = 0; i < err.count; i++)
            fprintf(stderr, "%s: %s\n", err.list[i].rule, err.list[i].message);
        return 1;
    }
    const int result = sl_run_cases(argc, argv, suite, cases, count);
    sl_catalog_free(*catalog);
    return result;
}

#endif
