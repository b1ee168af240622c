//go:build ignore

// The HTTP handler serves a request whose Origin is a foreign site.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
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
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{})
	listener := httptest.NewServer(handler)
	defer listener.Close()

	status, text := post(listener.URL, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, map[string]string{"Origin": "http://evil.example"})
	if status == 200 && strings.Contains(text, `"protocolVersion"`) {
		fmt.Println("a request with Origin: http://evil.example got status 200 and:", text)
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
