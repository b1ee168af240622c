//go:build v1.2.0 || v1.3.0 || v1.3.1 || v1.4.0 || v1.4.1 || v1.5.0 || v1.6.0 || v1.6.1

package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errMethods = cannot{"before 1.7.0, the SDK has no function for methods that it does not know"}

func addMethod(*mcp.Server, string, []reply) error { return errMethods }
func addRequest(*mcp.Client, string) error         { return errMethods }

func (userRequest) call(context.Context, *mcp.ClientSession) (any, error) { return nil, errMethods }
