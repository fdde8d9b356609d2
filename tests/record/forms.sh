# Sourced by the scripts of folders with a record.c and a forms.tsv: SCRIPT LIBRARY INCLUDE OUTPUT-DIRECTORY
# [GROUP...]
# shellcheck shell=sh disable=SC2154
. "$record/common.sh"
build record "$here/record.c" "$record/forms.c"
into "${3:-}"
shift 3
for group in ${*:-$(grep -v '^#' "$here/forms.tsv" | cut -f1 | uniq | sort -u)}; do
    "$work/record" "$library" "$here/forms.tsv" "$group" "$device" "$today" >"$out/$group.hw"
    compress "$out/$group.hw"
done
