package convert_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/convert"
	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outer has the types of other packages.
const outer = `package outer

type TypeMeta struct{}

type ObjectMeta struct{}

type Fields struct{ Phase string }
`

// kind returns the package of a version of the kind Shop with this spec and other types.
func kind(spec, more string) string {
	return `package VERSION

import o "example.com/outer"

type Shop struct {
	o.TypeMeta
	o.ObjectMeta
	Spec   Spec
	Status Status
}

type Status struct{ o.Fields }

type Spec ` + spec + "\n\n" + more
}

// converted returns the formatted functions between two versions of Shop. Together with both versions they are correct
// Go.
func converted(t *testing.T, v1, v2 string) string {
	t.Helper()
	sides := map[string]convert.Side{}
	texts := map[string]string{"example.com/outer": outer}
	for version, text := range map[string]string{"v1": v1, "v2": v2} {
		text = strings.ReplaceAll(text, "VERSION", version)
		file, err := source.Parse(version+".go", []byte(text))
		require.NoError(t, err)
		sides[version] = convert.Side{Package: version, Folder: source.Folder{Path: version, Files: []*source.File{file}}}
		texts["example.com/"+version] = text
	}
	pair := convert.Pair("Shop", sides["v1"], sides["v2"])
	text, err := format.Source([]byte(pair))
	require.NoError(t, err, pair)
	texts["example.com/shop"] = "package shop\n\nimport (\n\t\"example.com/v1\"\n\t\"example.com/v2\"\n)\n\n" + pair
	_, err = checker{token.NewFileSet(), texts, map[string]*types.Package{}}.Import("example.com/shop")
	require.NoError(t, err, string(text))
	return string(text)
}

// checker type-checks packages from their texts.
type checker struct {
	set     *token.FileSet
	texts   map[string]string
	checked map[string]*types.Package
}

func (c checker) Import(path string) (*types.Package, error) {
	if checked := c.checked[path]; checked != nil {
		return checked, nil
	}
	text, found := c.texts[path]
	if !found {
		return nil, fmt.Errorf("no package %s", path)
	}
	file, err := parser.ParseFile(c.set, path, text, 0)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: c}
	c.checked[path], err = config.Check(path, c.set, []*ast.File{file}, nil)
	return c.checked[path], err
}

