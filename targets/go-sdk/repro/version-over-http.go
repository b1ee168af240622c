//go:build ignore

// The HTTP handler answers an unsupported version with plain text, not with the JSON-RPC error.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	body := strings.ReplaceAll(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+mock.Meta+`}}`, "2026-07-28", "1900-01-01")
	status, text := mock.Post(handler, body, map[string]string{
		"MCP-Protocol-Version": "1900-01-01", "Mcp-Method": "tools/list",
	})
	if status == 400 && !strings.Contains(text, `"jsonrpc"`) {
		fmt.Println("an unsupported version got status 400 and:", text)
		return
	}
	fmt.Println("the request got status", status, text)
	os.Exit(1)
}
