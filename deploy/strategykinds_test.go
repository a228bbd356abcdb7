package deploy_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindStrategy(t *testing.T) {
	t.Parallel()
	configMaps := schema.GroupKind{Kind: "ConfigMap"}
	for name, test := range map[string]struct {
		options    []deploy.Option
		annotation string
		want       deploy.Action
	}{
		"strategy 1: the strategy of the kind": {[]deploy.Option{deploy.KindStrategy(configMaps, deploy.OnDelete)}, "", deploy.Skipped},
		"strategy 1: the annotation wins":      {[]deploy.Option{deploy.KindStrategy(configMaps, deploy.OnDelete)}, "Apply", deploy.Configured},
		"strategy 1: it wins over the default": {[]deploy.Option{deploy.KindStrategy(configMaps, deploy.ServerSideApply), deploy.DefaultStrategy(deploy.OnDelete)}, "", deploy.Configured},
		"of another kind":                      {[]deploy.Option{deploy.KindStrategy(schema.GroupKind{Kind: "Secret"}, deploy.Ignore)}, "", deploy.Configured},
		"of another group":                     {[]deploy.Option{deploy.KindStrategy(schema.GroupKind{Group: "example.com", Kind: "ConfigMap"}, deploy.Ignore)}, "", deploy.Configured},
		"the last one of a kind":               {[]deploy.Option{deploy.KindStrategy(configMaps, deploy.Ignore), deploy.KindStrategy(configMaps, deploy.Recreate)}, "", deploy.Configured},
		"several kinds":                        {[]deploy.Option{deploy.KindStrategy(configMaps, deploy.OnDelete), deploy.KindStrategy(schema.GroupKind{Kind: "Secret"}, deploy.Replace)}, "", deploy.Skipped},
		"no strategy of its own any more":      {[]deploy.Option{deploy.KindStrategy(configMaps, deploy.OnDelete), deploy.KindStrategy(configMaps, "")}, "", deploy.Configured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := must(deploy.NewManager(newCluster(t)))
			apply(t, m, settings(t, "{a: '1'}"))
			next := settings(t, "{a: '2'}")
			if test.annotation != "" {
				next = annotated(next, "operkit.dev/strategy", test.annotation)
			}
			assert.Equal(t, test.want, apply(t, m, next, test.options...).Action)
		})
	}
	t.Run("an unknown one", func(t *testing.T) {
		t.Parallel()
		_, err := deploy.NewManager(newCluster(t), deploy.KindStrategy(configMaps, "Guess"))
		require.EqualError(t, err, `strategy "Guess" for ConfigMap: unknown: use one of Apply, CreateOnly, Replace, Recreate, RecreateOrphan, RecreateProtected, RecreateOnChange, OnDelete, Ignore`)
	})
	t.Run("it decides anew what was found unchanged", func(t *testing.T) {
		t.Parallel()
		m := must(deploy.NewManager(newCluster(t)))
		for range 3 {
			apply(t, m, settings(t, "{a: '1'}"))
		}
		assert.Equal(t, deploy.Skipped, apply(t, m, settings(t, "{a: '1'}"), deploy.KindStrategy(configMaps, deploy.Ignore)).Action)
	})
	t.Run("a Manager that With derives doesn't change the first", func(t *testing.T) {
		t.Parallel()
		m := must(deploy.NewManager(newCluster(t), deploy.KindStrategy(configMaps, deploy.OnDelete)))
		_ = must(m.With(deploy.KindStrategy(configMaps, deploy.ServerSideApply)))
		apply(t, m, settings(t, "{a: '1'}"))
		assert.Equal(t, deploy.Skipped, apply(t, m, settings(t, "{a: '2'}")).Action)
	})
}

func TestRecreateOnChange(t *testing.T) {
	t.Parallel()
	onChange := deploy.DefaultStrategy(deploy.RecreateOnChange)
	for name, test := range map[string]struct {
		// between changes the object before the second apply.
		between func(t *testing.T, cluster *recording)
		data    string
		want    deploy.Action
		calls   []string
	}{
		"strategy 2: a change that the cluster would accept": {nil, "{a: '2'}", deploy.Recreated,
			[]string{"list", "create", "delete", "apply"}},
		"nothing changed": {nil, "{a: '1'}", deploy.Unchanged, nil},
		"strategy 2: drift is repaired": {func(t *testing.T, cluster *recording) { cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`) }, "{a: '1'}",
			deploy.Configured, []string{"apply"}},
		"strategy 2: an object without our hash is applied": {func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"metadata":{"annotations":null}}`)
		}, "{a: '2'}", deploy.Configured, []string{"apply"}},
		"fields of others don't matter": {func(t *testing.T, cluster *recording) { cluster.edit(t, settingsRef, `{"data":{"b":"theirs"}}`) }, "{a: '1'}",
			deploy.Unchanged, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, onChange))
			uid := apply(t, m, settings(t, "{a: '1'}")).Object.GetUID()
			if test.between != nil {
				test.between(t, cluster)
			}
			cluster.take()
			result := apply(t, m, settings(t, test.data))
			require.NoError(t, result.Err)
			assert.Equal(t, test.want, result.Action)
			assert.Equal(t, test.calls, verbs(cluster.take()))
			assert.Equal(t, test.want == deploy.Recreated, uid != cluster.get(t, settingsRef).GetUID())
			assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, test.data)).Action, "once is enough")
		})
	}
	t.Run("an object that holds data is kept", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, onChange))
		claim := func(size string) *unstructured.Unstructured {
			return object(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {resources: {requests: {storage: "+size+"}}}}")
		}
		apply(t, m, claim("1Gi"))
		results, err := m.Apply(t.Context(), objects(claim("2Gi")))
		require.ErrorContains(t, err, "its manifest has changed: deleting the object would also delete what it contains")
		assert.Equal(t, deploy.Failed, results[0].Action)
	})
	t.Run("Diff shows it", func(t *testing.T) {
		t.Parallel()
		m := must(deploy.NewManager(newCluster(t), onChange))
		apply(t, m, settings(t, "{a: '1'}"))
		differences, err := m.Diff(t.Context(), objects(settings(t, "{a: '2'}")))
		require.NoError(t, err)
		assert.Equal(t, deploy.Recreated, differences[0].Action)
	})
}

// verbs returns the verbs of calls.
func verbs(calls []string) (all []string) {
	for _, call := range calls {
		verb, _, _ := strings.Cut(call, " ")
		all = append(all, verb)
	}
	return all
}
