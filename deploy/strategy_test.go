package deploy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func annotated(obj *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	obj.SetAnnotations(map[string]string{key: value})
	return obj
}

func ofKind(obj *unstructured.Unstructured, kind string) *unstructured.Unstructured {
	obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
	return obj
}

func TestStrategy(t *testing.T) {
	t.Parallel()
	before, after := `{selector: {matchLabels: {app: web}}, replicas: 1}`, `{selector: {matchLabels: {app: shop}}, replicas: 1}`
	const name = "Deployment shop/web"
	for reason, test := range map[string]struct {
		first, second string
		options       []deploy.Option
		annotation    string
		action        deploy.Action
		calls         int
	}{
		"a field that can't be changed makes it anew":     {before, after, []deploy.Option{deploy.DefaultStrategy(deploy.Recreate)}, "", deploy.Recreated, 5},
		"so does the annotation":                          {before, after, nil, "Recreate", deploy.Recreated, 5},
		"what can be changed is changed":                  {before, `{selector: {matchLabels: {app: web}}, replicas: 2}`, nil, "Recreate", deploy.Configured, 1},
		"the annotation wins over the option":             {before, after, []deploy.Option{deploy.DefaultStrategy(deploy.Recreate)}, "OnDelete", deploy.Skipped, 0},
		"it is left until somebody deletes it":            {before, after, []deploy.Option{deploy.DefaultStrategy(deploy.OnDelete)}, "", deploy.Skipped, 0},
		"and is unchanged when it is as it should be":     {before, before, []deploy.Option{deploy.DefaultStrategy(deploy.OnDelete)}, "", deploy.Unchanged, 0},
		"nothing is done":                                 {before, after, nil, "Ignore", deploy.Skipped, 0},
		"a field of a kind of one's own may be declared":  {"{a: 1}", "{a: 2}", []deploy.Option{deploy.DefaultStrategy(deploy.Recreate), deploy.Immutable(widget(nil).GroupVersionKind().GroupKind(), ".spec.a")}, "", deploy.Recreated, 4},
		"a declaration is of its kind only":               {"{a: 1}", "{a: 2}", []deploy.Option{deploy.DefaultStrategy(deploy.Recreate), deploy.Immutable(schema.GroupKind{Kind: "Widget"}, ".spec.a")}, "", deploy.Configured, 1},
		"of lists every element counts":                   {"{a: [{b: 1}, {b: 2}]}", "{a: [{b: 1}]}", []deploy.Option{deploy.DefaultStrategy(deploy.Recreate), deploy.Immutable(widget(nil).GroupVersionKind().GroupKind(), ".spec.a")}, "", deploy.Recreated, 4},
		"deploy rules 16-20: never by guess from content": {"{a: [{x: 1}, {y: 2}]}", "{a: []}", []deploy.Option{deploy.DefaultStrategy(deploy.Recreate)}, "", deploy.Configured, 1},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster))
			first, second := web(t, test.first), web(t, test.second)
			if strings.HasPrefix(test.first, "{a:") {
				first, second = ofKind(first, "Widget"), ofKind(second, "Widget")
			}
			if test.annotation != "" {
				second = annotated(second, "operkit.dev/strategy", test.annotation)
				if test.annotation == "OnDelete" {
					first = annotated(first, "operkit.dev/strategy", test.annotation)
				}
			}
			uid := apply(t, m, first).Object.GetUID()
			cluster.take()
			result := apply(t, m, second, test.options...)
			assert.Equal(t, test.action, result.Action, result.Err)
			require.NoError(t, result.Err)
			assert.Len(t, cluster.take(), test.calls)
			assert.Equal(t, test.action == deploy.Recreated, uid != cluster.get(t, deploy.RefOf(first)).GetUID(), name)
		})
	}
}

func TestStrategyOfAnAbsentObject(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[deploy.Strategy]deploy.Action{
		deploy.ServerSideApply: deploy.Created, deploy.Recreate: deploy.Created, deploy.OnDelete: deploy.Created, deploy.Ignore: deploy.Skipped,
	} {
		cluster := newCluster(t)
		assert.Equal(t, want, apply(t, must(deploy.NewManager(cluster)), settings(t, "{}"), deploy.DefaultStrategy(strategy)).Action)
	}
}

