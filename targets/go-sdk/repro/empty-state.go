//go:build ignore

// The client does not send an empty requestState back.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
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
	echoed, retried := false, false
	session := mock.Connect(mock.Results{
		"tools/list": func(mock.Request) string {
			return `{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		},
		"tools/call": func(request mock.Request) string {
			if request.Params["inputResponses"] == nil {
				return `{"resultType":"input_required","requestState":"","inputRequests":{"q":{"method":"elicitation/create",` +
					`"params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}}}}`
			}
			_, echoed = request.Params["requestState"]
			retried = true
			return `{"resultType":"complete","content":[]}`
		},
	}, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
	}})
	if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "t"}); err != nil || !retried {
		log.Fatal("no retry: ", err)
	}
	if !echoed {
		fmt.Println(`the retry has no requestState, although the result had "requestState":""`)
		return
	}
	fmt.Println("the retry has requestState")
	os.Exit(1)
}
