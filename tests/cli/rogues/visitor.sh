# A client under test: visitor.sh CODE. When it should call the tool `lose`, it runs the shell code; otherwise it calls the
# tool and reports a constant result, which the case accepts.

hand_over() { echo "{\"id\":\"$id\",\"drove\":{\"connected\":true,\"steps\":[$1]}}"; }
thanks() { hand_over '{"tools":[]},{"result":{"content":[]}}'; }
good() { ask; thanks; }

# Calls the tool that the line names, and waits for the answer.
ask() {
    local tool=keep call=$call
    case $line in *'"lose"'*) tool=lose ;; esac
    call=${call/'%s'/$tool}
    case $line in
        *'"__relay"'*)
            coproc "$CASEBOOK" __relay "$address"
            message "$call" >&"${COPROC[1]}" && read -r <&"${COPROC[0]}"
            kill "$COPROC_PID" && wait "$COPROC_PID" ;;
        *) message "$call" 'connection: close\r\n' | server ;;
    esac
}

# Sends standard input to the server unchanged, and discards the output of the server.
server() {
    case $line in
        *'"__relay"'*) "$CASEBOOK" __relay "$address" > /dev/null ;;
        *) exec 3<> "/dev/tcp/${authority%:*}/${authority#*:}" && { cat <&3 > /dev/null & cat >&3; wait; } ;;
    esac
}

# Prints a message in the form of the transport; over HTTP with an additional header.
message() {
    case $line in
        *'"__relay"'*) printf '%s\n' "$1" ;;
        *) printf 'POST /%s HTTP/1.1\r\nhost: %s\r\n%bcontent-length: %s\r\n\r\n%s' "$path" "$authority" "$2" "${#1}" "$1" ;;
    esac
}
list='{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
call='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"%s"}}'
flood() { while message "$list"; do :; done 2> /dev/null; }

# `web` succeeds if the server is reached over HTTP, `head_of` prints the beginning of a request, `endless` never ends.
web() { case $line in *'"__relay"'*) false ;; esac; }
head_of() { printf 'POST /%s HTTP/1.1\r\nhost: %s\r\n%b' "$path" "$authority" "$1"; }
endless() { yes | tr -d '\n'; }

# Prints one character many times.
many() { head -c "$1" /dev/zero | tr '\0' "$2"; }

while read -r line; do
    id=${line#*'"id":"'}; id=${id%%'"'*}
    address=${line##*'"__relay","'}; address=${address%%'"'*}
    url=${line##*'"url":"http://'}; url=${url%%'"'*}; authority=${url%%/*}; path=${url#*/}
    case $line in
        *'"hello"'*) echo "{\"id\":\"$id\",\"hello\":{\"roles\":[\"client\"],\"transports\":[\"stdio\",\"http\"],\"revisions\":[\"2026-07-28\"]}}" ;;
        *'"drive"'*'"lose"'*) eval "$1" ;;
        *'"drive"'*) good ;;
        *) echo "{\"id\":\"$id\",\"unsupported\":\"what\"}" ;;
    esac
done
