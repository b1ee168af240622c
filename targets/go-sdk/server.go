package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

const stateless = "2026-07-28"

var revisions = []string{"2025-06-18", "2025-11-25", stateless}

type serveOrder struct {
	Revision  string  `json:"revision"`
	Transport string  `json:"transport"`
	Variant   string  `json:"variant"`
	Fixture   fixture `json:"fixture"`
}

// build makes the server of an order. It would speak every revision, whichever the order names: that is the default.
// https://go.sdk.modelcontextprotocol.io/protocol/#discovery
func build(order serveOrder) (*mcp.Server, error) {
	if !slices.Contains(revisions, order.Revision) {
		return nil, cannot{"the SDK does not speak " + order.Revision}
	}
	server := mcp.NewServer(&order.Fixture.Server, nil)
	for _, tool := range order.Fixture.Tools {
		if err := add(server, tool, order.Variant); err != nil {
			return nil, err
		}
	}
	return server, nil
}

// add registers a tool with the tier of the SDK that the variant names. Both panic at a tool that they don't take.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func add(server *mcp.Server, tool tool, variant string) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = refused{"panic", fmt.Sprint(cause), tool.Name}
		}
	}()
	switch variant {
	case "", "high":
		mcp.AddTool(server, tool.declared(), func(_ context.Context, request *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
			return tool.Does.call(request, arguments)
		})
	case "low":
		server.AddTool(tool.declared(), func(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, structured, err := tool.Does.call(request, value(request.Params.Arguments))
			if err == nil {
				result.StructuredContent = structured
			}
			return result, err
		})
	default:
		return cannot{"there is no variant " + variant}
	}
	return nil
}

// serveStreams speaks MCP on this process's standard streams, until they end.
// https://go.sdk.modelcontextprotocol.io/protocol/#stdio-transport
func serveStreams(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var order serveOrder
	err = decode(text, &order)
	var server *mcp.Server
	if err == nil {
		server, err = build(order)
	}
	if err != nil {
		answer, err := json.Marshal(outcome(nil, err))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(os.Stderr, string(answer))
		os.Exit(3)
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

// front is the one listener, which serves each fixture under a path of its own.
type front struct {
	origin string
	mutex  sync.RWMutex
	routes map[string]served
	paths  map[string]string
}

type served struct {
	server  *mcp.Server
	handler http.Handler
}

func listen() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	front := &front{origin: "http://" + listener.Addr().String(), routes: map[string]served{}, paths: map[string]string{}}
	go func() { log.Fatal(http.Serve(listener, front)) }()
	return front, nil
}

func (f *front) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	f.mutex.RLock()
	route, ok := f.routes[request.URL.Path]
	f.mutex.RUnlock()
	if !ok {
		http.NotFound(response, request)
		return
	}
	route.handler.ServeHTTP(response, request)
}

func (f *front) serve(id string, text []byte) (message, error) {
	var order serveOrder
	if err := decode(text, &order); err != nil {
		return nil, err
	}
	if order.Transport != "http" {
		return nil, cannot{fmt.Sprintf("`serve` is for http; for %s start --stdio-server", order.Transport)}
	}
	server, err := build(order)
	if err != nil {
		return nil, err
	}
	// From 2026-07-28 on the handler has to be told that there are no sessions, or it turns every request down.
	// https://go.sdk.modelcontextprotocol.io/protocol/#stateless-mode
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: order.Revision >= stateless},
	)
	path := "/" + rand.Text() + "/mcp"
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.routes[path] = served{server, handler}
	f.paths[id] = path
	return message{"serving": message{"url": f.origin + path}}, nil
}

func (f *front) stop(text []byte) (message, error) {
	var order struct {
		Serving string `json:"serving"`
	}
	if err := decode(text, &order); err != nil {
		return nil, err
	}
	f.mutex.Lock()
	path, ok := f.paths[order.Serving]
	served := f.routes[path]
	delete(f.paths, order.Serving)
	delete(f.routes, path)
	f.mutex.Unlock()
	if ok {
		for session := range served.server.Sessions() {
			// It waits for its requests to end, and some never do.
			go session.Close()
		}
	}
	return message{"stopped": ok}, nil
}
