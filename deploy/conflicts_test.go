package deploy_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func fieldsOf(conflicts []deploy.FieldConflict) []string {
	var out []string
	for _, c := range conflicts {
		out = append(out, c.Field+" of "+c.Manager)
	}
	return out
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []deploy.Option
		edit    string
		action  deploy.Action
		taken   []string
		kept    []string
		calls   []string
		data    map[string]any
	}{
		"what we applied before is taken back, and told": {nil, `{"data":{"a":"theirs"}}`, deploy.Configured,
			[]string{".data.a of kubectl"}, nil, []string{"apply " + settingsName + " force"}, map[string]any{"a": "2", "b": "2"}},
		"a field with our own value isn't contested": {nil, `{"data":{"a":"2"}}`, deploy.Configured, nil, nil,
			[]string{"apply " + settingsName}, map[string]any{"a": "2", "b": "2"}},
		"a kept field is left out, the rest is applied": {[]deploy.Option{deploy.Conflicts(deploy.Keep, ".data.a")}, `{"data":{"a":"theirs"}}`, deploy.Configured,
			nil, []string{".data.a of kubectl"}, []string{"apply " + settingsName}, map[string]any{"a": "theirs", "b": "2"}},
		"what stands above a field holds for it": {[]deploy.Option{deploy.Conflicts(deploy.Keep, ".data")}, `{"data":{"a":"theirs"}}`, deploy.Configured,
			nil, []string{".data.a of kubectl"}, []string{"apply " + settingsName}, map[string]any{"a": "theirs", "b": "2"}},
		"but not what only begins alike": {[]deploy.Option{deploy.Conflicts(deploy.Keep, ".dat")}, `{"data":{"a":"theirs"}}`, deploy.Configured,
			[]string{".data.a of kubectl"}, nil, []string{"apply " + settingsName + " force"}, map[string]any{"a": "2", "b": "2"}},
		"the longest decides": {[]deploy.Option{deploy.Conflicts(deploy.Force, ".data.a"), deploy.Conflicts(deploy.Fail)}, `{"data":{"a":"theirs"}}`, deploy.Configured,
			[]string{".data.a of kubectl"}, nil, []string{"apply " + settingsName + " force"}, map[string]any{"a": "2", "b": "2"}},
		"deploy W5: fail costs no call and changes nothing": {[]deploy.Option{deploy.Conflicts(deploy.Fail)}, `{"data":{"a":"theirs"}}`, deploy.Conflicted,
			nil, nil, nil, map[string]any{"a": "theirs", "b": "1"}},
		"of the last of equal rules": {[]deploy.Option{deploy.Conflicts(deploy.Fail), deploy.Conflicts(deploy.Keep)}, `{"data":{"a":"theirs"}}`, deploy.Configured,
			nil, []string{".data.a of kubectl"}, []string{"apply " + settingsName}, map[string]any{"a": "theirs", "b": "2"}},
		"a field of others that we don't set is theirs": {nil, `{"data":{"c":"theirs"}}`, deploy.Configured, nil, nil,
			[]string{"apply " + settingsName}, map[string]any{"a": "2", "b": "2", "c": "theirs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, test.options...))
			apply(t, m, settings(t, "{a: '1', b: '1'}"))
			cluster.edit(t, settingsRef, test.edit)
			cluster.take()
			result := apply(t, m, settings(t, "{a: '2', b: '2'}"))
			assert.Equal(t, test.action, result.Action, result.Err)
			assert.Equal(t, test.taken, fieldsOf(result.Taken))
			assert.Equal(t, test.kept, fieldsOf(result.Kept))
			assert.Equal(t, test.calls, cluster.take())
			assert.Equal(t, test.data, cluster.get(t, settingsRef).Object["data"])
			if test.action == deploy.Conflicted {
				return
			}
			assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '2', b: '2'}")).Action, "it has settled")
			assert.Empty(t, cluster.take())
		})
	}
}

