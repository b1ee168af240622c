package main

import (
	"context"
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A registration adds a tool to a server with mcp.AddTool, without schemas or with those that its author inferred.
type registration func(*mcp.Server, *mcp.Tool)

// addTyped registers the tool of this name that an author wrote with types, from which the SDK derives the schemas.
func addTyped(server *mcp.Server, tool tool) error {
	if tool.Does.Elicit != nil {
		return cannot{"the SDK derives no form from a type: ElicitParams.RequestedSchema is a JSON Schema"}
	}
	if why, ok := unwritable[tool.Name]; ok {
		return cannot{why}
	}
	register, ok := typedArguments[tool.Name]
	if !ok {
		register, ok = typedResults[tool.Name]
	}
	if !ok {
		return cannot{"this adapter has no typed tool " + tool.Name}
	}
	register(server, &mcp.Tool{Name: tool.Name, Description: tool.Description})
	return nil
}

// unwritable are the tools that Go has no types for, with the reason.
var unwritable = map[string]string{
	"tagged-union": "Go has no union types, and encoding/json does not decode into an interface that has methods",
	"root-union":   "Go has no union types, and encoding/json does not decode into an interface that has methods",
	"tuple":        "Go has no tuple types",
	"set":          "Go has no set types, and the JSON of a map is an object",
	// A pattern of jsonschema.Schema is JSON Schema, not a regexp.Regexp of the author.
	"any-case":        "Go has no type for a text like a regular expression, and a pattern of JSON Schema has no flags",
	"json-text":       "Go has no type for JSON within a text",
	"untyped":         "in Go each parameter has a type",
	"positional-only": "encoding/json decodes an object into fields by their names, and Go has no positional-only fields",
	"second-name":     "a struct tag has one name",
	"trimmed":         "Go has no type for trimmed text",
	"made-default":    "a field of a struct has no default that a function makes",
	"null-default":    "the compiler accepts no nil for an int, and fields have no defaults",
	"tag-default":     "Go has no union types, and encoding/json does not decode into an interface that has methods",
	"coerced":         "encoding/json does not convert texts to numbers",

	"returns-more-members":   "a value of a Go struct has only the fields of its type",
	"returns-fewer-members":  "a value of a Go struct has all fields of its type",
	"returns-wrong-type":     "the compiler accepts no text for an int",
	"returns-changed-member": "the compiler accepts no text for an int",
	"returns-converted":      "the compiler accepts no text for an int",
	"returns-renamed":        "a struct tag has one name for both directions",
	"returns-received-name":  "a struct tag has one name for both directions",
	"returns-computed":       "a Go struct has no computed fields",
	"returns-default-member": "a value of a Go struct has all fields of its type, and fields have no defaults",
	"returns-trimmed":        "Go has no type for trimmed text",
	"returns-half-character": "the compiler accepts no half of a surrogate pair in a string",
	"returns-derived":        "Go has no derived types: a value of an embedding struct is none of the embedded one",
	"returns-plain-object":   "Go has no classes beside structs, which are its records",
}

// takes is a tool that returns what it received.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func takes[In any](received func(In) map[string]any) registration {
	return func(server *mcp.Server, tool *mcp.Tool) {
		handler := func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, map[string]any, error) {
			return nil, received(in), nil
		}
		mcp.AddTool(server, tool, handler)
	}
}

// takesCustomized is as takes, for what struct tags cannot say: customSchemas, and the author's changes to the inferred
// properties. The documentation does both in its second example.
// https://go.sdk.modelcontextprotocol.io/server/#tools
func takesCustomized[In any](
	received func(In) map[string]any, changes func(map[string]*jsonschema.Schema),
) registration {
	return func(server *mcp.Server, tool *mcp.Tool) {
		schema := infer[In]()
		changes(schema.Properties)
		tool.InputSchema = schema
		takes(received)(server, tool)
	}
}

// unchanged keeps the properties as they are inferred.
func unchanged(map[string]*jsonschema.Schema) {}

// infer infers a schema with customSchemas.
func infer[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: customSchemas})
	if err != nil {
		panic(err)
	}
	return schema
}

