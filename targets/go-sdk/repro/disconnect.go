//go:build ignore

// The server does not cancel a call whose client closes the event stream of the response.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	go post(ctx, listener.URL, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "wait",
	})
	<-started
	cancel()
	end := <-ended
	fmt.Println("within 5 s after the client closed the connection, the context of the handler was", end)
	if end == "cancelled" {
		os.Exit(1)
	}
	os.Exit(0)
}

func post(ctx context.Context, url, body string, headers map[string]string) {
	request, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if response, err := http.DefaultClient.Do(request); err == nil {
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
