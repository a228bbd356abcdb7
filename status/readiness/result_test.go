package readiness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/readiness"
)

func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []cell{
		{status: conditions("", is("Ready", "True", "R")), state: readiness.Ready},
		{status: conditions("", is("Ready", "False", "R")), state: readiness.InProgress},
		{status: conditions("", is("Failed", "True", "R")), state: readiness.Failed},
		{metadata: `{"deletionTimestamp":"2026-05-06T11:00:00Z"}`, state: readiness.Terminating},
	} {
		t.Run("status 23: "+string(c.state)+", and only Ready is verified", func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(build(t, "example.com/v1", "Widget", c, decodeIntegers))
			assert.Equal(t, c.state, result.State)
			assert.Equal(t, c.state == readiness.Ready, result.Ready())
		})
	}
	t.Run("status 23: NotFound", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, readiness.NotFound, readiness.Of(nil).State)
		assert.False(t, readiness.Of(nil).Ready())
	})
	t.Run("status 23: Unknown", func(t *testing.T) {
		t.Parallel()
		result := readiness.Of(build(t, "v1", "Pod", cell{status: `{"phase":"Unknown"}`}, decodeIntegers))
		assert.Equal(t, readiness.Unknown, result.State)
		assert.False(t, result.Ready())
	})
}

func TestFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, apiVersion, kind string
		cell                   cell
		message                string
		fields                 []string
	}{
		{
			"a count that isn't reached", "apps/v1", "Deployment", cell{spec: `{"replicas":3}`, status: `{"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":1}`},
			"1 of 3 replicas are ready", []string{"status.readyReplicas", "spec.replicas"},
		},
		{
			"replicas left over", "apps/v1", "StatefulSet", cell{spec: `{"replicas":1}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3}`},
			"2 replicas beyond the wanted 1 are still there", []string{"status.replicas", "spec.replicas"},
		},
		{
			"a generation", "v1", "ConfigMap", cell{metadata: second, status: `{"observedGeneration":1}`},
			"generation 2 is not observed yet: the status is of generation 1", []string{"status.observedGeneration", "metadata.generation"},
		},
		{
			"a condition in its own words", "example.com/v1", "Widget", cell{status: conditions("", is("Ready", "False", "R"))},
			"own words", []string{"status.conditions[Ready]"},
		},
		{
			"a condition of an older generation, not in its words", "v1", "Pod", cell{metadata: second, status: conditions(`"phase":"Running"`, old("Ready", "R"))},
			"the condition Ready is True for an older generation", []string{"status.conditions[Ready]", "status.phase"},
		},
		{
			"a container", "v1", "Pod", cell{status: `{` + waiting("containerStatuses", "ErrImagePull") + `}`},
			`container "main" waits: ErrImagePull: own words`, []string{"status.containerStatuses"},
		},
		{"presence", "v1", "Secret", cell{}, "the object is present", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(build(t, c.apiVersion, c.kind, c.cell, decodeIntegers))
			assert.Equal(t, c.message, result.Message)
			assert.Equal(t, c.fields, result.Fields)
		})
	}
}

// readyDeployment is a Deployment as an API server holds it.
func readyDeployment(t testing.TB) *unstructured.Unstructured {
	return build(t, "apps/v1", "Deployment", cell{
		spec: `{"replicas":3,"progressDeadlineSeconds":600}`,
		status: conditions(`"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`,
			is("Progressing", "True", "NewReplicaSetAvailable"), is("Available", "True", "MinimumReplicasAvailable")),
	}, decodeIntegers)
}

func TestAllocations(t *testing.T) {
	object := readyDeployment(t)
	assert.Equal(t, readiness.Ready, readiness.Of(object).State)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { readiness.Of(object) }), 2.0)
}

func BenchmarkOf(b *testing.B) {
	object := readyDeployment(b)
	b.ReportAllocs()
	for b.Loop() {
		readiness.Of(object)
	}
}
