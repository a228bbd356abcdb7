package reconcile

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wanting is the widget that wants a version.
func wanting(version any) *unstructured.Unstructured {
	w := widget()
	if version != nil {
		w.Object["spec"].(map[string]any)["version"] = version
	}
	return w
}

func TestVersion(t *testing.T) {
	t.Parallel()
	deep := widget()
	deep.Object["spec"] = map[string]any{"app": map[string]any{"release": "3"}}
	for reason, row := range map[string]struct {
		resource *unstructured.Unstructured
		options  []Option
		want     string
		err      string
	}{
		"reconcile 3, vcs 6: spec.version":     {wanting("1.2"), nil, "1.2", ""},
		"reconcile 3: none":                    {wanting(nil), nil, "", ""},
		"reconcile 3: another field":           {deep, []Option{VersionField("spec.app.release")}, "3", ""},
		"reconcile 3: an override":             {wanting("1.2"), []Option{VersionOverride("9")}, "9", ""},
		"a number":                             {wanting(int64(1)), nil, "", "Widget shop/w: spec.version is no text: quote it"},
		"reconcile 39: one that is supported":  {wanting("1"), []Option{SupportedVersions("1", "2"), StrictVersions()}, "1", ""},
		"reconcile 39, vcs 8: one that isn't":  {wanting("3"), []Option{SupportedVersions("1", "2"), StrictVersions()}, "", `Widget shop/w: version "3" isn't supported: choose one of 1, 2`},
		"reconcile 39: none, strictly":         {wanting(nil), []Option{SupportedVersions("1"), StrictVersions()}, "", "Widget shop/w: spec.version is missing: choose one of 1"},
		"reconcile 39: not strictly":           {wanting("3"), []Option{SupportedVersions("1")}, "3", ""},
		"reconcile mistake 29: an exempt kind": {wanting("3"), []Option{SupportedVersions("1"), StrictVersions("Wid*")}, "3", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, row.resource)
			var seen string
			_, _, err := w.once(w.reconciler(adding(func(s *Session) { seen = s.Version() }), row.options...))
			if row.err != "" {
				require.EqualError(t, err, row.err)
				assert.Equal(t, "ConfigError/Errored", w.verdict())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, seen)
		})
	}
	for reason, row := range map[string]struct {
		option Option
		want   string
	}{
		"reconcile mistake 25: strict about nothing": {StrictVersions(), "strict versions: no supported versions: set them by SupportedVersions"},
		"no path":                {VersionField("spec..version"), `version field "spec..version": not a path of fields such as spec.version`},
		"a pattern that is none": {func(o *options) { StrictVersions("[")(o); SupportedVersions("1")(o) }, `strict versions: exempt "[": syntax error in pattern`},
		"less than no time":      {StartAfter(-1), "start after: -1ns: it can't be negative"},
		"fewer than no attempts": {MaxAttempts(-1), "max attempts: -1: it can't be negative"},
	} {
		_, err := New(adding(func(*Session) {}), must(deploy.NewManager(newWorld(t))), row.option)
		require.EqualError(t, err, row.want, reason)
	}
}

func (w *world) status(fields ...string) any {
	w.t.Helper()
	value, _, err := unstructured.NestedFieldCopy(w.widget().Object, append([]string{"status"}, fields...)...)
	require.NoError(w.t, err)
	return value
}

