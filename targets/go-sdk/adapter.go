// Command adapter is the mcp-casebook adapter for the Go SDK.
//
// It reads one JSON request per line from standard input and writes one JSON answer per line to standard output, in the
// same order. With `--stdio-server FILE`, the process serves one fixture on its standard streams instead.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"runtime/debug"

	// The SDK uses this package too, with its own depth limit. encoding/json stops at 10,000 levels.
	"github.com/segmentio/encoding/json"
)

const sdk = "github.com/modelcontextprotocol/go-sdk"

type message = map[string]any

// controlRequest is one line of the control stream. Exactly one of its kinds is present.
type controlRequest struct {
	ID    string          `json:"id"`
	Hello json.RawMessage `json:"hello"`
	Serve json.RawMessage `json:"serve"`
	Stop  json.RawMessage `json:"stop"`
	Drive json.RawMessage `json:"drive"`
}

// cannot is the error for a fixture or a script that the SDK's public API cannot express.
type cannot struct{ why string }

func (c cannot) Error() string { return c.why }

// refused is the error for a fixture that the SDK or, in the variant low-validated, its schema library rejected, with the
// name of the tool.
type refused struct{ why, tool string }

func (r refused) Error() string { return r.why }

func main() {
	log.SetFlags(0)
	// At its default level, INFO, the SDK logs the start and the end of each session.
	slog.SetLogLoggerLevel(slog.LevelWarn)
	switch arguments := os.Args[1:]; {
	case len(arguments) == 0:
		control()
	case len(arguments) == 2 && arguments[0] == "--stdio-server":
		serveProcess(arguments[1])
	default:
		log.Fatal("usage: adapter [--stdio-server FILE]")
	}
}

// control answers requests until standard input ends. The process then exits, even while servers are running.
func control() {
	front, err := listen()
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		var request controlRequest
		if err := json.Unmarshal(line, &request); err != nil {
			log.Fatal(err)
		}
		answer := toAnswer(front.answer(request))
		answer["id"] = request.ID
		text, err := json.Marshal(answer)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
}

// toAnswer turns a refused or cannot error into an answer. Any other error is a fault of this adapter and ends it.
func toAnswer(answer message, err error) message {
	var refusal refused
	var limit cannot
	switch {
	case errors.As(err, &refusal):
		return message{"refused": message{"type": "panic", "message": refusal.why, "tool": refusal.tool}}
	case errors.As(err, &limit):
		return message{"cannot": limit.why}
	case err != nil:
		log.Fatal(err)
	}
	return answer
}

func (f *front) answer(request controlRequest) (message, error) {
	switch {
	case request.Hello != nil:
		return message{"hello": hello()}, nil
	case request.Serve != nil:
		return f.serve(request.ID, request.Serve)
	case request.Stop != nil:
		return f.stop(request.Stop)
	case request.Drive != nil:
		drove, err := drive(request.Drive)
		return message{"drove": drove}, err
	}
	return message{"unsupported": "expected hello, serve, stop or drive"}, nil
}

// known has the parts of the adapter protocol beyond its first version, all of which this adapter handles.
var known = []string{
	"elicit-url", "state", "wait", "log", "progress", "callTools", "requestTimeout", "as-presented",
	"methods", "capabilities", "request",
}

func hello() message {
	return message{
		"sdk":        sdk,
		"version":    version(sdk),
		"language":   "go",
		"api":        "high, stateless: mcp.AddTool; low: mcp.Server.AddTool; client: mcp.Client",
		"roles":      []string{"server", "client"},
		"transports": []string{"stdio", "http"},
		"revisions":  revisions,
		"variants":   []string{"high", "low", "low-validated", "stateless"},
		"knows":      known,
		"streams":    true,
		"dependencies": map[string]string{
			"jsonschema-go": version("github.com/google/jsonschema-go"),
		},
	}
}

// version returns a module's version as the build recorded it. A replacement by a folder has the version "(devel)".
func version(path string) string {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path != path {
			continue
		}
		if module.Replace != nil {
			module = module.Replace
		}
		return module.Version
	}
	return "unknown"
}

// decode reads a part of a request into the types of the SDK. It returns a cannot error if a value does not fit.
func decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var typeError *json.UnmarshalTypeError
	if errors.As(err, &typeError) {
		return cannot{typeError.Error()}
	}
	return err
}

// decodeStrictly is like json.Unmarshal, and fails at a member for which the type has no field.
func decodeStrictly(text []byte, into any) error {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	return reader.Decode(into)
}
