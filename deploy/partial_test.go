package deploy_test

import (
	"context"
	"maps"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// firstUID is that of the first object of a cluster in memory.
const firstUID = "d72770d0-0000-4000-8000-000000000001"

// partial is a cluster whose View holds metadata only, one and the same object until it changes.
type partial struct{ caching }

func newPartial(t *testing.T) partial { return partial{newCaching(t)} }

func (c partial) View() deploy.View { return partialView{c.caching.View(), c.caching} }

type partialView struct {
	deploy.View
	caching caching
}

func (v partialView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := v.caching.note("live read " + ref.String()); err != nil {
		return nil, err
	}
	return v.View.Get(ctx, ref)
}

func (v partialView) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	obj, err := v.caching.memory.View().Get(ctx, ref)
	if obj == nil || err != nil {
		return nil, false, err
	}
	obj = &unstructured.Unstructured{Object: maps.Clone(obj.Object)}
	maps.DeleteFunc(obj.Object, func(field string, _ any) bool {
		return field != "apiVersion" && field != "kind" && field != "metadata"
	})
	same, _ := v.caching.shown.LoadOrStore(obj.GetResourceVersion(), obj)
	return same.(*unstructured.Unstructured), false, nil
}

// What a Manager asks the cluster for when its View holds metadata only.
func TestPartialView(t *testing.T) {
	t.Parallel()
	const get, write = "get Deployment shop/web", "apply Deployment shop/web"
	edited := func(body string) func(*testing.T, *recording) {
		return func(t *testing.T, cluster *recording) { cluster.edit(t, deploy.RefOf(web(t, "{}")), body) }
	}
	for name, test := range map[string]struct {
		spec, next string
		options    []deploy.Option
		between    func(*testing.T, *recording)
		action     deploy.Action
		calls      []string
	}{
		"fields of its own each":      {spec: "{a: 1, b: {c: x}}", action: deploy.Unchanged},
		"what others add is no drift": {spec: "{a: 1}", action: deploy.Unchanged, between: edited(`{"spec":{"theirs":1}}`)},
		"a field that was changed is somebody else's": {spec: "{a: 1}", action: deploy.Configured,
			calls: []string{write + " force"}, between: edited(`{"spec":{"a":2}}`)},
		"what isn't to be taken is looked at": {spec: "{a: 1, b: 1}", action: deploy.Conflicted,
			calls: []string{get}, options: []deploy.Option{deploy.Conflicts(deploy.Fail, ".spec.a")}, between: edited(`{"spec":{"a":2}}`)},
		"a field that was removed is nobody's": {spec: "{a: 1, b: 2}", action: deploy.Configured,
			calls: []string{write}, between: edited(`{"spec":{"a":null}}`)},
		"a list owned as a whole may have been emptied": {spec: "{list: [a]}", action: deploy.Unchanged, calls: []string{get}},
		"entries of a map: all that is left may be the map": {spec: "{map: {a: x}}", action: deploy.Configured,
			calls: []string{get, write}, between: edited(`{"spec":{"map":{"a":null}}}`)},
		"a change of the intent needs no look": {spec: "{a: 1}", next: "{a: 2}", action: deploy.Configured, calls: []string{write}},
		"an object made anew may have others' fields": {spec: "{a: 1}", next: "{a: 2}", action: deploy.Conflicted, calls: []string{get},
			options: []deploy.Option{deploy.Conflicts(deploy.Fail)}, between: edited(`{"spec":{"a":3}}`)},
		"an equal value is no conflict": {spec: "{a: 1}", next: "{a: 2}", action: deploy.Configured, calls: []string{get, write},
			options: []deploy.Option{deploy.Conflicts(deploy.Fail)}, between: edited(`{"spec":{"a":2}}`)},
		"a replacement is of the whole": {spec: "{a: 1}", next: "{a: 2}", action: deploy.Replaced,
			calls: []string{get, "update Deployment shop/web"}, options: []deploy.Option{deploy.DefaultStrategy(deploy.Replace)}},
		"an immutable field is looked at": {spec: "{selector: {a: x}}", next: "{selector: {a: y}}", action: deploy.Recreated,
			calls:   []string{get, write, "list PersistentVolumeClaim shop", "create Deployment shop/web dry-run", "delete Deployment shop/web " + firstUID, write},
			options: []deploy.Option{deploy.DefaultStrategy(deploy.Recreate)}},
		"it is there, be it what it may": {spec: "{a: 1}", next: "{a: 2}", action: deploy.Unchanged, options: []deploy.Option{deploy.DefaultStrategy(deploy.CreateOnly)}},
		"gone after the look": {spec: "{list: [a]}", action: deploy.Created, calls: []string{get, write}, between: func(t *testing.T, cluster *recording) {
			cluster.before = func(call string) error {
				if call == get {
					require.NoError(t, cluster.memory.Port().Delete(t.Context(), deploy.RefOf(web(t, "{}")), deploy.DeleteOptions{}))
				}
				return nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newPartial(t)
			require.Equal(t, deploy.Created, apply(t, must(deploy.NewManager(cluster)), web(t, test.spec)).Action)
			if test.between != nil {
				test.between(t, cluster.recording)
			}
			cluster.take()
			if test.next == "" {
				test.next = test.spec
			}
			m := must(deploy.NewManager(cluster))
			result := apply(t, m, web(t, test.next), test.options...)
			assert.Equal(t, test.action, result.Action, "%v", result.Err)
			assert.Equal(t, test.calls, cluster.take())
			assert.Equal(t, len(test.calls), result.Calls)
			if result.Action == deploy.Unchanged {
				assert.Equal(t, deploy.Unchanged, apply(t, m, web(t, test.next), test.options...).Action)
				assert.Empty(t, cluster.take(), "what was seen once is known as long as the object stays the same")
			}
		})
	}
}

func TestPartialViewElsewhere(t *testing.T) {
	t.Parallel()
	cluster := newPartial(t)
	m := must(deploy.NewManager(cluster))
	apply(t, m, settings(t, "{a: '1'}"))
	cluster.edit(t, settingsRef, `{"data":{"b":"theirs"}}`)
	cluster.take()

	unchanged := apply(t, m, settings(t, "{a: '1'}"))
	assert.NotContains(t, unchanged.Object.Object, "data")
	assert.Empty(t, cluster.take())

	changed := apply(t, m, settings(t, "{a: '2'}"))
	assert.Empty(t, changed.Changes, "before isn't known")
	assert.Equal(t, []string{"apply " + settingsName}, cluster.take())

	diffs, err := m.Diff(t.Context(), objects(settings(t, "{a: '3'}")))
	require.NoError(t, err)
	require.Len(t, diffs, 1)
	assert.Equal(t, []string{`.data.a: "2" -> "3"`}, lines(diffs[0].Changes), "a difference is one of content")
	for range 2 {
		cluster.take()
		_, err := m.ApplySet(t.Context(), deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "set"}}, objects(settings(t, "{a: '2'}")))
		require.NoError(t, err)
	}
	for _, call := range cluster.take() {
		assert.NotContains(t, call, settingsName, "members of a set are looked at no more closely")
	}
	cluster.take()

	results, err := m.Delete(t.Context(), objects(settings(t, "{}")), deploy.UntilGone())
	require.NoError(t, err)
	assert.Equal(t, deploy.Removed, results[0].Action)
	assert.Equal(t, []string{"delete " + settingsName + " " + firstUID}, cluster.take(), "to delete is to look at metadata")
}
