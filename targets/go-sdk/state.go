package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
