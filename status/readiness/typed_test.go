package readiness_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

// widget is a typed object.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Replicas *int32 `json:"replicas,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Replicas           int32              `json:"replicas,omitempty"`
		ReadyReplicas      int32              `json:"readyReplicas,omitempty"`
		UpdatedReplicas    int32              `json:"updatedReplicas,omitempty"`
		Phase              string             `json:"phase,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

func TestTyped(t *testing.T) {
	t.Parallel()
	typed := func(apiVersion, kind string, change func(*widget)) *widget {
		w := &widget{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns", Generation: 2}}
		change(w)
		return w
	}
	two, deleted := int32(2), metav1.NewTime(noon)
	for _, c := range []struct {
		reason string
		object *widget
		state  readiness.State
		why    string
	}{
		{"a row of the table", typed("apps/v1", "StatefulSet", func(w *widget) { w.Spec.Replicas = &two; w.Status.ObservedGeneration = 2 }), readiness.InProgress, "LessReplicas"},
		{"which is ready", typed("apps/v1", "StatefulSet", func(w *widget) {
			w.Spec.Replicas, w.Status.ObservedGeneration = &two, 2
			w.Status.Replicas, w.Status.ReadyReplicas, w.Status.UpdatedReplicas = 2, 2, 2
		}), readiness.Ready, "Replicas"},
		{"a condition", typed("example.com/v1", "Widget", func(w *widget) {
			w.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Waits"}}
		}), readiness.InProgress, "Waits"},
		{"a condition of an older generation", typed("example.com/v1", "Widget", func(w *widget) {
			w.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "R", ObservedGeneration: 1}}
		}), readiness.InProgress, "ConditionOutdated"},
		{"being deleted", typed("example.com/v1", "Widget", func(w *widget) { w.DeletionTimestamp = &deleted }), readiness.Terminating, "Terminating"},
		{"an old generation", typed("example.com/v1", "Widget", func(w *widget) { w.Status.ObservedGeneration = 1 }), readiness.InProgress, "LatestGenerationNotObserved"},
		{"no kind, and none that the type tells", typed("", "", func(*widget) {}), readiness.Unknown, "KindMissing"},
		{"no apiVersion", typed("", "Deployment", func(*widget) {}), readiness.Unknown, "APIVersionMissing"},
		{"nil", nil, readiness.NotFound, "NotFound"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(c.object)
			assert.Equal(t, []string{string(c.state), c.why}, []string{string(result.State), result.Reason}, "%+v", result)
			if c.object != nil {
				assert.Equal(t, "w", result.Object.Name)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	w := &widget{ObjectMeta: metav1.ObjectMeta{Name: "w"}}
	w.Status.Phase = "Idle"
	w.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Waits"}}
	kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	checker := readiness.Checker{KindOf: func(object any) schema.GroupKind {
		if object == any(w) {
			return kind
		}
		return schema.GroupKind{}
	}}
	assert.Equal(t, "Waits", checker.Of(w).Reason)
	assert.Equal(t, "Widget", checker.Of(w).Object.Kind)
	w.Kind = "Gadget"
	assert.Equal(t, "Widget", checker.Of(w).Object.Kind, "a kind without an apiVersion names none")
	w.Kind = ""
	assert.Equal(t, "KindMissing", checker.Of(&widget{}).Reason, "it doesn't know either")
	checker.Registry = readiness.Registry{}.With(kind, readiness.Expectation{Fields: []readiness.Field{{Path: ".status.phase", Ready: []any{"Idle"}}}})
	assert.Equal(t, readiness.Ready, checker.Of(w).State)
}

func TestTypedExpectation(t *testing.T) {
	t.Parallel()
	w := &widget{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"tier": "gold"}}}
	w.Status.Phase = "Idle"
	var seen map[string]any
	checker := expecting("example.com", "Widget", readiness.Expectation{Fields: []readiness.Field{{Path: ".status.phase", Ready: []any{"Idle"}}, {Path: ".metadata.labels.tier", Ready: []any{"gold"}}}})
	assert.Equal(t, readiness.Ready, checker.Of(w).State)
	checker = expecting("example.com", "Widget", readiness.Expectation{Func: func(now time.Time, object map[string]any) readiness.Result {
		seen = object
		return readiness.Result{State: readiness.Failed}
	}})
	assert.Equal(t, readiness.Failed, checker.At(noon, w).State)
	tier, _, err := unstructured.NestedString(seen, "metadata", "labels", "tier")
	require.NoError(t, err)
	assert.Equal(t, "gold", tier, "a function sees the whole object")
}

// refusing can't be encoded.
type refusing struct{ metav1.TypeMeta }

func (refusing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

func TestTypedThatCantBeEncoded(t *testing.T) {
	t.Parallel()
	checker := expecting("example.com", "Widget", readiness.Expectation{Fields: []readiness.Field{{Path: ".status.phase"}}})
	result := checker.Of(&refusing{metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}})
	assert.Equal(t, "FieldMissing", result.Reason, "%+v", result)
}

// wrapper gives an unstructured object methods of its own.
type wrapper struct{ unstructured.Unstructured }

func TestWrappers(t *testing.T) {
	t.Parallel()
	w := &wrapper{unstructured.Unstructured{Object: document(t, `{"apiVersion":"example.com/v1","kind":"Widget","status":{"conditions":[{"type":"Ready","status":"True","reason":"Up"}]}}`)}}
	assert.Equal(t, "Up", readiness.Of(w).Reason)
	assert.Equal(t, readiness.NotFound, readiness.Of(&wrapper{}).State)
	assert.Equal(t, readiness.NotFound, readiness.Of((*wrapper)(nil)).State)
	result := readiness.Of(&struct{ Note string }{"x"})
	assert.Equal(t, []string{"Unknown", "TypeUnknown"}, []string{string(result.State), result.Reason}, "a struct that is no object")
}

func TestNoAPIVersion(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ text, want string }{
		"it could be of any group":        {`{"kind":"Deployment","spec":{"replicas":3}}`, "APIVersionMissing"},
		"the group without a name":        {`{"apiVersion":"v1","kind":"Deployment"}`, "Present"},
		"no text":                         {`{"apiVersion":7,"kind":"Deployment"}`, "APIVersionMissing"},
		"what all kinds share goes first": {`{"kind":"Deployment","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Terminating"},
	} {
		assert.Equal(t, c.want, readiness.Of(document(t, c.text)).Reason, reason)
	}
	w := &widget{TypeMeta: metav1.TypeMeta{Kind: "Deployment"}}
	checker := expecting("", "Deployment", readiness.Expectation{SetsReady: true})
	assert.Equal(t, readiness.Unknown, checker.Of(w).State, "and nothing of the Registry is about it")
}

func TestOtherForms(t *testing.T) {
	t.Parallel()
	assert.Equal(t, readiness.Ready, readiness.Of(map[string]any{"apiVersion": "v1", "kind": "Secret"}).State)
	for reason, object := range map[string]any{
		"nil": nil, "a nil map": map[string]any(nil), "an empty map": map[string]any{},
		"a nil unstructured object": (*unstructured.Unstructured)(nil), "an empty one": &unstructured.Unstructured{},
	} {
		assert.Equal(t, readiness.NotFound, readiness.Of(object).State, reason)
	}
	for reason, object := range map[string]any{"a struct by value": widget{}, "a number": 7, "a list": []any{}, "a pointer to text": new(string)} {
		assert.Equal(t, "TypeUnknown", readiness.Of(object).Reason, reason)
	}
}