var customSchemas = map[reflect.Type]*jsonschema.Schema{
	// https://pkg.go.dev/github.com/google/jsonschema-go/jsonschema#ForOptions
	reflect.TypeFor[mode]():          {Enum: []any{"auto", 1, true}},
	reflect.TypeFor[integerOrText](): {Types: []string{"integer", "string"}},
	reflect.TypeFor[lamp]():          {Type: "string", Enum: []any{stop, walk}},
	reflect.TypeFor[level]():         {Type: "integer", Enum: []any{low, high}},
	reflect.TypeFor[color]():         {Type: "string", Enum: []any{red, green}},
	reflect.TypeFor[date]():          {Type: "string", Format: "date"},
}

type lamp string

const (
	stop lamp = "red"
	walk lamp = "green"
)

type level int

const (
	low  level = 1
	high level = 2
)

type color string

const (
	red   color = "#f00"
	green color = "#0f0"
)

// mode and integerOrText are interfaces whose possible values are known: Go has no union types.
type (
	mode          any
	integerOrText any
)

// date is a day, as in the SDK's example of custom marshalling.
// https://pkg.go.dev/github.com/modelcontextprotocol/go-sdk/mcp#example-AddTool-CustomMarshalling
type date struct{ time.Time }

const quotedDate = `"` + time.DateOnly + `"`

func (d date) MarshalJSON() ([]byte, error) { return []byte(d.Format(quotedDate)), nil }

func (d *date) UnmarshalJSON(text []byte) (err error) {
	d.Time, err = time.Parse(quotedDate, string(text))
	return err
}

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// rights is a set of flags.
type rights uint8

const (
	mayRead rights = 1 << iota
	mayWrite
)

// Args are the arguments of the tool named-record.
type Args struct {
	Name string `json:"name"`
}

type base struct {
	ID string `json:"x"`
}

// Identified is what has an identifier.
type Identified struct {
	ID string `json:"id"`
}

type node struct {
	Value    int    `json:"value"`
	Children []node `json:"children"`
}

