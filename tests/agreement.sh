#!/usr/bin/env bash
# Compares the verdicts of the official conformance suite with those of casebook: see docs/agreement.md.
#
#   tests/agreement.sh [TARGET…]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
casebook="${CASEBOOK:-$here/../target/release/casebook}"
[ -x "$casebook" ] || { echo "cannot find $casebook: build it with \`cargo build --release\`, or set CASEBOOK" >&2; exit 2; }
node="$("$here/agreement/install")"
exec "$node" "$here/agreement/run.mjs" "$(realpath "$casebook")" "$@"
