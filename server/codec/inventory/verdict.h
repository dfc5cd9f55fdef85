/**
 * Saved plans: their documents, and what an evaluation came to, boiled down from the answer to an
 * estimate request to what is kept and compared.
 */
#ifndef SL_CODEC_VERDICT_H
#define SL_CODEC_VERDICT_H

#include "base/arena.h"
#include "catalog/catalog.h"
#include "json/reader.h"
#include "json/writer.h"

/** A plan's document, {"name", "labels", "request"}. In the arena. */
typedef struct sl_plan_document {
    const char *name;      /* "" when there is none */
    const char *request;   /* JSON text of the estimate request */
    const char *inventory; /* that it names; NULL: none */
    char hash[65];         /* of the canonical document */
} sl_plan_document;

/**
 * Checks it, with the request as far as it stands for itself: all faults at once, below /request.
 * SL_E_SYNTAX for no JSON, SL_E_RANGE, SL_E_UNSUPPORTED as sl_estimate_request_read.
 */
sl_code sl_plan_document_read(const char *text, size_t size, const sl_catalog *catalog,
                              sl_arena *arena, sl_plan_document *out, sl_errors *err) SL_MUST_CHECK;

/** The request of a document that passed that check: out->request, and nothing else. SL_E_INTERNAL,
 * rule bad_plan, when it is none. */
sl_code sl_plan_document_request(const char *text, sl_arena *arena, sl_plan_document *out,
                                 sl_errors *err) SL_MUST_CHECK;

typedef enum sl_verdict_kind {
    SL_VERDICT_FITS,
    SL_VERDICT_DOES_NOT_FIT,
    SL_VERDICT_REFUSED, /* the request asks what cannot be answered */
    SL_VERDICT_NONE     /* nobody can say now: a part of the service is away */
} sl_verdict_kind;

/** Borrowed from where it was read, in the arena. */
typedef struct sl_verdict {
    sl_verdict_kind kind;
    bool has_figures;
    bool certain; /* of figures: both ends of the peak's interval say the same */
    double headroom_bytes;
    double step_s;
    const char *binding; /* a sentence; NULL: none */
    const char *hosts;   /* which hosts are left out, a sentence; NULL: none */
    const char *errors;  /* JSON of the faults; NULL: none */
    const char *detail;  /* of the first fault; NULL: none */
    const char *fitted;  /* JSON of what it was computed from when it fitted last; NULL: it does */
} sl_verdict;

/** What it was computed from. */
typedef struct sl_verdict_basis {
    uint64_t inventory_revision; /* 0: no inventory */
    const char *observations_hash;
    const char *engine_version;
    const char *catalog_revision;
} sl_verdict_basis;

/** Reads the answer to an estimate request: `status` and body. SL_E_MEMORY. */
sl_code sl_verdict_read(uint32_t status, const char *body, size_t size, sl_arena *arena,
                        sl_verdict *out, sl_errors *err) SL_MUST_CHECK;

/** The evaluation as it is kept and answered. */
void sl_verdict_write(sl_writer *writer, const sl_verdict *verdict, const sl_verdict_basis *basis);

/** The last evaluation that was kept, as far as a comparison needs it. */
typedef struct sl_verdict_kept {
    bool fitted;
    const char *evaluation; /* as sl_verdict_write wrote it */
} sl_verdict_kept;

/**
 * Why a plan that fitted does not any more, from the difference to when it last did: the hosts that
 * are left out now, another revision of the inventory, another engine or catalogue. That evaluation
 * goes along in now->fitted. kept: NULL when there is none.
 * *reason: in the arena, NULL where the plan fits or never did. SL_E_MEMORY.
 */
sl_code sl_verdict_reason(const sl_verdict_kept *kept, sl_verdict *now,
                          const sl_verdict_basis *basis, sl_arena *arena, const char **reason,
                          sl_errors *err) SL_MUST_CHECK;

#endif
