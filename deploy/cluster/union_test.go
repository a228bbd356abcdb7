package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The type of a union changes also where the server filled in members of the old type.
func TestUnionSwitch(t *testing.T) {
	t.Parallel()
	const image = "example.invalid/c:1"
	for reason, row := range map[string]struct {
		before, after string
		// gone is what must not be there then; it may be in the item of a list.
		gone   []string
		calls  int
		action deploy.Action
	}{
		"a Deployment's strategy":                        {aDeployment, with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}"), []string{"spec", "strategy", "rollingUpdate"}, 4, deploy.Configured},
		"with a new image, which isn't rolled out first": {aDeployment, with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}", image, image+"2"), []string{"spec", "strategy", "rollingUpdate"}, 4, deploy.Configured},
		"with an explicit null":                          {aDeployment, with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate, rollingUpdate: null}"), []string{"spec", "strategy", "rollingUpdate"}, 4, deploy.Configured},
		"from one that was named":                        {with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: RollingUpdate}"), with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}"), []string{"spec", "strategy", "rollingUpdate"}, 4, deploy.Configured},
		"what was named as a whole needs no way out":     {with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"), with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}"), []string{"spec", "strategy", "rollingUpdate"}, 1, deploy.Configured},
		"a StatefulSet's strategy":                       {aSet, with(aSet, "replicas: 0", "replicas: 0, updateStrategy: {type: OnDelete}"), []string{"spec", "updateStrategy", "rollingUpdate"}, 4, deploy.Configured},
		"a DaemonSet's, where the server accepts both":   {aDaemon, with(aDaemon, "selector:", "updateStrategy: {type: OnDelete}, selector:"), nil, 1, deploy.Configured},
		"a volume in a list":                             {with(aDeployment, "containers:", "volumes: [{name: v}], containers:"), with(aDeployment, "containers:", "volumes: [{name: v, configMap: {name: x}}], containers:"), []string{"spec", "template", "spec", "volumes", "emptyDir"}, 4, deploy.Configured},
		"volumes in another order":                       {with(aDeployment, "containers:", "volumes: [{name: v}, {name: w, secret: {secretName: x}}], containers:"), with(aDeployment, "containers:", "volumes: [{name: w, secret: {secretName: x}}, {name: v, configMap: {name: x}}], containers:"), []string{"spec", "template", "spec", "volumes", "emptyDir"}, 4, deploy.Configured},
		"several volumes, and a strategy":                {with(aDeployment, "containers:", "volumes: [{name: v}, {name: w}], containers:"), with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}", "containers:", "volumes: [{name: v, configMap: {name: x}}, {name: w, secret: {secretName: x}}], containers:"), []string{"spec", "template", "spec", "volumes", "emptyDir"}, 4, deploy.Configured},
		"with fields that aren't said any more":          {with(aDeployment, "replicas: 0", "replicas: 0, minReadySeconds: 30, progressDeadlineSeconds: 100"), with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}, progressDeadlineSeconds: 20"), []string{"spec", "minReadySeconds"}, 4, deploy.Configured},
		"something else is refused too":                  {aDeployment, with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}", "app: it", "app: other"), nil, 0, deploy.Failed},
		"something invalid":                              {aDeployment, with(aDeployment, "replicas: 0", "replicas: -1, strategy: {type: Recreate}"), nil, 0, deploy.Failed},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			m := must(deploy.NewManager(c))
			before := apply(t, m, object(t, env.Namespace, row.before)).Object
			after := object(t, env.Namespace, row.after)
			tried, err := m.Apply(t.Context(), []*unstructured.Unstructured{after}, deploy.DryRun())
			assert.Equal(t, row.action, tried[0].Action, "a dry run: %v", err)
			results, err := m.Apply(t.Context(), []*unstructured.Unstructured{after})
			require.Equal(t, row.action, results[0].Action, "%v", err)
			live, err := c.Port().Get(t.Context(), deploy.RefOf(before))
			require.NoError(t, err)
			assert.Equal(t, before.GetUID(), live.GetUID())
			if row.action == deploy.Failed {
				assert.Equal(t, before.GetGeneration(), live.GetGeneration(), "nothing is half done")
				return
			}
			assert.Equal(t, row.calls, results[0].Calls)
			assert.Equal(t, ofSpec(tried[0].Changes), ofSpec(results[0].Changes), "what the dry run says")
			if row.gone != nil {
				assert.Empty(t, found(live.Object, row.gone))
			}
			for range 2 {
				assert.Equal(t, deploy.Unchanged, apply(t, m, after).Action)
			}
			assert.LessOrEqual(t, live.GetGeneration(), before.GetGeneration()+1, "no state in between is rolled out")
			last := apply(t, m, after)
			assert.Zero(t, last.Calls, "it is unchanged")
		})
	}
}

// ofSpec leaves out what controllers write beside.
func ofSpec(changes []deploy.Change) []deploy.Change {
	return slices.DeleteFunc(changes, func(c deploy.Change) bool { return !strings.HasPrefix(c.Path, ".spec") })
}

// found returns what is at a path, in any item of the lists on the way.
func found(value any, path []string) []any {
	switch value := value.(type) {
	case []any:
		var all []any
		for _, item := range value {
			all = append(all, found(item, path)...)
		}
		return all
	case map[string]any:
		if len(path) > 0 {
			return found(value[path[0]], path[1:])
		}
	}
	if value == nil || len(path) > 0 {
		return nil
	}
	return []any{value}
}

// Of a kind that is held as metadata the content is read once the change was refused.
func TestUnionSwitchOfMetadata(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.MetadataOnly(deployment.GroupKind()))
	watch(t, c, deployment)
	m := must(deploy.NewManager(c))
	apply(t, m, object(t, env.Namespace, aDeployment))
	result := apply(t, m, object(t, env.Namespace, with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}")))
	assert.Equal(t, deploy.Configured, result.Action)
	assert.Equal(t, 5, result.Calls, "apply, get, a trial, and two applies")
	live, err := c.Port().Get(t.Context(), result.Ref)
	require.NoError(t, err)
	assert.Equal(t, []any{"Recreate"}, found(live.Object, []string{"spec", "strategy", "type"}))
}

// A member that somebody else has set is theirs: the refusal says whose it is.
func TestUnionSwitchOfSomebodyElse(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	m := must(deploy.NewManager(newCluster(t, env.Config, cluster.Namespaces(env.Namespace))))
	apply(t, m, object(t, env.Namespace, aDeployment))
	edit(t, others(t, env, deployment), "it", `{"spec": {"strategy": {"rollingUpdate": {"maxSurge": 3}}}}`)
	require.Eventually(t, func() bool {
		_, err := m.Apply(t.Context(), []*unstructured.Unstructured{
			object(t, env.Namespace, with(aDeployment, "replicas: 0", "replicas: 0, strategy: {type: Recreate}"))})
		return err != nil && strings.Contains(err.Error(), `spec.strategy.rollingUpdate is set by "kubectl-edit", and this manifest leaves it out: `+
			"remove the field from the object, or render values that go with it")
	}, patience, 50*time.Millisecond)
}
