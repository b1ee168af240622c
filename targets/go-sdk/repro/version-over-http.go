//go:build ignore

// The HTTP handler answers an unsupported version with plain text, not with the JSON-RPC error.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
package main

import (
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
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	listener := httptest.NewServer(handler)
	defer listener.Close()

	body := strings.ReplaceAll(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`+`}}`, "2026-07-28", "1900-01-01")
	status, text := post(listener.URL, body, map[string]string{
		"MCP-Protocol-Version": "1900-01-01", "Mcp-Method": "tools/list",
	})
	if status == 400 && !strings.Contains(text, `"jsonrpc"`) {
		fmt.Println("an unsupported version got status 400 and:", text)
		return
	}
	fmt.Println("the request got status", status, text)
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
