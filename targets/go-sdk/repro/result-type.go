//go:build ignore

// The client returns results of an unknown resultType as complete.
// https://modelcontextprotocol.io/specification/2026-07-28/basic#result
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	session := mock.Connect(mock.Results{
		"tools/list": func(mock.Request) string {
			return `{"resultType":"partial","tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		},
		"tools/call": func(mock.Request) string { return `{"resultType":"partial","content":[]}` },
	}, nil)
	_, listing := session.ListTools(context.Background(), nil)
	_, call := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "t", Arguments: map[string]any{}})
	if listing == nil && call == nil {
		fmt.Println(`tools/list and tools/call with "resultType":"partial" succeeded`)
		return
	}
	fmt.Println("the client failed:", listing, call)
	os.Exit(1)
}
