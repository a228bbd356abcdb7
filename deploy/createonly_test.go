package deploy_test

import (
	"testing"
	"testing/synctest"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCreateOnly(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.CreateOnly), deploy.OwnedBy(cart("c"))))
	assert.Equal(t, deploy.Created, apply(t, m, settings(t, "{a: '1'}")).Action)
	assert.Equal(t, []string{"create " + settingsName}, cluster.take())
	assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '2'}")).Action, "what is there stays as it is")
	assert.Empty(t, cluster.take())
	assert.Equal(t, map[string]any{"a": "1"}, cluster.get(t, settingsRef).Object["data"])

	result := apply(t, must(m.With(deploy.OwnedBy(cart("other")))), settings(t, "{}"))
	var owned *deploy.OwnedError
	require.ErrorAs(t, result.Err, &owned, "somebody else's isn't what was asked for")

	cluster.blind = true
	assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{}")).Action, "made, and not shown yet")
	assert.Equal(t, []string{"create " + settingsName, "get " + settingsName}, cluster.take())
}

// What is being deleted isn't what was asked for any more: it is made when that is gone.
func TestCreateOnlyOfWhatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		manifest string
		blind    bool
		calls    int
	}{
		"by its name":       {"name: a", false, 0},
		"not shown yet":     {"name: a", true, 2},
		"by a made-up name": {"generateName: a-", false, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.CreateOnly)))
			manifest := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {"+row.manifest+", namespace: shop, finalizers: [shop/hold]}}")
			made := apply(t, m, manifest)
			require.Equal(t, deploy.Created, made.Action)
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), made.Ref, deploy.DeleteOptions{}))
			cluster.take()
			cluster.blind = row.blind
			result := apply(t, m, manifest)
			assert.Equal(t, deploy.Skipped, result.Action)
			assert.Equal(t, made.Ref, result.Ref)
			var terminating *deploy.TerminatingError
			require.ErrorAs(t, result.Err, &terminating)
			assert.Equal(t, []string{"shop/hold"}, terminating.Finalizers)
			assert.Len(t, cluster.take(), row.calls)
			cluster.edit(t, made.Ref, `{"metadata":{"finalizers":null}}`)
			assert.Equal(t, deploy.Created, apply(t, m, manifest).Action)
		})
	}
}

// An object with generateName is made once, and found again by its label.
func TestGenerateName(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.CreateOnly), deploy.OwnedBy(cart("c"))))
	job := func(prefix string) *unstructured.Unstructured {
		return object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: "+prefix+", labels: {a: b}}, data: {}}")
	}
	made := apply(t, m, job("a-"))
	require.NoError(t, made.Err)
	assert.Equal(t, deploy.Created, made.Action)
	assert.Contains(t, made.Ref.Name, "a-")
	assert.Equal(t, "b", made.Object.GetLabels()["a"])
	again := apply(t, m, job("a-"))
	assert.Equal(t, deploy.Unchanged, again.Action)
	assert.Equal(t, made.Ref, again.Ref)
	twin := made.Object.DeepCopy()
	twin.SetName("a-") // the first by name
	twin.SetResourceVersion("")
	twin.SetFinalizers([]string{"x/y"})
	twin, err := cluster.memory.Port().Create(t.Context(), twin, deploy.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, cluster.memory.Port().Delete(t.Context(), deploy.RefOf(twin), deploy.DeleteOptions{}))
	assert.Equal(t, made.Ref, apply(t, m, job("a-")).Ref, "one that goes doesn't count while there is another")
	assert.Equal(t, deploy.Created, apply(t, m, job("b-")).Action, "another name is another object")
	assert.Equal(t, deploy.Created, apply(t, must(m.With(deploy.OwnedBy(cart("other")))), job("a-")).Action, "so is another owner's")

	_, err = m.Apply(t.Context(), objects(job("a-"), job("a-")))
	require.EqualError(t, err, "ConfigMap shop/a-: invalid manifest: it is given twice in one set")
	result := apply(t, m, job("a-"), deploy.DefaultStrategy(deploy.ServerSideApply))
	require.ErrorContains(t, result.Err, "generateName can't be applied: give it a name, or use the strategy CreateOnly")
}

