#!/bin/sh
# A gate for CI: fails when a training run would not fit on the cluster it is meant for.
#
#   docker/examples/gate.sh docker/examples/run.json
#
# The file is what POST /api/v1/estimates takes. A run that fits: one line on stdout and exit status 0.
# One that does not: what it lacks on stderr, and the changes that would make it fit; exit status 22,
# which is what curl answers for any refusal. One that may need more than there is, within the interval
# of its peak, fits narrowly: with REQUIRE=fits_certain it fails too. With "hosts": "all" the run is held
# against the cluster as it is described; without, against the nodes that are up now (observe.sh), and
# "nodes": 4 is refused while one of them is drained. Needs curl 7.76 and jq. SHARDLINE is where the
# service is.
set -eu

[ $# -eq 1 ] || { echo 'usage: gate.sh REQUEST.json' >&2; exit 2; }
api=${SHARDLINE:-http://127.0.0.1:8080}/api/v1
require=${REQUIRE:-fits}

status=0
answer=$(curl --silent --show-error --fail-with-body --header 'Content-Type: application/json' \
    --data-binary "@$1" "$api/estimates?require=$require") || status=$?
if [ "$status" = 0 ]; then
    printf '%s' "$answer" | jq -r '"fits \(if .fits_certain then "" else "narrowly " end)with " +
        "\(.memory.headroom_bytes / 1073741824 * 10 | round / 10) GiB to spare, " +
        "\(.time.step_s * 100 | round / 100) s per step"'
elif [ -n "$answer" ]; then
    printf '%s' "$answer" | jq -r 'if .estimate then
            .detail, .estimate.binding.sentence,
            (.estimate.binding.fixes[] | select(.fits) | "would fit with \(.change)")
        else
            .errors[] | "\(.pointer) \(.detail)\(if .hint then " (\(.hint))" else "" end)"
        end' >&2
fi
exit "$status"
