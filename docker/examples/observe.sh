#!/bin/sh
# What a cluster looks like at this moment, from cron: which nodes are up, drained or missing. The
# description that submit.sh stored stays as it is; plans count the nodes that are there.
#
#   */5 * * * * scontrol show nodes --json | SHARDLINE=http://planner:8080 observe.sh hal slurm 900
#
# The source is a name of your choice, each with a latest observation of its own. When none has come
# for that many seconds (an hour unless given), the inventory says that it is stale. Needs curl 7.76.
#
# Cron starts many hosts in the same second. Each waits before it asks, up to SPREAD_S seconds by chance
# (20; 0: not at all, nor on a terminal), and one that is told that the service is busy (503) comes back
# when it is told to, three times.
set -eu

[ $# -ge 2 ] || { echo 'usage: SOME-TOOL | observe.sh SLUG SOURCE [STALE-AFTER-S]' >&2; exit 2; }
api=${SHARDLINE:-http://127.0.0.1:8080}/api/v1
spread_s=${SPREAD_S:-20}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# By chance of the kernel's: hosts that begin in the same second would draw the same from a clock.
if [ "$spread_s" -gt 0 ] && [ ! -t 2 ]; then
    drawn=$(od -An -N2 -tu2 /dev/urandom)
    sleep $((drawn % (spread_s + 1)))
fi

# Quiet when all is well in the end, so that cron sends mail only when something is wrong.
status=0
curl --silent --show-error --fail-with-body --max-time 60 --retry 3 --retry-max-time 120 \
    --request PUT --header 'Content-Type: application/octet-stream' --data-binary @- \
    --output "$work/answer" "$api/inventories/$1/observations/$2?stale_after_s=${3:-3600}" \
    2>"$work/said" || status=$?
[ "$status" = 0 ] && exit
tail -n 1 "$work/said" >&2
[ ! -s "$work/answer" ] || { cat "$work/answer"; echo; } >&2
exit "$status"
