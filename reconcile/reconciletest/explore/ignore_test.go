package explore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
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

// opening writes a condition without a reason, whose time moves with each edit.
func opening(m *manual, resource *unstructured.Unstructured) string {
	generation := resource.GetGeneration()
	if said, _, _ := unstructured.NestedString(resource.Object, "status", "text"); generation == generationIn(resource) {
		return said
	}
	at := m.env.Now().Truncate(time.Second).Add(time.Duration(generation) * time.Hour).Format(time.RFC3339)
	return fmt.Sprintf(`"observedGeneration":%d,"conditions":[{"type":"Open","status":"True","lastTransitionTime":%q}]`, generation, at)
}

// What is ignored is out of each oracle.
func TestIgnoredByOracles(t *testing.T) {
	later := trying(func(m *manual) bool { return m.env.Now().Hour() > 3 })
	for _, row := range []struct {
		oracle, says string
		reconcile    reconciling
		patterns     []string
	}{
		{"a missing reason and a moving time", "status.conditions[Open].reason: it is missing", then(careful, reporting(opening)),
			[]string{"Shop * status.conditions[Open].reason", "Shop * status.conditions[Open].lastTransitionTime"}},
		{"a missing time", "status.conditions[Open].reason: it is missing", then(careful, reporting(opening)), []string{"Shop * status.conditions[Open]"}},
		{"an old generation", "status.observedGeneration: it is 1", then(careful, reporting(func(*manual, *unstructured.Unstructured) string {
			return `"observedGeneration":1`
		})), []string{"Shop * status.observedGeneration"}},
		{"writes that differ", "create ConfigMap test/try: sent 0 times", then(later, careful), []string{"ConfigMap try"}},
		{"a workload", "Deployment test/till isn't", early, []string{"Deployment till"}},
		{"the status of a workload", "Deployment test/till isn't", early, []string{"Deployment till status"}},
		{"the condition Ready", "Deployment test/till isn't", early, []string{"Shop * status.conditions[Ready]"}},
	} {
		t.Run("explore 35: an oracle leaves out what is ignored: "+row.oracle, func(t *testing.T) {
			operator := byHand(row.reconcile, "Deployment")
			r := operator.explore(t, false, Findings(1))
			require.Len(t, r.findings, 1)
			assert.Contains(t, r.findings[0].story(), row.says)
			r = operator.explore(t, false, States(r.visited+40), Ignore(row.patterns...))
			assert.Empty(t, r.findings, stories(r))
		})
	}
}

func TestIgnoredWrites(t *testing.T) {
	till := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "test", Name: "till"}
	o, err := newOptions([]Option{Definitions("x"), Samples("x"), Ignore("ConfigMap * data.at", "ConfigMap * data[b.c]")})
	require.NoError(t, err)
	at, other := deploy.Change{Path: ".data.at", Before: "a", After: "b"}, deploy.Change{Path: ".data.size", Before: "1", After: "2"}
	hash := deploy.Change{Path: ".metadata.annotations.operkit.dev/applied-manual", Before: "x", After: "y"}
	for _, row := range []struct {
		reason          string
		changes, judged []deploy.Change
	}{
		{"only an ignored field", []deploy.Change{at}, nil},
		{"and the hash of it", []deploy.Change{at, hash}, nil},
		{"another field, too", []deploy.Change{at, other}, []deploy.Change{other}},
		{"the field comes with what is around it", []deploy.Change{{Path: ".data", After: map[string]any{"at": "a", "b.c": "d"}}}, nil},
		{"something else comes with it", []deploy.Change{{Path: ".data", After: map[string]any{"a": "a"}}}, []deploy.Change{{Path: ".data", After: map[string]any{"a": "a"}}}},
		{"a name with a dot", []deploy.Change{{Path: ".data.b.c", Before: "a"}}, nil},
		{"only the hash", []deploy.Change{hash}, []deploy.Change{hash}},
	} {
		t.Run("explore 35: a write of "+row.reason, func(t *testing.T) {
			calls := o.judgedCalls([]reconciletest.Call{{Verb: "patch", Ref: till, Changes: row.changes}})
			if row.judged == nil {
				assert.Empty(t, calls)
				return
			}
			require.Len(t, calls, 1)
			assert.Equal(t, row.judged, calls[0].Changes)
		})
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
	t.Run("explore 35: names of elements are part of the way", func(t *testing.T) {
		for _, path := range []string{"status.conditions[E].status", `.status.conditions[type="E"].status`} {
			assert.Equal(t, []string{"status", "conditions", "E", "status"}, namesIn(path))
		}
	})
}
