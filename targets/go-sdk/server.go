package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

// firstStateless is the first revision without sessions.
const firstStateless = "2026-07-28"

type serveRequest struct {
	Revision  string         `json:"revision"`
	Transport string         `json:"transport"`
	Variant   string         `json:"variant"`
	Fixture   fixture        `json:"fixture"`
	Stream    *streamAddress `json:"stream"`
}

// streamAddress is the port on which casebook listens for one stream, and the first line to send on it.
type streamAddress struct {
	Port int    `json:"port"`
	Word string `json:"word"`
}

// build builds the server for a serve request. By default the server supports every revision of the SDK; see publish for
// the HTTP handler.
// https://go.sdk.modelcontextprotocol.io/protocol/#discovery
func build(request serveRequest) (*mcp.Server, error) {
	if !slices.Contains(revisions, request.Revision) {
		return nil, cannot{"the SDK does not support " + request.Revision}
	}
	// https://go.sdk.modelcontextprotocol.io/server/#pagination
	options := &mcp.ServerOptions{Logger: slog.Default(), PageSize: request.Fixture.Pages.Size}
	if request.Fixture.Capabilities != nil {
		declared, err := serverCapabilities(request.Fixture.Capabilities)
		if err != nil {
			return nil, err
		}
		options.Capabilities = declared
	}
	server := mcp.NewServer(&request.Fixture.Server, options)
	for method, replies := range request.Fixture.Methods {
		if err := addMethod(server, method, replies); err != nil {
			return nil, err
		}
	}
	for _, tool := range request.Fixture.Tools {
		if tool.Does.Elicit != nil && request.Revision < firstStateless {
			tool.Does.Elicit.State = nil // these revisions have no state
		}
		if err := add(server, tool, request.Variant); err != nil {
			return nil, err
		}
	}
	return server, nil
}

// serverCapabilities reads capabilities into the SDK's type, which has no place for others than its own. They replace the
// default of the SDK, which is to log, and not those of tools.
// https://go.sdk.modelcontextprotocol.io/server/#explicit-capabilities
func serverCapabilities(text []byte) (*mcp.ServerCapabilities, error) {
	//lint:ignore SA1019 the default, and revisions of 2025 have log messages
	declared := mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}}
	if err := decodeStrictly(text, &declared); err != nil {
		return nil, cannot{"mcp.ServerCapabilities cannot express it: " + err.Error()}
	}
	return &declared, nil
}

// add registers a tool with the tier of the SDK that the variant names. Both tiers panic at a tool that they reject.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func add(server *mcp.Server, tool tool, variant string) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = refused{fmt.Sprint(cause), tool.Name}
		}
	}()
	switch variant {
	case "", "high", "stateless":
		if tool.Typed != "" {
			return addTyped(server, tool)
		}
		mcp.AddTool(server, tool.definition(), tool.Does.typedHandler)
	case "low":
		server.AddTool(tool.definition(), tool.Does.rawHandler)
	case "low-validated":
		handler, err := validating(tool)
		if err != nil {
			return refused{err.Error(), tool.Name}
		}
		server.AddTool(tool.definition(), handler)
	default:
		return cannot{"there is no variant " + variant}
	}
	return nil
}

// serveProcess serves a fixture on this process's standard streams until they end.
// https://go.sdk.modelcontextprotocol.io/protocol/#stdio-transport
func serveProcess(file string) {
	server, err := read(file)
	if err != nil {
		why, err := json.Marshal(toAnswer(nil, err))
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
	var request serveRequest
	if err := decode(text, &request); err != nil {
		return nil, err
	}
	return build(request)
}

// front is the only HTTP listener. It serves each fixture under a path of its own.
type front struct {
	origin  string
	serving sync.Map // from the id of a serve request to a served
}

// served is the running server of a fixture. Over stdio it has no handler.
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
	var request serveRequest
	if err := decode(text, &request); err != nil {
		return nil, err
	}
	server, err := build(request)
	if err != nil {
		return nil, err
	}
	switch {
	case request.Transport == "http":
		return f.publish(id, server, request), nil
	case request.Stream != nil:
		return f.connect(id, server, *request.Stream), nil
	}
	return nil, cannot{fmt.Sprintf("`serve` is for http and for streams; for %s start --stdio-server", request.Transport)}
}

func (f *front) publish(id string, server *mcp.Server, request serveRequest) message {
	// A handler with sessions, which is the default, does not support 2026-07-28.
	// https://go.sdk.modelcontextprotocol.io/protocol/#stateless-mode
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{
			Stateless: request.Variant == "stateless" || request.Revision >= firstStateless,
			Logger:    slog.Default(),
		},
	)
	f.serving.Store(id, served{handler, func() { closeSessions(id, server) }})
	return message{"serving": message{"url": f.origin + "/" + url.PathEscape(id) + "/mcp"}}
}

// closeSessions closes the sessions of a server without waiting, because Close waits for the requests of a session, and
// some of them never end. It reports the sessions that are still open after two seconds.
func closeSessions(id string, server *mcp.Server) {
	var open atomic.Int64
	for session := range server.Sessions() {
		open.Add(1)
		go func() {
			defer open.Add(-1)
			if err := session.Close(); err != nil {
				log.Printf("cannot close a session of %s: %v", id, err)
			}
		}()
	}
	time.AfterFunc(2*time.Second, func() {
		if left := open.Load(); left > 0 {
			log.Printf("%d session(s) of %s are still open after 2 s", left, id)
		}
	})
}

func (f *front) connect(id string, server *mcp.Server, to streamAddress) message {
	ctx, cancel := context.WithCancel(context.Background())
	f.serving.Store(id, served{nil, cancel})
	go func() {
		// An error ends only this server. Errors after `stop` are expected.
		if err := serveStream(ctx, server, to); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
	}()
	return message{"serving": message{}}
}

// serveStream serves a fixture on a connection instead of the standard streams, until the input or ctx ends.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#IOTransport
func serveStream(ctx context.Context, server *mcp.Server, to streamAddress) error {
	address := fmt.Sprintf("127.0.0.1:%d", to.Port)
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	// Run waits for the handlers, and some of them never end.
	context.AfterFunc(ctx, func() { connection.Close() })
	if _, err := fmt.Fprintln(connection, to.Word); err != nil {
		return err
	}
	return server.Run(ctx, &mcp.IOTransport{Reader: connection, Writer: output{connection}})
}

// output is the sending side of a connection. Its Close does nothing, because closing the receiving side closes both.
type output struct{ io.Writer }

func (output) Close() error { return nil }

func (f *front) stop(text []byte) (message, error) {
	var request struct {
		Serving string `json:"serving"`
	}
	if err := decode(text, &request); err != nil {
		return nil, err
	}
	found, ok := f.serving.LoadAndDelete(request.Serving)
	if ok {
		found.(served).stop()
	}
	return message{"stopped": ok}, nil
}
