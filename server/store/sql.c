#include "store/sql.h"

#include <assert.h>

/* RFC 3339 in UTC, to the millisecond; the database does the calendar. */
#define RFC_3339 " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* The columns of an sl_inventory_row in the order that inventory_rows.c reads them. */
#define ROW                                                                                        \
    "slug, revision, name, to_char(created_at" RFC_3339 ", to_char(updated_at" RFC_3339            \
    ", to_char(deleted_at" RFC_3339

/* A past revision as it stood: created with the inventory, updated when the revision was made. */
#define PAST_ROW                                                                                   \
    "i.slug, r.revision, r.name, to_char(i.created_at" RFC_3339 ", to_char(r.created_at" RFC_3339  \
    ", NULL"

/* Who wrote, of a row of the audit called a; the columns of an sl_requester, behind what was
 * done. */
#define ORIGIN "a.action, host(a.remote_address), a.user_agent, a.request_id"

/* A page of an audit, of what $1 names, in the order that audit.c reads. */
#define AUDITED "a.id, a.revision, to_char(a.written_at" RFC_3339 ", " ORIGIN
#define AUDIT_PAGE " AND a.id < $2::bigint ORDER BY a.id DESC LIMIT $3::bigint"

/* A write is one statement: the change, its revision, and its row in the audit, of a write that
 * $1 names and that came from $2, $3 and $4. */
#define THIS_ROW " WHERE slug = $5::text AND revision = $6::bigint"
#define RETURNED                                                                                   \
    " RETURNING slug, revision, name, spec, spec_hash, created_at, updated_at, deleted_at)"
#define RECORDED                                                                                   \
    ", recorded AS (INSERT INTO inventory_revisions"                                               \
    " (slug, revision, name, spec, spec_hash, created_at)"                                         \
    " SELECT slug, revision, name, spec, spec_hash, updated_at FROM changed)"
#define NOTED                                                                                      \
    ", noted AS (INSERT INTO inventory_audit"                                                      \
    " (slug, revision, action, written_at, remote_address, user_agent, request_id)"                \
    " SELECT slug, revision, $1::text, updated_at, $2::inet, $3::text, $4::text FROM changed)"     \
    " SELECT " ROW ", spec FROM changed"

/* Whether $5 stands in the start of a name, whatever its case: an index leaves the few names in
 * which all of its runs of letters stand, and these are compared. "<> 0" and not "> 0", of which
 * the planner would believe that two names in three fail it. */
#define HOLDS_PART                                                                                 \
    "name_runs @> inventory_part_runs($5::text)"                                                   \
    " AND strpos(lower(left(name, 256)), lower($5::text)) <> 0"

/* What a list may ask beside its order. A parameter that is null asks nothing. */
#define FILTERS                                                                                    \
    " AND (deleted_at IS NOT NULL) = $3::boolean"                                                  \
    " AND ($4::text IS NULL OR accelerators @> ARRAY[$4::text])"                                   \
    " AND ($5::text IS NULL OR (" HOLDS_PART "))"                                                  \
    " AND ($6::jsonb IS NULL OR labels @> $6::jsonb)"                                              \
    " AND ($7::text IS NULL OR labels ? $7::text)"                                                 \
    " AND ($8::timestamptz IS NULL OR updated_at >= $8::timestamptz)"                              \
    " AND ($9::boolean IS NULL OR problem_at <= statement_timestamp())"

/* What is found of an inventory's hosts holds for; software is the parameter that holds its
 * versions. */
#define HOSTS_FOR(software) "concat_ws(' ', revision, observed_hash, " software "::text)"

/* Where a row stands among the others, to the last digit: what the next page begins behind. */
#define NAME_KEY "left(name, 100) COLLATE \"C\""
#define TIME_KEY(time) "to_char(" time " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
#define UPDATE_KEY TIME_KEY("updated_at")
#define OBSERVED_KEY TIME_KEY("observed_at")

