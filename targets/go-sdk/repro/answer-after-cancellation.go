//go:build ignore

// Over stdio, the server answers a call after its cancellation.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#cancellation
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	started := make(chan bool)
	mcp.AddTool(server, &mcp.Tool{Name: "wait"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			started <- true
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
	input, toServer := io.Pipe()
	fromServer, output := io.Pipe()
	go func() {
		if err := server.Run(context.Background(), &mcp.IOTransport{Reader: input, Writer: output}); err != nil {
			log.Fatal(err)
		}
	}()
	lines := make(chan string)
	go func() {
		for scanner := bufio.NewScanner(fromServer); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	fmt.Fprintln(toServer, call)
	<-started
	fmt.Fprintln(toServer, cancelled)
	select {
	case line := <-lines:
		fmt.Println("after the cancellation, the server sent", line)
	case <-time.After(2 * time.Second):
		fmt.Println("after the cancellation, the server sent nothing")
		os.Exit(1)
	}
}