// The answer to a creation is lost: what was made is found, and not made again.
func TestGenerateNameWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		lost := &deploy.UnavailableError{Err: errNo}
		cluster.after = failing("create", lost)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.CreateOnly)))
		job := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-, namespace: shop}}")
		result := apply(t, m, job)
		require.NoError(t, result.Err)
		assert.Equal(t, deploy.Created, result.Action)
		assert.Len(t, cluster.memory.Objects(), 1)
		assert.Equal(t, 2, result.Calls, "a creation and a look")

		never := newCluster(t)
		never.before = failing("create", lost, lost)
		result = apply(t, must(deploy.NewManager(never, deploy.DefaultStrategy(deploy.CreateOnly))), job)
		require.NoError(t, result.Err)
		assert.Len(t, never.memory.Objects(), 1, "what was never made is tried again")
		assert.Equal(t, 5, result.Calls)
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit  string
		want  deploy.Action
		calls int
		data  map[string]any
	}{
		"deploy W2: what is there is no difference": {`{}`, deploy.Unchanged, 0, map[string]any{"a": "1"}},
		"a changed value is put back":               {`{"data":{"a":"9"}}`, deploy.Replaced, 1, map[string]any{"a": "1"}},
		"a value that is gone comes back":           {`{"data":{"a":null}}`, deploy.Replaced, 1, map[string]any{"a": "1"}},
		"what others add stays until then":          {`{"data":{"b":"2"}}`, deploy.Unchanged, 0, map[string]any{"a": "1", "b": "2"}},
		"and goes with it":                          {`{"data":{"a":"9","b":"2"}}`, deploy.Replaced, 1, map[string]any{"a": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Replace)))
			require.Equal(t, deploy.Created, apply(t, m, settings(t, "{a: '1'}")).Action)
			cluster.edit(t, settingsRef, `{"metadata":{"finalizers":["x/y"],"labels":{"theirs":"yes"},"annotations":{"theirs":"yes"},
				"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]}}`)
			cluster.edit(t, settingsRef, test.edit)
			cluster.take()
			result := apply(t, m, settings(t, "{a: '1'}"))
			require.NoError(t, result.Err)
			assert.Equal(t, test.want, result.Action)
			assert.Len(t, cluster.take(), test.calls)
			live := cluster.get(t, settingsRef)
			assert.Equal(t, test.data, live.Object["data"])
			assert.Equal(t, []string{"x/y"}, live.GetFinalizers(), "deploy W4: finalizers of others stay")
			assert.Equal(t, "yes", live.GetLabels()["theirs"])
			assert.Equal(t, "yes", live.GetAnnotations()["theirs"])
			assert.Len(t, live.GetOwnerReferences(), 1, "deploy W4: and owners")
			assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '1'}")).Action)
			assert.Empty(t, cluster.take())
		})
	}
}

// deploy W4: never unconditional; who was faster isn't overwritten.
func TestReplaceUnderItsVersion(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(&staleCluster{recording: cluster}, deploy.DefaultStrategy(deploy.Replace)))
	apply(t, m, settings(t, "{a: '1'}"))
	cluster.stale = cluster.get(t, settingsRef)
	cluster.edit(t, settingsRef, `{"metadata":{"labels":{"theirs":"yes"}}}`)
	cluster.take()
	result := apply(t, m, settings(t, "{a: '2'}"))
	require.NoError(t, result.Err)
	assert.Equal(t, deploy.Replaced, result.Action)
	assert.Equal(t, "yes", result.Object.GetLabels()["theirs"])
	assert.Equal(t, []string{"update " + settingsName, "get " + settingsName, "update " + settingsName}, cluster.take())
}

func TestMadeFrom(t *testing.T) {
	t.Parallel()
	generated := func(name string) *unstructured.Unstructured {
		obj := settings(t, "{}")
		obj.SetName("")
		obj.SetGenerateName(name)
		return obj
	}
	m := must(deploy.NewManager(newCluster(t), deploy.DefaultStrategy(deploy.CreateOnly), deploy.OwnedBy(cart("a"))))
	live := apply(t, m, generated("settings-")).Object
	require.NotNil(t, live)
	for reason, row := range map[string]struct {
		live, manifest *unstructured.Unstructured
		options        []deploy.Option
		want           bool
	}{
		"its manifest":                     {live, generated("settings-"), nil, true},
		"a manifest without the namespace": {live, func() *unstructured.Unstructured { o := generated("settings-"); o.SetNamespace(""); return o }(), nil, true},
		"another prefix":                   {live, generated("other-"), nil, false},
		"another kind":                     {live, func() *unstructured.Unstructured { o := generated("settings-"); o.SetKind("Secret"); return o }(), nil, false},
		"a manifest with a name":           {live, settings(t, "{}"), nil, false},
		"another owner":                    {live, generated("settings-"), []deploy.Option{deploy.OwnedBy(cart("b"))}, false},
		"another manager":                  {live, generated("settings-"), []deploy.Option{deploy.FieldManager("other")}, false},
		"an object of another origin":      {settings(t, "{}"), generated("settings-"), nil, false},
		"no object":                        {nil, generated("settings-"), nil, false},
		"no manifest":                      {live, nil, nil, false},
	} {
		assert.Equal(t, row.want, m.MadeFrom(row.live, row.manifest, row.options...), reason)
	}
}

// The form in which the API server stores a quantity is no difference; another form of the same amount is one.
func TestReplaceComparesQuantities(t *testing.T) {
	t.Parallel()
	for have, want := range map[string]deploy.Action{
		"1024Mi": deploy.Unchanged, "1Gi": deploy.Unchanged, "1073741824": deploy.Replaced, "2Gi": deploy.Replaced,
	} {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Replace)))
		service := object(t, "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {type: ExternalName, externalName: 1024Mi}}")
		require.Equal(t, deploy.Created, apply(t, m, service).Action)
		cluster.edit(t, deploy.RefOf(service), `{"spec":{"externalName":"`+have+`"}}`)
		assert.Equal(t, want, apply(t, m, service).Action, have)
	}
}
