package builtin

import (
	_ "embed" // for the table
	"strings"
	"sync"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
)

// text is the table: a line `kind GROUP/VERSION KIND TYPE` for each kind, then one block for each object type that
// these kinds use, in the form that [schema.Text] writes. The code that reads the table relies on that form, which the
// tests check for the whole table.
//
//go:embed table.txt
var text string

// objectMeta is the type of every object's metadata.
const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// kind is a kind of the table. Its type is read when it is first requested.
type kind struct {
	name  string // the name of its type
	read  sync.Once
	found *schema.Type
}

// table has the kinds and types of the text. A type is parsed when it is first needed.
type table struct {
	kinds  map[kschema.GroupVersionKind]*kind
	blocks map[string]string // the lines of each type's fields, by the name of the type

	reading sync.Mutex
	types   map[string]*schema.Type // the types that have been read, by their names in the table, such as []TYPE
}

var load = sync.OnceValue(func() *table { return index(text) })

// Type returns the type of a kind, nil if the table doesn't have the kind. It is safe for concurrent use. Kinds share
// the types that they have in common.
func Type(gvk kschema.GroupVersionKind) *schema.Type { return load().kind(gvk) }

func (t *table) kind(gvk kschema.GroupVersionKind) *schema.Type {
	k := t.kinds[gvk]
	if k == nil {
		return nil
	}
	k.read.Do(func() { k.found = t.read(k.name) })
	return k.found
}

// ObjectMeta returns the type of an object's metadata.
func ObjectMeta() *schema.Type { return load().read(objectMeta) }

// index finds the kinds and the blocks of a table.
func index(text string) *table {
	t := &table{
		kinds:  map[kschema.GroupVersionKind]*kind{},
		blocks: map[string]string{},
		types: map[string]*schema.Type{
			"any":    {Shape: schema.Any},
			"scalar": {Shape: schema.Scalar},
		},
	}
	header, blocks, _ := strings.Cut(text, "\ntype ")
	for line := range strings.Lines(header) {
		words := strings.Fields(line)
		if len(words) != 4 || words[0] != "kind" {
			continue
		}
		gv, err := kschema.ParseGroupVersion(words[1])
		if err != nil {
			continue
		}
		t.kinds[gv.WithKind(words[2])] = &kind{name: words[3]}
	}
	for block := range strings.SplitSeq(blocks, "\ntype ") {
		name, fields, _ := strings.Cut(block, "\n")
		t.blocks[name] = fields
	}
	return t
}

// read returns the type that an expression of the table denotes, such as []TYPE. The type is complete: other goroutines
// see it only after all types that it refers to have been read.
func (t *table) read(expression string) *schema.Type {
	t.reading.Lock()
	defer t.reading.Unlock()
	return t.resolve(expression)
}

func (t *table) resolve(expression string) *schema.Type {
	if known := t.types[expression]; known != nil {
		return known
	}
	made := &schema.Type{}
	t.types[expression] = made
	if values, ok := strings.CutPrefix(expression, "[]"); ok {
		made.Shape, made.Values.Type = schema.List, t.resolve(values)
	} else if values, ok := strings.CutPrefix(expression, "map[string]"); ok {
		made.Shape, made.Values.Type = schema.Map, t.resolve(values)
	} else {
		t.resolveObject(made, expression)
	}
	return made
}

func (t *table) resolveObject(made *schema.Type, name string) {
	lines := t.blocks[name]
	made.Name, made.Shape = name, schema.Object
	made.Fields = make(map[string]schema.Place, strings.Count(lines, "\n"))
	for line := range strings.SplitSeq(lines, "\n") {
		name, rest, found := strings.Cut(strings.TrimPrefix(line, "  "), " ")
		if !found {
			continue
		}
		expression, merging, _ := strings.Cut(rest, " ")
		strategy, key, _ := strings.Cut(merging, " ")
		place := schema.Place{Type: t.resolve(expression)}
		place.Strategy, _ = schema.ParseStrategy(strategy)
		if key != "" {
			place.Keys = []schema.Key{{Name: key}}
		}
		made.Fields[name] = place
	}
}
