/** Settings of the process, read once from the environment and validated (spec: `--help`). */
#ifndef SL_BASE_SETTINGS_H
#define SL_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "shardline/error.h"

enum { SL_SETTINGS_HOSTS_MAX = 16 };

typedef struct sl_settings {
    char listen_host[256];   /* SHARDLINE_LISTEN, default 127.0.0.1:8080; IPv6 without brackets */
    uint16_t listen_port;    /* 0 takes a free one */
    char database_url[1024]; /* SHARDLINE_DATABASE_URL, "" = none; secret: never logged */
    char cache_dir[512];     /* SHARDLINE_CACHE_DIR; default $XDG_CACHE_HOME/shardline,
                                ~/.cache/shardline, ./.shardline/cache */
    char static_dir[512];    /* SHARDLINE_STATIC_DIR, default static/dist */
    uint32_t workers;        /* SHARDLINE_WORKERS, default one per core */
    sl_log_level log_level;  /* SHARDLINE_LOG_LEVEL: debug info warn error */
    size_t max_body_bytes;   /* SHARDLINE_MAX_BODY_BYTES, default 1 MiB */
    char allowed_hosts[SL_SETTINGS_HOSTS_MAX]
                      [256]; /* SHARDLINE_ALLOWED_HOSTS, comma-separated; added to loopback names */
    uint32_t allowed_host_count;
    char trusted_proxies[SL_SETTINGS_HOSTS_MAX]
                        [256]; /* SHARDLINE_TRUSTED_PROXIES: whose X-Forwarded-For is believed */
    uint32_t trusted_proxy_count;
    char hub_proxy[512]; /* SHARDLINE_HUB_PROXY, "" = none (the environment's proxy is not used) */
    char hub_endpoint[512];   /* HF_ENDPOINT without trailing '/', default https://huggingface.co */
    char hub_token[512];      /* HF_TOKEN, else HUGGING_FACE_HUB_TOKEN, "" = none; secret */
    char hub_token_path[600]; /* HF_TOKEN_PATH, default <home>/token: read where no variable holds a
                                 token; "" = none (also with HF_HUB_DISABLE_IMPLICIT_TOKEN) */
    bool hub_token_path_given;   /* the path was named: a file that is not there is a fault */
    bool hub_offline;            /* HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE in {1, ON, YES, TRUE} */
    uint32_t hub_etag_timeout_s; /* HF_HUB_ETAG_TIMEOUT; 0 = not set, the client's own */
    uint32_t hub_download_timeout_s; /* HF_HUB_DOWNLOAD_TIMEOUT; likewise */
    char hub_origin[64];    /* HF_HUB_USER_AGENT_ORIGIN: who asks, behind our name in requests */
    bool hub_oidc;          /* HF_OIDC_RESOURCE is set: that exchange of tokens is not made here */
    char hf_cache_dir[600]; /* read only: HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else <home>/hub;
                               <home> is HF_HOME, default $XDG_CACHE_HOME/huggingface or
                               ~/.cache/huggingface; "" = none of these is set */
} sl_settings;

/** get is getenv in the server and a table in tests. All faults are collected. */
sl_code sl_settings_read(const char *(*get)(const char *name), sl_settings *out,
                         sl_errors *err) SL_MUST_CHECK;

/** One line per setting with its meaning and default, for --help. */
const char *sl_settings_help(void);

#endif
