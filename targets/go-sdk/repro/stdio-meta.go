//go:build ignore

// Over stdio, after a request of 2026-07-28, the server answers requests whose _meta has no version, or an unsupported one.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{%s` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

func main() {
	versions := []string{
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, "", `"io.modelcontextprotocol/protocolVersion":"1900-01-01",`,
	}
	ask := serve()
	for _, version := range versions {
		answer := ask(fmt.Sprintf(list, version))
		if !strings.Contains(answer, `"tools":[`) {
			fmt.Println("the server answered:", answer)
			os.Exit(1)
		}
	}
	fmt.Println("the server listed its tools for a request without a version, and for one with version 1900-01-01")
}

// serve starts a server on a pair of pipes, as over stdio, and returns a function that sends a line and returns the answer.
func serve() func(line string) string {
	server := mcp.NewServer(&mcp.Implementation{Name: "repro", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "t"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	input, send := io.Pipe()
	receive, output := io.Pipe()
	go server.Run(context.Background(), &mcp.IOTransport{Reader: input, Writer: output})
	answers := bufio.NewReader(receive)
	return func(line string) string {
		if _, err := fmt.Fprintln(send, line); err != nil {
			log.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			log.Fatal(err)
		}
		return strings.TrimSpace(answer)
	}
}
