//go:build ignore

// The HTTP handler serves a request whose Origin is a foreign site.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-casebook/mcp-casebook/targets/go-sdk/repro/mock"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{})

	status, text := mock.Post(handler, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, map[string]string{"Origin": "http://evil.example"})
	if status == 200 && strings.Contains(text, `"protocolVersion"`) {
		fmt.Println("a request with Origin: http://evil.example got status 200 and:", text)
		return
	}
	fmt.Println("the request got status", status, text)
	os.Exit(1)
}