func TestVersionsInTheStatus(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 4, 48, 49, 52, vcs 9: they are written, told apart, and read back", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		var current []string
		r := w.reconciler(adding(func(s *Session) {
			current = append(current, s.CurrentVersion())
			s.Add("c", configMap("a"))
		}), SupportedVersions("1", "2"), OperatorVersion("7"), Status(ServiceStatus))
		assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, w.calm(r))
		assert.Equal(t, "1", w.status("versions", "reconciled"), "reconcile 49")
		assert.Equal(t, []any{map[string]any{"name": "1"}, map[string]any{"name": "2"}}, w.status("versions", "available", "versions"), "reconcile 48")
		assert.Equal(t, "7", w.status("operatorVersion"), "reconcile 52")
		assert.Equal(t, "Completed", w.status("widgetStatus"), "reconcile 52")
		assert.Empty(t, w.calm(r), "reconcile 53")

		var during []string
		w.refuse = func(call string) error {
			if call == "apply ConfigMap shop/b" {
				during = append(during, w.verdict(), w.message())
			}
			return nil
		}
		w.merge(widgetRef, `{"spec":{"version":"2"}}`)
		r = w.reconciler(adding(func(s *Session) { s.Add("c", configMap("b")) }), SupportedVersions("1", "2"))
		calls := w.calm(r)
		assert.Equal(t, []string{writeStatus, "apply ConfigMap shop/b", "delete ConfigMap shop/a", writeStatus}, calls, "reconcile 48: a change of version is told before it begins")
		assert.Equal(t, []string{"InProgress/VersionChange", "Version Change Started: [1] -> [2]"}, during)
		assert.Equal(t, "2", w.status("versions", "reconciled"))
		assert.Equal(t, []string{"", "1"}, current[:2])
	})
}

// A rollout that takes a while says so; one that is done soon costs one write.
func TestStartIsToldWhenItTakesAWhile(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		takes  time.Duration
		want   []string
		during string
	}{
		"reconcile 48: soon done":     {99 * time.Millisecond, []string{"apply ConfigMap shop/a", writeStatus}, "/"},
		"reconcile 48: takes a while": {101 * time.Millisecond, []string{"apply ConfigMap shop/a", writeStatus, writeStatus}, "Initializing/"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var during string
				way := &particular{note: func(string) {}}
				way.build = func(_ context.Context, _ *Session, c *Component) error {
					c.Add("a", configMap("a"))
					return nil
				}
				r := w.reconciler(adding(func(s *Session) { s.Use("c", way) }), StartAfter(100*time.Millisecond))
				way.note = func(step string) {
					if step == "verify c" {
						time.Sleep(row.takes)
						during = w.verdict()
					}
				}
				assert.Equal(t, row.want, w.calm(r), "reconcile 48")
				assert.Equal(t, row.during, during)
				assert.Equal(t, "Stable/Stable", w.verdict())
			})
		})
	}
}

func TestSeveralObserversAndPatchers(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 43: all are asked, the last patch wins", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var told []string
		observe := func(name string) Option {
			return ObserveComponents(func(c *Component, _ deploy.Results) { told = append(told, name+" "+c.Name()) })
		}
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }), observe("one"), observe("two"), Concurrency(0),
			WithPatches(setting("first")), WithPatches(setting("second"))))
		assert.Equal(t, []string{"one c", "two c"}, told)
		assert.Equal(t, "second", w.get(configMapRef("a")).Object["data"].(map[string]any)["patched"], "reconcile 13: the last one wins")
	})
}

// setting is a Patcher with one patch, which sets a field of every object to its own name.
type setting string

func (p setting) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	return []patching.Patch{p}, nil
}

func (p setting) Name() string { return string(p) }

func (p setting) Apply(_ context.Context, _, _ string, content map[string]any) (map[string]any, bool, error) {
	patched := (&unstructured.Unstructured{Object: content}).DeepCopy()
	return patched.Object, true, unstructured.SetNestedField(patched.Object, string(p), "data", "patched")
}

func TestChangeOfVersionIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, wanting("1"))
	r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }))
	w.calm(r)
	w.merge(widgetRef, `{"spec":{"version":"2"}}`)
	r = w.reconciler(adding(func(s *Session) { s.Add("d", configMap("a"), deployment("d")) }))
	assert.Equal(t, []string{writeStatus, "apply Deployment shop/d", writeStatus}, w.calm(r))
	for range 3 {
		assert.Empty(t, w.calm(r), "while it is under way nothing new is said")
	}
	w.refuse = refusing(forbidden("patch", "configmaps"), "apply ConfigMap shop/a")
	w.merge(configMapRef("a"), `{"data":{"key":"drifted"}}`)
	for writes := range []int{1, 0, 0} {
		calls, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, []int{1, 0, 0}[writes], count(calls, writeStatus), "nor is it undone by telling it again after a failure")
	}
	w.refuse = nil
	w.makeReady("d")
	assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, w.calm(r))
	assert.Equal(t, "2", w.status("versions", "reconciled"))
}
