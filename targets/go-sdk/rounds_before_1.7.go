//go:build v1.2.0 || v1.3.0 || v1.3.1 || v1.4.0 || v1.4.1 || v1.5.0 || v1.6.0 || v1.6.1

// Before 1.7.0, the SDK has neither 2026-07-28 nor InputRequests: a tool asks by a request to the client and waits.

package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var revisions = []string{"2025-06-18", "2025-11-25"}

// ask asks the client.
// https://github.com/modelcontextprotocol/go-sdk/blob/v1.6.1/docs/client.md#elicitation
func (e elicit) ask(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, any, error) {
	answer, err := request.Session.Elicit(ctx, e.params())
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{}, elicitAnswer{Action: answer.Action, Content: answer.Content}, nil
}

func asks(*mcp.CallToolResult) bool { return false }

// seal does nothing, because there is no state.
type seal struct{}

func newSeal() (seal, error)                   { return seal{}, nil }
func (seal) close(*mcp.CallToolResult)         {}
func (seal) open(*mcp.CallToolParamsRaw) error { return nil }
