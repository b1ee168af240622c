// Package mock plays the other side of the programs in the folder repro: a raw client over HTTP, and a server.
package mock

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Meta is the member _meta of a request of 2026-07-28, from a client without capabilities.
const Meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// Post serves one request over HTTP, and returns the status and the body of the response, in one line.
func Post(handler http.Handler, body string, headers map[string]string) (int, string) {
	listener := httptest.NewServer(handler)
	defer listener.Close()
	response, err := http.DefaultClient.Do(NewRequest(context.Background(), listener.URL, body, headers))
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

// NewRequest returns a request with the headers that each request of a client has, and with these.
func NewRequest(ctx context.Context, url, body string, headers map[string]string) *http.Request {
	request, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	return request
}

// A Request is what a server gets from the client.
type Request struct {
	Header http.Header
	Params map[string]any
}

// Results has a function for each method, which returns the result of a request.
type Results map[string]func(Request) string

// Connect connects the SDK's client over HTTP to a server of 2026-07-28 that gives these results.
func Connect(results Results, options *mcp.ClientOptions) *mcp.ClientSession {
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
			result = give(Request{request.Header, message.Params})
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
