//go:build ignore

// The server does not cancel a call whose client closes the event stream of the response.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	started, ended := make(chan bool), make(chan string)
	mcp.AddTool(server, &mcp.Tool{Name: "wait"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			started <- true
			select {
			case <-ctx.Done():
				ended <- "cancelled"
			case <-time.After(5 * time.Second):
				ended <- "not cancelled"
			}
			return nil, nil, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	listener := httptest.NewServer(handler)
	defer listener.Close()

	ctx, cancel := context.WithCancel(context.Background())
	go http.DefaultClient.Do(mock.NewRequest(ctx, listener.URL, `{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
		`"params":{"name":"wait","arguments":{},`+mock.Meta+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "wait",
	}))
	<-started
	cancel()
	end := <-ended
	fmt.Println("within 5 s after the client closed the connection, the context of the handler was", end)
	if end == "cancelled" {
		os.Exit(1)
	}
	os.Exit(0)
}
