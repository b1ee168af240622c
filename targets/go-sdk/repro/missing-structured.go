//go:build ignore

// AddTool sends a result without structured content for a tool that lists an outputSchema.
// https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	tool := &mcp.Tool{Name: "silent", OutputSchema: &jsonschema.Schema{Type: "object", Required: []string{"n"}}}
	mcp.AddTool(server, tool, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "7"}}}, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"silent","arguments":{},`+
		mock.Meta+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "silent",
	})
	if status == 200 && strings.Contains(text, `"content"`) && !strings.Contains(text, "structuredContent") &&
		!strings.Contains(text, `"isError":true`) {
		fmt.Println("a tool with an outputSchema returned no structured content:", text)
		return
	}
	fmt.Println("the call got status", status, text)
	os.Exit(1)
}
