package main

import (
	stdjson "encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is the key of the one question that a tool asks.
const question = "question"

type fixture struct {
	Server mcp.Implementation `json:"server"`
	Tools  []tool             `json:"tools"`
}

type tool struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	InputSchema  stdjson.RawMessage `json:"inputSchema"`
	OutputSchema stdjson.RawMessage `json:"outputSchema"`
	Does         does               `json:"does"`
}

// does is the code of a tool: one of its members is there.
type does struct {
	Echo   bool    `json:"echo"`
	Return *parts  `json:"return"`
	Elicit *elicit `json:"elicit"`
	Raise  *string `json:"raise"`
}

type parts struct {
	StructuredContent stdjson.RawMessage `json:"structuredContent"`
	Content           blocks             `json:"content"`
	IsError           bool               `json:"isError"`
}

type elicit struct {
	Message         string             `json:"message"`
	RequestedSchema stdjson.RawMessage `json:"requestedSchema"`
}

// blocks are content as a tool's author has it: the SDK's own types.
type blocks []mcp.Content

// UnmarshalJSON lets the SDK read them: it does so only within a result.
func (b *blocks) UnmarshalJSON(text []byte) error {
	var result mcp.CallToolResult
	wrapped := slices.Concat([]byte(`{"content":`), text, []byte(`}`))
	if err := result.UnmarshalJSON(wrapped); err != nil {
		return cannot{"the SDK has no such content: " + err.Error()}
	}
	*b = result.Content
	return nil
}

// declared is the tool as the SDK's user writes it, its schemas as they came.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#Tool
func (t tool) declared() *mcp.Tool {
	return &mcp.Tool{
		Name:         t.Name,
		Title:        t.Title,
		Description:  t.Description,
		InputSchema:  value(t.InputSchema),
		OutputSchema: value(t.OutputSchema),
	}
}

// value tells what is missing, a nil, from what is null, which is JSON.
func value(text stdjson.RawMessage) any {
	if text == nil {
		return nil
	}
	return text
}

// call is the tool's body; what is structured comes beside the result, as [mcp.ToolHandlerFor] has it.
func (d does) call(request *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
	switch {
	case d.Echo:
		return &mcp.CallToolResult{}, arguments, nil
	case d.Return != nil:
		result := &mcp.CallToolResult{Content: slices.Clone(d.Return.Content), IsError: d.Return.IsError}
		return result, value(d.Return.StructuredContent), nil
	case d.Elicit != nil:
		return d.Elicit.ask(request)
	case d.Raise != nil:
		return nil, nil, errors.New(*d.Raise)
	}
	return nil, nil, errors.New("the fixture has a tool without code")
}

// ask returns the question, and on the second call tells what was answered. It is the way of every revision: before
// 2026-07-28 the SDK sends the question as a request of its own, and calls the tool again with the answer.
// https://go.sdk.modelcontextprotocol.io/server/#multi-round-trip-requests
func (e elicit) ask(request *mcp.CallToolRequest) (*mcp.CallToolResult, any, error) {
	if answer, ok := request.Params.InputResponses[question].(*mcp.ElicitResult); ok {
		return &mcp.CallToolResult{}, told{answer.Action, answer.Content}, nil
	}
	asked := &mcp.ElicitParams{Message: e.Message, RequestedSchema: value(e.RequestedSchema)}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: asked}}, nil, nil
}

// told is what a tool tells of the answer that it got.
type told struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitzero"`
}
