//go:build ignore

// The server accepts a header Mcp-Param-* with the raw bytes of UTF-8, although only visible ASCII is valid there.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "deploy", InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)},
		func(_ context.Context, _ *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
			return nil, arguments, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"region":"zürich"},`+
		mock.Meta+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "deploy", "Mcp-Param-Region": "zürich",
	})
	if status == 200 && strings.Contains(text, "zürich") {
		fmt.Println("a call with raw bytes in Mcp-Param-Region got status 200 and:", text)
		return
	}
	fmt.Println("the call got status", status, text)
	os.Exit(1)
}
