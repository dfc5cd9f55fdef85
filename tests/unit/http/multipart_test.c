#include "http/multipart.h"

#include <string.h>

#include "base/text.h"
#include "harness.h"

static const char type[] = "multipart/form-data; charset=utf-8; boundary=\"a b\"";

static sl_code
open_text(const char *body, sl_multipart *out, sl_errors *err)
{
    memset(err, 0, sizeof *err);
    return sl_multipart_open(type, body, strlen(body), out, err);
}

static void
parts_come_in_order_with_their_names(void)
{
    static const char body[] =
        "preamble\r\n--a b\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"/tmp/scontrol.txt\"\r\nContent-Type: text/plain\r\n\r\nfirst\r\n-- b\r\n--a "
        "b\r\n"
        "content-disposition: form-data; NAME=other; filename=C:\\x\\y.xml\r\n\r\n\r\n--a b\r\n"
        "X: y\r\n\r\nlast\r\n--a b--\r\nepilogue";
    sl_multipart parts;
    sl_part_body part;
    sl_errors err;
    bool more = false;
    CU_ASSERT_EQUAL_FATAL(open_text(body, &parts, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_multipart_next(&parts, &part, &more, &err), SL_OK);
    sl_expect_text(part.name, "file", "field");
    sl_expect_text(part.filename, "scontrol.txt", "name without folders");
    CU_ASSERT_EQUAL(part.size, strlen("first\r\n-- b"));
    CU_ASSERT_EQUAL(sl_multipart_next(&parts, &part, &more, &err), SL_OK);
    sl_expect_text(part.name, "other", "field");
    sl_expect_text(part.filename, "y.xml", "name without folders");
    CU_ASSERT_EQUAL(part.size, 0);
    CU_ASSERT_EQUAL(sl_multipart_next(&parts, &part, &more, &err), SL_OK);
    CU_ASSERT(more && part.size == 4 && memcmp(part.text, "last", 4) == 0);
    sl_expect_text(part.filename, "", "no name");
    CU_ASSERT_EQUAL(sl_multipart_next(&parts, &part, &more, &err), SL_OK);
    CU_ASSERT_FALSE(more);
}

/* The texts of all parts, "[one][two]", or the rule by which they are refused. */
static void
expect_parts(const char *content_type, const char *body, const char *expected)
{
    char shown[256] = "";
    size_t used = 0;
    sl_multipart parts;
    sl_part_body part;
    sl_errors err = {.count = 0};
    bool more = true;

    sl_code code = sl_multipart_open(content_type, body, strlen(body), &parts, &err);
    while (code == SL_OK && more) {
        code = sl_multipart_next(&parts, &part, &more, &err);
        if (code == SL_OK && more) {
            CU_ASSERT_TRUE_FATAL(sl_text_format(shown + used, sizeof shown - used, "[%.*s]",
                                                (int)part.size, part.text));
            used += strlen(shown + used);
        }
    }
    sl_expect_text(code == SL_OK ? shown : err.list[0].rule, expected, body);
}

static void
a_line_break_before_the_first_delimiter_is_of_it(void)
{
    static const char dashed[] = "multipart/mixed; boundary=ab--";

    expect_parts(dashed, "\r\n--ab--\r\n\r\none\r\n--ab----\r\n", "[one]");
    expect_parts(dashed, "--ab--\r\n\r\none\r\n--ab----", "[one]");
    expect_parts("multipart/mixed; boundary=ab", "\r\n--ab\r\n\r\none\r\n--ab\r\n\r\ntwo\r\n--ab--",
                 "[one][two]");
}

static void
a_line_that_only_begins_as_a_delimiter_is_text(void)
{
    static const char ab[] = "multipart/mixed; boundary=ab";

    expect_parts(ab, "--ab\r\n\r\none\r\n--abc\r\n--ab c\r\n--ab-\r\n--ab--\r\n",
                 "[one\r\n--abc\r\n--ab c\r\n--ab-]");
    expect_parts(ab, "--ab\r\n\r\n\r\n--ab\t\r\n\r\n--abc\r\n--ab--", "[][--abc]");
    expect_parts(ab, "--abc\r\n\r\nbefore\r\n--ab\r\n\r\none\r\n--ab--", "[one]");
    /* Blanks may stand behind it. */
    expect_parts(ab, "--ab \t\r\n\r\none\r\n--ab \r\n\r\ntwo\r\n--ab--", "[one][two]");
    /* The headers of a part may hold it as well. */
    expect_parts(ab, "--ab\r\nX: y\r\n--abc: z\r\n\r\none\r\n--ab--", "[one]");
    expect_parts(ab, "--abc\r\n\r\none\r\n--abc--", "malformed_multipart");
    expect_parts(ab, "--ab\r\n\r\none\r\n--abc--", "malformed_multipart");
    expect_parts(ab, "--ab\r\n\r\none\r\n--ab ", "malformed_multipart");
}

static void
a_body_that_is_cut_is_refused(void)
{
    static const char *const bodies[] = {"",
                                         "--a",
                                         "--a b",
                                         "--a b\r\n",
                                         "--a b\r\nX: y\r\n\r\n",
                                         "--a b\r\nX: y\r\n\r\ntext",
                                         "--a b\r\nX: y\r\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        sl_multipart parts;
        sl_part_body part;
        sl_errors err;
        bool more = false;
        sl_code code = open_text(bodies[i], &parts, &err);
        if (code == SL_OK)
            code = sl_multipart_next(&parts, &part, &more, &err);
        CU_ASSERT_EQUAL(code, SL_E_SYNTAX);
        sl_expect_text(err.list[0].rule, "malformed_multipart", bodies[i]);
    }
}

static void
without_a_boundary_nothing_is_read(void)
{
    static const char *const types[] = {
        "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=\"\""};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        sl_multipart parts;
        sl_errors err = {0};
        CU_ASSERT_TRUE(sl_multipart_is(types[i]));
        CU_ASSERT_EQUAL(sl_multipart_open(types[i], "--", 2, &parts, &err), SL_E_SYNTAX);
    }
    CU_ASSERT_FALSE(sl_multipart_is("application/json"));
    CU_ASSERT_FALSE(sl_multipart_is(""));
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(parts_come_in_order_with_their_names),
        SL_CASE(a_line_break_before_the_first_delimiter_is_of_it),
        SL_CASE(a_line_that_only_begins_as_a_delimiter_is_text),
        SL_CASE(a_body_that_is_cut_is_refused),
        SL_CASE(without_a_boundary_nothing_is_read),
    };
    return sl_run_cases(argc, argv, "multipart", cases, sizeof cases / sizeof cases[0]);
}
