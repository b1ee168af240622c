//go:build ignore

// The client writes the name of a tool into Mcp-Name without encoding it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
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
			return `{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`
		},
		"tools/call": func(map[string]any) string { return `{"resultType":"complete","content":[]}` },
	}, nil)
	if _, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "été"}); err != nil {
		log.Fatal(err)
	}
	if name := seen[len(seen)-1].Get("Mcp-Name"); name != "=?base64?w6l0w6k=?=" {
		fmt.Printf("the header Mcp-Name of the tool été is %q\n", name)
		return
	}
	fmt.Println("the header is encoded")
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
		seen = append(seen, request.Header)
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

// seen has the headers of all requests.
var seen []http.Header
