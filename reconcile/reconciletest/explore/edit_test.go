package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// editsOf returns the edits of a resource that has one field, it.
func editsOf(schema, value string) []edit {
	w := &walker{sample: wholeNumbers(object("%s", value)).(map[string]any), frozen: frozen{}}
	resource := &location{schema: map[string]any{"type": "object", "properties": map[string]any{"it": wholeNumbers(object("%s", schema))}}}
	w.visit(resource.field("it"), true)
	return w.edits
}

// wholeNumbers makes integers of numbers, as a cluster does.
func wholeNumbers(value any) any {
	switch value := value.(type) {
	case float64:
		return asNumber(map[string]any{"type": "number"}, value)
	case map[string]any:
		for key, field := range value {
			value[key] = wholeNumbers(field)
		}
	case []any:
		for i, item := range value {
			value[i] = wholeNumbers(item)
		}
	}
	return value
}

func namesOf(all []edit) (names []string) {
	for _, one := range all {
		names = append(names, one.name)
	}
	return names
}

func TestEdges(t *testing.T) {
	for _, row := range []struct {
		reason, schema, value string
		want                  []string
	}{
		{"minimum and maximum", "{type: integer, minimum: 1, maximum: 9}", "it: 5", []string{"it: 6", "it: 1", "it: 9", "it left out"}},
		{"a large maximum may be a number of objects", "{type: integer, maximum: 65535}", "it: 5", []string{"it: 6", "it left out"}},
		{"an edge is tried once", "{type: integer, minimum: 5, maximum: 6}", "it: 5", []string{"it: 6", "it left out"}},
		{"shortest and longest", "{type: string, minLength: 2, maxLength: 4}", "it: abc", []string{`it: "abcx"`, `it: "xx"`, `it: "xxxx"`, "it left out"}},
		{"by a pattern", "{type: string, pattern: '^[a-z]+$', maxLength: 4}", "it: abc", []string{`it: "abcx"`, `it: "a"`, `it: "aaaa"`, "it left out"}},
		{"each enumerated value", "{type: string, enum: [a, b, c]}", "it: b", []string{`it: "a"`, `it: "c"`, "it left out"}},
		{"null", "{type: boolean, nullable: true}", "it: true", []string{"it: false", "it left out", "it: null"}},
		{"what is absent isn't left out", "{type: boolean}", "other: 1", []string{"it: true"}},
		{"another value than the default", "{type: boolean, default: true}", "other: 1", []string{"it: false"}},
		{"a long value is shortened in the name", "{type: string, minLength: 50}", "it: a", []string{`it: "xxxxxxxx...", 50 characters`, "it left out"}},
	} {
		t.Run("explore 21: "+row.reason, func(t *testing.T) { assert.Equal(t, row.want, namesOf(editsOf(row.schema, row.value))) })
	}
}

// realSamples are resources of the definitions in testdata/real.
var realSamples = []string{
	`{apiVersion: examples.operkit.dev/v1, kind: WebApp, metadata: {name: hello}, spec: {image: registry.example.com/hello,
		channel: "https://releases.example.com/stable.json", stages: [{namespace: staging, replicas: 1}, {namespace: production, replicas: 3}]}}`,
	`{apiVersion: examples.operkit.dev/v1, kind: Database, metadata: {name: hello}, spec: {storage: 1Gi, archive: archive, backup: {schedule: 0 3 * * *}}}`,
	`{apiVersion: oper8.org/v1, kind: TemporaryPatch, metadata: {name: hello}, spec: {apiVersion: v1, kind: Shop, name: tea, patchType: strategic, patch: {a: b}}}`,
}

func TestRealDefinitions(t *testing.T) {
	trial := newTrial(t.Context())
	defer trial.end()
	o, err := newOptions([]Option{Definitions("testdata/real", "testdata/crd"), Samples("testdata/samples")})
	require.NoError(t, err)
	h := explorerOf(t, of(sound), o, startSessions).start(trial, func() {})
	for _, text := range realSamples {
		sample := &unstructured.Unstructured{Object: object("%s", text)}
		possible := accepted(h, sample)
		all := edits(sample, definitionsOf(h))
		t.Logf("%d of %d edits of %s: %s", len(possible), len(all), sample.GetKind(), strings.Join(namesOf(possible), "; "))
		t.Run("explore 20: the cluster accepts each edit of a "+sample.GetKind(), func(t *testing.T) {
			require.NotEmpty(t, possible)
			for _, by := range all {
				after := sample.DeepCopy()
				by.do(after)
				assert.NoError(t, tried(h, after), by.name)
			}
		})
		t.Run("explore 24: names of edits of a "+sample.GetKind()+" are unique and short", func(t *testing.T) {
			seen := namesOf(all)
			for _, name := range seen {
				assert.LessOrEqual(t, len([]rune(name)), longestName, name)
			}
			slices.Sort(seen)
			assert.Equal(t, slices.Compact(slices.Clone(seen)), seen)
		})
		fields := fieldsOf(schemaOf(sample, definitionsOf(h)))
		for _, by := range all {
			assert.Subset(t, fields, by.paths, by.name)
		}
	}
}

func tried(h *reconciletest.Harness, obj *unstructured.Unstructured) error {
	if err := h.TryApply(obj); err != nil {
		return err
	}
	return h.TryDelete(nameOf(obj))
}

func TestOrder(t *testing.T) {
	o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples", "testdata/second")})
	require.NoError(t, err)
	all, err := explorerOf(t, of(sound), o, startSessions).lives()
	require.NoError(t, err)
	var got []string
	for _, l := range all {
		got = append(got, strings.TrimPrefix(l.name, "Shop.explore.operkit.dev "))
	}
	t.Run("explore 24: samples, one edit of each field, edges, two fields, and fields that another sample has changed", func(t *testing.T) {
		assert.Equal(t, []string{
			"tea", "coffee",
			`tea with spec.colour: "red"`, "tea with spec.open: true", `tea with spec.sign: "teax"`, "tea with spec.size: 3",
		}, got[:6])
		assert.Equal(t, []string{"tea", `tea with spec.sign left out`}, []string{got[0], got[6]})
		t.Log(strings.Join(got, "\n"))
	})
}
