package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// duties has what the author of a tool needs for its duties: the resolved schemas, of which a missing one is nil, and the
// seal of the state.
type duties struct {
	input, output *jsonschema.Resolved
	seal          seal
}

// validating returns the handler for the lower tier with all duties of its author: it validates arguments and results,
// and reports every error as the result of the tool. It follows manualGreeter in the SDK's example.
// https://github.com/modelcontextprotocol/go-sdk/blob/v1.8.0/examples/server/toolschemas/main.go
func validating(tool tool) (mcp.ToolHandler, error) {
	input, err := resolve(tool.InputSchema)
	if err != nil {
		return nil, err
	}
	output, err := resolve(tool.OutputSchema)
	if err != nil {
		return nil, err
	}
	seal, err := newSeal()
	if err != nil {
		return nil, err
	}
	duties := duties{input, output, seal}
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := duties.call(ctx, tool.Does, request)
		if err != nil {
			content := []mcp.Content{&mcp.TextContent{Text: err.Error()}}
			return &mcp.CallToolResult{Content: content, IsError: true}, nil
		}
		return result, nil
	}, nil
}

func resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	if text == nil {
		return nil, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	return schema.Resolve(nil)
}

func (d duties) call(ctx context.Context, does does, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := unmarshalAndValidate(request.Params.Arguments, d.input); err != nil {
		return nil, fmt.Errorf("invalid input: %w", err)
	}
	if err := d.seal.open(request.Params); err != nil {
		return nil, fmt.Errorf("invalid state: %w", err)
	}
	result, err := does.rawHandler(ctx, request)
	if err == nil {
		d.seal.close(result)
	}
	if err != nil || result.IsError || asks(result) || d.output == nil {
		return result, err
	}
	var output []byte
	if result.StructuredContent != nil {
		if output, err = json.Marshal(result.StructuredContent); err != nil {
			return nil, fmt.Errorf("output failed to marshal: %w", err)
		}
	}
	if err := unmarshalAndValidate(output, d.output); err != nil {
		return nil, fmt.Errorf("invalid output: %w", err)
	}
	return result, nil
}

// unmarshalAndValidate does what the function of this name in the SDK's example does. It also accepts values that are no
// objects, which results may be since SEP-2106.
func unmarshalAndValidate(text []byte, schema *jsonschema.Resolved) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return schema.Validate(value)
}
