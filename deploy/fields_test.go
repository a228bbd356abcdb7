package deploy_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestFieldsOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, object, path, want string }{
		{"a text", "{status: {phase: Running}}", "status.phase", "Running"},
		{"a number", "{spec: {replicas: 3}}", "spec.replicas", "3"},
		{"a switch", "{spec: {paused: true}}", "spec.paused", "true"},
		{"what isn't there", "{spec: {}}", "spec.replicas", ""},
		{"what can't be there", "{spec: text}", "spec.replicas", ""},
		{"a map has no text", "{spec: {a: b}}", "spec", ""},
		{"nor has a list", "{spec: [a]}", "spec", ""},
		{"nor nothing", "{spec: null}", "spec", ""},
		{"no path", "{spec: a}", "", ""},
		{"a server knows its own zero values", "{apiVersion: v1, kind: Node}", "spec.unschedulable", "false"},
		{"of that kind only", "{apiVersion: v1, kind: Pod}", "spec.unschedulable", ""},
		{"what is there counts", "{apiVersion: v1, kind: Node, spec: {unschedulable: true}}", "spec.unschedulable", "true"},
		{"a name that isn't the field's", "{apiVersion: batch/v1, kind: Job, status: {succeeded: 2}}", "status.successful", "2"},
		{"in any version", "{apiVersion: batch/v2, kind: Job}", "status.successful", "0"},
		{"the second of two", "{apiVersion: v1, kind: Event, source: {}, reportingComponent: kubectl}", "source", "kubectl"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			obj := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(row.object), &obj.Object))
			got := deploy.FieldsOf(obj)
			assert.Equal(t, row.want, got.Get(row.path))
			assert.Equal(t, row.want != "", got.Has(row.path))
		})
	}
}

func ExampleFieldsOf() {
	node := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "north"},
	}}
	fields := deploy.FieldsOf(node)
	fmt.Println(fields.Get("metadata.name"), fields.Get("spec.unschedulable"))
	// Output: north false
}
