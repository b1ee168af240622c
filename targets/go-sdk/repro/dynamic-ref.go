//go:build ignore

// AddTool panics at a schema with $dynamicRef, which 2020-12 has, the dialect of a schema without $schema.
// https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const schema = `{"type":"object","$defs":{"n":{"$dynamicAnchor":"n","type":"integer"}},"properties":{"v":{"$dynamicRef":"#n"}}}`

func main() {
	defer func() {
		if cause := recover(); cause != nil {
			fmt.Println("AddTool panicked:", cause)
			os.Exit(0)
		}
	}()
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "t", InputSchema: json.RawMessage(schema)},
		func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
	fmt.Println("AddTool accepted $dynamicRef")
	os.Exit(1)
}
