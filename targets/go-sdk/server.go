package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

var revisions = []string{"2025-06-18", "2025-11-25", stateless}

type serveOrder struct {
	Revision  string  `json:"revision"`
	Transport string  `json:"transport"`
	Variant   string  `json:"variant"`
	Fixture   fixture `json:"fixture"`
	Stream    *place  `json:"stream"`
}

// place is the harness's listener for one stream, and the word that opens the stream.
type place struct {
	Port int    `json:"port"`
	Word string `json:"word"`
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
			err = refused{fmt.Sprint(cause), tool.Name}
		}
	}()
	switch variant {
	case "", "high":
		mcp.AddTool(server, tool.declared(), tool.Does.typed)
	case "low":
		server.AddTool(tool.declared(), tool.Does.raw)
	default:
		return cannot{"there is no variant " + variant}
	}
	return nil
}

// serveStreams speaks MCP on this process's standard streams, until they end.
// https://go.sdk.modelcontextprotocol.io/protocol/#stdio-transport
func serveStreams(file string) {
	server, err := read(file)
	if err != nil {
		why, err := json.Marshal(outcome(nil, err))
		if err != nil {
			log.Fatal(err)
		}
		log.Print(string(why))
		os.Exit(3)
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

func read(file string) (*mcp.Server, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var order serveOrder
	if err := decode(text, &order); err != nil {
		return nil, err
	}
	return build(order)
}

// front is the one listener; it serves each fixture over HTTP under a path of its own.
type front struct {
	origin  string
	serving sync.Map // from the id of the order to a served
}

// served is a fixture's server; over stdio it has no handler.
type served struct {
	handler http.Handler
	stop    func()
}

func listen() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	front := &front{origin: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.Handle("/{id}/mcp", front)
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	return front, nil
}

func (f *front) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	found, _ := f.serving.Load(request.PathValue("id"))
	if served, _ := found.(served); served.handler != nil {
		served.handler.ServeHTTP(response, request)
		return
	}
	http.NotFound(response, request)
}

func (f *front) serve(id string, text []byte) (message, error) {
	var order serveOrder
	if err := decode(text, &order); err != nil {
		return nil, err
	}
	server, err := build(order)
	if err != nil {
		return nil, err
	}
	switch {
	case order.Transport == "http":
		return f.publish(id, server, order.Revision), nil
	case order.Stream != nil:
		return f.connect(id, server, *order.Stream), nil
	}
	return nil, cannot{fmt.Sprintf("`serve` is for http and for streams; for %s start --stdio-server", order.Transport)}
}

func (f *front) publish(id string, server *mcp.Server, revision string) message {
	// A handler of sessions turns 2026-07-28 down.
	// https://go.sdk.modelcontextprotocol.io/protocol/#stateless-mode
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: revision >= stateless},
	)
	f.serving.Store(id, served{handler, func() {
		for session := range server.Sessions() {
			// It waits for its requests to end, which some never do.
			go session.Close()
		}
	}})
	return message{"serving": message{"url": f.origin + "/" + url.PathEscape(id) + "/mcp"}}
}

func (f *front) connect(id string, server *mcp.Server, to place) message {
	ctx, cancel := context.WithCancel(context.Background())
	f.serving.Store(id, served{nil, cancel})
	go func() {
		// An error ends this server alone. One that comes of `stop` says nothing.
		if err := serveStream(ctx, server, to); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
	}()
	return message{"serving": message{}}
}

// serveStream speaks MCP on a connection in place of the standard streams, until its input ends or ctx does.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#IOTransport
func serveStream(ctx context.Context, server *mcp.Server, to place) error {
	address := fmt.Sprintf("127.0.0.1:%d", to.Port)
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	// Run waits for the handlers, of which some never end.
	context.AfterFunc(ctx, func() { connection.Close() })
	if _, err := fmt.Fprintln(connection, to.Word); err != nil {
		return err
	}
	return server.Run(ctx, &mcp.IOTransport{Reader: connection, Writer: output{connection}})
}

// output is the sending side of a connection, which is closed once: with its receiving side.
type output struct{ io.Writer }

func (output) Close() error { return nil }

func (f *front) stop(text []byte) (message, error) {
	var order struct {
		Serving string `json:"serving"`
	}
	if err := decode(text, &order); err != nil {
		return nil, err
	}
	found, ok := f.serving.LoadAndDelete(order.Serving)
	if ok {
		found.(served).stop()
	}
	return message{"stopped": ok}, nil
}
