#!/usr/bin/env bash
# Whether the official conformance suite and our cases say the same of the same servers and clients: docs/agreement.md.
#
#   tests/agreement.sh [TARGET…]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
casebook="${CASEBOOK:-$here/../target/release/casebook}"
[ -x "$casebook" ] || { echo "there is no $casebook: build it with \`cargo build --release\`, or say CASEBOOK=…" >&2; exit 2; }
node="$("$here/agreement/install")"
exec "$node" "$here/agreement/run.mjs" "$(realpath "$casebook")" "$@"