func TestConflictOnWhatOthersMade(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster, deploy.FieldManager("other"))), settings(t, "{a: '1'}"))
	cluster.take()
	m := must(deploy.NewManager(cluster))
	result := apply(t, m, settings(t, "{a: '2'}"))
	assert.Equal(t, deploy.Conflicted, result.Action, "deploy W5: nothing is taken that we never applied")
	var conflict *deploy.ConflictError
	require.ErrorAs(t, result.Err, &conflict)
	assert.Equal(t, []string{".data.a of other"}, fieldsOf(conflict.Fields))
	assert.Empty(t, cluster.take())

	result = apply(t, m, settings(t, "{a: '2'}"), deploy.Conflicts(deploy.Force))
	assert.Equal(t, deploy.Configured, result.Action)
	assert.Equal(t, []string{".data.a of other"}, fieldsOf(result.Taken))
	result = apply(t, m, settings(t, "{a: '3'}"))
	assert.Equal(t, deploy.Configured, result.Action, "now it is ours")
	assert.Empty(t, result.Taken)
}

// In lists with keys the item is named as the API server names it.
func TestContestedListItem(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	obj := settings(t, "{}")
	obj.SetOwnerReferences(nil)
	obj.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": true}}
	apply(t, m, obj)
	cluster.edit(t, settingsRef, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u","controller":false}]}}`)
	result := apply(t, m, obj)
	assert.Equal(t, []string{`.metadata.ownerReferences[uid="u"] of kubectl`}, fieldsOf(result.Taken))
	assert.Equal(t, deploy.Configured, result.Action, result.Err)
}

// Two that set one field differently end in a stated conflict, not in a loop.
func TestWar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		intent := settings(t, "{a: ours, b: '1'}")
		apply(t, m, intent)
		fight := func() deploy.Result {
			cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
			cluster.take()
			return apply(t, m, intent)
		}
		for range 3 {
			time.Sleep(time.Minute)
			require.Equal(t, deploy.Configured, fight().Action)
		}
		time.Sleep(time.Minute)
		result := fight()
		assert.Equal(t, deploy.Conflicted, result.Action)
		var conflict *deploy.ConflictError
		require.ErrorAs(t, result.Err, &conflict)
		assert.True(t, conflict.Fought)
		assert.Equal(t, []string{".data.a of kubectl"}, fieldsOf(conflict.Fields))
		require.ErrorContains(t, result.Err, "again and again")
		assert.Equal(t, map[string]any{"a": "theirs", "b": "1"}, cluster.get(t, settingsRef).Object["data"])
		assert.Empty(t, cluster.take(), "the rest is as it should be")

		for range 5 {
			time.Sleep(time.Hour)
			assert.Equal(t, deploy.Conflicted, apply(t, m, intent).Action, "it stays so")
			assert.Empty(t, cluster.take())
		}
		changed := settings(t, "{a: ours, b: '2'}")
		assert.Equal(t, deploy.Conflicted, apply(t, m, changed).Action)
		assert.Equal(t, []string{"apply " + settingsName}, cluster.take(), "all else is applied")
		assert.Equal(t, map[string]any{"a": "theirs", "b": "2"}, cluster.get(t, settingsRef).Object["data"])
	})
}

func TestWarTakesThreeInTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		intent := settings(t, "{a: ours}")
		apply(t, m, intent)
		for range 10 {
			time.Sleep(6 * time.Minute)
			cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
			assert.Equal(t, deploy.Configured, apply(t, m, intent).Action, "now and then is no war")
		}
	})
}

// What the view doesn't show yet is settled by the cluster's answer.
func TestConflictTheViewDidNotShow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy deploy.ConflictPolicy
		action deploy.Action
		calls  []string
		a      string
	}{
		"forced": {deploy.ForceOwn, deploy.Configured, []string{"apply " + settingsName, "get " + settingsName, "apply " + settingsName + " force"}, "2"},
		"kept":   {deploy.Keep, deploy.Configured, []string{"apply " + settingsName, "get " + settingsName, "apply " + settingsName}, "theirs"},
		"failed": {deploy.Fail, deploy.Conflicted, []string{"apply " + settingsName, "get " + settingsName}, "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(&staleCluster{recording: cluster}, deploy.Conflicts(test.policy)))
			apply(t, m, settings(t, "{a: '1', b: '1'}"))
			cluster.stale = cluster.get(t, settingsRef)
			cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
			cluster.take()
			result := apply(t, m, settings(t, "{a: '2', b: '2'}"))
			assert.Equal(t, test.action, result.Action, result.Err)
			assert.Equal(t, test.calls, cluster.take())
			assert.Len(t, test.calls, result.Calls)
			data := cluster.get(t, settingsRef).Object["data"].(map[string]any)
			assert.Equal(t, test.a, data["a"])
		})
	}
}

