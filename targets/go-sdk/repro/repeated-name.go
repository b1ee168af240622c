//go:build ignore

// AddTool lists the name of a member twice in `required` if an embedded struct has a field of the same JSON name.
// encoding/json takes the field of the outer struct. `required` must have unique elements, so the schema is invalid.
// https://modelcontextprotocol.io/specification/2026-07-28/basic#schema-validation
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

type base struct {
	ID string `json:"x"`
}

type input struct {
	base
	X string `json:"x"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "t"}, func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+mock.Meta+`}}`,
		map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
	if status == 200 && strings.Contains(text, `"required":["x","x"]`) {
		fmt.Println("the list has an invalid schema:", text)
		return
	}
	fmt.Println("the list got status", status, text)
	os.Exit(1)
}
