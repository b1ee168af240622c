//go:build !(v1.2.0 || v1.3.0 || v1.3.1 || v1.4.0 || v1.4.1 || v1.5.0 || v1.6.0 || v1.6.1)

package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var revisions = []string{"2025-06-18", "2025-11-25", firstStateless}

// question is the key of the only question that a tool asks.
const question = "question"

// ask returns the question and, in the next round, the answer. This works for every revision: before 2026-07-28 the
// SDK sends the question as a request and then calls the tool again with the answer.
// https://go.sdk.modelcontextprotocol.io/server/#multi-round-trip-requests
func (e elicit) ask(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, any, error) {
	if answer, ok := request.Params.InputResponses[question].(*mcp.ElicitResult); ok {
		returned := elicitAnswer{Action: answer.Action, Content: answer.Content}
		if e.State != nil {
			returned.State = &request.Params.RequestState
		}
		return &mcp.CallToolResult{}, returned, nil
	}
	result := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: e.params()}}
	if e.State != nil {
		result.RequestState = e.State.Value
	}
	return result, nil, nil
}

// asks tells whether a result is a question.
func asks(result *mcp.CallToolResult) bool { return result.InputRequests != nil }

// seal protects the states of questions, as the SDK's documentation orders the authors of servers: it encrypts and signs
// a state, and verifies one that comes back.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#CallToolResult
type seal struct{ cipher.AEAD }

// newSeal returns a seal with a key of its own.
func newSeal() (seal, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return seal{}, err
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	return seal{sealed}, err
}

// close encrypts and signs the state of a question.
func (s seal) close(result *mcp.CallToolResult) {
	if result.RequestState != "" {
		result.RequestState = base64.RawURLEncoding.EncodeToString(s.Seal(nil, nil, []byte(result.RequestState), nil))
	}
}

// open verifies and decrypts the state of a retry.
func (s seal) open(params *mcp.CallToolParamsRaw) error {
	if params.RequestState == "" {
		return nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(params.RequestState)
	if err != nil {
		return err
	}
	state, err := s.Open(nil, nil, sealed, nil)
	if err != nil {
		return err
	}
	params.RequestState = string(state)
	return nil
}
