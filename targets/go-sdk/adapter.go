// The casebook's adapter for the Go SDK: one JSON object a line on standard input, one answer a line on standard
// output, in order. `--stdio-server FILE` serves one fixture on the standard streams instead.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"

	// The SDK reads with this too, within a limit of its own; encoding/json would stop at 10,000 levels.
	"github.com/segmentio/encoding/json"
)

const sdk = "github.com/modelcontextprotocol/go-sdk"

type message = map[string]any

// request is one line of the control stream; of its kinds one is there.
type request struct {
	ID    string          `json:"id"`
	Hello json.RawMessage `json:"hello"`
	Serve json.RawMessage `json:"serve"`
	Stop  json.RawMessage `json:"stop"`
	Drive json.RawMessage `json:"drive"`
}

// cannot is what the SDK's public API has no way to express.
type cannot struct{ why string }

func (c cannot) Error() string { return c.why }

// refused is what the SDK would not build: it panicked at a tool.
type refused struct{ why, tool string }

func (r refused) Error() string { return r.why }

func main() {
	log.SetFlags(0)
	switch arguments := os.Args[1:]; {
	case len(arguments) == 0:
		control()
	case len(arguments) == 2 && arguments[0] == "--stdio-server":
		serveStreams(arguments[1])
	default:
		log.Fatal("usage: adapter [--stdio-server FILE]")
	}
}

// control answers until standard input ends, and with it the process, whatever is still being served.
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
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			log.Fatal(err)
		}
		answer := outcome(front.answer(asked))
		answer["id"] = asked.ID
		text, err := json.Marshal(answer)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
}

// outcome makes answers of the two ways in which a fixture comes to nothing; other errors are this adapter's own.
func outcome(answer message, err error) message {
	var no refused
	var limit cannot
	switch {
	case errors.As(err, &no):
		return message{"refused": message{"type": "panic", "message": no.why, "tool": no.tool}}
	case errors.As(err, &limit):
		return message{"cannot": limit.why}
	case err != nil:
		log.Fatal(err)
	}
	return answer
}

func (f *front) answer(asked request) (message, error) {
	switch {
	case asked.Hello != nil:
		return message{"hello": hello()}, nil
	case asked.Serve != nil:
		return f.serve(asked.ID, asked.Serve)
	case asked.Stop != nil:
		return f.stop(asked.Stop)
	case asked.Drive != nil:
		drove, err := drive(asked.Drive)
		return message{"drove": drove}, err
	}
	return message{"unsupported": "one of hello, serve, stop and drive was expected"}, nil
}

func hello() message {
	return message{
		"sdk":        sdk,
		"version":    version(),
		"language":   "go",
		"api":        "high: mcp.AddTool; low: mcp.Server.AddTool; client: mcp.Client",
		"roles":      []string{"server", "client"},
		"transports": []string{"stdio", "http"},
		"revisions":  revisions,
		"variants":   []string{"high", "low"},
		"streams":    true,
	}
}

func version() string {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == sdk {
			return module.Version
		}
	}
	return "unknown"
}

// decode reads what a fixture holds into the SDK's kind of types: what they can't hold can't be expressed.
func decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var misfit *json.UnmarshalTypeError
	if errors.As(err, &misfit) {
		return cannot{misfit.Error()}
	}
	return err
}
