//go:build ignore

// AddTool derives a schema from the kind of a Go type, also if encoding/json gives the type another form: bytes are a text
// in base64, an address is a text, json.RawMessage is any value. So it refuses what the type takes, and what it returns.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

type input struct {
	Address netip.Addr      `json:"address"`
	Value   json.RawMessage `json:"value"`
}

type output struct {
	Data []byte `json:"data"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "takes"}, func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "returns"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, output, error) {
		return nil, output{[]byte("hi")}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	call := func(tool, arguments string) string {
		_, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+
			arguments+`,`+mock.Meta+`}}`, map[string]string{
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
		})
		return text
	}
	const arguments = `{"address":"127.0.0.1","value":{"a":1}}`
	var fits input
	err := json.Unmarshal([]byte(arguments), &fits)
	taken, returned := call("takes", arguments), call("returns", `{}`)
	if err == nil && strings.Contains(taken, `"isError":true`) && strings.Contains(returned, "validating tool output") {
		fmt.Println("encoding/json reads the arguments, and the SDK refuses them:", taken)
		fmt.Println("and a result of bytes:", returned)
		return
	}
	fmt.Println(err, "the calls got", taken, "and", returned)
	os.Exit(1)
}
