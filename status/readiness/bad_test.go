package readiness_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status/readiness"
)

// judged are the kinds that bad input is given to: those with rows of their
// own, one that is there, one that nobody knows.
var judged = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"}, {Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Version: "v1", Kind: "Pod"}, {Group: "batch", Version: "v1", Kind: "Job"}, {Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "PersistentVolume"}, {Version: "v1", Kind: "Service"}, {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, {Version: "v1", Kind: "Namespace"},
	{Version: "v1", Kind: "Node"}, {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Version: "v1", Kind: "ConfigMap"}, {Group: "example.com", Version: "v1", Kind: "Widget"},
}

// badParts are contents of objects that somebody wrote wrongly.
var badParts = []string{
	`"status":null`, `"status":[]`, `"status":"x"`, `"status":7`, `"spec":[],"metadata":"x"`,
	`"status":{"conditions":null}`, `"status":{"conditions":{}}`, `"status":{"conditions":"x"}`,
	`"status":{"conditions":[null,1,"x",[],{},{"type":7},{"status":"True"}]}`,
	`"status":{"conditions":[{"type":"Ready","status":"Yes"},{"type":"Available","status":1},{"type":"Complete"}]}`,
	`"status":{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"noon"},{"type":"Ready","status":"False","lastTransitionTime":"9999-12-31T23:59:59-01:00"}]}`,
	`"metadata":{"generation":"1","creationTimestamp":7,"deletionTimestamp":""},"status":{"observedGeneration":"2"}`,
	`"metadata":{"generation":-1},"spec":{"replicas":"3"},"status":{"observedGeneration":-1,"replicas":"3","readyReplicas":-1}`,
	`"metadata":{"generation":1e300},"spec":{"replicas":1.5},"status":{"observedGeneration":0.5,"phase":7,"containerStatuses":{"a":1}}`,
	`"spec":{"replicas":-1,"updateStrategy":"x","type":7},"status":{"phase":{},"containerStatuses":[null,{"state":[]}],"loadBalancer":{"ingress":[7]}}`,
}

func TestBadObjects(t *testing.T) {
	t.Parallel()
	for _, kind := range judged {
		for _, part := range badParts {
			text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s}`, kind.GroupVersion(), kind.Kind, part)
			t.Run(text, func(t *testing.T) {
				t.Parallel()
				var integers, floats map[string]any
				require.NoError(t, utiljson.Unmarshal([]byte(text), &integers))
				require.NoError(t, json.Unmarshal([]byte(text), &floats))
				before := runtime.DeepCopyJSON(integers)
				result := readiness.Checker{ContainerGrace: time.Second}.At(noon, integers)
				assert.Contains(t, states, result.State)
				assert.NotEqual(t, readiness.Failed, result.State, "what is missing is no failure: %+v", result)
				assert.NotEmpty(t, result.Reason)
				assert.NotEmpty(t, result.Message)
				assert.Equal(t, result, readiness.Checker{ContainerGrace: time.Second}.At(noon, floats), "float64 makes no difference")
				assert.Equal(t, before, integers, "nothing is mutated")
			})
		}
	}
	for _, part := range badParts {
		t.Run("no kind: "+part, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(&unstructured.Unstructured{Object: document(t, `{"apiVersion":"v1",`+part+`}`)})
			assert.Equal(t, readiness.Unknown, result.State)
			assert.Equal(t, "KindMissing", result.Reason)
		})
	}
}

var states = []readiness.State{readiness.Ready, readiness.InProgress, readiness.Failed, readiness.Terminating, readiness.NotFound, readiness.Unknown}

func document(t *testing.T, text string) map[string]any {
	t.Helper()
	var result map[string]any
	require.NoError(t, utiljson.Unmarshal([]byte(text), &result))
	return result
}

func TestTenThousandConditions(t *testing.T) {
	t.Parallel()
	for _, kind := range judged {
		list := make([]any, 10_000)
		for i := range list {
			list[i] = map[string]any{"type": fmt.Sprintf("NamespaceContent%d", i), "status": "True", "message": strings.Repeat("m", 100)}
		}
		object := map[string]any{
			"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind,
			"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": map[string]any{"conditions": list},
		}
		begin := time.Now()
		result := readiness.Of(object)
		assert.Equal(t, readiness.Terminating, result.State)
		assert.Less(t, len(result.Message), 1000, "not every one is repeated")
		assert.Less(t, time.Since(begin), 5*time.Second, "one look for each condition takes longer")
	}
}

// TestConcurrently is for the race detector: a Checker, its Registry and the
// objects are only read, and a Registry grows by making another one.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	base := readiness.Registry{}.With(kind, readiness.Expectation{Condition: &readiness.Condition{Type: "Up"}, Fields: []readiness.Field{{Path: ".status.phase", Ready: []any{"Idle"}}}})
	checker := readiness.Checker{Registry: base}
	object := document(t, `{"apiVersion":"example.com/v1","kind":"Widget","status":{"phase":"Idle","conditions":[{"type":"Up","status":"True"}]}}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			mine := checker
			for range 100 {
				assert.True(t, mine.Of(object).Ready())
				mine.Registry = mine.Registry.With(kind, readiness.Expectation{SetsReady: true})
				assert.Equal(t, readiness.InProgress, mine.Of(object).State)
				mine = checker
				assert.NoError(t, mine.Registry.Validate())
			}
		})
	}
	group.Wait()
	assert.Len(t, base, 1)
	assert.True(t, checker.Of(object).Ready(), "the first one says what it said")
}