func TestPair(t *testing.T) {
	t.Parallel()
	const more = `
type Phase string
type Door struct {
	Glass bool
	Doors []Door
	note  string
}
type Paint struct{ Colour Phase; Gloss *int }
type Names []string
type Doors []Door
`
	for _, row := range []struct {
		reason, field string
		// up are lines of upFromV1.
		up []string
	}{
		{"a value of the language", "A int32", []string{"to.Spec.A = from.Spec.A"}},
		{"several fields in a line", "A, B bool", []string{"to.Spec.A = from.Spec.A", "to.Spec.B = from.Spec.B"}},
		{"a type of another package", "A *o.Fields", []string{"to.Spec.A = from.Spec.A"}},
		{"containers that don't depend on the version", "A map[string][]o.Fields; B [3]int; C []any", []string{"to.Spec.A = from.Spec.A", "to.Spec.B = from.Spec.B", "to.Spec.C = from.Spec.C"}},
		{"a named value", "A Phase", []string{"to.Spec.A = v2.Phase(from.Spec.A)"}},
		{"a struct", "A Paint", []string{"to.Spec.A.Colour = v2.Phase(from.Spec.A.Colour)", "to.Spec.A.Gloss = from.Spec.A.Gloss"}},
		{"an embedded struct", "Paint", []string{"to.Spec.Paint.Gloss = from.Spec.Paint.Gloss"}},
		{"a struct without a name", "A struct{ B int; c int }", []string{"to.Spec.A.B = from.Spec.A.B"}},
		{"a pointer to a struct", "A *Door", []string{"if from.Spec.A != nil {", "to.Spec.A = new(v2.Door)", "upDoorFromV1(from.Spec.A, to.Spec.A)"}},
		{"a pointer to a named value", "A *Phase", []string{"to.Spec.A = new(v2.Phase)", "*to.Spec.A = v2.Phase(*from.Spec.A)"}},
		{"a list of structs", "A []Door", []string{"to.Spec.A = make([]v2.Door, len(from.Spec.A))", "for i := range from.Spec.A {", "upDoorFromV1(&from.Spec.A[i], &to.Spec.A[i])"}},
		{"a list of lists", "A [][]Phase", []string{"to.Spec.A[i] = make([]v2.Phase, len(from.Spec.A[i]))", "to.Spec.A[i][j] = v2.Phase(from.Spec.A[i][j])"}},
		{"a list of pointers", "A []*Door", []string{"if from.Spec.A[i] != nil {", "to.Spec.A[i] = new(v2.Door)", "upDoorFromV1(from.Spec.A[i], to.Spec.A[i])"}},
		{"a map of structs", "A map[string]Door", []string{"to.Spec.A = make(map[string]v2.Door, len(from.Spec.A))", "upDoorFromV1(&value, &converted)", "to.Spec.A[key] = converted"}},
		{"a map of lists of structs", "A map[string][]Door", []string{"var converted []v2.Door", "upDoorFromV1(&value[j], &converted[j])"}},
		{"a map of maps", "A map[string]map[string]Phase", []string{"for key2, value2 := range value {", "converted[key2] = converted2"}},
		{"a named list", "A Names", []string{"to.Spec.A = make(v2.Names, len(from.Spec.A))", "to.Spec.A[i] = from.Spec.A[i]"}},
		{"a named list of structs", "A Doors", []string{"to.Spec.A = make(v2.Doors, len(from.Spec.A))", "upDoorFromV1(&from.Spec.A[i], &to.Spec.A[i])"}},
	} {
		text := converted(t, kind("struct{ "+row.field+" }", more), kind("struct{ "+row.field+" }", more))
		assert.NotContains(t, text, "TODO", row.reason)
		for _, line := range append(row.up, "to.Status.Fields = from.Status.Fields", "func downToV1(from *v2.Shop, to *v1.Shop) error {") {
			assert.Regexp(t, `(?m)^\t*`+strings.NewReplacer("[", `\[`, "]", `\]`, "(", `\(`, ")", `\)`, "*", `\*`, "{", `\{`, ".", `\.`).Replace(line)+"$", text, row.reason)
		}
		for _, line := range row.up {
			assert.Contains(t, text, strings.NewReplacer("v2.", "v1.", "upDoorFromV1", "downDoorToV1").Replace(line), "%s: the way back", row.reason)
		}
		assert.NotContains(t, text, "note", "%s: encoding/json doesn't see it", row.reason)
	}
}

func TestPairOfDifferentTypes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, v1, v2, want, not string }{
		{"a new field", "struct{}", "struct{ A int }", "\t// TODO: set to.Spec.A: v1 has no equal field.\n", "from.Spec.A\n"},
		{"a field that is gone", "struct{ A int }", "struct{}", "\t// TODO: set to.Spec.A: v2 has no equal field.\n", "= from.Spec.A"},
		{"another type", "struct{ A int }", "struct{ A string }", "\t// TODO: set to.Spec.A: v1 has no equal field.\n", "= from"},
		{"a named type", "struct{ A Phase }", "struct{ A string }", "to.Spec.A = string(from.Spec.A)", "TODO"},
		{"a list", "struct{ A Phase }", "struct{ A []Phase }", "TODO: set to.Spec.A", "from.Spec.A"},
		{"another type of another package", "struct{ A o.Fields }", "struct{ A o.TypeMeta }", "TODO: set to.Spec.A", "= from.Spec.A"},
		{"a struct and a pointer", "struct{ A Door }", "struct{ A *Door }", "TODO: set to.Spec.A", "Spec.A."},
		{"other structs of the same fields", "struct{ A Door }", "struct{ A Gate }", "to.Spec.A.Glass = from.Spec.A.Glass", "TODO"},
		{"an interface", "struct{ A fmt }", "struct{ A fmt }", "TODO: set to.Spec.A", "from.Spec.A"},
	} {
		const more = "type Phase string\ntype Door struct{ Glass bool }\ntype Gate struct{ Glass bool }\ntype fmt interface{ String() string }\n"
		text := converted(t, kind(row.v1, more), kind(row.v2, more))
		assert.Contains(t, text, row.want, row.reason)
		up, _, _ := strings.Cut(text, "// downToV1")
		if strings.Contains(row.want, "v2 has") {
			up = text
		}
		before, _, _ := strings.Cut(up, "to.Status")
		assert.NotContains(t, before, row.not, row.reason)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	up, down := convert.Names("v1beta1")
	assert.Equal(t, "upFromV1beta1 downToV1beta1", up+" "+down)
}
