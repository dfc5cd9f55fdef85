#include "json/stream.h"

#include <string.h>

#include "base/buffer.h"
#include "harness.h"

/* Each token as a word: what a text says, in one line. */
static void
note(void *context, const sl_stream_token *token)
{
    static const char *const marks[] = {"{", "}", "[", "]", "key:", "text:", "number:", "word:"};
    sl_buffer *const out = context;
    sl_buffer_format(out, "%s%u", out->size == 0 ? "" : " ", token->depth);
    sl_buffer_text(out, marks[token->kind]);
    if (token->kind >= SL_STREAM_KEY)
        sl_buffer_append(out, token->text, token->length);
}

/* Fed in parts of `part` bytes. */
static sl_code
read_in(const char *text, size_t size, size_t part, sl_buffer *out, sl_errors *err)
{
    sl_stream stream;
    sl_buffer_init(out, 1 << 20);
    sl_stream_init(&stream, note, out);
    for (size_t at = 0; at < size;) {
        const size_t given = size - at < part ? size - at : part;
        size_t used = 0;
        const sl_code code = sl_stream_feed(&stream, text + at, given, &used, err);
        if (code != SL_OK)
            return code;
        CU_ASSERT_TRUE(used == given || sl_stream_done(&stream));
        if (used < given)
            break;
        at += given;
    }
    return sl_stream_finish(&stream, err);
}

static void
expect_tokens(const char *text, const char *expected)
{
    for (size_t part = 1; part <= strlen(text); part++) {
        sl_buffer out;
        sl_errors err = {.count = 0};
        CU_ASSERT_EQUAL(read_in(text, strlen(text), part, &out, &err), SL_OK);
        sl_expect_text(out.data, expected, text);
        sl_buffer_clear(&out);
    }
}

static void
expect_fault(const char *text, const char *rule, const char *message)
{
    for (size_t part = 1; part <= strlen(text); part++) {
        sl_buffer out;
        sl_errors err = {.count = 0};
        CU_ASSERT_EQUAL(read_in(text, strlen(text), part, &out, &err), SL_E_SYNTAX);
        CU_ASSERT_EQUAL_FATAL(err.count, 1);
        sl_expect_text(err.list[0].rule, rule, text);
        sl_expect_text(err.list[0].message, message, text);
        sl_buffer_clear(&out);
    }
}

static void
tokens_are_the_same_however_the_text_is_cut(void)
{
    expect_tokens("{\"a\": [1, -2.5e+3, true], \"b\": {}, \"c\": []}",
                  "0{ 1key:a 1[ 2number:1 2number:-2.5e+3 2word:true 1] 1key:b 1{ 1} 1key:c 1[ 1] "
                  "0}");
    expect_tokens("  [\"x\\n\\u00e9\\ud83d\\ude00\", null]\n",
                  "0[ 1text:x\n\xC3\xA9\xF0\x9F\x98\x80 1word:null 0]");
}

static void
what_profilers_write_beside_json_is_read(void)
{
    expect_tokens("{\"bw\": inf, \"nan\": NaN, \"x\": -Infinity}",
                  "0{ 1key:bw 1word:inf 1key:nan 1word:NaN 1key:x 1word:-Infinity 0}");
    expect_tokens("[\"a\nb\"]", "0[ 1text:a\nb 0]");
}

static void
half_pairs_and_nul_become_replacement_characters(void)
{
    expect_tokens("[\"\\ud83dx\", \"\\ude00\", \"\\ud83d\\ud83d\\ude00\", \"\\u0000\"]",
                  "0[ 1text:\xEF\xBF\xBDx 1text:\xEF\xBF\xBD "
                  "1text:\xEF\xBF\xBD\xF0\x9F\x98\x80 1text:\xEF\xBF\xBD 0]");
}

static void
faults_name_their_byte(void)
{
    expect_fault("{\"a\" 1}", "malformed_json", "byte 5: expected : after a key");
    expect_fault("[1 2]", "malformed_json", "byte 3: expected , or ]");
    expect_fault("{\"a\": 1,}", "malformed_json", "byte 8: expected a key in quotes");
    expect_fault("[01]", "malformed_json",
                 "byte 3: neither a number nor true, false or null ends here");
    expect_fault("[\"\\x\"]", "malformed_json", "byte 3: no such escape");
    expect_fault("[\"\\u12g4\"]", "malformed_json",
                 "byte 6: four hexadecimal digits must follow \\u");
    expect_fault("7", "malformed_json", "byte 0: the document must begin with { or [");
    expect_fault("[1, ", "malformed_json", "byte 4: the text ends too early");
    expect_fault("{\"a", "malformed_json", "byte 3: the text ends too early");
}

static void
depth_is_bounded(void)
{
    char text[SL_STREAM_DEPTH_MAX + 1];
    sl_buffer out;
    sl_errors err = {.count = 0};
    memset(text, '[', sizeof text);
    CU_ASSERT_EQUAL(read_in(text, sizeof text, sizeof text, &out, &err), SL_E_SYNTAX);
    sl_expect_text(err.list[0].rule, "too_deep", "65 lists");
    sl_buffer_clear(&out);
}

static void
long_texts_are_cut_between_characters(void)
{
    sl_buffer text;
    sl_buffer out;
    sl_errors err = {.count = 0};
    sl_buffer_init(&text, 1 << 20);
    sl_buffer_text(&text, "[\"a");
    for (uint32_t i = 0; i < SL_STREAM_TEXT_MAX; i++)
        sl_buffer_text(&text, "\xC3\xA9");
    sl_buffer_text(&text, "\"]");
    CU_ASSERT_EQUAL(read_in(text.data, text.size, 7, &out, &err), SL_OK);
    /* "0[ 1text:", the a and as many whole letters as fit behind it, " 0]". */
    CU_ASSERT_EQUAL(out.size, 9 + SL_STREAM_TEXT_MAX - 1 + 3);
    sl_buffer_clear(&out);
    sl_buffer_clear(&text);
}

static void
what_follows_the_document_is_left_alone(void)
{
    sl_buffer out;
    sl_stream stream;
    sl_errors err = {.count = 0};
    size_t used = 0;
    sl_buffer_init(&out, 1024);
    sl_stream_init(&stream, note, &out);
    CU_ASSERT_EQUAL(sl_stream_feed(&stream, "{}\x1f\x8b", 4, &used, &err), SL_OK);
    CU_ASSERT_TRUE(sl_stream_done(&stream));
    CU_ASSERT_EQUAL(used, 2);
    sl_buffer_clear(&out);
}

static const sl_case cases[] = {
    SL_CASE(tokens_are_the_same_however_the_text_is_cut),
    SL_CASE(what_profilers_write_beside_json_is_read),
    SL_CASE(half_pairs_and_nul_become_replacement_characters),
    SL_CASE(faults_name_their_byte),
    SL_CASE(depth_is_bounded),
    SL_CASE(long_texts_are_cut_between_characters),
    SL_CASE(what_follows_the_document_is_left_alone),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "json_stream", cases, sizeof cases / sizeof cases[0]);
}
