package reconcile

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// describe has a controller describe the widget of a world.
func (w *world) describe(r *Reconciler, as Describing) (*Description, error) {
	w.t.Helper()
	w.forget()
	d, err := r.Describe(w.t.Context(), w.widget(), as)
	if d != nil {
		w.t.Cleanup(d.Release)
	}
	assert.Empty(w.t, w.made(), "nothing is done")
	return d, err
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := func(context.Context, *Component) (bool, error) { return false, nil }
	judge := func(context.Context, *unstructured.Unstructured) error { return request.Precondition("not yet") }
	builder := revising{func(c *Component) { c.Add("b", configMap("b"), ReadyWhen(judge)) }}
	r := w.reconciler(adding(func(s *Session) {
		first := s.Add("first")
		late := first.Add("late", configMap("late"))
		late.After(first.Add("early", configMap("early")))
		second := s.Use("second", builder).After(first, Ready, closed)
		s.Add("gone", configMap("gone")).Disable()
		second.After(first, Deployed)
	}), NameObjects(), WithPatches(&meddling{}))
	d, err := w.describe(r, Describing{ID: "the id", Version: "7"})
	require.NoError(t, err)
	s := d.Session()
	assert.Equal(t, "the id", s.ID())
	assert.Equal(t, "7", s.Version())
	assert.False(t, s.DryRun())
	require.Len(t, s.Components(), 3)
	first, second, gone := s.Component("first"), s.Component("second"), s.Component("gone")
	assert.Nil(t, d.Builder(first))
	assert.IsType(t, revising{}, d.Builder(second))
	assert.True(t, gone.Disabled())
	assert.Empty(t, d.Dependencies(first))
	dependencies := d.Dependencies(second)
	require.Len(t, dependencies, 1)
	assert.Same(t, first, dependencies[0].Upstream)
	assert.Len(t, dependencies[0].Gates, 3, "of all calls, in their order")

	rendered, err := d.Render(t.Context(), first)
	require.NoError(t, err)
	require.Len(t, rendered, 2)
	assert.Equal(t, []string{"early", "late"}, []string{rendered[0].Object.Name(), rendered[1].Object.Name()}, "as they are deployed")
	assert.Equal(t, map[string]any{"key": "value", "patched": "yes"}, rendered[0].Content.Object["data"])
	assert.Equal(t, "first.early", rendered[0].Content.GetAnnotations()["operkit.dev/internal-name"])
	assert.Nil(t, rendered[0].Judge)
	rendered, err = d.Render(t.Context(), second)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"key": "value", "patched": "yes", "by": "revised"}, rendered[0].Content.Object["data"])
	assert.EqualError(t, rendered[0].Judge(t.Context(), rendered[0].Content), "not yet")
	again, err := d.Render(t.Context(), second)
	require.NoError(t, err)
	assert.Same(t, rendered[0].Content, again[0].Content, "a Builder is asked once")
	assert.NoError(t, d.Err(nil))
	s.Add("too late")
	assert.ErrorContains(t, d.Err(errors.New("no")), "no\n")
	assert.NoError(t, d.Err(nil), "that was told")
}

// The error is the one that a reconcile would have come to, in its words.
func TestDescribeErrors(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		setup   func(ctx context.Context, s *Session) error
		options []Option
		as      Describing
	}{
		"Setup fails":       {func(context.Context, *Session) error { return errors.New("no") }, nil, Describing{}},
		"it waits":          {func(context.Context, *Session) error { return request.Precondition("not yet") }, nil, Describing{}},
		"it panics":         {func(context.Context, *Session) error { panic("no") }, nil, Describing{}},
		"a component twice": {func(_ context.Context, s *Session) error { s.Add("c"); s.Add("c"); return nil }, nil, Describing{}},
		"a circle":          {func(_ context.Context, s *Session) error { a := s.Add("a"); a.After(s.Add("b").After(a)); return nil }, nil, Describing{}},
		"an object twice": {func(_ context.Context, s *Session) error {
			s.Add("a", configMap("x"))
			s.Add("b", configMap("x"))
			return nil
		}, nil, Describing{}},
		"no version, strictly":    {nil, []Option{SupportedVersions("1"), StrictVersions()}, Describing{}},
		"files that can't be had": {nil, []Option{WithAssets(shelf{err: errors.New("the shelf is empty")})}, Describing{}},
		"patches that can't be":   {nil, []Option{WithPatches(patchless{})}, Describing{}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.reconciler(&controller{row.setup}, row.options...)
			d, err := w.describe(r, row.as)
			require.Error(t, err)
			require.NotNil(t, d, "a hook may be told of it")
			assert.Equal(t, "w", d.Session().Name())
			_, _, failed := w.once(r)
			if failed == nil {
				assert.Equal(t, w.message(), err.Error())
			} else {
				assert.Equal(t, failed.Error(), err.Error())
				assert.Equal(t, request.ClassOf(failed), request.ClassOf(err))
			}
		})
	}
	t.Run("a component that can't be rendered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Use("c", revising{func(*Component) { panic("no") }}) }))
		d, err := w.describe(r, Describing{})
		require.NoError(t, err)
		_, err = d.Render(t.Context(), d.Session().Component("c"))
		require.Error(t, err)
		require.Equal(t, "build: panic: no (description_test.go)", testlog.WithoutLines(err.Error()))
	})
	t.Run("a resource of another kind", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		d, err := w.reconciler(&controller{}).Describe(t.Context(), configMap("a"), Describing{})
		require.EqualError(t, err, "ConfigMap a: not of the kind Widget")
		assert.Nil(t, d)
	})
}

