#!/bin/sh
# Dependencies point inwards: this reads every include under server/ and every symbol of the built
# archives and fails on an arrow that points outwards. The linker alone would not: an archive may
# use whatever another one on the same command line offers.
#
#   arrows.sh SOURCE_ROOT ARCHIVE...      ARCHIVE is named libsl_<folder>.a
#
# One case per folder and rule; ends with `cases: P passed, F failed, S skipped`.
set -u
LC_ALL=C
export LC_ALL

root=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

# Each folder with what it may use besides itself and the public headers.
arrows() {
    cat <<'TABLE'
base
engine base
json base
store base
hub json base
http json base
catalog engine base
hf json engine base
codec catalog json engine base
trace codec catalog json engine base
intake trace codec catalog json engine base
api codec hf intake trace store hub http catalog json engine base
TABLE
}

# Each outside library, by the start of its headers, with the only folder that knows it.
libraries() {
    cat <<'TABLE'
microhttpd http
libpq store
postgres store
curl/ hub
jansson json
zlib trace
expat intake
yaml intake
TABLE
}

# What the engine may take from elsewhere besides the functions of error.h: libm, and what a compiler
# itself calls. No heap, no file, no clock, no thread, no locale.
engine_symbols='memcpy memmove memset memcmp bcmp memchr strlen strnlen strcmp strncmp strchr
    fabs floor ceil trunc round rint nearbyint lround llround lrint llrint fmod remainder fmin fmax
    sqrt cbrt hypot exp exp2 expm1 log log2 log10 log1p pow sin cos tan tanh atan atan2 erf erfc
    ldexp frexp scalbn modf copysign nextafter
    __assert_fail __stack_chk_fail _GLOBAL_OFFSET_TABLE_'
engine_headers='stdio.h stdlib.h time.h unistd.h pthread.h locale.h threads.h signal.h errno.h fcntl.h'

# may_use FOLDER: the folders it may use, itself included; fails for a folder that is not listed.
may_use() {
    arrows | awk -v folder="$1" '$1 == folder { print; found = 1 } END { exit !found }'
}

# sources FOLDER_PATH AWK_ARGUMENT...: runs awk over every source and header below it.
sources() {
    below=$1
    shift
    find "$below" -type f \( -name '*.c' -o -name '*.h' \) -exec awk "$@" {} +
}

# bad_includes SERVER FOLDER: quoted includes of a folder it may not use, or of none.
bad_includes() {
    allowed=$(may_use "$2") || {
        echo "server/$2 is not in the table of arrows"
        return
    }
    sources "$1/$2" -v allowed=" $allowed shardline " '
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            split($0, quoted, "\"")
            parts = split(quoted[2], path, "/")
            if (parts < 2 || !index(allowed, " " path[1] " "))
                print FILENAME ":" FNR ": must not include \"" quoted[2] "\""
        }'
}

# bad_public_includes INCLUDE: the public headers use each other only.
bad_public_includes() {
    sources "$1" '
        /^[ \t]*#[ \t]*include[ \t]*"/ && !/"shardline\// {
            print FILENAME ":" FNR ": a public header must include public headers only: " $0
        }'
}