// TestAllInAnyOrder gives the same results in many orders, and expects the same
// answer.
func TestAllInAnyOrder(t *testing.T) {
	t.Parallel()
	var results []readiness.Result
	for i, state := range append(states, states...) {
		results = append(results, readiness.Result{State: state, Message: fmt.Sprint("m", i), Object: readiness.Object{Kind: "Pod", Name: fmt.Sprint("p", i%3)}})
	}
	want := readiness.All(results...)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		given := append([]readiness.Result(nil), results...)
		random.Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
		before := append([]readiness.Result(nil), given...)
		require.Equal(t, want, readiness.All(given...))
		require.Equal(t, before, given, "the results aren't sorted in place")
	}
}

// TestNumbers decodes numbers in other ways than Kubernetes does.
func TestNumbers(t *testing.T) {
	t.Parallel()
	numbers := func(t *testing.T, text string) map[string]any {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var object map[string]any
		require.NoError(t, decoder.Decode(&object))
		return object
	}
	const three = `"status":{"observedGeneration":5,"replicas":3,"readyReplicas":3,"availableReplicas":3,"updatedReplicas":3,"fullyLabeledReplicas":3}`
	for _, c := range []struct{ reason, text, want string }{
		{"status 24: an older generation is observed", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":5},"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}}`, "LatestGenerationNotObserved"},
		{"status 24: a condition of an older one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":5},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":4}]}}`, "ConditionOutdated"},
		{"replicas that are all there", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"generation":5},"spec":{"replicas":3.0},` + three + `}`, "Replicas"},
		{"and less of them", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"generation":5},"spec":{"replicas":4},` + three + `}`, "LessLabeled"},
		{"a wanted number as text isn't the default", `{"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"replicas":"3"},` + three + `}`, "NumberUnreadable"},
		{"of a Deployment", `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":{}},` + three + `}`, "NumberUnreadable"},
		{"of a StatefulSet, with a fraction", `{"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"replicas":1.5},` + three + `}`, "NumberUnreadable"},
		{"its seconds", `{"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"replicas":3,"minReadySeconds":"9"},` + three + `}`, "NumberUnreadable"},
		{"null is the default", `{"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"replicas":null},` + three + `}`, "ExtraReplicas"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			for _, object := range []map[string]any{document(t, c.text), numbers(t, c.text)} {
				result := readiness.Of(object)
				assert.Equal(t, c.want, result.Reason, "%+v", result)
				assert.Equal(t, c.want == "NumberUnreadable", result.State == readiness.Unknown)
			}
		})
	}
}