// patchless is a Patcher that fails.
type patchless struct{}

func (patchless) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	return nil, errors.New("no patch")
}

func TestDescribeVersions(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		wants   string
		as      string
		options []Option
		want    string
	}{
		"what it says":                       {"1", "", nil, "1"},
		"an override":                        {"1", "", []Option{VersionOverride("2")}, "2"},
		"what is said here":                  {"1", "3", []Option{VersionOverride("2")}, "3"},
		"which has to be supported all same": {"1", "1", []Option{SupportedVersions("1"), StrictVersions()}, "1"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, wanting(row.wants))
			d, err := w.describe(w.reconciler(&controller{}, row.options...), Describing{Version: row.as})
			require.NoError(t, err)
			assert.Equal(t, row.want, d.Session().Version())
		})
	}
	t.Run("an upgrade is told of", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		u := newUpgrading()
		r := w.reconciler(u)
		w.calm(r)
		_, err := w.describe(r, Describing{Version: "2"})
		require.NoError(t, err)
		assert.Equal(t, []string{"1 to 2"}, u.calls)
		u.upgrade = func(string, string) error { return request.Configuration("no") }
		_, err = w.describe(r, Describing{Version: "2"})
		require.EqualError(t, err, "upgrade from 1 to 2: no")
	})
}

// Of a resource that is being deleted nothing is set up: what there is is for its Finalize.
func TestDescribeADeletion(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, wanting("1"))
	c := &finalizing{controller: controller{func(_ context.Context, s *Session) error { s.Add("c"); return nil }}}
	files := fstest.MapFS{"a": &fstest.MapFile{}}
	r := w.reconciler(c, WithAssets(shelf{files: files}))
	w.calm(r)
	w.delete(widgetRef)
	d, err := w.describe(r, Describing{})
	require.NoError(t, err)
	assert.Empty(t, d.Session().Components())
	assert.Equal(t, "1", d.Session().Version())
	assert.Equal(t, files, d.Session().Assets())
}

// A dry run is one also for what Setup does by itself; and what a session says goes where it is asked for.
func TestDescribeADryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var said, usual []event.Event
	r := w.reconciler(&controller{func(ctx context.Context, s *Session) error {
		s.Event(event.Normal, "Said", "dry: %v", s.DryRun())
		_, err := s.Manager().Apply(ctx, []*unstructured.Unstructured{configMap("by-itself")})
		return err
	}}, Events(event.Func(func(e event.Event) { usual = append(usual, e) })))
	take := event.Func(func(e event.Event) { said = append(said, e) })
	d, err := r.Describe(t.Context(), w.widget(), Describing{DryRun: true, Events: take})
	require.NoError(t, err)
	d.Release()
	assert.True(t, d.Session().DryRun())
	assert.Nil(t, w.get(configMapRef("by-itself")))
	assert.Empty(t, said, "of a dry run nothing is recorded")
	d, err = r.Describe(t.Context(), w.widget(), Describing{Events: take})
	require.NoError(t, err)
	d.Release()
	require.Len(t, said, 1)
	assert.Equal(t, "dry: false", said[0].Note)
	assert.Empty(t, usual)
}

// Readiness that the options have for a kind goes with its objects, in the words of a rollout.
func TestDescribeReadyBy(t *testing.T) {
	t.Parallel()
	registry := readiness.Registry{}
	state := readiness.Result{State: readiness.InProgress, Message: "it dries"}
	registry[schema.GroupKind{Kind: "ConfigMap"}] = readiness.Expectation{Func: func(time.Time, map[string]any) readiness.Result { return state }}
	w := newWorld(t)
	r := w.reconciler(adding(func(s *Session) {
		s.Add("c").Add("a", configMap("a"))
		s.Add("d").Add("d", deployment("d"))
	}), ReadyBy(readiness.Checker{Registry: registry}))
	d, err := w.describe(r, Describing{})
	require.NoError(t, err)
	rendered, err := d.Render(t.Context(), d.Session().Component("d"))
	require.NoError(t, err)
	assert.Nil(t, rendered[0].Judge)
	rendered, err = d.Render(t.Context(), d.Session().Component("c"))
	require.NoError(t, err)
	w.calm(r)
	live := w.get(configMapRef("a"))
	for _, row := range []struct {
		result readiness.Result
		text   string
		class  status.ErrorClass
	}{
		{readiness.Result{State: readiness.Ready}, "", ""},
		{readiness.Result{State: readiness.InProgress, Message: "it dries"}, "InProgress (it dries)", status.ErrorPrecondition},
		{readiness.Result{State: readiness.Failed, Reason: "Cracked"}, "Failed (Cracked)", status.ErrorRollout},
	} {
		state = row.result
		err := rendered[0].Judge(t.Context(), live)
		assert.Equal(t, row.class, request.ClassOf(err))
		if row.text != "" {
			require.EqualError(t, err, row.text)
			_, _, _ = w.once(r)
			assert.Contains(t, w.message(), "ConfigMap a: "+row.text, "as here")
		}
	}
}
