//go:build ignore

// The iterator of tools ends at an empty nextCursor, so that later pages are lost.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
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
		"tools/list": func(request mock.Request) string {
			if _, later := request.Params["cursor"]; later {
				return `{"resultType":"complete","tools":[{"name":"second","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
			}
			return `{"resultType":"complete","nextCursor":"","tools":[{"name":"first","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		},
	}, nil)
	var names []string
	for tool, err := range session.Tools(context.Background(), nil) {
		if err != nil {
			log.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if len(names) == 1 {
		fmt.Println("of two pages, of which the first has an empty nextCursor, the client returned", names)
		return
	}
	fmt.Println("the client returned", names)
	os.Exit(1)
}
