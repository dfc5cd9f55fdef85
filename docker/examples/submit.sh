#!/bin/sh
# What a cluster is, from the tools that run it: what they print is read and stored under a name.
#
#   scontrol show nodes --json | docker/examples/submit.sh hal
#   kubectl get nodes -o json | docker/examples/submit.sh blue
#   nvidia-smi -q -x | docker/examples/submit.sh workstation
#
# What one tool does not know another one does: files named behind the slug are merged with it, such as
# the `nvidia-smi -q -x` of one node of each kind, topology.conf or a spec of your own:
#
#   scontrol show nodes --json | docker/examples/submit.sh hal node.xml topology.conf
#
# Run it as often as you like: the same cluster again makes no new revision. Needs curl 7.76 and jq.
# SHARDLINE is where the service is (http://127.0.0.1:8080). What it refuses is said on stderr, and
# the exit status is 22, curl's own.
set -eu

[ $# -ge 1 ] || { echo 'usage: SOME-TOOL | submit.sh SLUG [FILE...]' >&2; exit 2; }
api=${SHARDLINE:-http://127.0.0.1:8080}/api/v1
slug=$1
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ask NAME CURL-ARGUMENT...: the answer goes to $work/NAME; a refusal is told in its own words.
ask() {
    answer=$work/$1
    shift
    status=0
    curl --silent --show-error --fail-with-body --output "$answer" "$@" || status=$?
    [ "$status" = 0 ] && return
    [ ! -s "$answer" ] || jq -r '.errors[] | "\(.pointer) \(.detail)\(
        if .hint then " (\(.hint))" else "" end)"' "$answer" >&2
    exit "$status"
}

cat >"$work/printed"
# A tool that failed prints nothing, and the files alone are not the cluster.
[ -s "$work/printed" ] || { echo 'submit.sh: nothing came on stdin' >&2; exit 1; }

for file; do
    set -- "$@" --form "file=@$file"
    shift
done
ask parsed --form "file=@$work/printed;filename=stdin" "$@" "$api/inventories:parse"
jq -r '.warnings[] | "\(.code): \(.message)"' "$work/parsed" >&2
jq --arg name "$slug" '{name: $name} + .spec' "$work/parsed" >"$work/spec"
ask stored --request PUT --header 'Content-Type: application/json' \
    --data-binary "@$work/spec" "$api/inventories/$slug"
jq -r '"\(.slug): revision \(.revision), \(.status.hardware.nodes) nodes, " +
    "\(.status.hardware.accelerators) accelerators"' "$work/stored"
