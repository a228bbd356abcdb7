package reconciletest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// requests sends one of each to the reconcilers' Port and returns the answers.
func requests(t *testing.T, h *Harness) (answers []error) {
	t.Helper()
	ctx, p := t.Context(), observed{h.cluster, h}.Port()
	obj := func(data string) *unstructured.Unstructured {
		objects, err := toObjects("{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: test}, data: {a: " + data + "}}")
		require.NoError(t, err)
		return objects[0]
	}
	ref := deploy.RefOf(obj("x"))
	_, err := p.Create(ctx, obj("created"), deploy.CreateOptions{FieldManager: "m"})
	answers = append(answers, err)
	_, err = p.Create(ctx, obj("created"), deploy.CreateOptions{FieldManager: "m", DryRun: true})
	answers = append(answers, err)
	live, err := p.Get(ctx, ref)
	answers = append(answers, err)
	if live == nil {
		live = obj("gone")
	}
	require.NoError(t, unstructured.SetNestedField(live.Object, "updated", "data", "a"))
	_, err = p.Update(ctx, live, deploy.UpdateOptions{FieldManager: "m"})
	answers = append(answers, err)
	_, err = p.Apply(ctx, obj("applied"), deploy.ApplyOptions{FieldManager: "m", Force: true})
	answers = append(answers, err)
	_, err = p.Apply(ctx, obj("applied"), deploy.ApplyOptions{FieldManager: "m", Force: true})
	answers = append(answers, err)
	_, err = p.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"data":{"a":"patched"}}`), FieldManager: "m"})
	answers = append(answers, err)
	_, err = p.List(ctx, ref.Kind, "test", deploy.ListOptions{})
	answers = append(answers, err)
	err = p.Delete(ctx, ref, deploy.DeleteOptions{})
	return append(answers, err)
}

func TestEveryRequestIsACall(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	answers := requests(t, h)
	assert.Error(t, answers[1], "a dry run of what is there already")
	assert.Equal(t, []string{
		"created ConfigMap test/it", "get ConfigMap test/it", "configured ConfigMap test/it", "configured ConfigMap test/it",
		"unchanged ConfigMap test/it", "configured ConfigMap test/it", "list ConfigMap test/", "deleted ConfigMap test/it",
	}, lines(h.Calls()), "operator 31: what the manager does is seen; dry runs are no calls")
	h.Writes(6)
	assert.Equal(t, `.data.a: "created" -> "updated"`, h.Calls()[2].Changes[0].String())
	assert.Empty(t, h.Calls()[4].Changes)
	assert.Equal(t, Started, h.Calls()[0].At)
}

func TestEveryRequestMeetsFaults(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	boom := errors.New("boom")
	fault := h.Fail("it", Deploy, boom)
	ref := reconcileRef("ConfigMap", "test", "it")
	h.faults.begin(deploy.Ref{Namespace: "test", Name: "tea"}, false)
	_, _, err := recording{h.faults}.Apply(t.Context(), "it", "configmap/it", settings("it", nil))
	require.NoError(t, err)
	assert.Equal(t, "reconciletest", recording{}.Name())
	for i, err := range requests(t, h) {
		if i == 7 {
			require.NoError(t, err, "a list is about no object")
			continue
		}
		require.ErrorIs(t, err, boom)
	}
	h.Writes(6)
	for _, call := range h.Calls() {
		if call.Write() {
			assert.Equal(t, "failed ConfigMap test/it: boom", call.String())
		}
	}
	view := observed{h.cluster, h}.View()
	_, err = view.Get(t.Context(), ref)
	require.ErrorIs(t, err, boom)
	h.faults.end()
	_, err = view.Get(t.Context(), ref)
	require.NoError(t, err, "not while nothing is reconciled")
	assert.Equal(t, 1, fault.Met(), "once in a reconcile")
}

// offering is a View with what some offer beside.
type (
	ownedOnly   struct{ deploy.View }
	partialOnly struct{ deploy.View }
	both        struct {
		ownedOnly
		other partialOnly
	}
)

func (ownedOnly) Owned(context.Context, schema.GroupVersionKind, string, types.UID) ([]*unstructured.Unstructured, error) {
	return []*unstructured.Unstructured{{}}, nil
}

func (partialOnly) Partial(context.Context, deploy.Ref) (*unstructured.Unstructured, bool, error) {
	return &unstructured.Unstructured{}, true, nil
}

func (b both) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	return b.other.Partial(ctx, ref)
}

func TestWhatAViewOffersBesideIsKept(t *testing.T) {
	t.Parallel()
	memory, err := dryrun.New()
	require.NoError(t, err)
	plainView := struct{ deploy.View }{memory.View()}
	boom := errors.New("boom")
	for reason, row := range map[string]struct {
		view           deploy.View
		owned, partial bool
	}{
		"nothing":      {plainView, false, false},
		"owned":        {ownedOnly{plainView}, true, false},
		"partial":      {partialOnly{plainView}, false, true},
		"both of them": {both{ownedOnly{plainView}, partialOnly{}}, true, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			f := newFaults()
			fault := &Fault{faults: f, component: "it", phase: Deploy, err: boom, left: -1}
			f.add(fault)
			view := shownView(row.view, inMemory(f))
			_, err := view.(deploy.KindView).Kinds(t.Context())
			require.ErrorContains(t, err, "doesn't know which kinds are served")
			owned, ok := view.(deploy.OwnedView)
			require.Equal(t, row.owned, ok)
			if ok {
				objects, err := owned.Owned(t.Context(), schema.GroupVersionKind{}, "", "")
				require.NoError(t, err)
				assert.Len(t, objects, 1)
			}
			partial, ok := view.(deploy.PartialView)
			require.Equal(t, row.partial, ok)
			if !ok {
				return
			}
			ref := reconcileRef("ConfigMap", "test", "it")
			_, whole, err := partial.Partial(t.Context(), ref)
			require.NoError(t, err)
			assert.True(t, whole)
			f.begin(deploy.Ref{Namespace: "test", Name: "tea"}, false)
			_, _, err = recording{f}.Apply(t.Context(), "it", "configmap/it", settings("it", nil))
			require.NoError(t, err)
			_, _, err = partial.Partial(t.Context(), ref)
			require.ErrorIs(t, err, boom)
		})
	}
}

func TestKindsOfAView(t *testing.T) {
	t.Parallel()
	memory, err := dryrun.New()
	require.NoError(t, err)
	view := shownView(memory.View(), inMemory(newFaults())).(deploy.KindView)
	kinds, err := view.Kinds(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, kinds)
	require.NoError(t, view.Served(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}))
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	view.WatchKinds(ctx, func([]deploy.ServedKind) {
		calls++
		cancel()
	})
	assert.Equal(t, 1, calls)
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	data := "a"
	h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
		c := s.Add("door")
		c.Add("made", settings("made", map[string]any{"a": data}), reconcile.By(deploy.CreateOnly))
		c.Add("whole", settings("whole", map[string]any{"a": data}), reconcile.By(deploy.Replace))
		return nil
	}})
	h.Apply(tea)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	h.Created("ConfigMap made", "ConfigMap whole")
	data = "b"
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
	h.RunUntilSettled()
	h.Configured("ConfigMap whole")
	h.Writes(1)
}

func TestLogs(t *testing.T) {
	t.Parallel()
	var logs []string
	said := try(t, func(t *trial) {
		h := New(t, &shop{func(context.Context, *reconcile.Session) error { panic("boom") }})
		h.Apply(tea)
		h.RunUntilSettled()
		logs = t.logs
	})
	assert.Empty(t, said, "operator 31: a panic is that resource's error")
	text := strings.Join(logs, "\n")
	assert.Contains(t, text, `level=ERROR msg=panic object="Shop test/tea"`)
	assert.Equal(t, 1, strings.Count(text, "reconcile of Shop test/tea failed: setup: "), "the same is said once")
}

func TestPausedResourcesAreLeftAlone(t *testing.T) {
	t.Parallel()
	pause := func(h *Harness, value string) {
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
		})
	}
	t.Run("reconcile 38: from its beginning until somebody ends it", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply("{apiVersion: example.dev/v1, kind: Shop, metadata: {name: tea, annotations: {operkit.dev/pause-execution: 'true'}}, spec: {sign: open}}")
		fault := h.FailOnce("store", Deploy, errors.New("boom"))
		h.RunUntilSettled()
		h.Configured("Shop tea status")
		h.Writes(1)
		assert.Equal(t, reconcile.ReasonPaused, h.Condition("Shop tea", reconcile.ConditionPaused).Reason)
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
		h.RunUntilSettled()
		h.Ready("Shop tea")
		assert.Empty(t, h.Condition("Shop tea", reconcile.ConditionPaused))
		assert.Equal(t, 1, fault.Met())
	})
	t.Run("reconcile 38: until a time", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.RunUntilSettled()
		pause(h, h.Now().Add(24*time.Hour).Format(time.RFC3339))
		h.Delete("ConfigMap tea-door")
		h.Advance(23 * time.Hour)
		h.Configured("Shop tea status")
		h.Writes(1)
		h.Gone("ConfigMap tea-door")
		h.Advance(time.Hour)
		h.Created("ConfigMap tea-door")
		h.Ready("Shop tea")
		assert.Empty(t, h.Condition("Shop tea", reconcile.ConditionPaused))
	})
	t.Run("watch 18: a deletion goes on, unless it is asked to wait", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			options []Option
			gone    bool
		}{
			{nil, true},
			{[]Option{With(reconcile.PauseDeletions())}, false},
		} {
			h := New(t, &closing{market(), func(context.Context, *reconcile.Session) error { return nil }}, row.options...)
			h.Apply(tea)
			h.RunUntilSettled()
			pause(h, "true")
			h.Delete("Shop tea")
			h.RunUntilSettled()
			if !row.gone {
				h.Exists("Shop tea", "ConfigMap tea-door")
				pause(h, "false")
				h.RunUntilSettled()
			}
			h.Gone("Shop tea", "ConfigMap tea-door")
		}
	})
}

// inMemory is a harness of which only the faults matter.
func inMemory(f *faults) *Harness { return &Harness{faults: f, gate: newGate(nil), stalls: &stalls{}} }
