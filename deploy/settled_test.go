package deploy_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// caching is a cluster whose View shows one and the same object until that changes, as a cache does, and which
// counts how often the scope of a kind is asked for: that takes an object that is looked at closely.
type caching struct {
	*recording
	scopes *atomic.Int64
	shown  *sync.Map
}

func newCaching(t *testing.T) caching { return caching{newCluster(t), &atomic.Int64{}, &sync.Map{}} }

func (c caching) Port() deploy.Port { return cachingPort{c.recording.Port(), c.scopes} }

func (c caching) View() deploy.View { return cachingView{c.recording.View(), c.shown} }

type cachingPort struct {
	deploy.Port
	scopes *atomic.Int64
}

func (p cachingPort) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	p.scopes.Add(1)
	return p.Port.Scope(ctx, kind)
}

type cachingView struct {
	deploy.View
	shown *sync.Map
}

func (v cachingView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := v.View.Get(ctx, ref)
	if obj == nil || err != nil {
		return obj, err
	}
	same, _ := v.shown.LoadOrStore(obj.GetResourceVersion(), obj)
	return same.(*unstructured.Unstructured), nil
}

// What was found unchanged isn't looked at closely again while the manifest, the settings and the object that the
// View shows are the same ones.
func TestSettledObjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// between happens between the second and the third apply.
		between func(t *testing.T, cluster *recording)
		data    string
		options []deploy.Option
		action  deploy.Action
		close   bool
	}{
		"nothing happened":              {data: "{a: '1'}", action: deploy.Unchanged},
		"another manifest":              {data: "{a: '2'}", action: deploy.Configured, close: true},
		"a manifest with less in it":    {data: "{}", action: deploy.Configured, close: true},
		"another field manager":         {data: "{a: '1'}", options: []deploy.Option{deploy.FieldManager("other")}, action: deploy.Configured, close: true},
		"another domain of keys":        {data: "{a: '1'}", options: []deploy.Option{deploy.KeyDomain("example.com")}, action: deploy.Configured, close: true},
		"another strategy":              {data: "{a: '1'}", options: []deploy.Option{deploy.DefaultStrategy(deploy.Ignore)}, action: deploy.Skipped, close: true},
		"an owner":                      {data: "{a: '1'}", options: []deploy.Option{deploy.OwnedBy(cart("a")), deploy.Adopt(deploy.AdoptUnowned)}, action: deploy.Configured, close: true},
		"a dry run is always done":      {data: "{a: '1'}", options: []deploy.Option{deploy.DryRun()}, action: deploy.Unchanged, close: true},
		"taking over looks at managers": {data: "{a: '1'}", options: []deploy.Option{deploy.TakeOverFrom("kubectl")}, action: deploy.Unchanged, close: true},
		"drift": {data: "{a: '1'}", action: deploy.Configured, close: true, between: func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
		}},
		"a change that isn't ours": {data: "{a: '1'}", action: deploy.Unchanged, close: true, between: func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"data":{"b":"theirs"}}`)
		}},
		"it is gone": {data: "{a: '1'}", action: deploy.Created, close: true, between: func(t *testing.T, cluster *recording) {
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCaching(t)
			m := must(deploy.NewManager(cluster))
			apply(t, m, settings(t, "{a: '1'}"))
			require.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '1'}")).Action)
			if test.between != nil {
				test.between(t, cluster.recording)
			}
			before := cluster.scopes.Load()
			result := apply(t, m, settings(t, test.data), test.options...)
			require.NoError(t, result.Err)
			assert.Equal(t, test.action, result.Action)
			assert.Equal(t, test.close, cluster.scopes.Load() > before, "looked at closely")
			if test.action == deploy.Unchanged {
				assert.Equal(t, deploy.RefOf(settings(t, "{}")), result.Ref)
				assert.Equal(t, cluster.get(t, settingsRef), result.Object)
			}
		})
	}
}

// What an apply has been answered with is the state that was asked for, until somebody changes it.
func TestAppliedIsSettled(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		between func(t *testing.T, cluster *recording)
		action  deploy.Action
		close   bool
	}{
		"nothing happened": {nil, deploy.Unchanged, false},
		"drift at once": {func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
		}, deploy.Configured, true},
		"another one of that name": {func(t *testing.T, cluster *recording) {
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
			_, err := cluster.memory.Port().Create(t.Context(), settings(t, "{a: '1'}"), deploy.CreateOptions{FieldManager: "other"})
			require.NoError(t, err)
		}, deploy.Configured, true},
	} {
		for _, first := range []string{"{a: '1'}", "{a: '0'}"} {
			t.Run(reason+" after "+first, func(t *testing.T) {
				t.Parallel()
				cluster := newCaching(t)
				m := must(deploy.NewManager(cluster))
				apply(t, m, settings(t, first))
				apply(t, m, settings(t, "{a: '1'}"))
				if row.between != nil {
					row.between(t, cluster.recording)
				}
				before := cluster.scopes.Load()
				assert.Equal(t, row.action, apply(t, m, settings(t, "{a: '1'}")).Action)
				assert.Equal(t, row.close, cluster.scopes.Load() > before, "looked at closely")
			})
		}
	}
}

// A result tells the same with and without what is remembered.
func TestSettledResults(t *testing.T) {
	t.Parallel()
	cluster := newCaching(t)
	m := must(deploy.NewManager(cluster))
	tracked := []deploy.Option{deploy.OwnedBy(cart("a")), deploy.OwnedByLabel()}
	obj := settings(t, "{a: '1'}")
	obj.SetNamespace("elsewhere")
	first := func() deploy.Result { return apply(t, m, obj, tracked...) }
	require.Equal(t, deploy.Created, first().Action)
	closely := first()
	remembered := first()
	require.Equal(t, deploy.Unchanged, remembered.Action)
	assert.True(t, remembered.ByLabel)
	assert.Equal(t, closely, remembered)
	assert.Equal(t, []string{"apply ConfigMap elsewhere/settings"}, cluster.take())
}

// The manifest may be changed by its owner after Apply: what is remembered isn't the caller's map.
func TestSettledKeepsNoManifest(t *testing.T) {
	t.Parallel()
	cluster := newCaching(t)
	m := must(deploy.NewManager(cluster))
	obj := settings(t, "{a: '1'}")
	apply(t, m, obj)
	apply(t, m, obj)
	require.NoError(t, unstructured.SetNestedField(obj.Object, "2", "data", "a"))
	assert.Equal(t, deploy.Configured, apply(t, m, obj).Action)
}

// An object costs one read of the View, whether or not it is known to be settled.
func TestOneReadPerObject(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	reads := 0
	m := must(deploy.NewManager(readsOf{cluster, &reads}))
	for range 3 {
		reads = 0
		apply(t, m, settings(t, "{a: '1'}"))
		assert.Equal(t, 1, reads)
	}
}

// readsOf counts the reads of a cluster whose View shows another copy each time, as live reads do.
type readsOf struct {
	*recording
	reads *int
}

func (c readsOf) View() deploy.View { return countedView{c.recording.View(), c.reads} }

type countedView struct {
	deploy.View
	reads *int
}

func (v countedView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	*v.reads++
	return v.View.Get(ctx, ref)
}

// Each setting that decides how an object should be is another question.
func TestSettledByTheirSettings(t *testing.T) {
	t.Parallel()
	nowhere := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}")
	owned := []deploy.Option{deploy.OwnedBy(cart("a")), deploy.DefaultNamespace("shop")}
	for name, row := range map[string]struct {
		first, second []deploy.Option
		want          deploy.Action
	}{
		"another namespace":         {[]deploy.Option{deploy.DefaultNamespace("shop")}, []deploy.Option{deploy.DefaultNamespace("bank")}, deploy.Created},
		"as its controller":         {owned, append(owned[:2:2], deploy.AsController()), deploy.Configured},
		"without being in the way":  {owned, append(owned[:2:2], deploy.NotBlocking()), deploy.Configured},
		"another owner":             {owned, []deploy.Option{deploy.OwnedBy(cart("b"))}, deploy.Conflicted},
		"what is there is theirs":   {[]deploy.Option{deploy.DefaultNamespace("shop")}, []deploy.Option{deploy.OwnedBy(cart("b")), deploy.DefaultStrategy(deploy.CreateOnly)}, deploy.Unchanged},
		"made once, by another way": {owned, append(owned[:2:2], deploy.DefaultStrategy(deploy.Replace)), deploy.Unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := must(deploy.NewManager(newCaching(t)))
			for range 3 {
				apply(t, m, nowhere, row.first...)
			}
			assert.Equal(t, row.want, apply(t, m, nowhere, row.second...).Action)
		})
	}
}

// What is left to others is told each time.
func TestSettledIsNotWhatIsKept(t *testing.T) {
	t.Parallel()
	cluster := newCaching(t)
	m := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Keep)))
	apply(t, m, settings(t, "{a: '1'}"))
	cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
	for range 3 {
		assert.Len(t, apply(t, m, settings(t, "{a: '1'}")).Kept, 1)
	}
}
