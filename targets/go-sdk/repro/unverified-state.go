//go:build ignore

// The SDK has no protection for requestState: a handler gets any state that a client sends.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "pay"},
		func(_ context.Context, request *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			return nil, map[string]string{"state": request.Params.RequestState}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{},`+
		`"requestState":"forged","inputResponses":{"q":{"action":"accept","content":{}}},`+mock.Meta+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "pay",
	})
	if status == 200 && strings.Contains(text, `"state":"forged"`) {
		fmt.Println("the handler got a state that the server never gave:", text)
		return
	}
	fmt.Println("the call got status", status, text)
	os.Exit(1)
}
