package status_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status/readiness"
)

// vectorFile is one file of behaviour vectors.
type vectorFile struct {
	Family string            `json:"family"`
	Cases  []json.RawMessage `json:"cases"`
}

// readinessCase is one case of the family readiness. The recorded output is
// kstatus'; where our table differs, expect or either says what counts.
type readinessCase struct {
	Name  string `json:"name"`
	Input struct {
		Object json.RawMessage `json:"object"`
	} `json:"input"`
	Output struct {
		Status string `json:"status"`
	} `json:"output"`
	Expect *struct {
		Status string `json:"status"`
		Rule   string `json:"rule"`
	} `json:"expect"`
	Either []string `json:"either"`
}

// TestVectors runs the recorded behaviour from testdata/vectors, or from the
// folder that OPERKIT_VECTORS names. Families of other tests are left to them.
func TestVectors(t *testing.T) {
	folder := os.Getenv("OPERKIT_VECTORS")
	if folder == "" {
		folder = filepath.Join("testdata", "vectors")
	}
	t.Run("readiness", func(t *testing.T) {
		cases := vectorsOf(t, folder, "readiness")
		require.NotEmpty(t, cases, "no case of the family readiness below %s", folder)
		passed, failed, deviating := 0, 0, 0
		for _, raw := range cases {
			var c readinessCase
			require.NoError(t, json.Unmarshal(raw, &c))
			ok := t.Run(c.title(), func(t *testing.T) { c.run(t) })
			switch {
			case !ok:
				failed++
			case c.deviates():
				deviating++
			default:
				passed++
			}
		}
		t.Logf("VECTORS readiness passed=%d failed=%d deviating=%d", passed, failed, deviating)
	})
}

// title names the rule by which a case deviates from kstatus.
func (c readinessCase) title() string {
	if c.Expect != nil {
		return c.Name + " (status " + c.Expect.Rule + ")"
	}
	return c.Name
}

func (c readinessCase) deviates() bool {
	if c.Expect != nil {
		return c.Expect.Status != c.Output.Status
	}
	return len(c.Either) > 0 && !slices.Contains(c.Either, c.Output.Status)
}

func (c readinessCase) run(t *testing.T) {
	accepted := []string{c.Output.Status}
	if c.Expect != nil {
		accepted = []string{c.Expect.Status}
	} else if len(c.Either) > 0 {
		accepted = c.Either
	}
	var integers, floats map[string]any
	require.NoError(t, utiljson.Unmarshal(c.Input.Object, &integers), "numbers as int64")
	require.NoError(t, json.Unmarshal(c.Input.Object, &floats), "numbers as float64")

	result := readiness.Of(&unstructured.Unstructured{Object: integers})
	require.Contains(t, accepted, kstatusName(result.State), "%+v", result)
	require.Equal(t, result, readiness.Of(&unstructured.Unstructured{Object: floats}), "float64 must not make a difference")
}

func kstatusName(state readiness.State) string {
	if state == readiness.Ready {
		return "Current"
	}
	return string(state)
}

func vectorsOf(t *testing.T, folder, family string) []json.RawMessage {
	t.Helper()
	var cases []json.RawMessage
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file vectorFile
		if err := json.Unmarshal(content, &file); err != nil {
			return err
		}
		if file.Family == family {
			cases = append(cases, file.Cases...)
		}
		return nil
	})
	require.NoError(t, err)
	return cases
}
