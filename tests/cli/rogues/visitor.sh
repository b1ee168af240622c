# A client under test: visitor.sh MISBEHAVIOUR. Where it is to call `lose`, it does what the argument says; else it calls,
# and hands over a result that it made up, which is good enough.

hand_over() { echo "{\"id\":\"$id\",\"drove\":{\"connected\":true,\"steps\":[$1]}}"; }
thanks() { hand_over '{"tools":[]},{"result":{"content":[]}}'; }
good() { ask; thanks; }

# A call of the tool that the line names, until its answer is there.
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

# The server: what comes on standard input reaches it as it is; what it says is read and dropped, to its end.
server() {
    case $line in
        *'"__relay"'*) "$CASEBOOK" __relay "$address" > /dev/null ;;
        *) exec 3<> "/dev/tcp/${authority%:*}/${authority#*:}" && { cat <&3 > /dev/null & cat >&3; wait; } ;;
    esac
}

# A message, as the transport wants it, and a further header over HTTP.
message() {
    case $line in
        *'"__relay"'*) printf '%s\n' "$1" ;;
        *) printf 'POST /%s HTTP/1.1\r\nhost: %s\r\n%bcontent-length: %s\r\n\r\n%s' "$path" "$authority" "$2" "${#1}" "$1" ;;
    esac
}
list='{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
call='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"%s"}}'
flood() { while message "$list"; do :; done 2> /dev/null; }

# Whether the server is met over HTTP, the beginning of a request to it, and what has no end.
web() { case $line in *'"__relay"'*) false ;; esac; }
head_of() { printf 'POST /%s HTTP/1.1\r\nhost: %s\r\n%b' "$path" "$authority" "$1"; }
endless() { yes | tr -d '\n'; }

# Much of one character.
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
