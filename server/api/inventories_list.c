/* The list of stored inventories: its orders, its filters and its pages. */
#include <string.h>

#include "api/cursor.h"
#include "api/inventories.h"
#include "api/resources.h"
#include "base/text.h"

static const char *const sort_words[] = {
    [SL_SORT_SLUG] = "slug",          [SL_SORT_SLUG_DOWN] = "-slug",
    [SL_SORT_UPDATED] = "updated_at", [SL_SORT_UPDATED_DOWN] = "-updated_at",
    [SL_SORT_NAME] = "name",          [SL_SORT_OBSERVED] = "observed_at",
};
_Static_assert(sizeof sort_words / sizeof sort_words[0] == SL_SORT_COUNT, "every order has a word");

/* The number of `count` digits at `text`, which are known to be there. */
static unsigned
number_at(const char *text, size_t count)
{
    unsigned value = 0;

    for (size_t i = 0; i < count; i++)
        value = value * 10 + (unsigned)(text[i] - '0');
    return value;
}

/* Whether the text begins as the pattern says, 0 being any digit. */
static bool
has_shape(const char *text, const char *pattern)
{
    for (; *pattern != '\0'; pattern++, text++)
        if (*pattern == '0' ? *text < '0' || *text > '9' : *text != *pattern)
            return false;
    return true;
}

/* A time of RFC 3339 that the database can take: refused here, it can be named. */
static bool
time_ok(const char *text)
{
    static const unsigned days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (!has_shape(text, "0000-00-00T00:00:00"))
        return false;
    const unsigned year = number_at(text, 4);
    const unsigned month = number_at(text + 5, 2);
    const unsigned day = number_at(text + 8, 2);
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days[month - 1] ||
        (month == 2 && day == 29 && !leap) || number_at(text + 11, 2) > 23 ||
        number_at(text + 14, 2) > 59 || number_at(text + 17, 2) > 59)
        return false;
    const char *at = text + strlen("0000-00-00T00:00:00");
    if (*at == '.') {
        const size_t digits = strspn(at + 1, "0123456789");
        if (digits < 1 || digits > 9)
            return false;
        at += 1 + digits;
    }
    if (sl_text_equal(at, "Z"))
        return true;
    return (has_shape(at, "+00:00") || has_shape(at, "-00:00")) && at[6] == '\0' &&
           number_at(at + 1, 2) <= 14 && number_at(at + 4, 2) <= 59;
}

/* ?cursor=: where the page before ended, in this order and in no other. */
static sl_code
read_cursor(const sl_request *request, sl_inventory_query *out, sl_errors *err)
{
    const char *const text = sl_request_query(request, "cursor");
    sl_cursor cursor = {.sort = ""};

    if (text == NULL)
        return SL_OK;
    const bool timed = out->sort == SL_SORT_UPDATED || out->sort == SL_SORT_UPDATED_DOWN ||
                       out->sort == SL_SORT_OBSERVED;
    if (!sl_cursor_read(text, request->arena, &cursor) || !sl_slug_ok(cursor.slug) ||
        sl_text_index(cursor.sort, sort_words, SL_SORT_COUNT) < 0)
        return sl_fail(err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    if (!sl_text_equal(cursor.sort, sort_words[out->sort])) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "invalid_cursor", "",
                                     "the cursor must be of a list by %s, and is of one by %s",
                                     sort_words[out->sort], cursor.sort);
        sl_hint(err, "sort=%s", cursor.sort);
        return code;
    }
    if (timed && !time_ok(cursor.key))
        return sl_fail(err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    out->after_key = cursor.key;
    out->after_slug = cursor.slug;
    return SL_OK;
}