// An object that was deleted and made anew behind the view's back is looked at again.
func TestReplacedBehindTheView(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(&staleCluster{recording: cluster}))
	apply(t, m, settings(t, "{a: '1'}"))
	cluster.stale = cluster.get(t, settingsRef)
	require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
	cluster.take()
	result := apply(t, m, settings(t, "{a: '2'}"))
	assert.Equal(t, deploy.Created, result.Action, "deploy 15: recomputed on what is there")
	assert.NotEqual(t, cluster.stale.GetUID(), result.Object.GetUID())
	assert.Len(t, cluster.take(), 3)
	_, err := cluster.memory.Port().Patch(t.Context(), settingsRef, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{}`), FieldManager: "x"})
	require.NoError(t, err)
}

// staleCluster has a View that is behind.
type staleCluster struct{ *recording }

func (c *staleCluster) View() deploy.View { return staleView{c.recording.View(), c.recording} }

type staleView struct {
	deploy.View
	recording *recording
}

func (v staleView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if v.recording.stale != nil {
		return v.recording.stale, nil
	}
	return v.View.Get(ctx, ref)
}

// What is kept may be deep in a list with keys, or a list as a whole.
func TestKeptInLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, edit, after, field, want string }{
		"a field of an item": {"args: [a]", `{"name":"web","image":"theirs"}`, "args: [b]",
			`.spec.template.spec.containers[name="web"].image`, "image: theirs, args: [b]"},
		"of every item": {"args: [a]", `{"name":"web","image":"theirs"}`, "args: [b]",
			`.spec.template.spec.containers`, "image: theirs, args: [b]"},
		"a list that is owned as a whole": {"args: [a], stdin: true", `{"name":"web","args":["theirs"]}`, "args: [b], stdin: false",
			`.spec.template.spec.containers[name="web"].args`, "image: w, args: [theirs], stdin: false"},
		"of an item in an item": {"env: [{name: a, value: x}]", `{"name":"web","env":[{"name":"a","value":"theirs"}]}`, "env: [{name: a, value: y}, {name: b, value: z}]",
			`.spec.template.spec.containers[name="web"].env[name="a"].value`, "image: w, env: [{name: a, value: theirs}, {name: b, value: z}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newKubernetes(t)
			m := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Keep, test.field)))
			ref := deploy.RefOf(container(t, test.before))
			require.NoError(t, apply(t, m, container(t, test.before)).Err)
			body := `{"spec":{"template":{"spec":{"containers":[` + test.edit + `]}}}}`
			_, err := cluster.memory.Port().Apply(t.Context(), theirs(t, ref, body), deploy.ApplyOptions{FieldManager: "other", Force: true})
			require.NoError(t, err)
			cluster.take()
			result := apply(t, m, container(t, test.after))
			require.NoError(t, result.Err)
			assert.Len(t, result.Kept, 1)
			assert.Empty(t, result.Taken)
			assert.Equal(t, []string{"apply Deployment shop/web"}, cluster.take())
			got := firstContainer(t, cluster.get(t, ref))
			want := firstContainer(t, web(t, "{template: {spec: {containers: [{name: web, "+test.want+"}]}}}"))
			assertJSON(t, want, got)
			assert.Equal(t, deploy.Unchanged, apply(t, m, container(t, test.after)).Action)
			assert.Empty(t, cluster.take())
		})
	}
}

// theirs is an intent of somebody else about an object.
func theirs(t testing.TB, ref deploy.Ref, body string) *unstructured.Unstructured {
	t.Helper()
	obj := object(t, body)
	obj.SetGroupVersionKind(ref.Kind)
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}

func assertJSON(t testing.TB, want, got any) {
	t.Helper()
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	found, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, string(wanted), string(found))
}
