//go:build ignore

// The iterator of tools ends at an empty nextCursor, so that later pages are lost.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
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
		"tools/list": func(params map[string]any) string {
			if _, later := params["cursor"]; later {
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
