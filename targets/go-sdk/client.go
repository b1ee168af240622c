package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

type driveOrder struct {
	Revision string          `json:"revision"`
	URL      string          `json:"url"`
	Command  []string        `json:"command"`
	Answers  json.RawMessage `json:"answers"`
	Script   []step          `json:"script"`
}

// step is one call of the client: of a tool, or else for the list of them.
type step struct {
	CallTool *struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"callTool"`
}

// drive runs a script with the SDK's client, and hands back what its user would see.
// https://go.sdk.modelcontextprotocol.io/protocol/#streamable-transport
func drive(text []byte) (message, error) {
	var order driveOrder
	if err := decode(text, &order); err != nil {
		return nil, err
	}
	if !slices.Contains(revisions, order.Revision) {
		return nil, cannot{"the SDK does not speak " + order.Revision}
	}
	options := &mcp.ClientOptions{}
	if order.Answers != nil {
		handler, err := answering(order.Answers)
		if err != nil {
			return nil, err
		}
		options.ElicitationHandler = handler
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "casebook", Version: "1"}, options)

	ctx := context.Background()
	session, err := client.Connect(ctx, order.transport(), &mcp.ClientSessionOptions{ProtocolVersion: order.Revision})
	if err != nil {
		return message{"connected": false, "steps": []any{}, "error": described(err)}, nil
	}
	steps := []message{}
	for _, step := range order.Script {
		taken, err := step.take(ctx, session)
		if err != nil {
			taken = message{"error": described(err)}
		}
		steps = append(steps, taken)
	}
	drove := message{"connected": true, "steps": steps}
	if err := session.Close(); err != nil {
		drove["error"] = described(err)
	}
	return drove, nil
}

func (o driveOrder) transport() mcp.Transport {
	if o.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: o.URL}
	}
	return &mcp.CommandTransport{Command: exec.Command(o.Command[0], o.Command[1:]...)}
}

func (s step) take(ctx context.Context, session *mcp.ClientSession) (message, error) {
	if s.CallTool != nil {
		call := &mcp.CallToolParams{Name: s.CallTool.Name, Arguments: value(s.CallTool.Arguments)}
		result, err := session.CallTool(ctx, call)
		return message{"result": result}, err
	}
	// All pages: https://go.sdk.modelcontextprotocol.io/server/#pagination
	tools := []*mcp.Tool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return message{"tools": tools}, nil
}

// described tells a JSON-RPC error from those of the SDK's own.
func described(err error) message {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return message{"type": fmt.Sprintf("%T", wire), "code": wire.Code, "message": err.Error()}
	}
	return message{"type": fmt.Sprintf("%T", err), "message": err.Error()}
}

type handler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

// answering uses a list up, one answer an elicitation; a single answer it gives each time.
// https://go.sdk.modelcontextprotocol.io/client/#elicitation
func answering(text []byte) (handler, error) {
	var left []json.RawMessage
	single := decode(text, &left) != nil
	if single {
		left = append(left, text)
	}
	for _, text := range left {
		if _, err := answer(text); err != nil {
			return nil, err
		}
	}
	var mutex sync.Mutex // the questions of one round are asked side by side
	return func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		mutex.Lock()
		defer mutex.Unlock()
		if len(left) == 0 {
			return nil, errors.New("the script has no answer left")
		}
		text := left[0]
		if !single {
			left = left[1:]
		}
		return answer(text)
	}, nil
}

// answer makes a new one each time, because the SDK writes defaults into it. What is accepted as presented is
// accepted empty, for the SDK to do so: https://go.sdk.modelcontextprotocol.io/client/#schema-defaults-and-enums
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
