//go:build ignore

// After the status 404 for its session, the client sends the next request in the old session.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	var calls []string // the sessions of the calls
	listener := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		var message struct {
			ID     json.RawMessage
			Method string
		}
		if request.Method != "POST" || json.NewDecoder(request.Body).Decode(&message) != nil {
			response.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		switch message.Method {
		case "initialize":
			response.Header().Set("Mcp-Session-Id", "old")
			fmt.Fprintf(response, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{"tools":{}},"serverInfo":{"name":"repro","version":"1"}}}`, message.ID)
		case "tools/call":
			calls = append(calls, request.Header.Get("Mcp-Session-Id"))
			response.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(response, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"no such session"}}`, message.ID)
		default:
			response.WriteHeader(http.StatusAccepted)
		}
	}))
	ctx := context.Background()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(
		ctx, &mcp.StreamableClientTransport{Endpoint: listener.URL}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "t", Arguments: map[string]any{}})
	}
	fmt.Printf("two calls, both with status 404, were sent in the sessions %q; the last error: %v\n", calls, err)
	if len(calls) < 2 || calls[1] != "old" {
		os.Exit(1)
	}
}
