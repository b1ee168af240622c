#!/bin/sh
# Installs the program casebook from a release:
#
#   curl -fsSL https://raw.githubusercontent.com/mcp-casebook/mcp-casebook/main/install.sh | sh
#
# Downloads the archive for this machine and the list of checksums, compares the checksum, and copies the program to a
# folder. It runs nothing of the archive and changes no other file.
#
#   CASEBOOK_VERSION      the version, such as 0.1.0        [default: the latest release]
#   CASEBOOK_INSTALL_DIR  the folder for the program        [default: ~/.local/bin]
#   CASEBOOK_RELEASES     the address of the releases; file:// works too
#   CASEBOOK_TARGET       the platform of the archive, such as x86_64-unknown-linux-musl
#   CASEBOOK_ATTESTATION  1: also verify with `gh` that the release workflow built the archive
#
# Exit status: 0 installed, 1 a file cannot be downloaded or written, 2 no archive for this platform, 3 the archive is not
# the one that was published.
set -eu

repository=mcp-casebook/mcp-casebook
releases=${CASEBOOK_RELEASES:-https://github.com/$repository/releases}

fail() {
    status=$1
    shift
    echo "install.sh: $*" >&2
    exit "$status"
}

has() { command -v "$1" >/dev/null 2>&1; }

platform() {
    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail 2 "no archive for the processor $machine: build casebook with cargo" ;;
    esac
    case $system in
    Linux) echo "$machine-unknown-linux-musl" ;;
    Darwin) echo "$machine-apple-darwin" ;;
    # Windows on arm64 runs programs for x86-64.
    MINGW* | MSYS* | CYGWIN*) echo x86_64-pc-windows-msvc ;;
    *) fail 2 "no archive for $system: build casebook with cargo" ;;
    esac
}

# Downloads the address $1 to the file $2. An address that is redirected from https must not leave it.
download() {
    case $1 in https://*) only='--proto =https' ;; *) only= ;; esac
    if has curl; then
        # shellcheck disable=SC2086 # `only` has two words, or none
        curl $only --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    elif has wget; then
        wget --quiet --output-document="$2" "$1"
    else
        fail 1 "cannot find curl or wget: install one of them"
    fi || fail 1 "cannot download $1"
}

# The SHA-256 of a file.
sum_of() {
    if has sha256sum; then sum=$(sha256sum <"$1"); else sum=$(shasum -a 256 <"$1"); fi
    echo "${sum%% *}"
}

# Everything is in a function, so that an incomplete download of this script runs nothing.
main() {
    target=${CASEBOOK_TARGET:-$(platform)}
    name=mcp-casebook-$target
    case $target in
    *windows*) archive=$name.zip program=casebook.exe ;;
    *) archive=$name.tar.gz program=casebook ;;
    esac
    if [ -n "${CASEBOOK_VERSION:-}" ]; then
        base=$releases/download/v${CASEBOOK_VERSION#v}
    else
        base=$releases/latest/download
    fi
    folder=${CASEBOOK_INSTALL_DIR:-$HOME/.local/bin}

    has sha256sum || has shasum || fail 1 "cannot find sha256sum or shasum, which check the archive: install one of them"
    temporary=$(mktemp -d)
    trap 'rm -rf "$temporary"' EXIT
    trap 'exit 1' HUP INT TERM
    download "$base/SHA256SUMS" "$temporary/SHA256SUMS"
    expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$temporary/SHA256SUMS")
    [ -n "$expected" ] || fail 2 "the release has no archive $archive: build casebook with cargo"
    download "$base/$archive" "$temporary/$archive"
    found=$(sum_of "$temporary/$archive")
    [ "$found" = "$expected" ] ||
        fail 3 "$base/$archive has the SHA-256 $found, but SHA256SUMS has $expected: nothing was installed"
    if [ "${CASEBOOK_ATTESTATION:-}" = 1 ]; then
        has gh || fail 1 "cannot find gh, which verifies the attestation: install it, or unset CASEBOOK_ATTESTATION"
        gh attestation verify "$temporary/$archive" --repo "$repository" \
            --signer-workflow "$repository/.github/workflows/release.yml" >&2 ||
            fail 3 "the attestation of $base/$archive cannot be verified: nothing was installed"
    fi

    cd "$temporary"
    case $archive in
    *.zip) unzip -q "$archive" || fail 1 "cannot unpack $archive" ;;
    *) tar -xzf "$archive" || fail 1 "cannot unpack $archive" ;;
    esac
    cd - >/dev/null
    # Renamed within the folder, so that a running program is replaced and never written to.
    { mkdir -p "$folder" && cp "$temporary/$name/$program" "$folder/.$program.new" &&
        chmod 755 "$folder/.$program.new" && mv -f "$folder/.$program.new" "$folder/$program"; } ||
        fail 1 "cannot write $folder/$program: set CASEBOOK_INSTALL_DIR to another folder"
    echo "installed $folder/$program"
    case :$PATH: in
    *":$folder:"*) ;;
    *) echo "add $folder to PATH, to run it as casebook" ;;
    esac
}

main
