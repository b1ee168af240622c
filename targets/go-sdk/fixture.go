package main

import (
	"context"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

// question is the key of the one question that a tool asks.
const question = "question"

type fixture struct {
	Server mcp.Implementation `json:"server"`
	Tools  []tool             `json:"tools"`
}

type tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Does         does            `json:"does"`
}

// does is the code of a tool: one of its members is there.
type does struct {
	Echo   bool    `json:"echo"`
	Return *parts  `json:"return"`
	Elicit *elicit `json:"elicit"`
	Raise  *string `json:"raise"`
}

type parts struct {
	StructuredContent json.RawMessage `json:"structuredContent"`
	Content           blocks          `json:"content"`
	IsError           bool            `json:"isError"`
}

type elicit struct {
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema"`
}

// blocks are content as a tool's author has it: in the SDK's own types.
type blocks []mcp.Content

// UnmarshalJSON lets the SDK read them, which it does only within a result.
func (b *blocks) UnmarshalJSON(text []byte) error {
	var result mcp.CallToolResult
	if err := result.UnmarshalJSON(slices.Concat([]byte(`{"content":`), text, []byte(`}`))); err != nil {
		return cannot{"the SDK has no such content: " + err.Error()}
	}
	*b = result.Content
	return nil
}

// declared is the tool as the SDK's user writes it, the schemas as they came.
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

// value tells what is missing, a nil, from what is null, which is JSON like any other.
func value(text json.RawMessage) any {
	if text == nil {
		return nil
	}
	return text
}

// typed is the handler that the upper tier takes: what is structured goes beside the result. Its types are `any`,
// because the schemas come with the tool.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#ToolHandlerFor
func (d does) typed(
	_ context.Context, request *mcp.CallToolRequest, arguments any,
) (*mcp.CallToolResult, any, error) {
	return d.call(request, arguments)
}

// raw is the handler that the lower tier takes: arguments come, and results go, as they are.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#ToolHandler
func (d does) raw(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	result, structured, err := d.call(request, value(request.Params.Arguments))
	if err != nil {
		return nil, err
	}
	result.StructuredContent = structured
	return result, nil
}

// call is the tool's body.
func (d does) call(request *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
	switch {
	case d.Echo:
		return &mcp.CallToolResult{}, arguments, nil
	case d.Return != nil:
		// A result of its own for each call, because the SDK adds to it.
		result := &mcp.CallToolResult{Content: slices.Clone(d.Return.Content), IsError: d.Return.IsError}
		return result, value(d.Return.StructuredContent), nil
	case d.Elicit != nil:
		result, answer := d.Elicit.ask(request)
		return result, answer, nil
	case d.Raise != nil:
		return nil, nil, errors.New(*d.Raise)
	}
	return nil, nil, errors.New("the fixture has a tool without code")
}

// ask returns the question, and in the next round tells what was answered. It is one way for every revision: before
// 2026-07-28 the SDK makes a request of the question, and calls the tool again with what was answered.
// https://go.sdk.modelcontextprotocol.io/server/#multi-round-trip-requests
func (e elicit) ask(request *mcp.CallToolRequest) (*mcp.CallToolResult, any) {
	if answer, ok := request.Params.InputResponses[question].(*mcp.ElicitResult); ok {
		return &mcp.CallToolResult{}, answered{answer.Action, answer.Content}
	}
	asked := &mcp.ElicitParams{Message: e.Message, RequestedSchema: value(e.RequestedSchema)}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: asked}}, nil
}

// answered is the part of an answer that a tool tells of.
type answered struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitzero"`
}
