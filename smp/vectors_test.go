package smp

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

// vectorFamilies are the families of behaviour vectors that this module knows. Each runs one case, and names the rules
// of the specification by which what was recorded isn't what counts: then it has asserted what the specification says.
var vectorFamilies = []struct {
	name string
	run  func(t *testing.T, c vectorCase) (deviates []string)
}{
	{"strategic", strategicVector},
	{"diff", diffVector},
	{"json", func(t *testing.T, c vectorCase) []string { t.Helper(); jsonVector(t, c); return nil }},
	{"merge", func(t *testing.T, c vectorCase) []string { t.Helper(); mergeVector(t, c); return nil }},
	{"oper8-strategic", oper8StrategicVector},
	{"oper8-apply-patches", oper8ApplyVector},
}

func TestVectors(t *testing.T) {
	root := cmp.Or(os.Getenv("OPERKIT_VECTORS"), filepath.Join("testdata", "vectors"))
	cases, _ := readVectors(t, root)
	for _, family := range vectorFamilies {
		t.Run(family.name, func(t *testing.T) {
			require.NotEmpty(t, cases[family.name], "no case of the family %s below %s", family.name, root)
			var passed, failed, deviating int
			for _, c := range cases[family.name] {
				var rules []string
				switch {
				case !t.Run(c.Name, func(t *testing.T) { rules = family.run(t, c) }):
					failed++
				case len(rules) > 0:
					deviating++
					t.Logf("%s deviates by %s", c.Name, strings.Join(rules, ", "))
				default:
					passed++
				}
			}
			t.Logf("VECTORS %s passed=%d failed=%d deviating=%d", family.name, passed, failed, deviating)
		})
	}
}

// Whatever other cases a folder holds, the table of oper8's merge keys is this one.
func TestOper8Table(t *testing.T) {
	t.Parallel()
	_, tables := readVectors(t, filepath.Join("testdata", "vectors"))
	want := tables["oper8-merge-keys"]
	require.Len(t, want, 106)
	// smp 26: the misspelt CronJob of the table is spelt right.
	for position, key := range want {
		if fields, misspelt := strings.CutPrefix(position, "Cronjob."); misspelt {
			delete(want, position)
			want["CronJob."+fields] = key
		}
	}
	require.Equal(t, want, oper8Keys())
}

// readVectors gives the cases and the tables of each family.
func readVectors(t *testing.T, root string) (cases map[string][]vectorCase, tables map[string]map[string]string) {
	t.Helper()
	cases, tables = map[string][]vectorCase{}, map[string]map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var family struct {
			Family string `json:"family"`
		}
		if json.Unmarshal(text, &family) != nil || !knownFamily(family.Family) {
			return nil //nolint:nilerr // a file of something else
		}
		var file struct {
			Cases []vectorCase      `json:"cases"`
			Table map[string]string `json:"table"`
		}
		if err := json.Unmarshal(text, &file); err != nil {
			return err
		}
		cases[family.Family] = append(cases[family.Family], file.Cases...)
		if file.Table != nil {
			tables[family.Family] = file.Table
		}
		return nil
	}))
	return cases, tables
}

func knownFamily(name string) bool {
	for _, family := range vectorFamilies {
		if family.name == name {
			return true
		}
	}
	return name == "oper8-merge-keys"
}

// input decodes the parts of a case's input, with exact numbers.
func (c vectorCase) input(t *testing.T) map[string]any {
	t.Helper()
	input, isMap := parse(t, string(c.Input)).(map[string]any)
	require.True(t, isMap, "the input is no object")
	return input
}

func strategicVector(t *testing.T, c vectorCase) []string {
	t.Helper()
	input := c.input(t)
	doc, patch := input["resource"].(map[string]any), input["patch"].(map[string]any)
	s := schemaOf(doc)
	require.True(t, s.Known(), "the kind of %s isn't known", resourceOf(doc))
	for _, options := range [][]Option{{AllowIdentityChange()}, {AllowIdentityChange(), Shared()}} {
		got, err := Strategic(doc, patch, s, options...)
		holdsMap(t, c, got, err)
	}
	require.True(t, document.Equal(c.input(t), input), "an input was changed")
	want, err := reference(doc, patch, s)
	holdsMap(t, c, want, err)
	return nil
}

// holdsMap holds a result that may be none against the output of the case.
func holdsMap(t *testing.T, c vectorCase, got map[string]any, err error) {
	t.Helper()
	if err != nil {
		c.holds(t, nil, err)
		return
	}
	c.holds(t, got, nil)
}

func diffVector(t *testing.T, c vectorCase) []string {
	t.Helper()
	input := c.input(t)
	before, after := input["before"].(map[string]any), input["after"].(map[string]any)
	s := schemaOf(before)
	require.True(t, s.Known(), "the kind of %s isn't known", resourceOf(before))
	for _, options := range [][]Option{nil, {Shared()}} {
		patch, err := Diff(before, after, s, options...)
		require.NoError(t, err)
		got, err := Strategic(before, patch, s, append(options, AllowIdentityChange())...)
		require.NoError(t, err)
		require.True(t, document.Equal(after, got), "patch %s\nwant %s\ngot  %s", line(patch), line(after), line(got))
	}
	require.True(t, document.Equal(c.input(t), input), "an input was changed")
	return nil
}
