package readiness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/readiness"
)

func TestNotFound(t *testing.T) {
	t.Parallel()
	for name, object := range map[string]*unstructured.Unstructured{
		"status 24: nil is not found":      nil,
		"status 16: without content":       {},
		"status 16: with an empty content": {Object: map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(object)
			assert.Equal(t, readiness.NotFound, result.State)
			assert.Equal(t, "NotFound", result.Reason)
		})
	}
}

// TestCommon proves the order of the checks on a kind that is ready otherwise.
func TestCommon(t *testing.T) {
	t.Parallel()
	check := func(name, metadata, status string, state readiness.State, reason string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []struct{ apiVersion, kind string }{{"v1", "ConfigMap"}, {"example.com/v1", "Widget"}} {
				result := readiness.Of(build(t, kind.apiVersion, kind.kind, cell{metadata: metadata, status: status}, decodeIntegers))
				assert.Equal(t, state, result.State, "%s: %+v", kind.kind, result)
				assert.Equal(t, reason, result.Reason, kind.kind)
			}
		})
	}
	stalled, reconciling := is("Stalled", "True", "Broken"), is("Reconciling", "True", "Busy")
	check("status 24: Terminating comes before everything", `{"generation":2,"deletionTimestamp":"2026-05-06T11:00:00Z"}`, conditions(`"observedGeneration":1`, stalled), readiness.Terminating, "Terminating")
	check("status 24: a null deletion timestamp is none", `{"deletionTimestamp":null}`, `{}`, readiness.Ready, "Present")
	check("status 24: the generation comes before Stalled", second, conditions(`"observedGeneration":1`, stalled), readiness.InProgress, "LatestGenerationNotObserved")
	check("status 24: a newer observed generation differs as well", second, `{"observedGeneration":3}`, readiness.InProgress, "LatestGenerationNotObserved")
	check("status 24: one of the generations is absent", `{}`, `{"observedGeneration":3}`, readiness.Ready, "Present")
	check("status 24: generations of other shapes are absent", `{"generation":"2"}`, `{"observedGeneration":3}`, readiness.Ready, "Present")
	check("status 24: Stalled", second, conditions("", stalled), readiness.Failed, "Broken")
	check("status 24: Stalled wins over Reconciling, listed last", second, conditions("", reconciling, stalled), readiness.Failed, "Broken")
	check("status 24: Stalled wins over Reconciling, listed first", second, conditions("", stalled, reconciling), readiness.Failed, "Broken")
	check("status 24: Reconciling", second, conditions("", reconciling), readiness.InProgress, "Busy")
	check("status 24: both False", second, conditions("", is("Stalled", "False", "X"), is("Reconciling", "False", "X")), readiness.Ready, "Present")
	check("status 24: a Stalled of an older generation stands", second, conditions("", old("Stalled", "Broken")), readiness.Failed, "Broken")
	check("status 24: a Reconciling of an older generation stands", second, conditions("", old("Reconciling", "Busy")), readiness.InProgress, "Busy")
	check("status 20: a status without case", second, conditions("", is("Stalled", "tRUE", "Broken")), readiness.Failed, "Broken")
	check("status 20: a boolean", second, conditions("", `{"type":"Stalled","status":true}`), readiness.Failed, "Stalled")
	check("status 19: the newest entry of a type decides", second, conditions("",
		`{"type":"Stalled","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}`,
		`{"type":"Stalled","status":"False","lastTransitionTime":"2024-02-01T00:00:00Z"}`), readiness.Ready, "Present")
	check("status null", second, `null`, readiness.Ready, "Present")
	check("status a list", second, `[1]`, readiness.Ready, "Present")
	check("status a string", second, `"Ready"`, readiness.Ready, "Present")
	check("conditions a map", second, `{"conditions":{"Stalled":"True"}}`, readiness.Ready, "Present")
	check("elements that are no maps", second, `{"conditions":[null,1,[],"Stalled"]}`, readiness.Ready, "Present")
	check("metadata null", `null`, `{}`, readiness.Ready, "Present")
}

