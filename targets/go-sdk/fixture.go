package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type fixture struct {
	Server mcp.Implementation `json:"server"`
	Tools  []tool             `json:"tools"`
	Pages  struct {
		Size int `json:"size"` // 0 without pages, which is the SDK's default
	} `json:"pages"`
	// What a proposal adds.
	Capabilities json.RawMessage    `json:"capabilities"`
	Methods      map[string][]reply `json:"methods"`
}

// reply is a reply to a request for a method. Without a result and an error, it is the echo of the parameters.
type reply struct {
	Result json.RawMessage   `json:"result"`
	Error  *replyError       `json:"error"`
	Notify []json.RawMessage `json:"notify"`
}

type replyError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

type tool struct {
	Meta         mcp.Meta             `json:"_meta"`
	Name         string               `json:"name"`
	Title        string               `json:"title"`
	Description  string               `json:"description"`
	Annotations  *mcp.ToolAnnotations `json:"annotations"`
	Icons        []mcp.Icon           `json:"icons"`
	InputSchema  json.RawMessage      `json:"inputSchema"`
	OutputSchema json.RawMessage      `json:"outputSchema"`
	Does         does                 `json:"does"`
	Typed        string               `json:"typed"` // in words: the tool of this name is one of addTyped
}

// UnmarshalJSON rejects a member that mcp.Tool and its parts do not have.
func (t *tool) UnmarshalJSON(text []byte) error {
	type fields tool
	if err := decodeStrictly(text, (*fields)(t)); err != nil {
		return cannot{"mcp.Tool or this adapter cannot express the tool: " + err.Error()}
	}
	return nil
}

// does is the code of a tool. Exactly one of its members is present.
type does struct {
	Echo     bool                            `json:"echo"`
	Return   *parts                          `json:"return"`
	Elicit   *elicit                         `json:"elicit"`
	Raise    *string                         `json:"raise"`
	Wait     *wait                           `json:"wait"`
	Log      *mcp.LoggingMessageParams       `json:"log"` //lint:ignore SA1019 revisions of 2025 have log messages
	Progress *mcp.ProgressNotificationParams `json:"progress"`
}

type parts struct {
	StructuredContent json.RawMessage `json:"structuredContent"`
	Content           blocks          `json:"content"`
	IsError           bool            `json:"isError"`
}

type elicit struct {
	Mode            string          `json:"mode"`
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema"`
	URL             string          `json:"url"`
	ElicitationID   string          `json:"elicitationId"`
	State           *state          `json:"state"`
}

// state is the state that a tool gives with its question. The SDK has no lifetime for it.
type state struct {
	Value   string  `json:"value"`
	Seconds float64 `json:"seconds"`
}

// wait has the addresses that a tool requests when it starts to wait and when its call is cancelled.
type wait struct {
	Started string `json:"started"`
	Stopped string `json:"stopped"`
}

// waitLimit ends a call that is never cancelled.
const waitLimit = 30 * time.Second

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
		Meta:         t.Meta,
		Name:         t.Name,
		Title:        t.Title,
		Description:  t.Description,
		Annotations:  t.Annotations,
		Icons:        t.Icons,
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
	ctx context.Context, request *mcp.CallToolRequest, arguments any,
) (*mcp.CallToolResult, any, error) {
	return d.call(ctx, request, arguments)
}

// rawHandler is the handler for the lower tier, which receives arguments and returns results without any processing. Its
// author writes structured content into both fields of the result.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func (d does) rawHandler(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	result, structured, err := d.call(ctx, request, value(request.Params.Arguments))
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
func (d does) call(
	ctx context.Context, request *mcp.CallToolRequest, arguments any,
) (*mcp.CallToolResult, any, error) {
	switch {
	case d.Echo:
		return &mcp.CallToolResult{}, arguments, nil
	case d.Return != nil:
		// Each call gets a new result, because the SDK modifies it.
		result := &mcp.CallToolResult{Content: slices.Clone(d.Return.Content), IsError: d.Return.IsError}
		return result, value(d.Return.StructuredContent), nil
	case d.Elicit != nil:
		return d.Elicit.ask(ctx, request)
	case d.Raise != nil:
		return nil, nil, errors.New(*d.Raise)
	case d.Wait != nil:
		return &mcp.CallToolResult{}, nil, d.Wait.run(ctx)
	case d.Log != nil:
		// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#ServerSession.Log
		//lint:ignore SA1019 revisions of 2025 have log messages
		err := request.Session.Log(ctx, d.Log)
		return &mcp.CallToolResult{}, arguments, err
	case d.Progress != nil:
		return &mcp.CallToolResult{}, arguments, notifyProgress(ctx, request, *d.Progress)
	}
	return nil, nil, errors.New("the fixture has a tool without code")
}

// params is the question in the SDK's type.
func (e elicit) params() *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode:            e.Mode,
		Message:         e.Message,
		RequestedSchema: value(e.RequestedSchema),
		URL:             e.URL,
		ElicitationID:   e.ElicitationID,
	}
}

// elicitAnswer is the part of an answer that a tool returns, and the state that came with it.
type elicitAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitzero"`
	State   *string        `json:"state,omitzero"`
}

// run waits until the call is cancelled, which ends its context.
// https://go.sdk.modelcontextprotocol.io/protocol/#cancellation
func (w wait) run(ctx context.Context) error {
	if err := get(w.Started); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return get(w.Stopped)
	case <-time.After(waitLimit):
		return errors.New("the call was not cancelled")
	}
}

// get requests an address, outside of the context of the call.
func get(url string) error {
	response, err := http.Get(url)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// notifyProgress sends a progress notification, if the request has a token.
// https://go.sdk.modelcontextprotocol.io/protocol/#progress
func notifyProgress(
	ctx context.Context, request *mcp.CallToolRequest, progress mcp.ProgressNotificationParams,
) error {
	progress.ProgressToken = request.Params.GetProgressToken()
	if progress.ProgressToken == nil {
		return nil
	}
	return request.Session.NotifyProgress(ctx, &progress)
}