/* Whether an observation, under the name o, no longer counts. */
#define STALE "o.observed_at + o.stale_after_s * interval '1 second' <= statement_timestamp()"

/* The columns of an sl_observation_row in the order that observation.c reads them. */
#define OBSERVATION                                                                                \
    "o.source, o.revision, o.format, o.raw_hash, o.facts_hash, o.hosts,"                           \
    " to_char(o.observed_at" RFC_3339 ", to_char(o.received_at" RFC_3339                           \
    ", to_char(o.changed_at" RFC_3339 ", o.stale_after_s, " STALE

/* What counts of the observations of a plan's inventory, in the order in which the last word
 * wins. */
#define OBSERVATIONS_HASH                                                                          \
    "coalesce((SELECT md5(string_agg(concat_ws(' ', o.source, o.facts_hash, " STALE "), ','"       \
    " ORDER BY o.observed_at, o.source)) FROM observations o WHERE o.slug = p.inventory), '')"

/* Plans p, with the inventory i that each names, and what a verdict on it would hold for; software
 * is the parameter that holds its versions. */
#define PLANS_OF(software)                                                                         \
    " FROM plans p LEFT JOIN inventories i ON i.slug = p.inventory"                                \
    " CROSS JOIN LATERAL (SELECT " OBSERVATIONS_HASH " AS observations_hash) o"                    \
    " CROSS JOIN LATERAL (SELECT concat_ws(' ', p.revision, i.revision,"                           \
    " i.deleted_at IS NOT NULL, o.observations_hash, " software "::text) AS holds_for) h"          \
    " WHERE p.deleted_at IS NULL"

/* Whether the verdict on a plan is one on what is there now. */
#define CURRENT "p.evaluated_for IS NOT DISTINCT FROM h.holds_for"

/* The columns of an sl_plan_row in the order that plan.c reads them; lists have no document. */
#define PLAN(spec)                                                                                 \
    "p.slug, p.revision, p.name, " spec ", p.inventory, to_char(p.created_at" RFC_3339             \
    ", to_char(p.updated_at" RFC_3339 ", p.verdict, p.evaluation, to_char(p.evaluated_at" RFC_3339 \
    ", p.reason, h.holds_for, p.evaluated_for, i.revision, o.observations_hash, " CURRENT

/* The lock of the migrations: an arbitrary number that only this program takes. */
#define MIGRATION_KEY "8317987319222330741"

