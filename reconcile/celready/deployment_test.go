package celready

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deployment says by expressions what the row apps/Deployment of package readiness says in Go.
var deployment = Expressions{
	Failed: `!object.?spec.?paused.orValue(false) && cel.bind(progressing, object.status.conditions.filter(c, c.type == 'Progressing'),
		progressing.exists(c, c.?reason.orValue('') == 'ProgressDeadlineExceeded') ||
		progressing.all(c, c.status == 'False') &&
		object.status.conditions.exists(c, c.type == 'ReplicaFailure' && c.status == 'True') &&
		object.status.?updatedReplicas.orValue(0) < object.?spec.?replicas.orValue(1))`,
	Ready: `cel.bind(want, object.?spec.?replicas.orValue(1), cel.bind(updated, object.status.?updatedReplicas.orValue(0),
		cel.bind(generation, object.metadata.?generation.orValue(0),
		has(object.status.observedGeneration) &&
		object.status.?replicas.orValue(0) >= want && updated >= want && object.status.?readyReplicas.orValue(0) >= want &&
		object.status.?availableReplicas.orValue(0) >= updated && object.status.?replicas.orValue(0) <= want &&
		(object.?spec.?paused.orValue(false) ||
			object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True' && c.?observedGeneration.orValue(generation) >= generation) &&
			(object.?spec.?progressDeadlineSeconds.orValue(2147483647) == 2147483647 ||
				object.status.conditions.exists(c, c.type == 'Progressing' && c.status == 'True' && c.?reason.orValue('') == 'NewReplicaSetAvailable' &&
					c.?observedGeneration.orValue(generation) >= generation))))))`,
}

// generated is a Deployment as it may be found, or nearly so. Numbers are those of both decoders.
func generated(random *rand.Rand) *unstructured.Unstructured {
	number := func(n int) any {
		if random.IntN(3) == 0 {
			return float64(n)
		}
		return int64(n)
	}
	maybe := func(fields map[string]any, key string, value any) {
		if random.IntN(8) > 0 {
			fields[key] = value
		}
	}
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	spec, status := map[string]any{}, map[string]any{}
	want := random.IntN(3)
	maybe(spec, "replicas", number(want))
	if random.IntN(6) == 0 {
		spec["paused"] = random.IntN(2) == 0
	}
	if random.IntN(3) > 0 {
		spec["progressDeadlineSeconds"] = number([]int{600, math.MaxInt32}[random.IntN(2)])
	}
	maybe(status, "observedGeneration", number(2-random.IntN(8)/7))
	for _, count := range []string{"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"} {
		n := want
		if random.IntN(6) == 0 {
			n = random.IntN(4)
		}
		maybe(status, count, number(n))
	}
	var conditions []any
	condition := func(kind string, reasons ...string) {
		c := map[string]any{"type": kind, "status": pick("True", "True", "True", "False", "Unknown")}
		maybe(c, "reason", pick(reasons...))
		if random.IntN(4) == 0 {
			c["observedGeneration"] = number(1 + random.IntN(3))
		}
		conditions = append(conditions, c)
	}
	if random.IntN(8) > 0 {
		condition("Available", "MinimumReplicasAvailable")
	}
	if random.IntN(8) > 0 {
		condition("Progressing", "NewReplicaSetAvailable", "NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded")
	}
	if random.IntN(6) == 0 {
		condition("ReplicaFailure", "FailedCreate")
	}
	if random.IntN(20) == 0 {
		condition("Stalled", "Why")
	}
	maybe(status, "conditions", conditions)
	metadata := map[string]any{"name": "web"}
	maybe(metadata, "generation", number(2))
	if random.IntN(20) == 0 {
		metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	object := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}
	maybe(object, "spec", spec)
	maybe(object, "status", status)
	return &unstructured.Unstructured{Object: object}
}

// TestDeploymentsAgree compares with the row of package readiness, on Deployments of all sorts.
func TestDeploymentsAgree(t *testing.T) {
	t.Parallel()
	rule := compiled(t, deployment)
	checker := readiness.Checker{Registry: readiness.Registry{{Group: "apps", Kind: "Deployment"}: {Func: rule.Result}}}
	seen := map[readiness.State]int{}
	for seed := range uint64(5000) {
		object := generated(rand.New(rand.NewPCG(seed, 1)))
		want, got := readiness.Of(object), checker.Of(object)
		require.Equal(t, want.State, got.State, "seed %d: %s; in Go: %s (%s), in CEL: %s (%s)", seed, shown(object), want.State, want.Message, got.State, got.Message)
		seen[want.State]++
	}
	for _, state := range []readiness.State{readiness.Ready, readiness.InProgress, readiness.Failed, readiness.Terminating} {
		require.Greater(t, seen[state], 100, "%s is among what is compared: %v", state, seen)
	}
}

func shown(object *unstructured.Unstructured) string { return fmt.Sprint(object.Object) }
