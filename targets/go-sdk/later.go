package main

import "log/slog"

// later has the fields of options that older releases of the SDK lack. Embed it beside the SDK's struct: a field that the
// struct has hides the one here, which is one level deeper. A field that it lacks is set here, without effect.
type later struct{ fields }

type fields struct {
	Logger          *slog.Logger // mcp.ClientOptions has it since 1.3.0
	ProtocolVersion string       // mcp.ClientSessionOptions has it since 1.8.0
}
