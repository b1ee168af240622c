//go:build ignore

// AddTool reads arguments and results into float64 before the code gets and the caller receives them, so an int64 above
// 2^53 is rounded.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
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

const sent = 9007199254740993

type value struct {
	Count int64 `json:"count"`
}

func main() {
	var received int64
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "t"},
		func(_ context.Context, _ *mcp.CallToolRequest, in value) (*mcp.CallToolResult, value, error) {
			received = in.Count
			return nil, value{sent}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"count":%d},%s}}`,
		sent, mock.Meta)
	status, text := mock.Post(handler, body, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "t",
	})
	if status == 200 && received == sent-1 && strings.Contains(text, `"structuredContent":{"count":9007199254740992}`) {
		fmt.Println("sent", sent, "and the code received", received, "and returned", sent, "and the caller received", text)
		return
	}
	fmt.Println("the code received", received, "and the call got status", status, text)
	os.Exit(1)
}
