//go:build ignore

// The client writes the name of a tool into Mcp-Name without encoding it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	var name string
	session := mock.Connect(mock.Results{
		"tools/list": func(mock.Request) string {
			return `{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`
		},
		"tools/call": func(request mock.Request) string {
			name = request.Header.Get("Mcp-Name")
			return `{"resultType":"complete","content":[]}`
		},
	}, nil)
	if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "été"}); err != nil {
		log.Fatal(err)
	}
	if name != "=?base64?w6l0w6k=?=" {
		fmt.Printf("the header Mcp-Name of the tool été is %q\n", name)
		return
	}
	fmt.Println("the header is encoded")
	os.Exit(1)
}
