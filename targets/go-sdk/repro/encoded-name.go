//go:build ignore

// The server compares the header Mcp-Name with the body without decoding it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
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
	mcp.AddTool(server, &mcp.Tool{Name: "été", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, _ *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
			return nil, arguments, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"été","arguments":{},`+
		mock.Meta+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w6l0w6k=?=",
	})
	if status == 400 && strings.Contains(text, "-32020") {
		fmt.Println("a call with an encoded Mcp-Name got status 400 and:", text)
		return
	}
	fmt.Println("the call got status", status, text)
	os.Exit(1)
}
