//go:build !(v1.2.0 || v1.3.0 || v1.3.1 || v1.4.0 || v1.4.1 || v1.5.0 || v1.6.0 || v1.6.1)

package main

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// members are those of an object, without `_meta`.
type members map[string]json.RawMessage

// anyParams are the parameters of any method.
type anyParams struct {
	mcp.ParamsBase
	members members
}

func (p *anyParams) UnmarshalJSON(text []byte) error { return p.members.read(text, &p.Meta) }
func (p *anyParams) MarshalJSON() ([]byte, error)    { return p.members.write(p.Meta) }

// anyResult is the result of any method.
type anyResult struct {
	mcp.ResultBase
	members members
}

func (r *anyResult) UnmarshalJSON(text []byte) error { return r.members.read(text, &r.Meta) }
func (r *anyResult) MarshalJSON() ([]byte, error)    { return r.members.write(r.Meta) }

func (m *members) read(text []byte, meta *mcp.Meta) error {
	if err := json.Unmarshal(text, (*map[string]json.RawMessage)(m)); err != nil {
		return err
	}
	own, ok := (*m)["_meta"]
	if !ok {
		return nil
	}
	delete(*m, "_meta")
	return json.Unmarshal(own, meta)
}

func (m members) write(meta mcp.Meta) ([]byte, error) {
	written := map[string]any{}
	for member, value := range m {
		written[member] = value
	}
	if meta != nil {
		written["_meta"] = meta
	}
	return json.Marshal(written)
}

// addMethod registers a method with its replies. The last one is repeated.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#AddReceivingCustomMethod
func addMethod(server *mcp.Server, method string, replies []reply) error {
	for _, reply := range replies {
		if len(reply.Notify) > 0 {
			return cannot{"mcp.ServerSession has no method for other notifications than those of the SDK"}
		}
	}
	var requests atomic.Int64
	return mcp.AddReceivingCustomMethod(server, method,
		func(_ context.Context, _ *mcp.ServerSession, params *anyParams) (*anyResult, error) {
			number := min(requests.Add(1), int64(len(replies)))
			return replies[number-1].answer(params)
		})
}

// answer returns a new result each time, because the SDK can modify it.
func (r reply) answer(params *anyParams) (*anyResult, error) {
	if r.Error != nil {
		return nil, &jsonrpc.Error{Code: r.Error.Code, Message: r.Error.Message, Data: r.Error.Data}
	}
	result := &anyResult{}
	if r.Result != nil {
		return result, result.UnmarshalJSON(r.Result)
	}
	echoed := members{}
	if params != nil && params.members != nil {
		echoed = params.members
	}
	text, err := json.Marshal(echoed)
	result.members = members{"params": text}
	return result, err
}

// addRequest registers a method that the client sends.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#AddSendingCustomMethod
func addRequest(client *mcp.Client, method string) error {
	if err := mcp.AddSendingCustomMethod[*anyParams, *anyResult](client, method); err != nil {
		return cannot{err.Error()}
	}
	return nil
}

// call sends a request.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#CallCustomMethod
func (r userRequest) call(ctx context.Context, session *mcp.ClientSession) (any, error) {
	params := &anyParams{}
	if r.Params != nil {
		if err := params.UnmarshalJSON(r.Params); err != nil {
			return nil, err
		}
	}
	return mcp.CallCustomMethod[*anyParams, *anyResult](ctx, session, r.Method, params)
}
