package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is the key of the only question that a tool asks.
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

// does is the code of a tool. Exactly one of its members is present.
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

// blocks is content in the SDK's own types, as the author of a tool would write it.
type blocks []mcp.Content

// UnmarshalJSON lets the SDK read the blocks inside a result, because the SDK has no function for blocks alone.
func (b *blocks) UnmarshalJSON(text []byte) error {
	var result mcp.CallToolResult
	if err := result.UnmarshalJSON(slices.Concat([]byte(`{"content":`), text, []byte(`}`))); err != nil {
		return cannot{"the SDK has no such content: " + err.Error()}
	}
	*b = result.Content
	return nil
}

// definition returns the tool as a user of the SDK would define it, with unchanged schemas.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#Tool
func (t tool) definition() *mcp.Tool {
	return &mcp.Tool{
		Name:         t.Name,
		Title:        t.Title,
		Description:  t.Description,
		InputSchema:  value(t.InputSchema),
		OutputSchema: value(t.OutputSchema),
	}
}

// value returns nil for a missing value. A JSON null is not missing.
func value(text json.RawMessage) any {
	if text == nil {
		return nil
	}
	return text
}

// typedHandler is the handler for the upper tier, which returns structured content beside the result. Its types are
// `any`, because the tool already has schemas.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#ToolHandlerFor
func (d does) typedHandler(
	_ context.Context, request *mcp.CallToolRequest, arguments any,
) (*mcp.CallToolResult, any, error) {
	return d.call(request, arguments)
}

// rawHandler is the handler for the lower tier, which receives arguments and returns results without any processing. Its
// author writes structured content into both fields of the result.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func (d does) rawHandler(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	result, structured, err := d.call(request, value(request.Params.Arguments))
	if err != nil {
		return nil, err
	}
	result.StructuredContent = structured
	if structured != nil && result.Content == nil {
		text, err := json.Marshal(structured)
		if err != nil {
			return nil, err
		}
		result.Content = []mcp.Content{&mcp.TextContent{Text: string(text)}}
	}
	return result, nil
}

// call runs the body of a tool.
func (d does) call(request *mcp.CallToolRequest, arguments any) (*mcp.CallToolResult, any, error) {
	switch {
	case d.Echo:
		return &mcp.CallToolResult{}, arguments, nil
	case d.Return != nil:
		// Each call gets a new result, because the SDK modifies it.
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

// ask returns the question and, in the next round, the answer. This works for every revision: before 2026-07-28 the
// SDK sends the question as a request and then calls the tool again with the answer.
// https://go.sdk.modelcontextprotocol.io/server/#multi-round-trip-requests
func (e elicit) ask(request *mcp.CallToolRequest) (*mcp.CallToolResult, any) {
	if answer, ok := request.Params.InputResponses[question].(*mcp.ElicitResult); ok {
		return &mcp.CallToolResult{}, elicitAnswer{answer.Action, answer.Content}
	}
	params := &mcp.ElicitParams{Message: e.Message, RequestedSchema: value(e.RequestedSchema)}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: params}}, nil
}

// elicitAnswer is the part of an answer that a tool returns.
type elicitAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitzero"`
}
