//go:build ignore

// The client does not exclude a tool whose x-mcp-header is at an invalid place.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	session := connect(map[string]func(map[string]any) string{
		"tools/list": func(map[string]any) string {
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

// connect connects the SDK's client over HTTP to a server that gives these results by the name of the method.
func connect(results map[string]func(params map[string]any) string, options *mcp.ClientOptions) *mcp.ClientSession {
	listener := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		var message struct {
			ID     json.RawMessage
			Method string
			Params map[string]any
		}
		if err := json.NewDecoder(request.Body).Decode(&message); err != nil {
			log.Fatal(err)
		}
		result := `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
		if give := results[message.Method]; give != nil {
			result = give(message.Params)
		}
		response.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(response, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.ID, result)
	}))
	transport := &mcp.StreamableClientTransport{Endpoint: listener.URL}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, options).Connect(
		context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2026-07-28"})
	if err != nil {
		log.Fatal(err)
	}
	return session
}
