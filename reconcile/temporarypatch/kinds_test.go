package temporarypatch_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		kinds []string
		ok    bool
	}{
		"patches 4: a bare kind is of any version":        {[]string{"Widget"}, true},
		"patches 4: with its group and version":           {[]string{"example.dev/v1/Widget"}, true},
		"patches 4: a controller stands for its kind":     {temporarypatch.KindsOf(&widgetController{}), true},
		"patches 5: one of several":                       {[]string{"Gadget", "Widget"}, true},
		"patches mistake 4: another kind":                 {[]string{"Gadget", "v1/ConfigMap"}, false},
		"patches 5, mistake 4: another version":           {[]string{"example.dev/v2/Widget"}, false},
		"patches 5, mistake 4: the same kind of the core": {[]string{"v1/Widget"}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, row.kinds, nil)
			ref := w.create("a", loud)
			all, err := reconcile.New(w.patches, w.manager, reconcile.Clock(w.clock.Now), reconcile.Logger(slog.New(slog.DiscardHandler)))
			require.NoError(t, err)
			_, _, err = w.run(all, "a")
			if row.ok {
				require.NoError(t, err)
				assert.Contains(t, w.entries(), "a", "patches 6")
				return
			}
			require.ErrorContains(t, err, "spec.kind: Widget of example.dev/v1 can't be patched: choose one of "+row.kinds[0])
			assert.Equal(t, "ConfigError/Errored", w.verdict(ref))
			assert.Nil(t, w.entries())
		})
	}
	t.Run("patches 5: the core group", func(t *testing.T) {
		t.Parallel()
		w := newWorldOf(t, []string{"v1/ConfigMap"}, []string{`{apiVersion: v1, kind: ConfigMap, metadata: {name: w, namespace: shop}}`})
		w.createFor("a", "apiVersion: v1, kind: ConfigMap, name: w, "+loud)
		assert.Contains(t, w.patched("a"), "patch ConfigMap shop/w")
	})
}

// What can be patched is given to a value, which is what runs (spec: patches mistake 1).
func TestControllerIsAValue(t *testing.T) {
	t.Parallel()
	t.Run("patches mistake 1: a controller with its kinds runs as it is", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		gadgets, err := temporarypatch.New(w.manager, []string{"Gadget"}, temporarypatch.Clock(w.clock.Now))
		require.NoError(t, err)
		for _, row := range []struct {
			patches *temporarypatch.Controller
			entries int
		}{{gadgets, 0}, {w.patches, 1}} {
			ref := w.createFor("a", "apiVersion: example.dev/v1, kind: Widget, name: w, "+loud)
			own, err := row.patches.Reconciler(reconcile.Clock(w.clock.Now), reconcile.Logger(slog.New(slog.DiscardHandler)))
			require.NoError(t, err)
			_, _, err = w.run(own, "a")
			require.NoError(t, err)
			assert.Len(t, w.entries(), row.entries, "each has its own kinds")
			w.delete(ref)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for want, call := range map[string]func() (*temporarypatch.Controller, error){
		"temporary patches: nil manager": func() (*temporarypatch.Controller, error) { return temporarypatch.New(nil, []string{"A"}) },
		"temporary patches: no kinds: name the kinds that can be patched": func() (*temporarypatch.Controller, error) {
			return temporarypatch.New(w.manager, nil)
		},
		`temporary patches: kind "a//B": not valid: write Kind, group/version/Kind, or version/Kind for the core group`: func() (*temporarypatch.Controller, error) {
			return temporarypatch.New(w.manager, []string{"a//B"})
		},
		`temporary patches: kind "": not valid: write Kind, group/version/Kind, or version/Kind for the core group`: func() (*temporarypatch.Controller, error) {
			return temporarypatch.New(w.manager, []string{""})
		},
		`temporary patches: kind "a/b/c/D": not valid: write Kind, group/version/Kind, or version/Kind for the core group`: func() (*temporarypatch.Controller, error) {
			return temporarypatch.New(w.manager, []string{"a/b/c/D"})
		},
		"nil clock": func() (*temporarypatch.Controller, error) {
			return temporarypatch.New(w.manager, []string{"A"}, temporarypatch.Clock(nil))
		},
	} {
		c, err := call()
		require.EqualError(t, err, want)
		assert.Nil(t, c)
	}
	for _, kind := range []schema.GroupVersionKind{{}, {Group: "a.b", Version: "V1", Kind: "P"}, {Version: "v1", Kind: "P"}, {Group: "a.b", Version: "v1", Kind: "a b"}} {
		_, err := temporarypatch.New(w.manager, []string{"A"}, temporarypatch.As(kind))
		require.ErrorContains(t, err, "kind of temporary patches")
		_, err = temporarypatch.CRD(temporarypatch.As(kind))
		require.ErrorContains(t, err, "kind of temporary patches")
		if kind.Version == "v1" || kind.Empty() {
			_, err = temporarypatch.New(w.manager, []string{"A"}, temporarypatch.AlsoReads(kind.GroupKind()))
			require.ErrorContains(t, err, "further kind of temporary patches")
		}
	}
}

func TestOtherKind(t *testing.T) {
	t.Parallel()
	t.Run("patches 9: another group, version and kind", func(t *testing.T) {
		t.Parallel()
		kind := schema.GroupVersionKind{Group: "oper8.org", Version: "v2", Kind: "TemporaryPatchX"}
		w := newWorldOf(t, []string{"Widget"}, nil, temporarypatch.As(kind))
		ref := w.create("a", loud)
		w.patched("a")
		assert.Equal(t, []string{"temporarypatchx.oper8.org/finalizer"}, w.get(ref).GetFinalizers(), "patches 9")
		assert.Equal(t, "oper8.org/v2", w.entries()["a"]["api_version"], "patches 9")
		assert.Equal(t, "TemporaryPatchX", w.entries()["a"]["kind"], "patches 9")
		w.rendered()
		assert.Equal(t, "loud", w.data("settings", "mode"), "patches 9: it is found by what the entry says")
	})
}

func TestDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	patches, err := temporarypatch.New(must(deploy.NewManager(w, deploy.KeyDomain("oper8.org"))), []string{"Widget"})
	require.NoError(t, err)
	assert.Equal(t, schema.GroupVersionKind{Group: "oper8.org", Version: "v1", Kind: "TemporaryPatch"}, patches.Kind(), "an operator that moves over keeps its patches")
}

func TestVersions(t *testing.T) {
	t.Parallel()
	t.Run("patches 8: no version is asked of a patch", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		strict, err := reconcile.New(w.patches, w.manager, reconcile.StrictVersions(), reconcile.SupportedVersions("1.0.0"), reconcile.Clock(w.clock.Now))
		require.NoError(t, err)
		_, _, err = w.run(strict, "a")
		require.NoError(t, err, "patches 8: no version is asked of a patch")
		assert.Equal(t, "Stable/Stable", w.verdict(ref))
	})
}