# bad_library_use SERVER HEADER_START FOLDER: includes of a library outside the folder that owns it.
bad_library_use() {
    sources "$1" -v start="$2" -v home="$1/$3/" '
        /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
            split($0, named, /[<">]/)
            if (index(named[2], start) == 1 && index(FILENAME, home) != 1)
                print FILENAME ":" FNR ": must not include <" named[2] ">"
        }'
}

# bad_engine_headers SERVER
bad_engine_headers() {
    sources "$1/engine" -v banned=" $engine_headers " '
        /^[ \t]*#[ \t]*include[ \t]*</ {
            split($0, named, /[<>]/)
            if (index(banned, " " named[2] " ") || named[2] ~ /^sys\//)
                print FILENAME ":" FNR ": the engine must not include <" named[2] ">"
        }'
}

# read_symbols ARCHIVE...: lines "FOLDER D|U SYMBOL" for what each defines and needs.
read_symbols() {
    for archive in "$@"; do
        folder=$(basename "$archive" .a)
        nm -P -g "$archive" | awk -v folder="${folder#libsl_}" '
            NF >= 2 && length($2) == 1 {
                print folder, ($2 == "U" || $2 == "w" || $2 == "v") ? "U" : "D", $1
            }'
    done
}

# bad_symbols TABLE FOLDER: sl_ symbols it needs that live in a folder it may not use, or nowhere.
bad_symbols() {
    allowed=$(may_use "$2") || {
        echo "$2 is not in the table of arrows"
        return
    }
    awk -v folder="$2" -v allowed=" $allowed " '
        NR == FNR { if ($2 == "D") home[$3] = home[$3] " " $1; next }
        $1 == folder && $2 == "U" && $3 ~ /^sl_/ {
            count = split(home[$3], homes, " ")
            good = 0
            for (i = 1; i <= count; i++)
                good = good || index(allowed, " " homes[i] " ")
            if (!good)
                print folder " must not use " $3 " of" (count ? home[$3] : " no archive")
        }' "$1" "$1" | sort -u
}

# bad_names TABLE: external symbols without the prefix; they would slip past bad_symbols. Names that
# no C program can have are the compiler's.
bad_names() {
    awk '$2 == "D" && $3 !~ /^(sl_|__)/ && $3 !~ /[.$]/ {
        print $1 " defines " $3 ", which must be static or begin with sl_"
    }' "$1" | sort -u
}

# bad_twins TABLE: names that two archives define; the linker would take whichever it meets first.
bad_twins() {
    awk '$2 == "D" && $3 ~ /^sl_/ {
        if ($3 in home && home[$3] != $1)
            print $1 " defines " $3 ", and so does " home[$3]
        home[$3] = $1
    }' "$1" | sort -u
}

# bad_engine_symbols TABLE INCLUDE: anything the engine needs that could be I/O, a heap, a clock or a
# lock. Instrumented builds call their runtimes.
bad_engine_symbols() {
    errors=$(grep -o 'sl_[a-z0-9_]*(' "$2/shardline/error.h" | tr '(\n' '  ')
    awk -v allowed=" $errors$(echo $engine_symbols) " '
        NR == FNR { if ($1 == "engine" && $2 == "D") own[$3] = 1; next }
        $1 == "engine" && $2 == "U" && !($3 in own) && !index(allowed, " " $3 " ") &&
        $3 !~ /^__(asan|ubsan|tsan|sanitizer|sancov|gcov|llvm|start___sancov|stop___sancov)/ {
            print "the engine must not use " $3
        }' "$1" "$1" | sort -u
}

