#!/bin/sh
# Plants the faults of fuzz/planted in a copy of the tree, one after the other, and shows that the target that is meant to find
# each does so within a minute. A fault is a patch whose first lines say what it is and which target finds it:
#
#     fault: a wrong comparison in the keyset
#     target: plan
#
# The inputs are those of fuzz/src/bin/random.rs: the corpus, and random bytes that are the same in every run. That is less than a
# fuzzer does, and needs no instrumented build for each fault.
#
# usage: fuzz/selftest.sh [NAME]...      the faults in fuzz/planted/NAME.patch; all unless some are named
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=60
scratch=$root/target/selftest
tree=$scratch/tree
export CARGO_TARGET_DIR="$scratch/target"

# The tree as it is, without what git ignores. Files keep their times, so that cargo builds again only what a patch changes.
copy_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"
    (cd "$root" && git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
        if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done >"$scratch/files" && tar -cf - -T "$scratch/files") | tar -xf - -C "$tree"
}

# The value of a line at the beginning of a patch.
line() {
    sed -n "s/^$1: //p" "$2" | head -n 1
}

row() {
    printf '%-56s %-10s %12s %8s  %s\n' "$@"
}

# Builds the target with a fault, and runs it. Prints a row of the table; fails if the fault is not found.
find_fault() {
    patch=$root/fuzz/planted/$1.patch
    fault=$(line fault "$patch")
    target=$(line target "$patch")
    features=$(line features "$patch")
    work=$scratch/$1
    rm -rf "$work"
    mkdir -p "$work"
    if ! patch -d "$tree" -p1 --forward --no-backup-if-mismatch <"$patch" >"$work/patch.log" 2>&1; then
        row "$fault" "$target" - - "the patch does not apply: $work/patch.log"
        copy_tree
        return 1
    fi
    executions=-
    spent=-
    if (cd "$tree/fuzz" && cargo build --quiet --bin random --features "$features") >"$work/build.log" 2>&1; then
        start=$(date +%s)
        if "$CARGO_TARGET_DIR/debug/random" "$target" $seconds >"$work/run.log" 2>"$work/fault.log"; then
            result="not found"
        elif grep -q '^found by' "$work/fault.log"; then
            result=found
        else
            result="failed: $work/fault.log"
        fi
        spent=$(($(date +%s) - start))
        executions=$(sed -n 's/ executions$//p' "$work/run.log")
    else
        result="does not build: $work/build.log"
    fi
    patch -d "$tree" -p1 --reverse --no-backup-if-mismatch <"$patch" >>"$work/patch.log"
    row "$fault" "$target" "${executions:--}" "$spent" "$result"
    [ "$result" = found ]
}

mkdir -p "$scratch"
if [ $# -eq 0 ]; then
    for patch in "$root"/fuzz/planted/*.patch; do
        set -- "$@" "$(basename "$patch" .patch)"
    done
fi
copy_tree
row fault target executions seconds result
missed=0
for name; do
    find_fault "$name" || missed=$((missed + 1))
done
echo "$# faults, $missed missed"
[ "$missed" -eq 0 ]
