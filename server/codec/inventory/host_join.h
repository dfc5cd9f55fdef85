/** What host_status.h promises, in its parts. Inside server/codec only. */
#ifndef SL_CODEC_HOST_JOIN_H
#define SL_CODEC_HOST_JOIN_H

#include "base/index.h"
#include "codec/inventory/host_status.h"

/** What a tool says of a node: what the spec says or implies as well, which it can contradict, and
 * what hosts of a pool should have alike. */
typedef enum sl_compared {
    SL_COMPARED_ACCELERATOR,
    SL_COMPARED_ACCELERATORS,
    SL_COMPARED_MEMORY,
    SL_COMPARED_HOST_MEMORY,
    SL_COMPARED_SLICED,
    SL_COMPARED_DRIVER,
    SL_COMPARED_POWER_LIMIT,
    SL_COMPARED_NIC_COUNT,
    SL_COMPARED_NIC_RATE,
    SL_COMPARED_COUNT
} sl_compared;

extern const char *const sl_compared_fields[SL_COMPARED_COUNT];

/** What a source said of a kind. */
typedef struct sl_joined_fact {
    const char *text; /* NULL: the number */
    double number;
    const char *source;
    uint32_t word; /* of the observation: later ones are more */
} sl_joined_fact;

enum { SL_JOINED_PARTS_MAX = 8 };

/** What a printed name may stand for: "a100" is several parts. */
typedef struct sl_joined_parts {
    const sl_part *list[SL_JOINED_PARTS_MAX];
    uint32_t count; /* 0: no part that is known */
} sl_joined_parts;

typedef struct sl_joined_kind {
    const sl_joined_fact *facts[SL_COMPARED_COUNT]; /* NULL: not said */
    const sl_joined_parts *parts;                   /* of its accelerator; NULL: not said */
} sl_joined_kind;

/** What each source said of a host, one after the other. */
typedef struct sl_joined_said {
    struct sl_joined_said *before;
    const sl_joined_kind *kind;
} sl_joined_said;

#define SL_NO_POOL UINT32_MAX
#define SL_NO_HOST UINT32_MAX

typedef struct sl_joined_host {
    const char *name;
    uint32_t pool; /* SL_NO_POOL: the spec does not name it */
    bool listed;   /* by a source that lists hosts */
    sl_observed_state state;
    const char *reason, *since;
    const char *source;  /* of the state; NULL: none said it */
    uint32_t state_word; /* of the observation that said it; 0: none */
    bool scheduled;      /* ... which comes from who gives the host its work */
    const char *seen_by; /* the last source that named it */
    uint32_t named_by;   /* the last document that did; 0: the spec */
    bool counted;        /* of its base: it has a domain */
    sl_joined_kind kind; /* the last word on each fact */
    sl_joined_said *said;
    uint32_t said_count;
    bool joined;    /* it is another host of the table, which has its words now */
    bool ambiguous; /* it may be another one: a name has no domain, and several could be meant */
} sl_joined_host;

/** The state of a host, of two that were said: the later one, but that a tool finds it running is
 * no answer to a scheduler that gives it no work. */
void sl_join_state(sl_joined_host *to, const sl_joined_host *from);

/** The first label of names that have a domain: what the same hosts are called without one. */
typedef struct sl_joined_base {
    const char *name;
    uint32_t full;  /* the last host of them that was met first */
    uint32_t fulls; /* how many there are */
    bool apart;     /* a document names a host with its domain and one without: they are two */
    bool asked;     /* which of them is meant without a domain is not known */
    bool open;      /* ... and the spec does not name all of them */
} sl_joined_base;

/** Nodes that a source spoke of without naming them. */
typedef struct sl_joined_unnamed {
    struct sl_joined_unnamed *next;
    const sl_joined_kind *kind;
} sl_joined_unnamed;

typedef struct sl_joined_pool {
    sl_pool_hosts hosts;
    bool named;                 /* the spec names its hosts */
    const char *accelerator;    /* its id, of the catalogue; NULL: the next two are not known */
    uint64_t accelerators;      /* of a node */
    uint64_t memory_bytes;      /* of an accelerator */
    uint64_t host_memory_bytes; /* 0: not said */
    uint64_t seen;              /* of one that is not named: hosts that are taken for its own */
    const char *seen_by;
} sl_joined_pool;

