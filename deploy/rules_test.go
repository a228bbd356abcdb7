package deploy_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// newKubernetes is a cluster in memory in which Kubernetes' own kinds merge as they do on a server.
func newKubernetes(t testing.TB) *recording {
	t.Helper()
	memory, err := dryrun.New(dryrun.Namespaces("shop"))
	require.NoError(t, err)
	return &recording{Cluster: memory, memory: memory, shown: newShown(t)}
}

func container(t testing.TB, content string) *unstructured.Unstructured {
	t.Helper()
	return web(t, "{selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: w, "+content+"}]}}}")
}

// What another framework takes for a reason to write the whole object is a change like any other: one apply,
// and what others put into the same lists stays.
func TestChangesThatNeedNoReplacement(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after, want string }{
		"deploy 11, 16: a value of another type": {"env: [{name: a, value: x}], stdin: true", "env: [{name: a, value: 'true'}], stdin: false",
			"env: [{name: a, value: 'true'}, {name: injected, value: i}], stdin: false"},
		"deploy 17: a list that gets shorter": {"env: [{name: a, value: x}, {name: b, value: z}]", "env: [{name: a, value: x}]",
			"env: [{name: a, value: x}, {name: injected, value: i}]"},
		"deploy 17: one that gets empty": {"args: [a, b]", "args: []", "args: null, env: [{name: injected, value: i}]"},
		"deploy 18: an element that becomes another one": {"env: [{name: a, value: '1'}]", "env: [{name: b, value: '2'}]",
			"env: [{name: injected, value: i}, {name: b, value: '2'}]"},
		"deploy 19: a shorter list at some depth": {"ports: [{containerPort: 80}, {containerPort: 81}]", "ports: [{containerPort: 81}]",
			"ports: [{containerPort: 81}], env: [{name: injected, value: i}]"},
		"deploy 19: another order": {"args: [a, b]", "args: [b, a]", "args: [b, a], env: [{name: injected, value: i}]"},
		"deploy 20: from value to valueFrom": {"env: [{name: a, value: x}]", "env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
			"env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: injected, value: i}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newKubernetes(t)
			m := must(deploy.NewManager(cluster))
			ref := deploy.RefOf(container(t, "env: []"))
			require.NoError(t, apply(t, m, container(t, test.before)).Err)
			_, err := cluster.memory.Port().Apply(t.Context(), container(t, "env: [{name: injected, value: i}]"), deploy.ApplyOptions{FieldManager: "sidecar", Force: true})
			require.NoError(t, err)
			cluster.take()
			result := apply(t, m, container(t, test.after))
			require.NoError(t, result.Err)
			assert.Equal(t, deploy.Configured, result.Action)
			assert.Equal(t, []string{"apply Deployment shop/web"}, cluster.take(), "deploy 11: an apply, not a PUT")
			got := firstContainer(t, cluster.get(t, ref))
			want := firstContainer(t, container(t, test.want))
			for field, value := range want {
				assertJSON(t, value, got[field])
			}
			assert.Equal(t, deploy.Unchanged, apply(t, m, container(t, test.after)).Action)
			assert.Empty(t, cluster.take())
		})
	}
}

func firstContainer(t testing.TB, obj *unstructured.Unstructured) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
	require.NoError(t, err)
	return containers[0].(map[string]any)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	t.Run("deploy 1: a result for each object, in their order", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), objects(named(settings(t, "{}"), "b"), named(settings(t, "{}"), "a")))
		require.NoError(t, err)
		assert.Equal(t, []string{"ConfigMap shop/b created", "ConfigMap shop/a created"}, []string{
			results[0].Ref.String() + " " + string(results[0].Action), results[1].Ref.String() + " " + string(results[1].Action)})
		assert.True(t, results.Changed())
	})
	t.Run("deploy 2: absent is no failure, forbidden is one", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		obj, err := m.Get(t.Context(), settingsRef)
		require.NoError(t, err)
		assert.Nil(t, obj)
		results, err := m.Delete(t.Context(), objects(settings(t, "{}")))
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, results[0].Action)
		cluster.before = failing("apply", &deploy.ForbiddenError{Verb: "patch", Err: errNo})
		var forbidden *deploy.ForbiddenError
		require.ErrorAs(t, apply(t, m, settings(t, "{}")).Err, &forbidden)
	})
	t.Run("deploy 8: a read that fails is that object's failure", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		unreadable := &deploy.ForbiddenError{Verb: "get", Err: errNo}
		m := must(deploy.NewManager(unreadableCluster{cluster, unreadable}))
		result := apply(t, m, settings(t, "{}"))
		assert.Equal(t, deploy.Failed, result.Action)
		require.ErrorIs(t, result.Err, unreadable)
		assert.Empty(t, cluster.take(), "nothing is sent on a guess")
	})
	t.Run("deploy 10: annotations that others put there stay without being copied", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		apply(t, m, settings(t, "{a: '1'}"))
		cluster.edit(t, settingsRef, `{"metadata":{"annotations":{"deployment.kubernetes.io/revision":"3","kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`)
		apply(t, m, settings(t, "{a: '2'}"))
		assert.NotContains(t, cluster.applied(t).GetAnnotations(), "deployment.kubernetes.io/revision", "deploy W7")
		assert.NotContains(t, cluster.applied(t).GetAnnotations(), "kubectl.kubernetes.io/last-applied-configuration", "deploy W6")
		assert.Equal(t, "3", cluster.get(t, settingsRef).GetAnnotations()["deployment.kubernetes.io/revision"])
	})
	t.Run("deploy 12: fields are taken by policy only, and told", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		apply(t, m, settings(t, "{a: '1'}"))
		cluster.edit(t, settingsRef, `{"data":{"a":"9"}}`)
		cluster.take()
		assert.Equal(t, deploy.Conflicted, apply(t, m, settings(t, "{a: '1'}"), deploy.Conflicts(deploy.Fail)).Action)
		assert.Empty(t, cluster.take())
		assert.Len(t, apply(t, m, settings(t, "{a: '1'}")).Taken, 1)
	})
	t.Run("deploy 13: refused content isn't sent another way", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		cluster.before = failing("apply", &deploy.InvalidError{Ref: settingsRef, Err: errNo})
		assert.Equal(t, deploy.Failed, apply(t, must(deploy.NewManager(cluster)), settings(t, "{}")).Action)
		assert.Len(t, cluster.take(), 1)
	})
	t.Run("deploy 14: changed is what the cluster's answer says", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		assert.True(t, apply(t, m, settings(t, "{a: '1'}")).Changed())
		assert.False(t, apply(t, m, settings(t, "{a: '1'}")).Changed(), "deploy W17")
	})
}

// unreadableCluster has a View that can't be read.
type unreadableCluster struct {
	*recording
	err error
}

func (c unreadableCluster) View() deploy.View { return unreadableView{c.recording.View(), c.err} }

type unreadableView struct {
	deploy.View
	err error
}

func (v unreadableView) Get(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
	return nil, v.err
}
