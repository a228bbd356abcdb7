package changes_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest/internal/changes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func content(t *testing.T, text string) (content map[string]any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), &content))
	return content
}

func TestBetween(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before, after string
		want          []string
	}{
		"a condition by its type": {
			"status: {conditions: [{type: Open, status: 'True'}, {type: Ready, status: 'True'}]}",
			"status: {conditions: [{type: Ready, status: 'False'}, {type: Open, status: 'True'}]}",
			[]string{`.status.conditions[type="Ready"].status: "True" -> "False"`},
		},
		"by the name, also in other lists": {
			"spec: {containers: [{name: a, env: [{name: B, value: c}]}]}", "spec: {containers: [{name: a, env: [{name: B, value: d}]}]}",
			[]string{`.spec.containers[name="a"].env[name="B"].value: "c" -> "d"`},
		},
		"another order": {
			"spec: {env: [{name: A}, {name: B}]}", "spec: {env: [{name: B}, {name: A}]}",
			[]string{`.spec.env: [{"name":"A"},{"name":"B"}] -> [{"name":"B"},{"name":"A"}]`},
		},
		"a name twice: by index": {
			"spec: {env: [{name: A, value: a}, {name: A, value: b}]}", "spec: {env: [{name: A, value: a}, {name: A, value: c}]}",
			[]string{`.spec.env[1].value: "b" -> "c"`},
		},
		"without a name: by index": {"spec: {env: [{a: b}]}", "spec: {env: [{a: c}]}", []string{`.spec.env[0].a: "b" -> "c"`}},
		"metadata stays": {
			"{metadata: {name: a}, spec: {env: [{name: A}]}}", "{metadata: {name: a, labels: {b: c}}, spec: {env: [{name: A}]}}",
			[]string{`.metadata.labels: none -> {"b":"c"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := content(t, row.before), content(t, row.after)
			var got []string
			for _, change := range changes.Between(before, after) {
				got = append(got, change.String())
			}
			assert.Equal(t, row.want, got)
			assert.Equal(t, content(t, row.before), before, "it is left alone")
		})
	}
}

func TestSorted(t *testing.T) {
	t.Parallel()
	list := content(t, "a: [{type: B}, {type: A}]")["a"].([]any)
	assert.Equal(t, content(t, "a: [{type: A}, {type: B}]")["a"], changes.Sorted(list))
	list = content(t, "a: [{type: B}, {type: A}, {type: A}]")["a"].([]any)
	assert.Equal(t, list, changes.Sorted(list))
}
