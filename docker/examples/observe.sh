#!/bin/sh
# What a cluster looks like at this moment, from cron: which nodes are up, drained or missing. The
# description that submit.sh stored stays as it is; plans count the nodes that are there.
#
#   */5 * * * * scontrol show nodes --json | SHARDLINE=http://planner:8080 observe.sh hal slurm 900
#
# The source is a name of your choice, each with a latest observation of its own. When none has come
# for that many seconds (an hour unless given), the inventory says that it is stale. Needs curl 7.76.
set -eu

[ $# -ge 2 ] || { echo 'usage: SOME-TOOL | observe.sh SLUG SOURCE [STALE-AFTER-S]' >&2; exit 2; }
api=${SHARDLINE:-http://127.0.0.1:8080}/api/v1

# Quiet when all is well, so that cron sends mail only when something is wrong.
status=0
answer=$(curl --silent --show-error --fail-with-body --max-time 60 --request PUT \
    --header 'Content-Type: application/octet-stream' --data-binary @- \
    "$api/inventories/$1/observations/$2?stale_after_s=${3:-3600}") || status=$?
[ "$status" = 0 ] || printf '%s\n' "$answer" >&2
exit "$status"
