/* Any text where a user names a repository, the Hub redirects to or a cache is read from: what is
 * accepted stays inside its folder and leads to no address of our own network. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "hub/address.h"
#include "hub/cache.h"
#include "hub/hub.h"
#include "hub/origin.h"
#include "hub/repository.h"

enum { ARENA_BYTES = 64 * 1024, PATH_SIZE = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A cache that holds one commit; its reference is rewritten by each input. */
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
static char folder[] = "/tmp/shardline-hub-fuzz-XXXXXX";
static char reference[PATH_SIZE];
static bool made;

static void
cache_remove(void)
{
    static const char *const files[] = {"/refs/main", ("/snapshots/" COMMIT "/config.json"),
                                        ("/snapshots/" COMMIT "/config.json.sha256")};
    static const char *const folders[] = {"/refs", ("/snapshots/" COMMIT), "/snapshots", ""};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)sl_text_format(path, sizeof path, "%s/models--org--name%s", folder, files[i]);
        (void)unlink(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)sl_text_format(path, sizeof path, "%s/models--org--name%s", folder, folders[i]);
        (void)rmdir(path);
    }
    (void)rmdir(folder);
}

static void
cache_make(void)
{
    sl_hub_cached file = {.text = "{}", .size = 2, .etag = "\"e\""};
    made = true;
    const char *const held = mkdtemp(folder);
    assert(held != NULL && atexit(cache_remove) == 0);
    (void)sl_text_copy(file.commit, sizeof file.commit, COMMIT);
    sl_hub_cache_store(folder, "org/name", "main", "config.json", &file);
    (void)sl_text_format(reference, sizeof reference, "%s/models--org--name/refs/main", folder);
}

static void
use_reference(const uint8_t *bytes, size_t size)
{
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_hub_cached found = {.text = NULL};
    const int fd = open(reference, O_WRONLY | O_TRUNC);
    assert(arena != NULL && fd >= 0);
    const ssize_t put = write(fd, bytes, size);
    assert(put == (ssize_t)size);
    (void)close(fd);
    if (sl_hub_cache_find_revision(folder, "org/name", "main", "config.json", arena, &found)) {
        assert(sl_text_equal(found.commit, COMMIT) && sl_hub_is_visible(found.etag));
        assert(sl_text_equal(found.text, "{}"));
    }
    sl_arena_free(arena);
}

static void
use_names(const char *repository, const char *revision)
{
    static const char endpoint[] = "https://huggingface.co";
    char name[SL_HUB_ID_SIZE + 16];
    char encoded[SL_HUB_REVISION_SIZE];
    char url[1024];
    sl_errors err = {.count = 0};
    const sl_code code = sl_hub_check_id(repository, revision, "/model/hub", &err);
    assert((code == SL_OK) == (err.count == 0));
    if (code != SL_OK)
        return;
    sl_hub_folder_name(repository, name);
    assert(strncmp(name, "models--", 8) == 0 && strchr(name, '/') == NULL);
    char back[SL_HUB_ID_SIZE];
    assert(sl_hub_id_of_folder(name, back) && strcmp(back, repository) == 0);
    assert(sl_hub_percent_encode(revision, encoded, sizeof encoded));
    assert(strchr(encoded, '/') == NULL && encoded[0] != '.' && encoded[0] != '\0');
    const sl_hub_subject subject = {
        .repository = repository, .revision = revision, .file = "config.json"};
    assert(sl_hub_file_url(endpoint, &subject, url, sizeof url));
    assert(sl_hub_is_visible(url) && strstr(url, "/../") == NULL);

    sl_hub_origin own, asked;
    assert(sl_hub_origin_parse(endpoint, &own) && sl_hub_origin_parse(url, &asked));
    assert(sl_hub_origin_equal(&own, &asked));
}

static void
use_target(const char *url)
{
    sl_hub_origin hub, local, target;
    if (!sl_hub_origin_parse(url, &target))
        return;
    assert(target.host[0] != '\0' && target.port[0] != '\0');
    assert(!target.reserved || !target.loopback);
    assert(sl_hub_origin_equal(&target, &target) && sl_hub_origin_allowed(&target, &target));
    assert(sl_hub_origin_parse("https://huggingface.co", &hub));
    if (sl_hub_origin_allowed(&target, &hub))
        assert(target.https && !target.reserved && !target.loopback &&
               sl_hub_address_kind(target.host) <= SL_HUB_ADDRESS_PUBLIC);
    assert(sl_hub_origin_parse("http://127.0.0.1:9000", &local));
    if (sl_hub_origin_allowed(&target, &local))
        assert(target.loopback || (target.https && !target.reserved));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char small[8];
    char *const text = malloc(size + 1);
    if (!made)
        cache_make();
    if (text == NULL)
        return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (memchr(bytes, ' ', size) != NULL) /* files are slow, and every reference has one */
        use_reference(bytes, size);
    use_target(text);
    (void)sl_hub_address_kind(text);
    (void)sl_hub_is_commit(text);
    (void)sl_hub_percent_encode(text, small, sizeof small);
    /* The first line is a repository, the rest a revision. */
    char *const end = strchr(text, '\n');
    if (end != NULL)
        *end = '\0';
    use_names(text, end == NULL ? "main" : end + 1);
    free(text);
    return 0;
}
