package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// returns is a tool that returns a value of the type Out, from which the SDK derives the output schema.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func returns[Out any](value Out) registration {
	return func(server *mcp.Server, tool *mcp.Tool) {
		handler := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, Out, error) {
			return nil, value, nil
		}
		mcp.AddTool(server, tool, handler)
	}
}

// returnsBesideImage is as returns, with an image as content.
// https://go.sdk.modelcontextprotocol.io/server/#tool-result-content
func returnsBesideImage[Out any](value Out) registration {
	return func(server *mcp.Server, tool *mcp.Tool) {
		handler := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, Out, error) {
			image := &mcp.ImageContent{Data: []byte("\x89PNG\r\n\x1a\n"), MIMEType: "image/png"}
			return &mcp.CallToolResult{Content: []mcp.Content{image}}, value, nil
		}
		mcp.AddTool(server, tool, handler)
	}
}

// returnsCustomized is as returns, with the schema that an author infers with customSchemas.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func returnsCustomized[Out any](value Out) registration {
	return func(server *mcp.Server, tool *mcp.Tool) {
		tool.OutputSchema = infer[Out]()
		returns(value)(server, tool)
	}
}

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

type named struct {
	Name string `json:"name"`
}

type coded struct {
	Code int `json:"code"`
}

// either is a named or a coded.
type either interface{ isEither() }

func (named) isEither() {}
func (coded) isEither() {}

type times struct {
	Day date      `json:"day"`
	At  time.Time `json:"at"`
}

type user struct {
	UserID string `json:"userId"`
}

type noted struct {
	Name string  `json:"name"`
	Note *string `json:"note"`
}

type maybeNoted struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

type measured struct {
	Ratio float64 `json:"ratio"`
}

type raw struct {
	Data []byte `json:"data"`
}

type counted struct {
	Count int64 `json:"count"`
}

// number is an integer with a JSON form of its own.
type number int

func (n number) MarshalJSON() ([]byte, error) { return json.Marshal(fmt.Sprintf("#%d", int(n))) }

type numbered struct {
	ID number `json:"id"`
}

type keyed struct {
	Name string `json:"name"`
	Key  string `json:"-"`
}

type anything struct {
	Value json.RawMessage `json:"value"`
}

type counts struct {
	Counts map[string]int `json:"counts"`
}

type embedding struct {
	*named
}

type tagged struct {
	Tags []string `json:"tags"`
}

type names []string

type failed struct {
	Reason error `json:"reason"`
}

// fails is a tool that returns an error result beside the value that Go requires.
func fails(server *mcp.Server, tool *mcp.Tool) {
	handler := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, named, error) {
		text := &mcp.TextContent{Text: "no name"}
		return &mcp.CallToolResult{Content: []mcp.Content{text}, IsError: true}, named{}, nil
	}
	mcp.AddTool(server, tool, handler)
}

// exits is a tool whose code ends the program.
func exits(server *mcp.Server, tool *mcp.Tool) {
	handler := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, named, error) {
		os.Exit(2)
		return nil, named{}, nil
	}
	mcp.AddTool(server, tool, handler)
}

// breaksOff is a tool whose code panics.
func breaksOff(server *mcp.Server, tool *mcp.Tool) {
	handler := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, named, error) {
		panic("breaks off")
	}
	mcp.AddTool(server, tool, handler)
}

var noon = time.Date(2026, time.July, 28, 12, 0, 0, 0, time.UTC)

// typedResults are tools without arguments that return a value.
var typedResults = map[string]registration{
	"returns-record":          returns(person{"Ada", 36}),
	"returns-texts":           returns([]string{"a", "b"}),
	"returns-records":         returns([]person{{"Ada", 36}}),
	"returns-empty-list":      returns([]string{}),
	"returns-integer":         returns(7),
	"returns-text":            returns("hello"),
	"returns-boolean":         returns(false),
	"returns-null":            returns[any](nil),
	"returns-optional":        returns[*named](nil),
	"returns-either":          returns[either](coded{7}),
	"returns-tree":            returns(node{1, []node{{2, []node{}}}}),
	"returns-counts":          returns(map[string]int{"a": 1, "b": 2}),
	"returns-times":           returnsCustomized(times{date{noon}, noon}),
	"returns-alias":           returns(user{"u1"}),
	"returns-null-member":     returns(noted{"Ada", nil}),
	"returns-left-out-member": returns(maybeNoted{Name: "Ada"}),
	"returns-not-a-number":    returns(measured{math.NaN()}),
	"returns-bytes":           returns(raw{[]byte("hi")}),
	"returns-raw-bytes":       returns(raw{[]byte{0xFF, 0xFE}}),
	"returns-nil-list":        returns(tagged{nil}),
	"returns-image-beside":    returnsBesideImage(named{"Ada"}),
	"returns-nothing":         returns[any](nil),
	"returns-own-form":        returns(numbered{1}),
	"returns-hidden-member":   returns(keyed{"Ada", "secret"}),
	"returns-big-integer":     returns(counted{9007199254740993}),
	"returns-big-undeclared":  returns[any](counted{9007199254740993}),
	"returns-raw":             returns(anything{json.RawMessage(`{"a":[1]}`)}),
	"returns-nil-map":         returns(counts{nil}),
	"returns-nil-embedded":    returns(embedding{nil}),
	"breaks-off":              breaksOff,
	"exits":                   exits,
	"returns-named-list":      returns(names{"a", "b"}),
	"returns-point":           returns([2]float64{1.5, 2.5}),
	"returns-color":           returns(green),
	"returns-day":             returnsCustomized(date{noon}),
	"returns-anything":        returns[any](map[string]int{"a": 1}),
	"returns-failure":         fails,
	"returns-reason":          returns(failed{errors.New("no name")}),
	"returns-sequence":        returns(slices.Values([]int{1, 2})),
}