func TestUnknownStrategy(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	_, err := m.Apply(t.Context(), objects(settings(t, "{}")), deploy.DefaultStrategy("Guess"))
	require.EqualError(t, err, `strategy "Guess": unknown: use one of Apply, CreateOnly, Replace, Recreate, RecreateOrphan, RecreateProtected, RecreateOnChange, OnDelete, Ignore`)
	result := apply(t, m, annotated(settings(t, "{}"), "operkit.dev/strategy", "Guess"))
	require.EqualError(t, result.Err, `ConfigMap shop/settings: invalid manifest: annotation operkit.dev/strategy: unknown strategy "Guess": use one of Apply, CreateOnly, Replace, Recreate, RecreateOrphan, RecreateProtected, RecreateOnChange, OnDelete, Ignore`)
	assert.Empty(t, cluster.take())
}

// Only the cluster knows whether it takes a change of a field that it calls immutable: what differs may be
// the work of admission.
func TestImmutableFieldsAreTheClustersToRefuse(t *testing.T) {
	t.Parallel()
	before, after := "{selector: {matchLabels: {app: web}}}", "{selector: {matchLabels: {app: shop}}}"
	const name, write = "Deployment shop/web", "apply Deployment shop/web"
	t.Run("it refuses", func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		apply(t, m, web(t, before))
		cluster.take()
		result := apply(t, m, web(t, after))
		assert.Equal(t, deploy.Failed, result.Action)
		require.EqualError(t, result.Err, `Deployment shop/web: refused: Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"shop"}}: field is immutable: `+
			`this can't be changed: the strategy Recreate (annotation operkit.dev/strategy) deletes the object and creates it again`)
		assert.Equal(t, []string{write, "create Deployment shop/web dry-run"}, cluster.take(), "without the strategy nothing is made anew")
	})
	t.Run("one that is declared and that the object doesn't have yet", func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate),
			deploy.Immutable(schema.GroupKind{Group: "apps", Kind: "Deployment"}, ".spec.paused")))
		apply(t, m, web(t, before))
		assert.Equal(t, deploy.Recreated, apply(t, m, web(t, "{selector: {matchLabels: {app: web}}, paused: true}")).Action)
	})
	t.Run("it takes it", func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate)))
		live := apply(t, m, web(t, before)).Object.DeepCopy()
		require.NoError(t, unstructured.SetNestedStringMap(live.Object, map[string]string{"app": "shop", "rewritten": "yes"}, "spec", "selector", "matchLabels"))
		again := newCluster(t, live)
		m = must(deploy.NewManager(again, deploy.DefaultStrategy(deploy.Recreate)))
		result := apply(t, m, annotated(web(t, after), "note", "new"))
		require.NoError(t, result.Err)
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Equal(t, []string{write}, again.take())
	})
	t.Run("it refuses something else", func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate)))
		apply(t, m, web(t, before))
		cluster.take()
		cluster.before = func(call string) error {
			return &deploy.InvalidError{Ref: deploy.RefOf(web(t, before)), Err: errNo}
		}
		assert.Equal(t, deploy.Failed, apply(t, m, annotated(web(t, before), "note", "new")).Action)
		assert.Equal(t, []string{write}, cluster.take(), name)
	})
}

