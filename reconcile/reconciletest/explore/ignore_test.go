package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resuming has a condition that each process of the operator writes once.
func resuming(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	if m.resumed && len(conditions) > 0 {
		return nil
	}
	m.resumed = true
	return m.patch(ctx, resource, "status", fmt.Sprintf(
		`{"status":{"conditions":[{"type":"Resumed","status":"True","reason":"Started","message":"at %s","lastTransitionTime":"2030-01-02T03:04:05Z"}]}}`, m.env.Now()))
}

func TestIgnore(t *testing.T) {
	for _, row := range []struct {
		what, pattern, says string
		reconcile           reconciling
	}{
		{"a field", "Shop * status.conditions[Resumed]", "writes after a restart though nothing has changed", then(careful, resuming)},
		{"an object", "ConfigMap till", "ConfigMap test/till isn't there", blind},
		{"what others add", "ConfigMap * metadata.annotations", "removes what others add", then(replacing, careful)},
		{"an object of others", "ConfigMap test/oth*", "ConfigMap test/others: it is deleted", then(careful, takingAway)},
	} {
		t.Run("explore 35: "+row.what+" is ignored", func(t *testing.T) {
			r := explored(t, manually(row.reconcile), startDriven, Findings(1), others())
			require.Len(t, r.findings, 1)
			assert.Contains(t, r.findings[0].story(), row.says)
			r = explored(t, manually(row.reconcile), startDriven, States(r.visited+20), others(), Ignore(row.pattern))
			assert.Empty(t, r.findings, stories(r))
		})
	}
	for _, row := range []struct{ pattern, says string }{
		{"ConfigMap", "not a kind, a name and perhaps a field"},
		{"Shop tea status phase", "not a kind, a name and perhaps a field"},
		{"ConfigMap [", "syntax error in pattern"},
	} {
		_, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples"), Ignore(row.pattern)})
		assert.ErrorContains(t, err, fmt.Sprintf("ignore %q", row.pattern))
		assert.ErrorContains(t, err, row.says)
	}
}

func TestPatterns(t *testing.T) {
	till := deploy.Ref{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "test", Name: "till"}
	for pattern, means := range map[string]bool{
		"Deployment till": true, "Deployment.apps test/till": true, "Deployment t*": true, "Deployment */till": true,
		"Deployment tills": false, "Deployment other/till": false, "Deployment.batch till": false, "StatefulSet till": false,
	} {
		p, err := parseException(pattern)
		require.NoError(t, err)
		t.Run("explore 35: "+pattern, func(t *testing.T) { assert.Equal(t, means, p.means(till)) })
	}
}

func TestIgnoredFields(t *testing.T) {
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {operkit.dev/b: c}}, status: {phase: d, conditions: [{type: E, status: 'True'}]}}"
	for field, left := range map[string]string{
		"status.phase":                        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {operkit.dev/b: c}}, status: {conditions: [{type: E, status: 'True'}]}}",
		"status.conditions[E]":                "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {operkit.dev/b: c}}, status: {phase: d}}",
		"status.conditions[E].status":         "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {operkit.dev/b: c}}, status: {phase: d, conditions: [{type: E}]}}",
		"status":                              "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {operkit.dev/b: c}}}",
		"metadata.annotations[operkit.dev/b]": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, status: {phase: d, conditions: [{type: E, status: 'True'}]}}",
		"spec.absent":                         text,
	} {
		t.Run("explore 35: "+field, func(t *testing.T) {
			o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples"), Ignore("ConfigMap * " + field)})
			require.NoError(t, err)
			judged := o.judged([]*unstructured.Unstructured{{Object: object(text)}})
			assert.Equal(t, object("%s", left), judged[0].Object)
		})
	}
	content := object(text)
	t.Run("explore 35: an index names the element", func(t *testing.T) {
		assert.Equal(t, []string{"status", "conditions", "E", "status"}, namesIn(".status.conditions[0].status", content))
		assert.Equal(t, []string{"status", "conditions", "E", "status"}, namesIn(`.status.conditions[type="E"].status`, content))
		assert.Equal(t, []string{"status", "conditions", "7"}, namesIn(".status.conditions[7]", content))
	})
}
