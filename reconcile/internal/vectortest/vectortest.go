package vectortest

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
)

// Case is one recorded case. Output and Expect hold objects of the family.
type Case struct {
	Name     string         `json:"name"`
	Input    map[string]any `json:"input"`
	Output   any            `json:"output"`
	Error    bool           `json:"error"`
	Doubtful bool           `json:"doubtful"`
	// Rule is the rule that a better system follows in a doubtful case, and Expect its output, nil if none is given.
	Rule   string `json:"rule"`
	Expect any    `json:"expect"`

	deviates string
}

// Deviates records the rule by which the case deviates from what was recorded.
func (c *Case) Deviates(rule string) { c.deviates = rule }

// Want returns the output that counts: the recorded one or, in a doubtful case, what is expected of a better system.
func (c *Case) Want(t *testing.T) any {
	t.Helper()
	if !c.Doubtful {
		return c.Output
	}
	c.Deviates(c.Rule)
	if c.Expect == nil {
		t.Fatalf("the test has to say what holds by the rule %s", c.Rule)
	}
	return Over(c.Output, c.Expect)
}

// Over returns output with the members of expect in their place; a list replaces the whole output.
func Over(output, expect any) any {
	members, isMap := expect.(map[string]any)
	before, wasMap := output.(map[string]any)
	if !isMap || !wasMap {
		return expect
	}
	merged := maps.Clone(before)
	maps.Copy(merged, members)
	return merged
}

// Run runs all cases of a family, from the folder that OPERKIT_VECTORS names or from testdata. It logs one line with
// the numbers of cases.
func Run(t *testing.T, family string, run func(t *testing.T, c *Case)) {
	t.Helper()
	folder := cmp.Or(os.Getenv("OPERKIT_VECTORS"), own())
	content, err := os.ReadFile(filepath.Join(folder, family+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []*Case `json:"cases"`
	}
	if err := json.Unmarshal(content, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("%s: %d cases, %v", family, len(file.Cases), err)
	}
	passed, failed, deviating := 0, 0, 0
	for _, c := range file.Cases {
		ok := t.Run(c.Name, func(t *testing.T) {
			run(t, c)
			if c.deviates != "" {
				t.Logf("deviates by %s", c.deviates)
			}
		})
		switch {
		case !ok:
			failed++
		case c.deviates != "":
			deviating++
		default:
			passed++
		}
	}
	t.Logf("VECTORS %s passed=%d failed=%d deviating=%d", family, passed, failed, deviating)
}

// own returns the folder of the vectors of a style, seen from its package or from one of its internal packages.
func own() string {
	folder := filepath.Join("testdata", "vectors")
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	return filepath.Join("..", "..", folder)
}