// An object isn't deleted before the cluster would accept its successor, and what is deleted is made anew.
func TestRecreateLosesNothing(t *testing.T) {
	t.Parallel()
	first, second := web(t, "{selector: {matchLabels: {app: a}}}"), web(t, "{selector: {matchLabels: {app: b}}}")
	ref := deploy.RefOf(first)
	quota := func(amounts string) error {
		return &deploy.ForbiddenError{Err: errors.New("web is forbidden: exceeded quota: " + amounts)}
	}
	for reason, row := range map[string]struct {
		causes    []string // of the refused apply
		successor []error  // the answers to dry-run creations; nil: those of the cluster
		want      deploy.Action
	}{
		"a field":                                  {[]string{"spec.selector"}, nil, deploy.Recreated},
		"a place in it":                            {[]string{"spec.selector.matchLabels[app]"}, nil, deploy.Recreated},
		"what it is in":                            {[]string{"spec"}, nil, deploy.Recreated},
		"several fields":                           {[]string{"spec.selector", "spec.strategy"}, nil, deploy.Recreated},
		"the metadata, which others write too":     {[]string{"spec.selector", "metadata.ownerReferences"}, nil, deploy.Failed},
		"the object as a whole":                    {[]string{""}, nil, deploy.Failed},
		"nothing that the cluster names":           {nil, nil, deploy.Failed},
		"the successor is invalid":                 {[]string{"spec.selector"}, []error{&deploy.InvalidError{Ref: ref, Err: errNo}}, deploy.Failed},
		"the successor is denied":                  {[]string{"spec.selector"}, []error{&deploy.ForbiddenError{Err: errNo}}, deploy.Failed},
		"nobody knows about the successor":         {[]string{"spec.selector"}, []error{&deploy.UnavailableError{Ref: ref, Err: errNo}}, deploy.Failed},
		"a quota of which the old one is a part":   {[]string{"spec.selector"}, []error{quota("q, requested: count/deployments.apps=1, used: count/deployments.apps=3, limited: count/deployments.apps=3")}, deploy.Recreated},
		"a quota that is more than full":           {[]string{"spec.selector"}, []error{quota("q, requested: count/deployments.apps=1, used: count/deployments.apps=4, limited: count/deployments.apps=3")}, deploy.Failed},
		"a quota of something else":                {[]string{"spec.selector"}, []error{quota("q, requested: requests.cpu=1, used: requests.cpu=500m, limited: requests.cpu=1")}, deploy.Failed},
		"a quota of which the old one has as much": {[]string{"spec.selector"}, slices.Repeat([]error{quota("q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1")}, 2), deploy.Recreated},
		"a quota that can't be read":               {[]string{"spec.selector"}, []error{quota("q, requested: a=b, used: a=b, limited: a=b")}, deploy.Failed},
	} {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate), deploy.RetryFor(0)))
		uid := apply(t, m, first).Object.GetUID()
		refused := &deploy.InvalidError{Ref: ref, Err: errNo}
		for _, field := range row.causes {
			refused.Causes = append(refused.Causes, deploy.InvalidField{Field: field})
		}
		applying, creating := failing("apply", refused), failing("create", row.successor...)
		cluster.before = func(call string) error { return errors.Join(applying(call), creating(call)) }
		result := apply(t, m, second)
		assert.Equal(t, row.want, result.Action, reason)
		if live := cluster.get(t, ref); assert.NotNil(t, live, reason) {
			assert.Equal(t, row.want == deploy.Failed, live.GetUID() == uid, reason)
		}
		if row.successor != nil && row.want == deploy.Failed {
			require.ErrorContains(t, result.Err, "Deployment shop/web: it is kept, because it can't be changed (no), and a new one wouldn't be accepted: ", reason)
		}
	}
	t.Run("refused for another reason than what is in it", func(t *testing.T) {
		for _, err := range []error{
			&deploy.ForbiddenError{Verb: "patch", Err: errNo}, &deploy.StaleError{Ref: deploy.RefOf(first), Err: errNo}, errNo,
		} {
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate), deploy.RetryFor(0)))
			uid := apply(t, m, first).Object.GetUID()
			cluster.before = func(call string) error {
				if strings.HasPrefix(call, "apply") {
					return err
				}
				return nil
			}
			assert.Equal(t, deploy.Failed, apply(t, m, second).Action)
			assert.Equal(t, uid, cluster.get(t, deploy.RefOf(first)).GetUID())
		}
	})
	t.Run("the cluster is gone for a moment while it is waited", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			failing := &atomic.Bool{}
			m := must(deploy.NewManager(interruptedCluster{cluster, failing, &deploy.UnavailableError{Err: errNo}}, deploy.DefaultStrategy(deploy.Recreate)))
			apply(t, m, first)
			cluster.after = func(call string) error {
				if strings.HasPrefix(call, "delete") {
					failing.Store(true)
					time.AfterFunc(time.Second, func() { failing.Store(false) })
				}
				return nil
			}
			assert.Equal(t, deploy.Recreated, apply(t, m, second).Action)
		})
	})
	t.Run("it can't be made anew", func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate), deploy.RetryFor(0)))
		apply(t, m, first)
		cluster.after = func(call string) error {
			if strings.HasPrefix(call, "delete") {
				cluster.before = failing("apply", &deploy.UnavailableError{Err: errNo})
			}
			return nil
		}
		result := apply(t, m, second)
		require.ErrorContains(t, result.Err, "it was deleted and isn't created again yet: ")
		assert.Equal(t, deploy.Created, apply(t, m, second).Action)
	})
	t.Run("what it owns goes as is said", func(t *testing.T) {
		cluster := newCluster(t)
		var asked []metav1.DeletionPropagation
		cluster.deleting = func(options deploy.DeleteOptions) { asked = append(asked, options.Propagation) }
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate), deploy.Propagate(metav1.DeletePropagationOrphan)))
		apply(t, m, first)
		apply(t, m, second)
		assert.Equal(t, []metav1.DeletionPropagation{metav1.DeletePropagationOrphan}, asked)
	})
}