# check NAME COMMAND...: passes when the command prints nothing.
check() {
    name=$1
    shift
    if found=$("$@" 2>&1) && [ -z "$found" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s\n' "${found:-it could not run}" | sed "s|^|FAILED $name: |"
    fi
}

# must_find NAME PATTERN COMMAND...: passes when the command finds the planted fault.
must_find() {
    name=$1
    pattern=$2
    shift 2
    found=$("$@" 2>&1)
    if printf '%s\n' "$found" | grep -q -- "$pattern"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s: expected "%s", found "%s"\n' "$name" "$pattern" "$found"
    fi
}

# A small tree with one fault per rule shows that each rule can fail, and that a clean one passes.
self_test() {
    tree=$work/tree
    mkdir -p "$tree/server/base" "$tree/server/engine/deep" "$tree/server/json" \
        "$tree/server/extra" "$tree/include/shardline"
    echo '#include "base/text.h"' >"$tree/server/base/text.c"
    printf '#include <math.h>\n#include "shardline/plan.h"\n' >"$tree/server/engine/memory.c"
    echo '#include <jansson.h>' >"$tree/server/json/reader.c"
    echo '#include "shardline/error.h"' >"$tree/include/shardline/plan.h"
    echo 'sl_code sl_fail(sl_errors *err);' >"$tree/include/shardline/error.h"
    printf '%s\n' 'base D sl_fail' 'base D sl_arena_new' 'base U malloc' 'json D sl_json_parse' \
        'engine D sl_memory' 'engine U sl_fail' 'engine U sl_memory' 'engine U sqrt' \
        'engine U __asan_init' 'json U sl_arena_new' 'json D asan.module_ctor' >"$work/planted"
    check clean_includes_pass bad_includes "$tree/server" engine
    check clean_headers_pass bad_engine_headers "$tree/server"
    check clean_libraries_pass bad_library_use "$tree/server" jansson json
    check clean_public_headers_pass bad_public_includes "$tree/include"
    check clean_symbols_pass bad_symbols "$work/planted" engine
    check clean_engine_symbols_pass bad_engine_symbols "$work/planted" "$tree/include"
    check clean_names_pass bad_names "$work/planted"
    check single_names_pass bad_twins "$work/planted"

    printf '  # include "json/reader.h"\n' >"$tree/server/base/outward.c"
    echo '#include "memory.h"' >"$tree/server/engine/deep/nameless.h"
    printf '#include <stddef.h>\n#include <stdlib.h>\n' >"$tree/server/engine/deep/heap.h"
    echo '#include <sys/stat.h>' >"$tree/server/engine/deep/files.h"
    echo '#include <jansson.h>' >"$tree/server/engine/tree.c"
    echo '#include "base/text.h"' >"$tree/include/shardline/inward.h"
    printf '%s\n' 'base U sl_json_parse' 'engine U sl_arena_new' 'engine U malloc' \
        'json U sl_nowhere' 'json D loose' 'json D sl_memory' >>"$work/planted"
    must_find outward_include_is_found 'outward.c:1: must not include "json/reader.h"' \
        bad_includes "$tree/server" base
    must_find nameless_include_is_found 'nameless.h:1: must not include "memory.h"' \
        bad_includes "$tree/server" engine
    must_find unlisted_folder_is_found 'server/extra is not in the table' \
        bad_includes "$tree/server" extra
    must_find heap_in_the_engine_is_found 'heap.h:2: the engine must not include <stdlib.h>' \
        bad_engine_headers "$tree/server"
    must_find files_in_the_engine_are_found 'files.h:1: the engine must not include <sys/stat.h>' \
        bad_engine_headers "$tree/server"
    must_find foreign_library_is_found 'tree.c:1: must not include <jansson.h>' \
        bad_library_use "$tree/server" jansson json
    must_find private_public_header_is_found 'inward.h:1:' bad_public_includes "$tree/include"
    must_find outward_symbol_is_found 'base must not use sl_json_parse of json' \
        bad_symbols "$work/planted" base
    must_find homeless_symbol_is_found 'json must not use sl_nowhere of no archive' \
        bad_symbols "$work/planted" json
    must_find allocating_engine_is_found 'must not use malloc' \
        bad_engine_symbols "$work/planted" "$tree/include"
    must_find engine_beyond_errors_is_found 'must not use sl_arena_new' \
        bad_engine_symbols "$work/planted" "$tree/include"
    must_find unprefixed_symbol_is_found 'json defines loose' bad_names "$work/planted"
    must_find twin_is_found 'json defines sl_memory, and so does engine' bad_twins "$work/planted"
}

# has_symbols TABLE FOLDER: speaks when nm read nothing, lest an empty table pass.
has_symbols() {
    grep -q "^$2 D sl_" "$1" || echo "no sl_ symbol was read from libsl_$2.a"
}

self_test

server=$root/server
for path in "$server"/*/; do
    folder=$(basename "$path")
    check "includes_of_$folder" bad_includes "$server" "$folder"
done
check includes_of_public_headers bad_public_includes "$root/include"
check headers_of_engine bad_engine_headers "$server"
libraries >"$work/libraries"
while read -r start home; do
    check "library_${start%/}_only_in_$home" bad_library_use "$server" "$start" "$home"
done <"$work/libraries"

read_symbols "$@" >"$work/symbols"
for archive in "$@"; do
    folder=$(basename "$archive" .a)
    folder=${folder#libsl_}
    check "archive_of_$folder" has_symbols "$work/symbols" "$folder"
    check "symbols_of_$folder" bad_symbols "$work/symbols" "$folder"
done
check engine_is_pure bad_engine_symbols "$work/symbols" "$root/include"
check external_names_are_prefixed bad_names "$work/symbols"
check names_have_one_home bad_twins "$work/symbols"

echo "cases: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$#" -gt 0 ]
