//go:build ignore

// The server compares the header Mcp-Name with the body without decoding it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
package main

import (
	"context"
	"encoding/json"
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
	mcp.AddTool(server, &mcp.Tool{Name: "été", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, _ *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
			return nil, arguments, nil
		})
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	listener := httptest.NewServer(handler)
	defer listener.Close()

	status, text := post(listener.URL, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"été","arguments":{},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`+`}}`, map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w6l0w6k=?=",
	})
	if status == 400 && strings.Contains(text, "-32020") {
		fmt.Println("a call with an encoded Mcp-Name got status 400 and:", text)
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
