package readiness_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status/readiness"
)

// FuzzOf gives Of whatever JSON object there is: it answers one of the states
// with reason and message, always the same, without writing.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"kind":"Pod","apiVersion":"v1"}`, `{"status":null}`, `{"status":[1]}`, `{"metadata":7,"spec":"x","status":{"conditions":{}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1.0},"spec":{"replicas":-1},"status":{"observedGeneration":1,"replicas":"3","conditions":[null,{"type":"Available","status":true}]}}`,
		`{"apiVersion":"v1","kind":"Pod","status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}],"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"2026-05-06"}]}}`,
		`{"apiVersion":"v1","kind":"Service","spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":1}]}}}`,
		`{"apiVersion":"example.com/v1","kind":"W","status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1e300},{"type":"Ready","status":"False","lastTransitionTime":"9999-12-31T23:59:59Z"}]}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"deletionTimestamp":true},"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True","message":"m"},[]]}}`,
	} {
		f.Add([]byte(seed))
	}
	states := []readiness.State{readiness.Ready, readiness.InProgress, readiness.Failed, readiness.Terminating, readiness.NotFound, readiness.Unknown}
	checkers := []readiness.Checker{{}, {ContainerGrace: 1, SuspendedJobReady: true, IngressNeedsAddress: true, BudgetNeedsHealthy: true}}
	f.Fuzz(func(t *testing.T, data []byte) {
		integers := map[string]any{}
		if utiljson.Unmarshal(data, &integers) != nil || integers == nil {
			return
		}
		object := &unstructured.Unstructured{Object: integers}
		before, err := json.Marshal(integers)
		require.NoError(t, err)
		for _, checker := range checkers {
			result := checker.At(noon, object)
			require.True(t, slices.Contains(states, result.State), "%+v", result)
			require.NotEmpty(t, result.Reason)
			require.NotEmpty(t, result.Message)
			require.Equal(t, result, checker.At(noon, object))
		}
		after, err := json.Marshal(integers)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
	})
}
