//go:build ignore

// The client does not exclude a tool whose x-mcp-header is at an invalid place.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	session := mock.Connect(mock.Results{
		"tools/list": func(mock.Request) string {
			return `{"resultType":"complete","tools":[{"name":"marked","inputSchema":{"type":"object",` +
				`"properties":{"v":{"type":"array","items":{"type":"string","x-mcp-header":"V"}}}}}],"ttlMs":0,"cacheScope":"private"}`
		},
	}, nil)
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	if len(list.Tools) == 1 {
		fmt.Println("the client returned the tool with x-mcp-header below items")
		return
	}
	fmt.Println("the client excluded the tool")
	os.Exit(1)
}