/* ?gpu=: as the catalogue knows it, or as it was written where the catalogue does not. */
static sl_code
read_accelerator(const sl_app *app, const sl_request *request, sl_inventory_query *out,
                 sl_errors *err)
{
    const char *const text = sl_request_query(request, "gpu");
    const sl_part *part = NULL;
    sl_errors fault = {.count = 0};

    if (text == NULL)
        return SL_OK;
    const sl_code code = sl_catalog_find_part(app->catalog, text, "", &part, &fault);
    out->accelerator = code == SL_OK ? part->accelerator.id : text;
    if (code == SL_OK || !sl_text_equal(fault.list[0].rule, "ambiguous_accelerator"))
        return SL_OK;
    (void)sl_fail(err, code, fault.list[0].rule, "", "gpu %s", fault.list[0].message);
    sl_hint(err, "%s", fault.list[0].hint);
    return code;
}

/* ?label=name:value, or ?label=name for whatever value. */
static sl_code
read_label(const sl_request *request, sl_inventory_query *out, sl_errors *err)
{
    const char *const text = sl_request_query(request, "label");
    const char *const colon = text == NULL ? NULL : strchr(text, ':');
    sl_buffer json;
    sl_writer writer;

    if (colon == NULL) {
        out->label_name = text;
        return SL_OK;
    }
    const char *const name = sl_arena_copy_bytes(request->arena, text, (size_t)(colon - text));
    sl_buffer_init(&json, SIZE_MAX);
    sl_writer_init(&writer, &json);
    sl_write_object(&writer);
    sl_put_text(&writer, name == NULL ? "" : name, colon + 1);
    sl_write_object_end(&writer);
    out->labels =
        sl_writer_ok(&writer) && name != NULL ? sl_arena_copy(request->arena, json.data) : NULL;
    sl_buffer_clear(&json);
    return out->labels != NULL
               ? SL_OK
               : sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the label");
}

static sl_code
read_query(const sl_app *app, const sl_request *request, sl_inventory_query *out, sl_errors *err)
{
    int sort = -1;
    sl_code code = sl_api_choice(request, "sort", sort_words, SL_SORT_COUNT, &sort, err);

    *out = (sl_inventory_query){
        .sort = sort < 0 ? SL_SORT_SLUG : (sl_inventory_sort)sort,
        .name_part = sl_request_query(request, "name"),
        .updated_since = sl_request_query(request, "updated_since"),
    };
    if (code == SL_OK)
        code = sl_api_limit(request, SL_PAGE_DEFAULT, SL_PAGE_MAX, &out->limit, err);
    if (code == SL_OK)
        code = sl_api_flag(request, "deleted", &out->deleted, err);
    if (code == SL_OK)
        code = sl_api_flag(request, "problems", &out->problems, err);
    if (code == SL_OK)
        code = read_cursor(request, out, err);
    if (code == SL_OK)
        code = read_accelerator(app, request, out, err);
    if (code == SL_OK)
        code = read_label(request, out, err);
    if (code == SL_OK && out->updated_since != NULL && !time_ok(out->updated_since)) {
        code = sl_fail(err, SL_E_RANGE, "malformed_time", "",
                       "updated_since must be a time of RFC 3339, got %.60s", out->updated_since);
        sl_hint(err, "2026-02-01T09:00:00Z");
    }
    return code;
}

static void
write_list(const sl_inventory_query *query, const sl_inventory_page *page,
           const sl_request *request, sl_response *response)
{
    const char *next = NULL;
    sl_writer writer;

    if (page->more) {
        const sl_cursor cursor = {.sort = sort_words[query->sort],
                                  .slug = page->rows[page->count - 1].slug,
                                  .key = page->last_key};
        next = sl_cursor_write(&cursor, request->arena);
    }
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < page->count; i++) {
        sl_write_object(&writer);
        sl_row_members(&writer, &page->rows[i]);
        sl_write_object_end(&writer);
    }
    sl_write_array_end(&writer);
    sl_page_finish(&writer, next, request, response);
}

void
sl_inventories_list(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_query query;
    sl_inventory_page page;

    if (worker == NULL)
        return;
    sl_store *store =
        read_query(app, request, &query, &err) == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store != NULL && sl_inventory_list(store, &query, request->arena, &page, &err) == SL_OK)
        write_list(&query, &page, request, response);
    else
        sl_response_problem(response, request, &err);
}