func TestKindsAndGroups(t *testing.T) {
	t.Parallel()
	t.Run("an object without kind is Unknown", func(t *testing.T) {
		t.Parallel()
		result := readiness.Of(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}}})
		assert.Equal(t, readiness.Unknown, result.State)
		assert.Equal(t, "KindMissing", result.Reason)
	})
	for _, apiVersion := range []string{"apps/v1", "apps/v1beta2", "apps/v2"} {
		t.Run("status 25: any version, "+apiVersion, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(build(t, apiVersion, "Deployment", cell{}, decodeIntegers))
			assert.Equal(t, "ObservedGenerationMissing", result.Reason)
		})
	}
	for _, c := range []struct{ apiVersion, kind string }{
		{"example.com/v1", "Deployment"}, {"example.com/v1", "Pod"}, {"v1", "Deployment"}, {"serving.knative.dev/v1", "Service"}, {"custom.io/v1", "Job"},
	} {
		t.Run("status W15: a kind counts with its group, "+c.apiVersion+" "+c.kind, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, readiness.Ready, readiness.Of(build(t, c.apiVersion, c.kind, cell{}, decodeIntegers)).State)
			notReady := cell{status: conditions("", is("Ready", "False", "Waits"))}
			assert.Equal(t, "Waits", readiness.Of(build(t, c.apiVersion, c.kind, notReady, decodeIntegers)).Reason)
		})
	}
}

