package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

type driveRequest struct {
	Revision string          `json:"revision"`
	URL      string          `json:"url"`
	Command  []string        `json:"command"`
	Answers  json.RawMessage `json:"answers"`
	Declares json.RawMessage `json:"declares"`
	Script   []step          `json:"script"`
	// RequestTimeout is in milliseconds.
	RequestTimeout int64 `json:"requestTimeout"`
}

// step is one request of the client: a call of a tool, calls of several tools at the same time, any request or, without
// them, a listing of the tools.
type step struct {
	CallTool  *toolCall    `json:"callTool"`
	CallTools []toolCall   `json:"callTools"`
	Request   *userRequest `json:"request"`
}

// userRequest is a request for any method.
type userRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// drive runs a script with the SDK's client and returns the results that its user would get.
// https://go.sdk.modelcontextprotocol.io/protocol/#streamable-transport
func drive(text []byte) (message, error) {
	var request driveRequest
	if err := decode(text, &request); err != nil {
		return nil, err
	}
	if !slices.Contains(revisions, request.Revision) {
		return nil, cannot{"the SDK does not support " + request.Revision}
	}
	var options struct {
		mcp.ClientOptions
		later
	}
	options.Logger = slog.Default()
	if request.Declares != nil {
		declared, err := capabilities(request.Declares)
		if err != nil {
			return nil, err
		}
		options.Capabilities = declared
	}
	if request.Answers != nil {
		handler, err := elicitationHandler(request.Answers)
		if err != nil {
			return nil, err
		}
		options.ElicitationHandler = handler
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "casebook", Version: "1"}, &options.ClientOptions)
	for _, step := range request.Script {
		if step.Request == nil {
			continue
		}
		if err := addRequest(client, step.Request.Method); err != nil {
			return nil, err
		}
	}

	ctx := context.Background()
	var sessionOptions struct {
		mcp.ClientSessionOptions
		later
	}
	sessionOptions.ProtocolVersion = request.Revision
	session, err := client.Connect(ctx, request.transport(), &sessionOptions.ClientSessionOptions)
	if err != nil {
		return message{"connected": false, "steps": []any{}, "error": describeError(err)}, nil
	}
	timeout := time.Duration(request.RequestTimeout) * time.Millisecond
	steps := []message{}
	for _, step := range request.Script {
		steps = append(steps, step.run(ctx, session, timeout))
	}
	drove := message{"connected": true, "steps": steps}
	if err := session.Close(); err != nil {
		drove["error"] = describeError(err)
	}
	return drove, nil
}

// capabilities reads capabilities into the SDK's type, which has no place for others than its own.
// https://go.sdk.modelcontextprotocol.io/client/#explicit-capabilities
func capabilities(text []byte) (*mcp.ClientCapabilities, error) {
	var declared struct {
		mcp.ClientCapabilities
		// The SDK ignores ClientCapabilities.Roots in favor of RootsV2, which it does not read from JSON.
		//lint:ignore SA1019 clients of the revisions of 2025 declare roots
		Roots *mcp.RootCapabilities `json:"roots"`
	}
	if err := decodeStrictly(text, &declared); err != nil {
		return nil, cannot{"mcp.ClientCapabilities cannot express it: " + err.Error()}
	}
	//lint:ignore SA1019 see above
	declared.RootsV2 = declared.Roots
	return &declared.ClientCapabilities, nil
}

func (r driveRequest) transport() mcp.Transport {
	if r.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: r.URL}
	}
	return &mcp.CommandTransport{Command: exec.Command(r.Command[0], r.Command[1:]...)}
}

func (s step) run(ctx context.Context, session *mcp.ClientSession, timeout time.Duration) message {
	switch {
	case s.CallTool != nil:
		return s.CallTool.run(ctx, session, timeout)
	case s.CallTools != nil:
		results := make([]message, len(s.CallTools))
		var calls sync.WaitGroup
		for i, call := range s.CallTools {
			calls.Go(func() { results[i] = call.run(ctx, session, timeout) })
		}
		calls.Wait()
		return message{"results": results}
	case s.Request != nil:
		return limited(ctx, timeout, func(ctx context.Context) (message, error) {
			result, err := s.Request.call(ctx, session)
			return message{"result": result}, err
		})
	}
	return limited(ctx, timeout, func(ctx context.Context) (message, error) {
		// Tools requests all pages: https://go.sdk.modelcontextprotocol.io/server/#pagination
		tools := []*mcp.Tool{}
		for tool, err := range session.Tools(ctx, nil) {
			if err != nil {
				return nil, err
			}
			tools = append(tools, tool)
		}
		return message{"tools": tools}, nil
	})
}

func (c toolCall) run(ctx context.Context, session *mcp.ClientSession, timeout time.Duration) message {
	return limited(ctx, timeout, func(ctx context.Context) (message, error) {
		call := &mcp.CallToolParams{Name: c.Name, Arguments: value(c.Arguments)}
		result, err := session.CallTool(ctx, call)
		return message{"result": result}, err
	})
}

// limited performs a request. The SDK cancels it when its context ends, so the deadline of the context is its time limit.
// https://go.sdk.modelcontextprotocol.io/protocol/#cancellation
func limited(ctx context.Context, timeout time.Duration, request func(context.Context) (message, error)) message {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	outcome, err := request(ctx)
	if err != nil {
		return message{"error": describeError(err)}
	}
	return outcome
}

// describeError reports a code only for JSON-RPC errors; the other errors are the SDK's own.
func describeError(err error) message {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return message{"type": fmt.Sprintf("%T", wire), "code": wire.Code, "message": err.Error()}
	}
	return message{"type": fmt.Sprintf("%T", err), "message": err.Error()}
}

type handler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

// elicitationHandler returns a handler that takes the next answer of a list, or always the same single answer.
// https://go.sdk.modelcontextprotocol.io/client/#elicitation
func elicitationHandler(text []byte) (handler, error) {
	var remaining []json.RawMessage
	single := decode(text, &remaining) != nil
	if single {
		remaining = append(remaining, text)
	}
	for _, text := range remaining {
		if _, err := answer(text); err != nil {
			return nil, err
		}
	}
	var mutex sync.Mutex // the SDK asks the questions of one round concurrently
	return func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		mutex.Lock()
		defer mutex.Unlock()
		if len(remaining) == 0 {
			return nil, errors.New("the script has no answer left")
		}
		text := remaining[0]
		if !single {
			remaining = remaining[1:]
		}
		return answer(text)
	}, nil
}

// answer returns a new result each time, because the SDK writes defaults into it. For a form that is accepted as
// presented, the content is empty and the SDK fills in the defaults:
// https://go.sdk.modelcontextprotocol.io/client/#schema-defaults-and-enums
func answer(text []byte) (*mcp.ElicitResult, error) {
	var action string
	if decode(text, &action) == nil {
		return &mcp.ElicitResult{Action: action}, nil
	}
	var accepted struct {
		Accept json.RawMessage `json:"accept"`
	}
	if err := decode(text, &accepted); err != nil {
		return nil, err
	}
	content := map[string]any{}
	if string(accepted.Accept) == `"as presented"` {
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}
	err := decode(accepted.Accept, &content)
	return &mcp.ElicitResult{Action: "accept", Content: content}, err
}
