package dryrun_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vectorFamily is the family of behaviour vectors that this package knows.
const vectorFamily = "oper8-dryrun"

type vectorCase struct {
	Name  string `json:"name"`
	Input struct {
		Init vectorInit `json:"init"`
		Ops  []vectorOp `json:"ops"`
	} `json:"input"`
	Output []any `json:"output"`
}

type vectorInit struct {
	Owner           map[string]any   `json:"owner_cr"`
	Resources       []map[string]any `json:"resources"`
	GenerateVersion *bool            `json:"generate_resource_version"`
	StrictVersion   bool             `json:"strict_resource_version"`
}

type vectorOp struct {
	Op            string           `json:"op"`
	Objects       []map[string]any `json:"objects"`
	Refs          []string         `json:"refs"`
	SaveRef       string           `json:"save_ref"`
	Method        string           `json:"method"`
	ManageOwners  *bool            `json:"manage_owner_references"`
	Kind          string           `json:"kind"`
	Name          string           `json:"name"`
	Namespace     string           `json:"namespace"`
	APIVersion    string           `json:"api_version"`
	LabelSelector string           `json:"label_selector"`
	FieldSelector string           `json:"field_selector"`
	Status        map[string]any   `json:"status"`
	Ref           string           `json:"ref"`
	Data          any              `json:"data"`
}

// objects are what a deploy or disable is about: given, or remembered from an earlier one.
func (o vectorOp) objects(saved map[string][]map[string]any) []map[string]any {
	objects := o.Objects
	for _, ref := range o.Refs {
		objects = append(objects, saved[ref]...)
	}
	if o.SaveRef != "" {
		saved[o.SaveRef] = objects
	}
	return objects
}

func (o vectorOp) managesOwners() bool { return o.ManageOwners == nil || *o.ManageOwners }

func TestVectors(t *testing.T) {
	cases := readVectors(t, cmp.Or(os.Getenv("OPERKIT_VECTORS"), filepath.Join("testdata", "vectors")))
	require.NotEmpty(t, cases, "no cases of the family %s", vectorFamily)
	var passed, failed, deviating int
	for _, c := range cases {
		var rules []string
		switch {
		case !t.Run(c.Name, func(t *testing.T) { rules = c.check(t) }):
			failed++
		case len(rules) > 0:
			deviating++
			t.Logf("%s deviates by %s", c.Name, strings.Join(rules, ", "))
		default:
			passed++
		}
	}
	t.Logf("VECTORS %s passed=%d failed=%d deviating=%d", vectorFamily, passed, failed, deviating)
}

func readVectors(t *testing.T, root string) (cases []vectorCase) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file struct {
			Family string          `json:"family"`
			Cases  json.RawMessage `json:"cases"`
		}
		if json.Unmarshal(data, &file) != nil || file.Family != vectorFamily {
			return nil //nolint:nilerr // a file of something else
		}
		var found []vectorCase
		if err := json.Unmarshal(file.Cases, &found); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		cases = append(cases, found...)
		return nil
	}))
	return cases
}

// check runs the case, checks that each result is what the specification says, and returns
// the rules by which that isn't what was recorded.
func (c *vectorCase) check(t *testing.T) (rules []string) {
	t.Helper()
	require.Len(t, c.Output, len(c.Input.Ops), "each operation has a result")
	// In a bubble, so that events have been handed over when they are asked for.
	synctest.Test(t, func(t *testing.T) {
		run, model := newVectorRun(t, c), newVectorModel(c)
		defer run.end()
		for i, op := range c.Input.Ops {
			got, want := run.do(op), model.do(op)
			require.Equal(t, want, got, "operation %d, %s: the specification", i+1, op.Op)
			if recorded := tidyResult(c.Output[i]); !assert.ObjectsAreEqual(recorded, want) {
				require.NotEmpty(t, model.rules, "operation %d, %s: recorded is %v, here it is %v, and no rule says why", i+1, op.Op, recorded, want)
				rules = slices.Sorted(slices.Values(model.rules))
			}
		}
	})
	return slices.Compact(rules)
}

// failedResult stands for an operation that doesn't succeed, whether by an answer or by an error.
const failedResult = "failed"

// tidyResult leaves out what makes no difference: how a failure is told, and what is empty.
func tidyResult(result any) any {
	switch r := result.(type) {
	case map[string]any:
		if _, isError := r["error"]; isError {
			return failedResult
		}
		return tidyObject(r)
	case []any:
		if len(r) == 2 && r[0] == false {
			return failedResult
		}
		if len(r) == 0 {
			return []any{}
		}
		if names, ok := asNames(r); ok {
			// A list has no order of its own.
			slices.Sort(names)
			sorted := make([]any, len(names))
			for i, name := range names {
				sorted[i] = name
			}
			return sorted
		}
	}
	return result
}

func asNames(list []any) ([]string, bool) {
	var names []string
	for _, item := range list {
		name, ok := item.(string)
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// tidyObject is an object without what is empty in its metadata, as JSON has it.
func tidyObject(object map[string]any) any {
	content, _ := json.Marshal(object)
	var out map[string]any
	_ = json.Unmarshal(content, &out)
	metadata, _ := out["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		switch value := metadata[name].(type) {
		case map[string]any:
			if len(value) == 0 {
				delete(metadata, name)
			}
		case []any:
			if len(value) == 0 {
				delete(metadata, name)
			}
		case nil:
			delete(metadata, name)
		}
	}
	return out
}
