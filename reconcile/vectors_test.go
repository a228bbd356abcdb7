package reconcile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// vectorFile is one file of behaviour vectors.
type vectorFile struct {
	Family string            `json:"family"`
	Cases  []json.RawMessage `json:"cases"`
}

// vector is what every case has, and what it came to.
type vector struct {
	Name string `json:"name"`
	raw  json.RawMessage
	// rules are those of the specification by which the case deviates.
	rules []string
}

func (v *vector) because(rule string) { v.rules = append(v.rules, rule) }

// TestVectors runs the recorded behaviour from testdata/vectors, or from the
// folder that OPERKIT_VECTORS names.
func TestVectors(t *testing.T) {
	folder := os.Getenv("OPERKIT_VECTORS")
	if folder == "" {
		folder = filepath.Join("testdata", "vectors")
	}
	for family, run := range map[string]func(*testing.T, *vector){"oper8-names": runNames, "oper8-rollout": runRollout} {
		t.Run(family, func(t *testing.T) {
			cases := vectorsOf(t, folder, family)
			require.NotEmpty(t, cases, "no case of the family %s below %s", family, folder)
			passed, failed, deviating := 0, 0, 0
			for _, raw := range cases {
				c := vector{raw: raw}
				require.NoError(t, json.Unmarshal(raw, &c))
				ok := t.Run(c.Name, func(t *testing.T) {
					run(t, &c)
					if len(c.rules) > 0 {
						t.Logf("deviates by %s", strings.Join(c.rules, ", "))
					}
				})
				switch {
				case !ok:
					failed++
				case len(c.rules) > 0:
					deviating++
				default:
					passed++
				}
			}
			t.Logf("VECTORS %s passed=%d failed=%d deviating=%d", family, passed, failed, deviating)
		})
	}
}

func vectorsOf(t *testing.T, folder, family string) (cases []json.RawMessage) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file vectorFile
		if json.Unmarshal(content, &file) == nil && file.Family == family {
			cases = append(cases, file.Cases...)
		}
		return nil
	}))
	return cases
}

// runNames holds the names of the option Oper8Names against those that were recorded (spec: reconcile 6).
func runNames(t *testing.T, v *vector) {
	var refused struct{ Error json.RawMessage }
	require.NoError(t, json.Unmarshal(v.raw, &refused))
	if refused.Error != nil {
		// A name that is no text: the compiler refuses it.
		v.because("reconcile 6")
		return
	}
	var c struct {
		Input struct {
			Func, Instance string
			Name           any // a number is written out by the caller
		}
		Output struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(v.raw, &c))
	name := fmt.Sprint(c.Input.Name)
	resource := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": c.Input.Instance}}}
	session := &Session{reconciler: &Reconciler{options: options{oper8Names: true}}, resource: resource}
	switch c.Input.Func {
	case "get_scoped_name":
		require.Equal(t, c.Output.Name, session.ScopedName(name))
	case "get_truncated_name":
		require.Equal(t, c.Output.Name, session.TruncatedName(name))
	default:
		t.Fatalf("no function %s", c.Input.Func)
	}
}
