package status_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// vector is what every case has, and what it came to.
type vector struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Output is what was recorded, Error that there was none.
	Output json.RawMessage `json:"output"`
	Error  json.RawMessage `json:"error"`

	raw json.RawMessage
	// rules are those of the specification by which the case deviates.
	rules []string
}

// TestVectors runs the recorded behaviour from testdata/vectors, or from the
// folder that OPERKIT_VECTORS names.
func TestVectors(t *testing.T) {
	folder := os.Getenv("OPERKIT_VECTORS")
	if folder == "" {
		folder = filepath.Join("testdata", "vectors")
	}
	for family, run := range map[string]func(*testing.T, *vector){
		"readiness": runReadiness, "oper8-status": runStatus, "oper8-verify": runVerify,
	} {
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

// readinessCase is one case of the family readiness. The recorded output is
// kstatus'; where our table differs, expect or either says what counts.
type readinessCase struct {
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

func runReadiness(t *testing.T, v *vector) {
	var c readinessCase
	require.NoError(t, json.Unmarshal(v.raw, &c))
	accepted := []string{c.Output.Status}
	if c.Expect != nil {
		accepted = []string{c.Expect.Status}
		if c.Expect.Status != c.Output.Status {
			v.because("status " + c.Expect.Rule)
		}
	} else if len(c.Either) > 0 {
		accepted = c.Either
		if !slices.Contains(c.Either, c.Output.Status) {
			v.because("status 25")
		}
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

// because notes a rule by which a case deviates.
func (v *vector) because(rules ...string) {
	for _, rule := range rules {
		if !slices.Contains(v.rules, rule) {
			v.rules = append(v.rules, rule)
		}
	}
}

// decodeVector decodes with integers as int64.
func decodeVector(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	var value any
	require.NoError(t, utiljson.Unmarshal(raw, &value))
	return value
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
