#!/bin/sh
# The steps every way of building Shardline shares, each in one place: server/run and tests/run
# source this file, the Dockerfile runs it (`docker/steps.sh install build node`).
#
# Progress goes to stderr, so that stdout stays free for the one line a caller may want to read.
set -eu

say() {
    printf '==> %s\n' "$*" >&2
}

# fail STATUS MESSAGE: 1 something went wrong, 2 the machine lacks what the user has to give.
fail() {
    status=$1
    shift
    printf 'shardline: %s\n' "$*" >&2
    exit "$status"
}

packages_of() {
    case $1 in
    build)
        echo build-essential cmake ninja-build pkg-config libmicrohttpd-dev libjansson-dev \
            libcurl4-openssl-dev libpq-dev zlib1g-dev libexpat1-dev libyaml-dev ca-certificates
        ;;
    run) echo libmicrohttpd12 libjansson4 libcurl4 libpq5 zlib1g libexpat1 libyaml-0-2 ca-certificates curl ;;
    database) echo postgresql-15 ;;
    node)
        # A Node that is already here, from wherever it came, is the user's choice and stays.
        command -v node >/dev/null 2>&1 || echo nodejs
        command -v npm >/dev/null 2>&1 || echo npm
        ;;
    example) echo curl jq ;; # what the README asks the service with
    tests) echo libcunit1-dev clang libclang-rt-14-dev lld ;;
    deployment) echo caddy docker-compose ansible-core ;; # what reads docker/ as its users do
    browser) echo chromium-headless-shell ;;
    *) fail 1 "no group of packages is called $1" ;;
    esac
}

missing_packages() {
    missing=
    for group in "$@"; do
        for package in $(packages_of "$group"); do
            state_of_package=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || :
            [ "$state_of_package" = installed ] || missing="$missing $package"
        done
    done
    printf '%s' "${missing# }"
}

# install_packages GROUP...: does nothing, and needs no network, when everything is here.
install_packages() {
    wanted=$(missing_packages "$@")
    [ -n "$wanted" ] || return 0
    line="apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y"
    line="$line --no-install-recommends -o DPkg::Lock::Timeout=120 $wanted"
    case " $wanted " in
    *" postgresql-15 "*)
        # Debian's package would create and start a cluster on port 5432. It is told not to, for
        # this installation only.
        drop_in=/etc/postgresql-common/createcluster.d/shardline.conf
        line="mkdir -p ${drop_in%/*} && echo 'create_main_cluster = false' >$drop_in && $line; \
status=\$?; rm -f $drop_in; (exit \$status)"
        ;;
    esac
    case " $wanted " in
    *" caddy "*)
        # Debian's package would serve port 80, now and after every boot. Its unit is masked first,
        # and stays so until somebody wants it: systemctl unmask caddy.
        unit=/etc/systemd/system/caddy.service
        line="mkdir -p ${unit%/*} && { [ -e $unit ] || ln -s /dev/null $unit; } && $line"
        ;;
    esac
    command -v apt-get >/dev/null 2>&1 ||
        fail 2 "these Debian packages are missing, and there is no apt-get to install them: $wanted"
    if [ "$(id -u)" = 0 ]; then
        say "installing $wanted"
        sh -c "$line" >&2 || fail 1 "apt-get did not succeed; the line was: $line"
    elif can_sudo; then
        say "installing $wanted (with sudo)"
        sudo sh -c "$line" >&2 || fail 1 "apt-get did not succeed; as root, the line is: $line"
    else
        printf 'shardline: packages are missing. As root, run:\n    %s\n' "$line" >&2
        exit 2
    fi
}

# A password can be asked for only where somebody is there to type it.
can_sudo() {
    command -v sudo >/dev/null 2>&1 || return 1
    sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }
}

# build_preset PRESET [TARGET]: incremental; a second call takes a second.
build_preset() {
    say "building $1${2:+ ($2)}"
    (
        cd "$root"
        cmake --preset "$1" >&2
        cmake --build --preset "$1" ${2:+--target "$2"} >&2
    ) || fail 1 "the build of $1 failed"
}

require_node() {
    major=$(node -p 'process.versions.node.split(".")[0]')
    [ "$major" -ge 18 ] || fail 2 "Node 18 or newer is needed; $(command -v node) is $(node -v)"
}

# install_modules FOLDER: npm ci, but only when the lock or the Node it was installed for changed.
install_modules() {
    wanted=$(cd "$1" && cat package.json package-lock.json | sha256sum)" $(node -v)"
    stamp=$1/node_modules/.shardline-modules
    if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
        say "npm ci in ${1#"$root"/}"
        (cd "$1" && npm ci --no-audit --no-fund >&2) || fail 1 "npm ci failed in $1"
        mkdir -p "${stamp%/*}"
        printf '%s\n' "$wanted" >"$stamp"
    fi
}

# The bundle is made again when any source, or the folder that held one, is newer than it.
build_dashboard() {
    require_node
    install_modules "$root/static"
    stamp=$root/static/node_modules/.shardline-bundle
    if [ -f "$stamp" ] && [ -f "$root/static/dist/index.html" ]; then
        changed=$(find "$root/static" -mindepth 1 \
            \( -path "$root/static/node_modules" -o -path "$root/static/dist" \) -prune \
            -o -newer "$stamp" -print)
        [ -n "$changed" ] || return 0
    fi
    say "bundling the dashboard"
    # Stamped with the time before the build: a source edited while it runs is built next time.
    touch "$stamp.next"
    (cd "$root/static" && npm run build >&2) || fail 1 "the dashboard did not build"
    mv "$stamp.next" "$stamp"
}

# Only when run, not when sourced: there $0 is the caller.
if [ "${0##*/}" = steps.sh ]; then
    root=$(cd "$(dirname "$0")/.." && pwd -P)
    step=${1-}
    [ $# -eq 0 ] || shift
    case $step in
    install) install_packages "$@" ;;
    server) build_preset release shardlined ;;
    dashboard) build_dashboard ;;
    *) fail 1 "usage: docker/steps.sh install GROUP... | server | dashboard" ;;
    esac
fi
