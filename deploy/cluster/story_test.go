package cluster_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// hundred are objects as an application has them. The text is in each of them.
func hundred(t testing.TB, namespace, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	add := func(n int, manifest string) {
		for i := range n {
			objects = append(objects, object(t, namespace, fmt.Sprintf(manifest, i, text)))
		}
	}
	add(40, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings-%[1]d}, data: {text: %[2]s}}")
	add(20, `{apiVersion: v1, kind: Service, metadata: {name: web-%[1]d}, spec: {selector: {app: "%[2]s"}, ports: [{port: 80, targetPort: http}]}}`)
	add(20, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web-%[1]d}, spec: {replicas: 0, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.invalid/web:%[2]s", ports: [{containerPort: 80, name: http}]}]}}}}`)
	add(10, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: web-%[1]d, annotations: {text: %[2]s}}}")
	add(5, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web-%[1]d}, rules: [{apiGroups: [''], resources: [configmaps], resourceNames: [%[2]s], verbs: [get]}]}")
	add(5, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web-%[1]d, labels: {text: %[2]s}},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "web-%[1]d"}, subjects: [{kind: ServiceAccount, name: "web-%[1]d"}]}`)
	require.Len(t, objects, 100)
	return objects
}

var hundredKinds = []schema.GroupVersionKind{
	configMap, service, deployment, {Version: "v1", Kind: "ServiceAccount"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
}

// What a hundred objects cost, new, unchanged, after a restart, and each with a changed field.
func TestCallsForAHundred(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.EverythingInNamespace()))
	c, end := endingCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c))
	watch(t, c, hundredKinds...)
	applied := func(m *deploy.Manager, text string, want deploy.Action) (writes, reads int) {
		mark := env.Mark(t)
		results, err := m.Apply(t.Context(), hundred(t, env.Namespace, text))
		require.NoError(t, err)
		for _, result := range results {
			require.Equal(t, want, result.Action, result.Ref)
		}
		calls := env.CallsSince(t, mark, env.Self)
		return len(calls.Writes()), len(calls.Reads())
	}
	writes, reads := applied(m, "one", deploy.Created)
	assert.Equal(t, 100, writes)
	assert.Zero(t, reads)
	for range 3 {
		writes, reads = applied(m, "one", deploy.Unchanged)
		assert.Zero(t, writes+reads, "unchanged")
	}
	writes, reads = applied(m, "two", deploy.Configured)
	assert.Equal(t, 100, writes)
	assert.Zero(t, reads)
	end()

	// A new process knows nothing but what the objects say themselves.
	again := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, again, hundredKinds...)
	writes, reads = applied(must(deploy.NewManager(again)), "two", deploy.Unchanged)
	assert.Zero(t, writes+reads, "after a restart")
}

// Two managers that both want a field end in a stated conflict, not in a loop.
func TestTwoManagersOfOneField(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.EverythingInNamespace()))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	intent := func(a string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "+a+"}}")}
	}
	left := must(deploy.NewManager(c, deploy.FieldManager("left"), deploy.Conflicts(deploy.Force)))
	right := must(deploy.NewManager(c, deploy.FieldManager("right"), deploy.Conflicts(deploy.Force)))
	mark := env.Mark(t)
	var stated []error
	for range 20 {
		for manager, value := range map[*deploy.Manager]string{left: "left", right: "right"} {
			if _, err := manager.Apply(t.Context(), intent(value)); err != nil {
				stated = append(stated, err)
			}
		}
	}
	calls := env.CallsSince(t, mark, env.Self)
	assert.LessOrEqual(t, len(calls.Writes()), 9, "creation, and three rounds of each")
	require.NotEmpty(t, stated)
	var conflict *deploy.ConflictError
	require.True(t, errors.As(stated[len(stated)-1], &conflict))
	assert.True(t, conflict.Fought)
	assert.Equal(t, ".data.a", conflict.Fields[0].Field)
}

// What a scaler set stays over many applies, of the same and of other fields.
func TestScalerOverManyApplies(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.EverythingInNamespace()))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, deployment)
	m := must(deploy.NewManager(c))
	intent := func(image int) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{object(t, env.Namespace, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
  spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.invalid/web:%d"}]}}}}`, image))}
	}
	results, err := m.Apply(t.Context(), intent(0))
	require.NoError(t, err)
	ref := results[0].Ref
	edit(t, others(t, env, deployment), "web", `{"spec":{"replicas":4}}`, "scale")
	eventually(t, c, ref, func(obj *unstructured.Unstructured) bool { return replicas(obj) == 4 })
	for i := range 20 {
		results, err := m.Apply(t.Context(), intent(i/2))
		require.NoError(t, err)
		require.EqualValues(t, 4, replicas(results[0].Object))
	}
}

func replicas(obj *unstructured.Unstructured) int64 {
	n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
	return n
}
