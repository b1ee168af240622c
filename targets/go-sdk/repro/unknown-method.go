//go:build ignore

// On the revisions of 2025, the HTTP handler answers an unknown method with plain text, not with a JSON-RPC error.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
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

	status, text := post(listener.URL, `{"jsonrpc":"2.0","id":1,"method":"tools/nothing","params":{}}`,
		map[string]string{"MCP-Protocol-Version": "2025-11-25"})
	if status == 400 && !strings.Contains(text, `"jsonrpc"`) {
		fmt.Println("an unknown method got status 400 and:", text)
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
