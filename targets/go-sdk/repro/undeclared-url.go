//go:build ignore

// A client that declares only forms gives a question in URL mode to its handler, instead of the error -32602.
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const question = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url",` +
	`"message":"There, please.","url":"http://127.0.0.1/","elicitationId":"1"}}`

func main() {
	asked := ""
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = request.Params.Mode
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	declared, answer := ask(client)
	if asked == "url" && answer.Result != nil {
		fmt.Printf("a client that declares %s gave the mode url to its handler, and answered %s\n", declared, answer.Result)
		return
	}
	fmt.Printf("the client answered %s, and its handler got the mode %q\n", answer.Error, asked)
	os.Exit(1)
}

type message struct {
	ID, Result, Error json.RawMessage
	Method            string
	Params            struct{ Capabilities json.RawMessage }
}

// ask connects the client to a server on a pair of pipes, as over stdio, which asks after the initialization. It
// returns the capabilities of the client and its answer.
func ask(client *mcp.Client) (json.RawMessage, message) {
	input, toClient := io.Pipe()
	fromClient, output := io.Pipe()
	go func() {
		_, err := client.Connect(context.Background(), &mcp.IOTransport{Reader: input, Writer: output},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			log.Fatal(err)
		}
	}()
	var declared json.RawMessage
	for lines := bufio.NewScanner(fromClient); lines.Scan(); {
		var received message
		if err := json.Unmarshal(lines.Bytes(), &received); err != nil {
			log.Fatal(err)
		}
		switch received.Method {
		case "initialize":
			declared = received.Params.Capabilities
			fmt.Fprintf(toClient, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{"tools":{}},"serverInfo":{"name":"repro","version":"1"}}}`+"\n", received.ID)
		case "notifications/initialized":
			fmt.Fprintln(toClient, question)
		case "":
			return declared, received
		}
	}
	log.Fatal("no answer")
	return nil, message{}
}
