package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A replacement keeps what the server set in fields that can't be changed, and takes away what this manager wrote
// before and doesn't say any more.
func TestReplaceKeepsWhatTheServerSet(t *testing.T) {
	t.Parallel()
	const limits = `image: "example.invalid/c:1", resources: {limits: {cpu: "1000m", memory: 1024Mi}}`
	claim := with(aClaim, "storageClassName: none", "storageClassName: none, volumeMode: Filesystem")
	for reason, row := range map[string]struct {
		before, after string
		// gone is a path that isn't there afterwards, there is one that is.
		gone, there []string
		action      deploy.Action
	}{
		"a Job's selector and labels":           {aJob, with(aJob, "suspend: true", "suspend: true, parallelism: 2"), nil, []string{"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"}, deploy.Replaced},
		"a Service's address":                   {with(aService, "LoadBalancer, loadBalancerClass: example.com/a", "ClusterIP"), with(aService, "LoadBalancer, loadBalancerClass: example.com/a", "ClusterIP", "port: 80", "port: 81"), nil, []string{"spec", "clusterIP"}, deploy.Replaced},
		"a claim's volume mode":                 {claim, with(aClaim, "name: data", "name: data, labels: {a: b}", "storageClassName: none, ", "storageClassName: none, "), nil, []string{"spec", "volumeMode"}, deploy.Replaced},
		"quantities are equal in any form":      {with(aDeployment, `image: "example.invalid/c:1"`, limits), with(aDeployment, `image: "example.invalid/c:1"`, limits), nil, nil, deploy.Unchanged},
		"a label that isn't said any more":      {with(aDeployment, "name: it}", "name: it, labels: {a: b, c: d}}"), with(aDeployment, "name: it}", "name: it, labels: {a: b}}"), []string{"metadata", "labels", "c"}, []string{"metadata", "labels", "a"}, deploy.Replaced},
		"a field at the top, which neither":     {with(aFrozen, "immutable: true, ", "binaryData: {x: MQ==}, "), with(aFrozen, "immutable: true, ", ""), []string{"binaryData"}, []string{"data"}, deploy.Replaced},
		"a value that can't be changed differs": {aJob, with(aJob, "c:1", "c:2"), nil, nil, deploy.Failed},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
			m := must(deploy.NewManager(c, deploy.DefaultStrategy(deploy.Replace)))
			before := apply(t, m, object(t, env.Namespace, row.before)).Object
			after := object(t, env.Namespace, row.after)
			results, err := m.Apply(t.Context(), []*unstructured.Unstructured{after})
			require.Equal(t, row.action, results[0].Action, "%v", err)
			if row.action == deploy.Failed {
				require.ErrorContains(t, err, "field is immutable: this can't be changed: the strategy Recreate (annotation operkit.dev/strategy) deletes the object")
				return
			}
			live, err := c.Port().Get(t.Context(), deploy.RefOf(before))
			require.NoError(t, err)
			assert.Equal(t, before.GetUID(), live.GetUID())
			if row.gone != nil {
				assert.Empty(t, found(live.Object, row.gone))
			}
			if row.there != nil {
				assert.Equal(t, found(before.Object, row.there), found(live.Object, row.there))
				assert.NotEmpty(t, found(live.Object, row.there))
			}
			if row.action == deploy.Unchanged {
				assert.Zero(t, results[0].Calls)
			}
			assert.Zero(t, apply(t, m, after).Calls)
		})
	}
}
