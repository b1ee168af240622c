//go:build ignore

// A server sends the InputRequests of a tool to a client that declares no elicitation, instead of the error -32021.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
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
	mcp.AddTool(server, &mcp.Tool{Name: "ask"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			question := &mcp.ElicitParams{Message: "Your name?", RequestedSchema: map[string]any{"type": "object"}}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": question}}, nil, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},`+
		mock.Meta+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask",
	})
	if status == 200 && strings.Contains(text, `"inputRequests"`) {
		fmt.Println("a client without capabilities got status 200 and:", text)
		return
	}
	fmt.Println("the client got status", status, text)
	os.Exit(1)
}