/** What a source sees otherwise than is expected. */
typedef struct sl_contradiction {
    const char *pool;
    const char *field;
    const char *expected_text; /* by the spec, or from most of the pool; NULL: the number */
    double expected_number;
    uint32_t alike; /* hosts of the pool that are as expected; 0: the spec expects it */
    const sl_joined_fact *observed;
    const char **hosts;
    uint32_t host_count, host_room;
} sl_contradiction;

enum { SL_CONTRADICTIONS_MAX = 256 };

struct sl_host_status {
    sl_arena *arena;
    const sl_catalog *catalog;
    sl_joined_pool *pools;
    uint32_t pool_count;
    sl_joined_host *hosts;
    uint32_t host_count, host_room;
    sl_index names; /* of hosts */
    uint32_t word;  /* of the observation being taken; 0: the spec */
    sl_joined_base *bases;
    uint32_t base_count, base_room;
    sl_index base_names;
    bool listing; /* a source that counts lists hosts */
    sl_joined_unnamed *unnamed;
    sl_contradiction contradictions[SL_CONTRADICTIONS_MAX];
    uint32_t contradiction_count;
    sl_contradiction unequal[SL_CONTRADICTIONS_MAX];
    uint32_t unequal_count;
    const sl_observation *observations;
    uint32_t observation_count;
};

/** What the index of hosts asks for; status: sl_host_status. */
const char *sl_join_name(const void *status, uint32_t host);

/** The host of that name, or a new one that no pool names. NULL without memory. */
sl_joined_host *sl_join_host(sl_host_status *status, const char *name);

/** Notes that the document being read, spec or observation, names that host. False without
 * memory. */
bool sl_join_mention(sl_host_status *status, uint32_t host) SL_MUST_CHECK;

/** When all was read: gpu01.cluster.example is gpu01 where no other host is gpu01 of some domain
 * and no document names both; it is called as the spec does, else in short. Where one of the two is
 * so, they stay apart and are ambiguous. Hosts are not to be found by name any more. */
void sl_join_names_settle(sl_host_status *status);

/** What the index of bases asks for. */
const char *sl_join_base_name(const void *status, uint32_t base);

/** Takes the word of one source. */
sl_code sl_join_observation(sl_host_status *status, const sl_observation *observation,
                            sl_errors *err) SL_MUST_CHECK;

/** Notes that a source says this of a host. False without memory. */
bool sl_join_say(sl_host_status *status, sl_joined_host *host,
                 const sl_joined_kind *kind) SL_MUST_CHECK;

/** Whether its accelerator, as the tool prints it, may be the one of this id. */
bool sl_join_may_be(const sl_joined_kind *kind, const char *id);

/** Named by the spec and by no source that lists hosts. */
bool sl_join_missing(const sl_host_status *status, const sl_joined_host *host);
/** Not named by the spec, yet with accelerators. */
bool sl_join_foreign(const sl_joined_host *host);

/** Hosts as a list of at most `room` bytes: "gpu[001-004],gpu009", with "..." for those that
 * it has no room for; names is sorted. NULL without memory. */
const char *sl_join_spell(sl_arena *arena, const char **names, uint32_t count, size_t room);

/** Compares every fact with the spec. */
sl_code sl_join_contradict(sl_host_status *status, sl_errors *err) SL_MUST_CHECK;

/** Whether a fact of a host is not what the spec says: it is among the contradictions. */
bool sl_join_contradicted(const sl_host_status *status, const sl_joined_host *host, uint32_t field);

/** Whether two numbers of a field mean the same: tools print a little less memory than there is. */
bool sl_join_near(uint32_t field, double printed, double number);

/** Compares the hosts of each pool with one another, as one source sees them, in what does not
 * contradict the spec already. */
sl_code sl_join_unequal(sl_host_status *status, sl_errors *err) SL_MUST_CHECK;

#endif