// What holds data isn't deleted unless that is said twice.
func TestRecreateProtected(t *testing.T) {
	t.Parallel()
	claim := func(class string) *unstructured.Unstructured {
		return object(t, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {storageClassName: "+class+"}")
	}
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	apply(t, m, claim("slow"))
	cluster.take()
	assert.Equal(t, deploy.Failed, apply(t, m, claim("fast")).Action)
	cluster.take()
	result := apply(t, m, claim("fast"), deploy.DefaultStrategy(deploy.Recreate))
	assert.Equal(t, deploy.Failed, result.Action)
	require.EqualError(t, result.Err, `PersistentVolumeClaim shop/data: refused: PersistentVolumeClaim "data" is invalid: spec: Forbidden: `+
		"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims: deleting the object would also delete what it contains: to allow this, use the strategy RecreateProtected")
	assert.Equal(t, []string{"apply PersistentVolumeClaim shop/data"}, cluster.take())
	assert.Equal(t, deploy.Recreated, apply(t, m, claim("fast"), deploy.DefaultStrategy(deploy.RecreateProtected)).Action)
}

func TestRecreateOfSomethingFrozen(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate)))
	frozen := settings(t, "{a: '1'}")
	frozen.Object["immutable"] = true
	apply(t, m, frozen)
	frozen.Object["data"] = map[string]any{"a": "2"}
	assert.Equal(t, deploy.Recreated, apply(t, m, frozen).Action)
}

func TestRecreateThatIsHeldUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate)))
		first := web(t, "{selector: {matchLabels: {app: a}}}")
		apply(t, m, first)
		cluster.edit(t, deploy.RefOf(first), `{"metadata":{"finalizers":["example.com/held"]}}`)
		start := time.Now()
		result := apply(t, m, web(t, "{selector: {matchLabels: {app: b}}}"))
		var late *deploy.TimeoutError
		require.ErrorAs(t, result.Err, &late)
		require.ErrorContains(t, result.Err, "it is being deleted and waits for the finalizers example.com/held")
		assert.Equal(t, deploy.Removed, result.Action)
		assert.Equal(t, deploy.DefaultWait, time.Since(start))

		time.AfterFunc(10*time.Second, func() { cluster.edit(t, deploy.RefOf(first), `{"metadata":{"finalizers":null}}`) })
		result = apply(t, m, web(t, "{selector: {matchLabels: {app: b}}}"))
		var terminating *deploy.TerminatingError
		require.ErrorAs(t, result.Err, &terminating, "what is being deleted isn't waited for again")
	})
}

func TestRecreateDryRun(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate)))
	apply(t, m, web(t, "{selector: {matchLabels: {app: a}}}"))
	cluster.take()
	assert.Equal(t, deploy.Recreated, apply(t, m, web(t, "{selector: {matchLabels: {app: b}}}"), deploy.DryRun()).Action)
	for _, call := range cluster.take() {
		assert.True(t, strings.Contains(call, "dry-run") || strings.HasPrefix(call, "list"), call)
	}
	assert.NotNil(t, cluster.get(t, deploy.Ref{Kind: deployment, Namespace: "shop", Name: "web"}))
}

// interruptedCluster has a View that answers with an error while failing.
type interruptedCluster struct {
	*recording
	failing *atomic.Bool
	answer  error
}

func (c interruptedCluster) View() deploy.View {
	return interruptedView{c.recording.View(), c.failing, c.answer}
}

type interruptedView struct {
	deploy.View
	failing *atomic.Bool
	answer  error
}

func (v interruptedView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if v.failing.Load() {
		return nil, v.answer
	}
	return v.View.Get(ctx, ref)
}

// An object that takes long to go is waited for no longer than asked for, and made by the apply after that.
func TestRecreateWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Recreate), deploy.RecreateWait(2*time.Second)))
		before := web(t, "{selector: {matchLabels: {app: web}}}")
		before.SetFinalizers([]string{"shop/hold"})
		apply(t, m, before)
		after := web(t, "{selector: {matchLabels: {app: other}}}")
		began := time.Now()
		result := apply(t, m, after)
		var late *deploy.TimeoutError
		require.ErrorAs(t, result.Err, &late)
		assert.Equal(t, deploy.Removed, result.Action)
		assert.InDelta(t, 2*time.Second, time.Since(began), float64(time.Second))

		var terminating *deploy.TerminatingError
		require.ErrorAs(t, apply(t, m, after).Err, &terminating)
		cluster.edit(t, deploy.RefOf(after), `{"metadata":{"finalizers":null}}`)
		assert.Equal(t, deploy.Created, apply(t, m, after).Action)
	})
}
