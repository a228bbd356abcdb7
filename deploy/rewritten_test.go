package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRewritten(t *testing.T) {
	t.Parallel()
	settingsOurs := settings(t, "{a: ours, b: ours}")
	podOurs := web(t, `{replicas: 1, template: {spec: {containers: [{name: web, image: ours, env: [{name: A, value: ""}], resources: {requests: {cpu: 1000m}}}]}}}`)
	for name, row := range map[string]struct {
		obj     *unstructured.Unstructured
		options []deploy.Option
		// admits changes what is written.
		admits func(next *unstructured.Unstructured)
		want   []string
	}{
		"nothing": {settingsOurs, nil, func(*unstructured.Unstructured) {}, nil},
		"a value is changed": {settingsOurs, nil, func(next *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(next.Object, "theirs", "data", "a")
		}, []string{`.data.a: "ours" -> "theirs"`}},
		"a value is taken away": {settingsOurs, nil, func(next *unstructured.Unstructured) {
			unstructured.RemoveNestedField(next.Object, "data", "b")
		}, []string{`.data.b: "ours" -> none`}},
		"what is added isn't ours": {settingsOurs, nil, func(next *unstructured.Unstructured) {
			next.SetLabels(map[string]string{"injected": "yes"})
			_ = unstructured.SetNestedField(next.Object, "theirs", "data", "c")
		}, nil},
		"another form of a value is the same": {podOurs, nil, func(next *unstructured.Unstructured) {
			containers, _, _ := unstructured.NestedSlice(next.Object, "spec", "template", "spec", "containers")
			containers[0].(map[string]any)["resources"] = map[string]any{"requests": map[string]any{"cpu": "1"}}
			containers[0].(map[string]any)["env"] = []any{map[string]any{"name": "A"}}
			_ = unstructured.SetNestedSlice(next.Object, containers, "spec", "template", "spec", "containers")
		}, nil},
		"a value in a list": {podOurs, nil, func(next *unstructured.Unstructured) {
			containers, _, _ := unstructured.NestedSlice(next.Object, "spec", "template", "spec", "containers")
			containers[0].(map[string]any)["image"] = "mirror/ours"
			_ = unstructured.SetNestedSlice(next.Object, containers, "spec", "template", "spec", "containers")
		}, []string{`.spec.template.spec.containers[0].image: "ours" -> "mirror/ours"`}},
		"of what is created by a creation": {settingsOurs, []deploy.Option{deploy.DefaultStrategy(deploy.CreateOnly)}, func(next *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(next.Object, "theirs", "data", "a")
		}, []string{`.data.a: "ours" -> "theirs"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Admit(func(_ dryrun.AdmissionRequest, _, next *unstructured.Unstructured) error {
				row.admits(next)
				return nil
			}))
			require.NoError(t, err)
			cluster := &recording{Cluster: memory, memory: memory, shown: newShown(t)}
			m := must(deploy.NewManager(cluster))
			result := apply(t, m, row.obj, row.options...)
			var got []string
			for _, change := range result.Rewritten {
				got = append(got, change.String())
			}
			assert.Equal(t, row.want, got)
			cluster.take()
			again := apply(t, m, row.obj, row.options...)
			assert.Empty(t, again.Rewritten)
			assert.Empty(t, cluster.take(), "what is unchanged costs nothing")
		})
	}
}
