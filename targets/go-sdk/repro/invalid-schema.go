//go:build ignore

// Both tiers accept a schema that is not valid by its metaschema, and list it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const negative = `{"type":"object","properties":{"v":{"type":"string","minLength":-1}}}`

func main() {
	for _, low := range []bool{false, true} {
		if reason := listed(low); reason != "" {
			fmt.Printf("low=%t: %s\n", low, reason)
			os.Exit(1)
		}
	}
	fmt.Println("AddTool and Server.AddTool accepted and listed minLength: -1")
}

// listed returns the reason why the SDK does not list the schema.
func listed(low bool) (reason string) {
	defer func() {
		if cause := recover(); cause != nil {
			reason = fmt.Sprint(cause)
		}
	}()
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	tool := &mcp.Tool{Name: "odd", InputSchema: json.RawMessage(negative)}
	if low {
		server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	} else {
		mcp.AddTool(server, tool, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
	}
	ctx := context.Background()
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, st, nil); err != nil {
		return err.Error()
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, ct, nil)
	if err != nil {
		return err.Error()
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err.Error()
	}
	if len(list.Tools) != 1 {
		return "the tool is not listed"
	}
	return ""
}