static const sl_sql statements[] = {
    [SL_SQL_ROLLBACK] = {"rollback", "ROLLBACK", 0},

    /* A second replica waits for the first one's migration, yet not so long that a stop would
     * have to
       wait too: whoever gives up tries again at its next use. The schema change itself rather fails
       than queue the traffic behind its table lock. */
    [SL_SQL_MIGRATION_WAIT] = {"migration_wait",
                               "SELECT set_config('lock_timeout', '5s', true),"
                               " set_config('statement_timeout', '0', true)",
                               0},
    [SL_SQL_MIGRATION_LOCK] = {"migration_lock", "SELECT pg_advisory_xact_lock(" MIGRATION_KEY ")",
                               0},
    [SL_SQL_MIGRATION_HURRY] = {"migration_hurry", "SELECT set_config('lock_timeout', '5s', true)",
                                0},
    [SL_SQL_MIGRATION_TABLE] = {"migration_table",
                                "CREATE TABLE IF NOT EXISTS schema_migrations ("
                                "number bigint PRIMARY KEY, name text NOT NULL,"
                                " checksum text NOT NULL, applied_at timestamptz NOT NULL)",
                                0},
    [SL_SQL_MIGRATION_GET] = {"migration_get",
                              "SELECT checksum FROM schema_migrations WHERE number = $1::bigint",
                              1},
    [SL_SQL_MIGRATION_ADD] = {"migration_add",
                              "INSERT INTO schema_migrations (number, name, checksum, applied_at)"
                              " VALUES ($1::bigint, $2::text, $3::text, statement_timestamp())",
                              3},
    [SL_SQL_MIGRATION_LAST] = {"migration_last",
                               "SELECT coalesce(max(number), 0) FROM schema_migrations", 0},

    [SL_SQL_INVENTORY_LOCK] = {"inventory_lock",
                               "SELECT " ROW ", spec, spec_hash FROM inventories"
                               " WHERE slug = $1::text FOR UPDATE",
                               1},
    [SL_SQL_INVENTORY_INSERT] = {"inventory_insert",
                                 "WITH changed AS (INSERT INTO inventories"
                                 " (slug, revision, name, spec, spec_hash, accelerators,"
                                 " created_at, updated_at)"
                                 " VALUES ($5::text, 1, $6::text, $7::json, $8::text,"
                                 " ARRAY(SELECT json_array_elements_text($9::json)),"
                                 " statement_timestamp(), statement_timestamp())"
                                 " ON CONFLICT (slug) DO NOTHING" RETURNED RECORDED NOTED,
                                 9},
    [SL_SQL_INVENTORY_UPDATE] =
        {"inventory_update",
         "WITH changed AS (UPDATE inventories"
         " SET revision = revision + 1, name = $7::text, spec = $8::json,"
         " spec_hash = $9::text, accelerators ="
         " ARRAY(SELECT json_array_elements_text($10::json)),"
         " updated_at = statement_timestamp(), deleted_at = NULL" THIS_ROW RETURNED RECORDED NOTED,
         10},
    [SL_SQL_INVENTORY_DELETE] = {"inventory_delete",
                                 "WITH changed AS (UPDATE inventories"
                                 " SET deleted_at = statement_timestamp(),"
                                 " updated_at = statement_timestamp()" THIS_ROW RETURNED NOTED,
                                 6},
    [SL_SQL_INVENTORY_RESTORE] =
        {"inventory_restore",
         "WITH changed AS (UPDATE inventories"
         " SET revision = revision + 1,"
         " updated_at = statement_timestamp(), deleted_at = NULL" THIS_ROW RETURNED RECORDED NOTED,
         6},
    [SL_SQL_INVENTORY_GET] = {"inventory_get",
                              "SELECT " ROW ", spec, observed_hash = '' AND NOT EXISTS"
                              " (SELECT 1 FROM plans p WHERE p.inventory = inventories.slug"
                              " AND p.deleted_at IS NULL) FROM inventories"
                              " WHERE slug = $1::text AND deleted_at IS NULL",
                              1},
    [SL_SQL_INVENTORY_REVISION] = {"inventory_revision",
                                   "SELECT " PAST_ROW ", r.spec FROM inventories i"
                                   " JOIN inventory_revisions r ON r.slug = i.slug"
                                   " WHERE i.slug = $1::text AND i.deleted_at IS NULL"
                                   " AND r.revision = $2::bigint",
                                   2},
    /* An inventory without a revision in the window gives one row without a revision: that tells
       the end of its history from an inventory that does not exist. */
    [SL_SQL_INVENTORY_REVISIONS] = {"inventory_revisions",
                                    "SELECT " PAST_ROW ", " ORIGIN " FROM inventories i"
                                    " LEFT JOIN inventory_revisions r ON r.slug = i.slug"
                                    " AND r.revision < $2::bigint"
                                    " LEFT JOIN inventory_audit a ON a.slug = r.slug"
                                    " AND a.revision = r.revision AND (a.action = 'delete') = false"
                                    " WHERE i.slug = $1::text AND i.deleted_at IS NULL"
                                    " ORDER BY r.revision DESC LIMIT $3::bigint",
                                    3},

    /* Sources of one inventory take turns, so that what is looked at before a write still holds. */
    [SL_SQL_OBSERVED_LOCK] = {"observed_lock",
                              "SELECT 1 FROM inventories"
                              " WHERE slug = $1::text AND deleted_at IS NULL FOR NO KEY UPDATE",
                              1},
    [SL_SQL_OBSERVED_THERE] = {"observed_there",
                               "SELECT 1 FROM inventories"
                               " WHERE slug = $1::text AND deleted_at IS NULL",
                               1},
    [SL_SQL_OBSERVATION_PUT] =
        {"observation_put",
         "INSERT INTO observations AS o"
         " (slug, source, revision, format, raw_hash, facts, facts_hash, hosts, observed_at,"
         " stale_after_s, received_at, changed_at)"
         " SELECT $1::text, $2::text, 1, $3::text, $4::text, $5::json, $6::text, $7::bigint,"
         " $8::timestamptz, coalesce($9::bigint, 86400), statement_timestamp(),"
         " statement_timestamp()"
         " WHERE EXISTS (SELECT 1 FROM observations WHERE slug = $1::text AND source = $2::text)"
         " OR (SELECT count(*) FROM observations WHERE slug = $1::text) < 1024"
         " ON CONFLICT (slug, source) DO UPDATE SET"
         " revision = o.revision + (o.facts_hash <> excluded.facts_hash"
         " OR o.format <> excluded.format)::int,"
         " changed_at = CASE WHEN o.facts_hash <> excluded.facts_hash"
         " OR o.format <> excluded.format THEN excluded.changed_at ELSE o.changed_at END,"
         " format = excluded.format, raw_hash = excluded.raw_hash, facts = excluded.facts,"
         " facts_hash = excluded.facts_hash, hosts = excluded.hosts,"
         " observed_at = excluded.observed_at,"
         " stale_after_s = coalesce($9::bigint, o.stale_after_s),"
         " received_at = excluded.received_at"
         " WHERE o.observed_at <= excluded.observed_at"
         " RETURNING " OBSERVATION ", o.facts",
         9},
    [SL_SQL_OBSERVATION_GET] = {"observation_get",
                                "SELECT " OBSERVATION ", o.facts FROM observations o"
                                " JOIN inventories i ON i.slug = o.slug AND i.deleted_at IS NULL"
                                " WHERE o.slug = $1::text AND o.source = $2::text",
                                2},
    [SL_SQL_OBSERVATION_DELETE] = {"observation_delete",
                                   "DELETE FROM observations"
                                   " WHERE slug = $1::text AND source = $2::text",
                                   2},
    /* An inventory without observations gives one row without a source, one that is not there
     * none. */
    [SL_SQL_OBSERVATION_LIST] = {"observation_list",
                                 "SELECT " OBSERVATION ", NULL FROM inventories i"
                                 " LEFT JOIN observations o"
                                 " ON o.slug = i.slug AND o.source > $2::text"
                                 " WHERE i.slug = $1::text AND i.deleted_at IS NULL"
                                 " ORDER BY o.source LIMIT $3::bigint",
                                 3},
    [SL_SQL_OBSERVATION_FACTS] = {"observation_facts",
                                  "SELECT " OBSERVATION ", o.facts FROM inventories i"
                                  " LEFT JOIN observations o"
                                  " ON o.slug = i.slug AND o.source > $2::text"
                                  " WHERE i.slug = $1::text AND i.deleted_at IS NULL"
                                  " ORDER BY o.source LIMIT $3::bigint",
                                  3},
    [SL_SQL_INVENTORY_PEEK] = {"inventory_peek",
                               "SELECT " ROW ", spec, spec_hash FROM inventories"
                               " WHERE slug = $1::text",
                               1},
    /* As with the revisions: one row without an id is an inventory without writes in the window.
       Who deleted an inventory is known from here, so that it is answered after that too. */
    [SL_SQL_INVENTORY_AUDIT] =
        {"inventory_audit",
         "SELECT " AUDITED " FROM inventories i"
         " LEFT JOIN inventory_audit a ON a.slug = i.slug AND a.id < $2::bigint"
         " WHERE i.slug = $1::text"
         " ORDER BY a.id DESC LIMIT $3::bigint",
         3},
    [SL_SQL_INVENTORIES_BY_SLUG] = {"inventories_by_slug",
                                    "SELECT " ROW ", slug FROM inventories"
                                    " WHERE slug > $1::text" FILTERS
                                    " ORDER BY slug LIMIT $2::bigint",
                                    9},
    [SL_SQL_INVENTORIES_BY_SLUG_DOWN] = {"inventories_by_slug_down",
                                         "SELECT " ROW ", slug FROM inventories"
                                         " WHERE slug < $1::text" FILTERS
                                         " ORDER BY slug DESC LIMIT $2::bigint",
                                         9},
    [SL_SQL_INVENTORIES_BY_UPDATE] =
        {"inventories_by_update",
         "SELECT " ROW ", " UPDATE_KEY " FROM inventories"
         " WHERE (updated_at, slug) > ($1::timestamptz, $10::text)" FILTERS
         " ORDER BY updated_at, slug LIMIT $2::bigint",
         10},
    [SL_SQL_INVENTORIES_BY_UPDATE_DOWN] =
        {"inventories_by_update_down",
         "SELECT " ROW ", " UPDATE_KEY " FROM inventories"
         " WHERE (updated_at, slug) < ($1::timestamptz, $10::text)" FILTERS
         " ORDER BY updated_at DESC, slug DESC LIMIT $2::bigint",
         10},
    [SL_SQL_INVENTORIES_BY_NAME] = {"inventories_by_name",
                                    "SELECT " ROW ", " NAME_KEY " FROM inventories"
                                    " WHERE (" NAME_KEY ", slug) > ($1::text, $10::text)" FILTERS
                                    " ORDER BY " NAME_KEY ", slug LIMIT $2::bigint",
                                    10},
    [SL_SQL_INVENTORIES_BY_OBSERVATION] =
        {"inventories_by_observation",
         "SELECT " ROW ", " OBSERVED_KEY " FROM inventories"
         " WHERE (observed_at, slug) > ($1::timestamptz, $10::text)" FILTERS
         " ORDER BY observed_at, slug LIMIT $2::bigint",
         10},
    [SL_SQL_INVENTORIES_UNJUDGED] = {"inventories_unjudged",
                                     "SELECT slug, " HOSTS_FOR(
                                         "$2") " FROM inventories"
                                               " WHERE slug > $1::text AND deleted_at IS NULL"
                                               " AND hosts_judged_for IS DISTINCT FROM " HOSTS_FOR(
                                                   "$2") " ORDER BY slug LIMIT $3::bigint",
                                     3},
    /* Of two that judge at once the first one is heard: both say the same. */
    [SL_SQL_INVENTORY_JUDGE] = {"inventory_judge",
                                "UPDATE inventories SET hosts_judged_for = $2::text,"
                                " hosts_wrong = $3::boolean WHERE slug = $1::text"
                                " AND hosts_judged_for IS DISTINCT FROM $2::text",
                                3},

    [SL_SQL_OBSERVATION_NOTE] = {"observation_note",
                                 "INSERT INTO observation_audit"
                                 " (slug, source, revision, action, written_at, remote_address,"
                                 " user_agent, request_id)"
                                 " SELECT slug, source, revision, $3::text, statement_timestamp(),"
                                 " $4::inet, $5::text, $6::text FROM observations"
                                 " WHERE slug = $1::text AND source = $2::text",
                                 6},
    [SL_SQL_PLAN_NOTE] = {"plan_note",
                          "INSERT INTO plan_audit"
                          " (slug, revision, action, written_at, remote_address, user_agent,"
                          " request_id)"
                          " SELECT slug, revision, $2::text, updated_at, $3::inet, $4::text,"
                          " $5::text FROM plans WHERE slug = $1::text",
                          5},
    [SL_SQL_PLAN_LOCK] = {"plan_lock",
                          "SELECT revision, spec_hash, deleted_at IS NOT NULL FROM plans"
                          " WHERE slug = $1::text FOR UPDATE",
                          1},
    [SL_SQL_PLAN_INSERT] = {"plan_insert",
                            "INSERT INTO plans (slug, revision, name, spec, spec_hash, inventory,"
                            " created_at, updated_at)"
                            " VALUES ($1::text, $2::bigint, $3::text, $4::json, $5::text, $6::text,"
                            " statement_timestamp(), statement_timestamp())"
                            " ON CONFLICT (slug) DO NOTHING RETURNING 1",
                            6},
    /* Another plan: what was found of the one before it says nothing. */
    [SL_SQL_PLAN_UPDATE] = {"plan_update",
                            "UPDATE plans SET revision = $2::bigint, name = $3::text,"
                            " spec = $4::json, spec_hash = $5::text, inventory = $6::text,"
                            " updated_at = statement_timestamp(), deleted_at = NULL,"
                            " verdict = NULL, evaluation = NULL, reason = NULL,"
                            " evaluated_at = NULL, evaluated_for = NULL"
                            " WHERE slug = $1::text RETURNING 1",
                            6},
    [SL_SQL_PLAN_RECORD] = {"plan_record",
                            "INSERT INTO plan_revisions"
                            " (slug, revision, name, spec, spec_hash, created_at)"
                            " SELECT slug, revision, name, spec, spec_hash, updated_at"
                            " FROM plans WHERE slug = $1::text",
                            1},
    [SL_SQL_PLAN_GET] = {"plan_get",
                         "SELECT " PLAN("p.spec") PLANS_OF("$2") " AND p.slug = $1::text", 2},
    [SL_SQL_PLAN_DELETE] = {"plan_delete",
                            "UPDATE plans SET deleted_at = statement_timestamp(),"
                            " updated_at = statement_timestamp() WHERE slug = $1::text",
                            1},
    [SL_SQL_PLAN_LIST] = {"plan_list",
                          "SELECT " PLAN("NULL")
                              PLANS_OF("$2") " AND p.slug > $1::text"
                                             " AND ($4::text IS NULL OR p.inventory = $4::text)"
                                             " AND CASE WHEN $5::text IS NULL THEN true"
                                             " WHEN $5::text = 'pending' THEN NOT (" CURRENT ")"
                                             " WHEN $5::text = 'not_fits' THEN " CURRENT
                                             " AND p.verdict <> 'fits'"
                                             " ELSE " CURRENT " AND p.verdict = $5::text END"
                                             " ORDER BY p.slug LIMIT $3::bigint",
                          5},
    /* Of two that judge at once the first one is heard: the other may have seen less. */
    [SL_SQL_PLAN_JUDGE] = {"plan_judge",
                           "UPDATE plans SET verdict = $3::text, evaluation = $4::json,"
                           " reason = $5::text, evaluated_for = $6::text,"
                           " evaluated_at = statement_timestamp()"
                           " WHERE slug = $1::text AND revision = $2::bigint"
                           " AND evaluated_for IS NOT DISTINCT FROM $7::text"
                           " AND deleted_at IS NULL",
                           7},
    [SL_SQL_PLAN_COUNT] = {"plan_count",
                           "SELECT CASE WHEN " CURRENT " THEN p.verdict ELSE 'pending' END,"
                           " count(*)" PLANS_OF(
                               "$1") " AND ($2::text IS NULL OR p.inventory = $2::text) GROUP BY 1",
                           2},
    [SL_SQL_HARDWARE_STATE] = {"hardware_state", "SELECT revision FROM private_hardware_state", 0},
    /* State and rows in one statement, thus of one moment. Without rows there is one of nulls. */
    [SL_SQL_HARDWARE_LIST] = {"hardware_list",
                              "SELECT s.revision, h.kind, h.id, h.revision,"
                              " to_char(h.created_at" RFC_3339 ", to_char(h.updated_at" RFC_3339
                              ", h.spec"
                              " FROM private_hardware_state s LEFT JOIN private_hardware h ON true"
                              " ORDER BY h.kind, h.id",
                              0},
    [SL_SQL_HARDWARE_LOCK] = {"hardware_lock",
                              "SELECT revision FROM private_hardware_state FOR UPDATE", 0},
    [SL_SQL_HARDWARE_GET] = {"hardware_get",
                             "SELECT revision, spec_hash FROM private_hardware"
                             " WHERE kind = $1::text AND id = $2::text",
                             2},
    [SL_SQL_HARDWARE_COUNT] = {"hardware_count", "SELECT count(*) FROM private_hardware", 0},
    [SL_SQL_HARDWARE_ADVANCE] = {"hardware_advance",
                                 "UPDATE private_hardware_state SET revision = revision + 1", 0},
    [SL_SQL_HARDWARE_PUT] = {"hardware_put",
                             "INSERT INTO private_hardware (kind, id, revision, spec, spec_hash,"
                             " uses, created_at, updated_at)"
                             " SELECT $1::text, $2::text, revision, $3::json, $4::text, $5::text,"
                             " statement_timestamp(), statement_timestamp()"
                             " FROM private_hardware_state"
                             " ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision,"
                             " spec = excluded.spec, spec_hash = excluded.spec_hash,"
                             " uses = excluded.uses, updated_at = excluded.updated_at",
                             5},
    [SL_SQL_HARDWARE_DELETE] = {"hardware_delete",
                                "DELETE FROM private_hardware"
                                " WHERE kind = $1::text AND id = $2::text",
                                2},
    [SL_SQL_HARDWARE_NOTE] = {"hardware_note",
                              "INSERT INTO private_hardware_audit"
                              " (kind, entry, revision, action, written_at, remote_address,"
                              " user_agent, request_id)"
                              " SELECT kind, id, revision, $3::text, statement_timestamp(),"
                              " $4::inet, $5::text, $6::text FROM private_hardware"
                              " WHERE kind = $1::text AND id = $2::text",
                              6},
    [SL_SQL_HARDWARE_AUDIT] = {"hardware_audit",
                               "SELECT " AUDITED " FROM private_hardware_audit a"
                               " WHERE a.entry = $1::text AND a.kind = $4::text" AUDIT_PAGE,
                               4},
    [SL_SQL_OBSERVATION_AUDIT] = {"observation_audit",
                                  "SELECT " AUDITED " FROM observation_audit a"
                                  " WHERE a.slug = $1::text AND a.source = $4::text" AUDIT_PAGE,
                                  4},
    [SL_SQL_PLAN_AUDIT] = {"plan_audit",
                           "SELECT " AUDITED " FROM plan_audit a"
                           " WHERE a.slug = $1::text" AUDIT_PAGE,
                           3},
    /* What is dropped is told from the rows as they were before: with the new one 10,000 are left.
       That one is not among them, since one statement must not change a row twice. */
    [SL_SQL_SEARCH_PUT] = {"search_put",
                           "WITH kept AS (INSERT INTO searches"
                           " (hash, engine_version, catalog_revision, result, created_at)"
                           " VALUES ($1::text, $2::text, $3::text, $4::json, statement_timestamp())"
                           " ON CONFLICT (hash) DO UPDATE SET id = DEFAULT,"
                           " engine_version = excluded.engine_version,"
                           " catalog_revision = excluded.catalog_revision,"
                           " result = excluded.result, created_at = excluded.created_at)"
                           " DELETE FROM searches WHERE hash <> $1::text AND id <="
                           " (SELECT id FROM searches ORDER BY id DESC OFFSET 9999 LIMIT 1)",
                           4},
    [SL_SQL_SEARCH_GET] = {"search_get",
                           "SELECT hash, engine_version, catalog_revision, result,"
                           " to_char(created_at" RFC_3339 " FROM searches WHERE hash = $1::text",
                           1},
};
_Static_assert(sizeof statements / sizeof statements[0] == SL_SQL_COUNT,
               "every statement has its text");

const sl_sql *
sl_sql_get(sl_statement statement)
{
    assert(statement < SL_SQL_COUNT);
    return &statements[statement];
}
