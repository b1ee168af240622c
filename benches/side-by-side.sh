#!/usr/bin/env bash
# Compares the speed and the cost of the official conformance suite and casebook on the same adapter; see docs/speed.md.
#
#   benches/side-by-side.sh [ROUNDS]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
casebook="${CASEBOOK:-$here/../target/release/casebook}"
[ -x "$casebook" ] || { echo "there is no $casebook: build it with \`cargo build --release\`, or say CASEBOOK=…" >&2; exit 2; }
node="$("$here/../tests/agreement/install")"
exec "$node" "$here/side-by-side.mjs" "$(realpath "$casebook")" "${1:-5}"
