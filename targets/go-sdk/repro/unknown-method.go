//go:build ignore

// On the revisions of 2025, the HTTP handler answers an unknown method with plain text, not with a JSON-RPC error.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
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

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/nothing","params":{}}`,
		map[string]string{"MCP-Protocol-Version": "2025-11-25"})
	if status == 400 && !strings.Contains(text, `"jsonrpc"`) {
		fmt.Println("an unknown method got status 400 and:", text)
		return
	}
	fmt.Println("the request got status", status, text)
	os.Exit(1)
}