func TestGeneric(t *testing.T) {
	setsReady := readiness.Checker{Registry: readiness.Registry{{Group: "example.com", Kind: "Widget"}: {SetsReady: true}}}
	progressing := is("Progressing", "True", "Busy")
	run(t, "example.com/v1", "Widget", []cell{
		{name: "status 26: nothing known", state: readiness.Ready, reason: "Present"},
		{name: "status 26: conditions that nobody knows", status: conditions("", is("Painted", "False", "X")), state: readiness.Ready, reason: "Present"},
		{name: "status 26: Failed", status: conditions("", is("Ready", "True", "R"), is("Failed", "True", "Broken")), state: readiness.Failed, reason: "Broken"},
		{name: "status 26: Failed of an older generation stands", metadata: second, status: conditions("", old("Failed", "Broken")), state: readiness.Failed, reason: "Broken"},
		{name: "status 26: Failed False", status: conditions("", is("Failed", "False", "X")), state: readiness.Ready, reason: "Present"},
		{name: "status 26: Stalled", status: conditions("", is("Ready", "True", "R"), is("Stalled", "True", "Stuck")), state: readiness.Failed, reason: "Stuck"},
		{name: "status 26: Failed comes before Progressing", status: conditions("", progressing, is("Failed", "True", "Broken")), state: readiness.Failed, reason: "Broken"},
		{name: "status 26: Reconciling", status: conditions("", is("Ready", "True", "R"), is("Reconciling", "True", "Busy")), state: readiness.InProgress, reason: "Busy"},
		{name: "status 26: Progressing", status: conditions("", progressing), state: readiness.InProgress, reason: "Busy"},
		{name: "status 26: Progressing while Ready is False", status: conditions("", is("Ready", "False", "X"), progressing), state: readiness.InProgress, reason: "Busy"},
		{name: "status 26: Progressing doesn't count beside Ready", status: conditions("", progressing, is("Ready", "True", "R")), state: readiness.Ready, reason: "R"},
		{name: "status 26: Progressing doesn't count beside Available", status: conditions("", progressing, is("Available", "True", "A")), state: readiness.Ready, reason: "A"},
		{name: "status 26: Progressing beside a True Available but Ready False", status: conditions("", progressing, is("Available", "True", "A"), is("Ready", "False", "R")), state: readiness.InProgress, reason: "R"},
		{name: "status 26: Ready", status: conditions("", is("Ready", "True", "R")), state: readiness.Ready, reason: "R"},
		{name: "status 26: Ready without words", status: conditions("", `{"type":"Ready","status":"True"}`), state: readiness.Ready, reason: "Ready"},
		{name: "status 26: Ready False", status: conditions("", is("Ready", "False", "R")), state: readiness.InProgress, reason: "R"},
		{name: "status 26: Ready Unknown", status: conditions("", is("Ready", "Unknown", "R")), state: readiness.InProgress, reason: "R"},
		{name: "status 20: Ready of another text", status: conditions("", `{"type":"Ready","status":"Yes"}`), state: readiness.InProgress, reason: "NotReady"},
		{name: "status 20: Ready without a status", status: conditions("", `{"type":"Ready"}`), state: readiness.InProgress, reason: "NotReady"},
		{name: "status 24: Ready of an older generation", metadata: second, status: conditions("", old("Ready", "R")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 26: Ready decides before Available", status: conditions("", is("Available", "True", "A"), is("Ready", "False", "R")), state: readiness.InProgress, reason: "R"},
		{name: "status 26: Available", status: conditions("", is("Available", "True", "A"), is("Succeeded", "False", "S")), state: readiness.Ready, reason: "A"},
		{name: "status 26: Available not True", status: conditions("", is("Available", "Unknown", "A"), is("Succeeded", "True", "S")), state: readiness.InProgress, reason: "A"},
		{name: "status 26: Succeeded", status: conditions("", is("Succeeded", "True", "S")), state: readiness.Ready, reason: "S"},
		{name: "status 26: Succeeded not True", status: conditions("", is("Succeeded", "False", "S")), state: readiness.InProgress, reason: "S"},
		{name: "status 26: a declared Ready is absent", checker: setsReady, status: conditions("", is("Available", "True", "A")), state: readiness.InProgress, reason: "ReadyMissing"},
		{name: "status 26: a declared Ready is there", checker: setsReady, status: conditions("", is("Ready", "True", "R")), state: readiness.Ready, reason: "R"},
		{name: "status 26: Failed comes before a declared Ready", checker: setsReady, status: conditions("", is("Failed", "True", "Broken")), state: readiness.Failed, reason: "Broken"},
		{name: "status 26: a declared Ready, no status at all", checker: setsReady, state: readiness.InProgress, reason: "ReadyMissing"},
	})
}

func TestPresent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ apiVersion, kind string }{
		{"v1", "ConfigMap"}, {"v1", "Secret"}, {"v1", "ServiceAccount"}, {"v1", "ResourceQuota"}, {"v1", "LimitRange"},
		{"rbac.authorization.k8s.io/v1", "Role"}, {"rbac.authorization.k8s.io/v1", "ClusterRole"},
		{"rbac.authorization.k8s.io/v1", "RoleBinding"}, {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
		{"networking.k8s.io/v1", "NetworkPolicy"}, {"networking.k8s.io/v1", "Ingress"},
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"}, {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"},
		{"storage.k8s.io/v1", "StorageClass"}, {"scheduling.k8s.io/v1", "PriorityClass"},
		{"discovery.k8s.io/v1", "EndpointSlice"}, {"coordination.k8s.io/v1", "Lease"}, {"batch/v1", "CronJob"},
	} {
		t.Run("status 25: present is ready, "+c.kind, func(t *testing.T) {
			t.Parallel()
			for name, status := range map[string]string{
				"without a status": "null", "with conditions of whatever kind": conditions("", is("Ready", "False", "X"), is("Failed", "True", "X")),
			} {
				result := readiness.Of(build(t, c.apiVersion, c.kind, cell{status: status}, decodeIntegers))
				assert.Equal(t, readiness.Ready, result.State, name)
				assert.Equal(t, "Present", result.Reason, name)
			}
		})
	}
}
