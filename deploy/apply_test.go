package deploy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const settingsName = "ConfigMap shop/settings"

var settingsRef = deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}

func TestApply(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))

	result := apply(t, m, settings(t, "{a: '1'}"))
	assert.Equal(t, deploy.Created, result.Action)
	assert.True(t, result.Changed())
	assert.Equal(t, settingsRef, result.Ref)
	assert.Equal(t, cluster.get(t, settingsRef), result.Object)
	assert.Equal(t, []string{"apply " + settingsName}, cluster.take(), "a new object is applied without force")

	t.Run("deploy W2: an object that is as it should be costs no call", func(t *testing.T) {
		result := apply(t, m, settings(t, "{a: '1'}"))
		assert.Equal(t, deploy.Unchanged, result.Action)
		assert.False(t, result.Changed(), "deploy W17")
		assert.Equal(t, cluster.get(t, settingsRef), result.Object)
		assert.Empty(t, cluster.take())
	})
	t.Run("deploy W2: nor after a restart", func(t *testing.T) {
		again := restarted(t, cluster, func(*unstructured.Unstructured) {})
		assert.Equal(t, deploy.Unchanged, apply(t, must(deploy.NewManager(again)), settings(t, "{a: '1'}")).Action)
		assert.Empty(t, again.take())
	})
	t.Run("deploy 9: what always moves is no difference", func(t *testing.T) {
		obj := settings(t, "{a: '1'}")
		obj.SetResourceVersion("99")
		obj.SetUID("x")
		obj.SetGeneration(9)
		obj.SetCreationTimestamp(result.Object.GetCreationTimestamp())
		obj.SetManagedFields(result.Object.GetManagedFields())
		obj.Object["status"] = map[string]any{"ready": true}
		assert.Equal(t, deploy.Unchanged, apply(t, m, obj).Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("an object as it was read can be applied again", func(t *testing.T) {
		assert.Equal(t, deploy.Unchanged, apply(t, m, cluster.get(t, settingsRef)).Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("a changed intent is one call, for the object that was seen", func(t *testing.T) {
		result := apply(t, m, settings(t, "{a: '2'}"))
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Equal(t, result.Object.GetUID(), cluster.applied(t).GetUID())
		assert.Equal(t, []string{"apply " + settingsName + ""}, cluster.take())
		assert.Equal(t, "2", result.Object.Object["data"].(map[string]any)["a"])
	})
	t.Run("a field that leaves the intent leaves the object", func(t *testing.T) {
		apply(t, m, settings(t, "{a: '2', b: '2'}"))
		result := apply(t, m, settings(t, "{b: '2'}"))
		assert.Equal(t, map[string]any{"b": "2"}, result.Object.Object["data"])
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{b: '2'}")).Action)
		assert.Empty(t, cluster.take())
	})
}

func TestApplyRepairsDrift(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit string
		want deploy.Action
		data map[string]any
	}{
		"a value changed":                    {`{"data":{"a":"9"}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"a field removed":                    {`{"data":{"b":null}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"all fields removed":                 {`{"data":{"a":null,"b":null}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"all fields changed":                 {`{"data":{"a":"8","b":"9"}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"the map removed":                    {`{"data":null}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"a label removed":                    {`{"metadata":{"labels":null}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"our annotation removed":             {`{"metadata":{"annotations":null}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"our annotation changed":             {`{"metadata":{"annotations":{"operkit.dev/applied-operkit":"x"}}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"managedFields emptied":              {`{"metadata":{"managedFields":[{}]}}`, deploy.Configured, map[string]any{"a": "1", "b": "2"}},
		"deploy W7: what others add stays":   {`{"data":{"c":"3"},"metadata":{"labels":{"x":"y"},"annotations":{"x.kubernetes.io/y":"z"}}}`, deploy.Unchanged, map[string]any{"a": "1", "b": "2", "c": "3"}},
		"deploy W4: a finalizer added stays": {`{"metadata":{"finalizers":["shop/hold"]}}`, deploy.Unchanged, map[string]any{"a": "1", "b": "2"}},
		"the same value set again":           {`{"data":{"a":"1"}}`, deploy.Unchanged, map[string]any{"a": "1", "b": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster))
			intent := settings(t, "{a: '1', b: '2'}")
			intent.SetLabels(map[string]string{"app": "web"})
			apply(t, m, intent)
			cluster.edit(t, settingsRef, test.edit)
			cluster.take()
			result := apply(t, m, intent)
			assert.Equal(t, test.want, result.Action)
			obj := cluster.get(t, settingsRef)
			assert.Equal(t, test.data, obj.Object["data"])
			assert.Equal(t, "web", obj.GetLabels()["app"])
			if test.want == deploy.Unchanged {
				assert.Empty(t, cluster.take())
				return
			}
			assert.Len(t, cluster.take(), 1)
			assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action, "one call is enough")
			assert.Empty(t, cluster.take())
		})
	}
}

func TestApplyRepairsNestedMaps(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]string{
		"the only entry changed":        `{"spec":{"rules":{"one":{"to":"other"}}}}`,
		"the only entry removed":        `{"spec":{"rules":{"one":{"to":null}}}}`,
		"the only entry swapped":        `{"spec":{"rules":{"one":{"to":null,"from":"x"}}}}`,
		"a map in the place of a value": `{"spec":{"rules":{"one":{"to":{"x":"y"}}}}}`,
		"a value in the place of a map": `{"spec":{"rules":{"one":"x"}}}`,
		"a list emptied":                `{"spec":{"list":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster))
			intent := web(t, "{rules: {one: {to: here}}, list: [1, 2]}")
			apply(t, m, intent)
			ref := deploy.RefOf(intent)
			cluster.edit(t, ref, edit)
			assert.Equal(t, deploy.Configured, apply(t, m, intent).Action)
			to, _, err := unstructured.NestedString(cluster.get(t, ref).Object, "spec", "rules", "one", "to")
			require.NoError(t, err)
			assert.Equal(t, "here", to)
			cluster.take()
			assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
			assert.Empty(t, cluster.take())
		})
	}
}

func TestApplyTwoManagers(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	one := must(deploy.NewManager(cluster, deploy.FieldManager("one")))
	two := must(one.With(deploy.FieldManager("two")))
	apply(t, one, settings(t, "{a: '1'}"))
	assert.Equal(t, deploy.Configured, apply(t, two, settings(t, "{b: '1'}")).Action)
	cluster.take()
	assert.Equal(t, deploy.Unchanged, apply(t, one, settings(t, "{a: '1'}")).Action, "each has a hash of its own")
	assert.Equal(t, deploy.Unchanged, apply(t, two, settings(t, "{b: '1'}")).Action)
	assert.Empty(t, cluster.take())
}

func TestApplyTerminating(t *testing.T) {
	t.Parallel()
	held := settings(t, "{a: '1'}")
	held.SetFinalizers([]string{"shop/hold"})
	cluster := newCluster(t, held)
	require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
	result := apply(t, must(deploy.NewManager(cluster)), settings(t, "{a: '2'}"))
	assert.Equal(t, deploy.Skipped, result.Action)
	var terminating *deploy.TerminatingError
	require.ErrorAs(t, result.Err, &terminating)
	assert.Equal(t, []string{"shop/hold"}, terminating.Finalizers)
	assert.Empty(t, cluster.take())
}

func TestApplySets(t *testing.T) {
	t.Parallel()
	intents := func() []*unstructured.Unstructured {
		bad := settings(t, "{}")
		bad.SetName("")
		return objects(named(settings(t, "{}"), "a"), bad, named(settings(t, "{}"), "c"))
	}
	actions := func(results deploy.Results) (actions []deploy.Action) {
		for _, result := range results {
			actions = append(actions, result.Action)
		}
		return actions
	}
	t.Run("deploy 3: nothing is nothing", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), nil)
		require.NoError(t, err)
		assert.Empty(t, results)
		assert.False(t, results.Changed())
		assert.Empty(t, cluster.take())
	})
	t.Run("a failed object doesn't keep the others", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), intents())
		require.Error(t, err)
		assert.Equal(t, []deploy.Action{deploy.Created, deploy.Failed, deploy.Created}, actions(results))
		assert.ElementsMatch(t, []string{"apply ConfigMap shop/a", "apply ConfigMap shop/c"}, cluster.take())
	})
	t.Run("deploy 3: in order, and with StopOnFailure up to the first failure", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		results, err := must(deploy.NewManager(cluster, deploy.StopOnFailure())).Apply(t.Context(), intents())
		require.Error(t, err)
		assert.Equal(t, []deploy.Action{deploy.Created, deploy.Failed}, actions(results))
		assert.True(t, results.Changed(), "what happened before is reported")
		assert.Equal(t, []string{"apply ConfigMap shop/a"}, cluster.take())
	})
	t.Run("an ended context stops the set and says why", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		cluster.before = func(string) error { cancel(enough); return nil }
		set := objects(named(settings(t, "{}"), "a"), named(settings(t, "{}"), "b"))
		results, err := must(deploy.NewManager(cluster, deploy.Concurrency(1))).Apply(ctx, set)
		require.ErrorIs(t, err, enough)
		assert.Equal(t, []deploy.Action{deploy.Failed}, actions(results))
		assert.Equal(t, []string{"apply ConfigMap shop/a"}, cluster.take())
	})
}

func TestApplyDuplicates(t *testing.T) {
	t.Parallel()
	without := settings(t, "{}")
	without.SetNamespace("")
	node := object(t, "{apiVersion: v1, kind: Node, metadata: {name: n, uid: n-uid}}")
	for name, test := range map[string]struct {
		set     []*unstructured.Unstructured
		options []deploy.Option
	}{
		"the same name":                                            {objects(settings(t, "{}"), settings(t, "{a: '1'}")), nil},
		"one with the owner's namespace unsaid":                    {objects(settings(t, "{}"), without), []deploy.Option{deploy.OwnedBy(cart("c"))}},
		"one in the default namespace, since the owner is in none": {objects(settings(t, "{}"), without), []deploy.Option{deploy.OwnedBy(node), deploy.DefaultNamespace("shop")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			results, err := must(deploy.NewManager(cluster)).Apply(t.Context(), test.set, test.options...)
			var invalid *deploy.InvalidManifestError
			require.ErrorAs(t, err, &invalid)
			assert.EqualError(t, err, "ConfigMap shop/settings: invalid manifest: it is given twice in one set")
			assert.Empty(t, results)
			assert.Empty(t, cluster.take(), "nothing is sent")
		})
	}
}

func TestApplyAnswers(t *testing.T) {
	t.Parallel()
	conflict := &deploy.ConflictError{Ref: settingsRef, Fields: []deploy.FieldConflict{{Field: ".data.a", Manager: "x", Message: `conflict with "x"`}}}
	for name, test := range map[string]struct {
		answer error
		want   deploy.Action
	}{
		"a conflict over fields": {conflict, deploy.Conflicted},
		"refused content":        {&deploy.InvalidError{Ref: settingsRef, Err: errors.New("no")}, deploy.Failed},
		"forbidden":              {&deploy.ForbiddenError{Verb: "patch", Err: errors.New("no")}, deploy.Failed},
		"no answer":              {&deploy.UnavailableError{Err: errors.New("no")}, deploy.Failed},
		"deleted meanwhile":      {&deploy.StaleError{Ref: settingsRef, Err: errors.New("no")}, deploy.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, seeds := range [][]*unstructured.Unstructured{nil, {settings(t, "{}")}} {
				cluster := newCluster(t, seeds...)
				cluster.before = failing("apply", test.answer)
				result := apply(t, must(deploy.NewManager(cluster, deploy.RetryFor(0))), settings(t, "{a: '1'}"))
				assert.Equal(t, test.want, result.Action)
				assert.Equal(t, test.answer, result.Err)
				assert.False(t, result.Changed())
				calls := cluster.take()
				assert.Equal(t, 1, strings.Count(strings.Join(calls, "\n"), "apply"), "deploy W9: the same isn't sent again")
				assert.Len(t, calls, result.Calls)
			}
		})
	}
}

func TestApplyDryRun(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	assert.Equal(t, deploy.Created, apply(t, m, settings(t, "{a: '1'}"), deploy.DryRun()).Action)
	assert.Nil(t, cluster.get(t, settingsRef))
	apply(t, m, settings(t, "{a: '1'}"))
	cluster.take()
	result := apply(t, must(m.With(deploy.DryRun())), settings(t, "{a: '2'}"))
	assert.Equal(t, deploy.Configured, result.Action)
	assert.Equal(t, map[string]any{"a": "2"}, result.Object.Object["data"])
	assert.Equal(t, []string{"apply " + settingsName + " dry-run"}, cluster.take())
	assert.Equal(t, map[string]any{"a": "1"}, cluster.get(t, settingsRef).Object["data"])
}

func TestApplyOfADroppedField(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(droppingCluster{cluster}))
	intent := settings(t, "{a: '1'}")
	intent.SetAnnotations(map[string]string{"dropped": "y"})
	apply(t, m, intent)
	cluster.take()
	assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
	assert.Empty(t, cluster.take(), "the answer to the apply showed what comes of it")
	cluster.edit(t, settingsRef, `{"data":{"b":"theirs"}}`)
	cluster.take()
	assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action, "the answer has the version that was there")
	assert.Len(t, cluster.take(), 1, "but it took a call to know")
	assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
	assert.Empty(t, cluster.take(), "once")
}

// droppingCluster drops an annotation for good, as a server does with what no schema knows.
type droppingCluster struct{ *recording }

func (c droppingCluster) Port() deploy.Port { return droppingPort{c.recording.Port()} }

type droppingPort struct{ deploy.Port }

func (p droppingPort) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	obj = obj.DeepCopy()
	unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", "dropped")
	return p.Port.Apply(ctx, obj, options)
}

// What a write changed is told, but not what moves with every write, nor a secret.
func TestChangesOfAResult(t *testing.T) {
	t.Parallel()
	said := func(result deploy.Result) (out []string) {
		require.NoError(t, result.Err)
		for _, change := range result.Changes {
			out = append(out, change.String())
		}
		return out
	}
	for name, options := range map[string][]deploy.Option{"applied": nil, "replaced": {deploy.DefaultStrategy(deploy.Replace)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, options...))
			assert.Empty(t, said(apply(t, m, settings(t, "{a: '1', b: '1'}"))), "all of a new one is new")
			assert.Empty(t, said(apply(t, m, settings(t, "{a: '1', b: '1'}"))))
			assert.Equal(t, []string{`.data.a: "1" -> "2"`, `.data.b: "1" -> none`}, said(apply(t, m, settings(t, "{a: '2'}"))))
			assert.Equal(t, []string{`.data.a: "2" -> "3"`}, said(apply(t, m, settings(t, "{a: '3'}"), deploy.DryRun())))
		})
	}
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	token := func(value string) *unstructured.Unstructured {
		return object(t, "{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: shop}, stringData: {token: "+value+"}}")
	}
	apply(t, m, token("sesame"))
	changes := said(apply(t, m, token("open")))
	require.Len(t, changes, 1)
	assert.Contains(t, changes[0], ".data.token: ")
	assert.NotContains(t, changes[0], "sesame")
	assert.NotContains(t, changes[0], "b3Blbg", "not even encoded")
}
