# Sourced by ops/setup, ops/demo and ops/test: shows how far a phase is. On a terminal one line is
# rewritten while the phase goes on; a log gets one line when it ends. All of it on standard error.

# show TEXT: rewrites the line on a terminal, and prints nothing elsewhere
show() { [ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2; }

# tell TEXT: prints a line that stays
tell() { show; printf '%s\n' "$*" >&2; }

# phase NAME LOG PATTERN TOTAL COMMAND…: runs the command with its output in LOG and shows how many
# lines of it match PATTERN, of TOTAL. Where the line itself has `n/m`, that counts instead. Returns
# the command's code.
phase() {
    local name=$1 log=$2 pattern=$3 total=$4 began=$SECONDS code=0
    shift 4
    show "$name"
    "$@" 2>&1 </dev/null | tee "$log" | count_lines || code=$?
    return "$code"
}

count_lines() {
    local line at=0 far=
    while IFS= read -r line; do
        [[ -n "$pattern" && "$line" =~ $pattern ]] || continue
        at=$((at + 1)) far="$at of $total"
        [[ ! "$line" =~ ([0-9]+)/([0-9]+) ]] || far="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
        show "$name: $far, $((SECONDS - began)) s"
    done
    tell "$name: ${far:+$far, }$((SECONDS - began)) s"
}