// typedArguments are tools that return what they received, under the names on the wire.
var typedArguments = map[string]registration{
	"plain": takes(func(in struct {
		Text string `json:"text"`
	}) map[string]any {
		return map[string]any{"text": in.Text}
	}),
	"none": takes(func(struct{}) map[string]any { return map[string]any{} }),
	"required": takes(func(in struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}) map[string]any {
		return map[string]any{"name": in.Name, "count": in.Count}
	}),
	"optional": takes(func(in struct {
		Name  string `json:"name"`
		Count *int   `json:"count,omitempty"`
	}) map[string]any {
		return map[string]any{"name": in.Name, "count": in.Count}
	}),
	"nullable": takes(func(in struct {
		Note *string `json:"note"`
	}) map[string]any {
		return map[string]any{"note": in.Note}
	}),
	"optional-nullable": takes(func(in struct {
		Name string  `json:"name"`
		Note *string `json:"note,omitempty"`
	}) map[string]any {
		return map[string]any{"name": in.Name, "note": in.Note}
	}),
	"defaults": takesCustomized(func(in struct {
		Title string   `json:"title,omitempty"`
		Ratio float64  `json:"ratio,omitempty"`
		Count int      `json:"count,omitempty"`
		Loud  bool     `json:"loud,omitempty"`
		Tags  []string `json:"tags,omitempty"`
	}) map[string]any {
		return map[string]any{"title": in.Title, "ratio": in.Ratio, "count": in.Count, "loud": in.Loud, "tags": in.Tags}
	}, func(properties map[string]*jsonschema.Schema) {
		properties["title"].Default = json.RawMessage(`"a"`)
		properties["ratio"].Default = json.RawMessage(`1.5`)
		properties["count"].Default = json.RawMessage(`3`)
		properties["loud"].Default = json.RawMessage(`false`)
		properties["tags"].Default = json.RawMessage(`["x"]`)
	}),
	"literals": takesCustomized(func(in struct {
		Color lamp  `json:"color"`
		Level level `json:"level"`
	}) map[string]any {
		return map[string]any{"color": in.Color, "level": in.Level}
	}, unchanged),
	"mixed-literals": takesCustomized(func(in struct {
		Mode mode `json:"mode"`
	}) map[string]any {
		return map[string]any{"mode": in.Mode}
	}, unchanged),
	"union": takesCustomized(func(in struct {
		Value integerOrText `json:"value"`
	}) map[string]any {
		return map[string]any{"value": in.Value}
	}, unchanged),
	"enum": takesCustomized(func(in struct {
		Color color `json:"color"`
	}) map[string]any {
		return map[string]any{"color": in.Color}
	}, unchanged),
	"nested": takes(func(in struct {
		Person struct {
			Name    string `json:"name"`
			Address struct {
				City string `json:"city"`
			} `json:"address"`
		} `json:"person"`
	}) map[string]any {
		return map[string]any{"person": in.Person}
	}),
	"shared": takes(func(in struct {
		From point `json:"from"`
		To   point `json:"to"`
	}) map[string]any {
		return map[string]any{"from": in.From, "to": in.To}
	}),
	"recursive": takes(func(in struct {
		Tree node `json:"tree"`
	}) map[string]any {
		return map[string]any{"tree": in.Tree}
	}),
	"lists": takes(func(in struct {
		Names  []string `json:"names"`
		Points []point  `json:"points"`
	}) map[string]any {
		return map[string]any{"names": in.Names, "points": in.Points}
	}),
	"map": takes(func(in struct {
		Counts map[string]int `json:"counts"`
	}) map[string]any {
		return map[string]any{"counts": in.Counts}
	}),
	"map-of-numbers": takes(func(in struct {
		Names map[int]string `json:"names"`
	}) map[string]any {
		return map[string]any{"names": in.Names}
	}),
	"free-form": takes(func(in struct {
		Options map[string]any `json:"options"`
	}) map[string]any {
		return map[string]any{"options": in.Options}
	}),
	"anything": takes(func(in struct {
		Value any `json:"value"`
	}) map[string]any {
		return map[string]any{"value": in.Value}
	}),
	"bounds": takesCustomized(func(in struct {
		Count int     `json:"count"`
		Ratio float64 `json:"ratio"`
	}) map[string]any {
		return map[string]any{"count": in.Count, "ratio": in.Ratio}
	}, func(properties map[string]*jsonschema.Schema) {
		properties["count"].Minimum = jsonschema.Ptr(1.0)
		properties["count"].Maximum = jsonschema.Ptr(10.0)
		properties["ratio"].ExclusiveMinimum = jsonschema.Ptr(0.0)
		properties["ratio"].ExclusiveMaximum = jsonschema.Ptr(1.0)
	}),
	"lengths": takesCustomized(func(in struct {
		Code string   `json:"code"`
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}) map[string]any {
		return map[string]any{"code": in.Code, "name": in.Name, "tags": in.Tags}
	}, func(properties map[string]*jsonschema.Schema) {
		properties["code"].Pattern = "^[A-Z]{3}$"
		properties["name"].MinLength = jsonschema.Ptr(1)
		properties["name"].MaxLength = jsonschema.Ptr(5)
		properties["tags"].MinItems = jsonschema.Ptr(1)
		properties["tags"].MaxItems = jsonschema.Ptr(2)
	}),
	"formats": takesCustomized(func(in struct {
		Email string `json:"email"`
		Link  string `json:"link"`
		ID    string `json:"id"`
	}) map[string]any {
		return map[string]any{"email": in.Email, "link": in.Link, "id": in.ID}
	}, func(properties map[string]*jsonschema.Schema) {
		properties["email"].Format = "email"
		properties["link"].Format = "uri"
		properties["id"].Format = "uuid"
	}),
	"dates": takesCustomized(func(in struct {
		Day date      `json:"day"`
		At  time.Time `json:"at"`
	}) map[string]any {
		return map[string]any{"day": in.Day, "at": in.At}
	}, unchanged),
	// The standard library has no decimal type. json.Number keeps all digits of a JSON number.
	"decimal": takes(func(in struct {
		Price json.Number `json:"price"`
	}) map[string]any {
		return map[string]any{"price": in.Price}
	}),
	"alias": takes(func(in struct {
		UserID string `json:"userId"`
	}) map[string]any {
		return map[string]any{"userId": in.UserID}
	}),
	"reserved": takes(func(in struct {
		Type      string `json:"type"`
		Class     string `json:"class"`
		Self      string `json:"self"`
		Schema    string `json:"schema"`
		Arguments string `json:"arguments"`
	}) map[string]any {
		return map[string]any{
			"type": in.Type, "class": in.Class, "self": in.Self, "schema": in.Schema, "arguments": in.Arguments,
		}
	}),
	// A struct disallows additional properties.
	"closed": takes(func(in struct {
		Name string `json:"name"`
	}) map[string]any {
		return map[string]any{"name": in.Name}
	}),
	"described": takes(func(in struct {
		City string `json:"city" jsonschema:"The city"`
	}) map[string]any {
		return map[string]any{"city": in.City}
	}),
	"bytes": takes(func(in struct {
		Data []byte `json:"data"`
	}) map[string]any {
		return map[string]any{"data": in.Data}
	}),
	"big-integer": takes(func(in struct {
		Count int64 `json:"count"`
	}) map[string]any {
		return map[string]any{"count": in.Count}
	}),
	"whole-number": takes(func(in struct {
		Count *big.Int `json:"count"`
	}) map[string]any {
		return map[string]any{"count": in.Count}
	}),
	"address": takes(func(in struct {
		Address netip.Addr `json:"address"`
	}) map[string]any {
		return map[string]any{"address": in.Address}
	}),
	"raw-value": takes(func(in struct {
		Value json.RawMessage `json:"value"`
	}) map[string]any {
		return map[string]any{"value": in.Value}
	}),
	"digits": takes(func(in struct {
		Count int `json:"count,string"`
	}) map[string]any {
		return map[string]any{"count": strconv.Itoa(in.Count)}
	}),
	"flags": takes(func(in struct {
		Rights rights `json:"rights"`
	}) map[string]any {
		return map[string]any{"rights": in.Rights & (mayRead | mayWrite)}
	}),
	"named-tuple": takes(func(in struct {
		Point [2]float64 `json:"point"`
	}) map[string]any {
		return map[string]any{"point": in.Point}
	}),
	"named-record": takes(func(in Args) map[string]any {
		return map[string]any{"name": in.Name}
	}),
	"repeated-member": takes(func(in struct {
		base
		X string `json:"x"`
	}) map[string]any {
		return map[string]any{"x": in.X}
	}),
	"date-object": takes(func(in struct {
		At time.Time `json:"at"`
	}) map[string]any {
		return map[string]any{"at": in.At}
	}),
	"map-object": takes(func(in struct {
		Counts map[string]int `json:"counts"`
	}) map[string]any {
		return map[string]any{"counts": in.Counts}
	}),
	"any-names": takes(func(in map[string]int) map[string]any {
		counts := map[string]any{}
		for name, count := range in {
			counts[name] = count
		}
		return counts
	}),
	"inherited-names": takes(func(in struct {
		Copy        string  `json:"copy"`
		ToString    *string `json:"toString,omitempty"`
		ModelConfig *string `json:"model_config,omitempty"`
	}) map[string]any {
		return map[string]any{"copy": in.Copy, "toString": in.ToString, "model_config": in.ModelConfig}
	}),
	"underscore": takes(func(in struct {
		ID string `json:"_id"`
	}) map[string]any {
		return map[string]any{"_id": in.ID}
	}),
	"link": takes(func(in struct {
		Link url.URL `json:"link"`
	}) map[string]any {
		return map[string]any{"link": in.Link.String()}
	}),
	"duration": takes(func(in struct {
		Wait time.Duration `json:"wait"`
	}) map[string]any {
		return map[string]any{"wait": in.Wait}
	}),
	"small-number": takes(func(in struct {
		Ratio float32 `json:"ratio"`
	}) map[string]any {
		return map[string]any{"ratio": in.Ratio}
	}),
	"named-embedding": takes(func(in struct {
		Identified `json:"base"`
	}) map[string]any {
		return map[string]any{"base": in.Identified}
	}),
	"root-list": takes(func(in []string) map[string]any {
		return map[string]any{"names": in}
	}),
	"function": takes(func(in struct {
		Done func() `json:"done"`
	}) map[string]any {
		return map[string]any{"done": in.Done}
	}),
	"opaque": takes(func(in struct {
		Handle chan struct{} `json:"handle"`
	}) map[string]any {
		return map[string]any{"handle": in.Handle}
	}),
}
