package ansible

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	caches     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cache"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// fake is a runner that runs no programs. It records its runs.
type fake struct {
	mu   sync.Mutex
	runs []playbook.Input
	// answer returns what a run does; nil is a success.
	answer    func(in playbook.Input) (*playbook.Result, error)
	forgotten []string
	now       func() time.Time
}

func (f *fake) Run(_ context.Context, in playbook.Input) (*playbook.Result, error) {
	f.mu.Lock()
	f.runs = append(f.runs, in)
	answer := f.answer
	f.mu.Unlock()
	done := &playbook.Result{OK: 2, Changed: 1}
	var err error
	if answer != nil {
		done, err = answer(in)
	}
	if done != nil {
		done.Completed = f.now()
	}
	return done, err
}

func (f *fake) Forget(_ schema.GroupKind, namespace, name string) error {
	f.forgotten = append(f.forgotten, namespace+"/"+name)
	return nil
}

// ran returns the runs since the last call.
func (f *fake) ran() []playbook.Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	runs := f.runs
	f.runs = nil
	return runs
}

// entry returns an entry with the defaults of watches.yaml.
func entry() *watches.Entry {
	return &watches.Entry{
		Kind: caches, Source: watches.Source{Playbook: "/playbook.yml"}, ManageStatus: true, WatchDependentResources: true,
		SnakeCaseParameters: true, MaxRunnerArtifacts: 20,
	}
}

// drive runs an entry in memory.
func drive(t *testing.T, of *watches.Entry, f *fake) *reconciletest.Harness {
	t.Helper()
	return reconciletest.Drive(t, watch.NewController(of.Kind, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		f.now = env.Now
		return &reconciler{env: env, entry: of, runs: f, period: time.Hour, verbosity: 1}, nil
	}))
}

const cache = `{apiVersion: example.com/v1, kind: Cache, metadata: {name: front, namespace: test, generation: 1}, spec: {size: 3}}`

// conditionsOf returns the conditions as in "Running True Successful".
func conditionsOf(h *reconciletest.Harness) (all []string) {
	list, _, _ := unstructured.NestedSlice(h.Get("Cache front").Object, "status", "conditions")
	for _, one := range list {
		fields := one.(map[string]any)
		all = append(all, strings.Join([]string{fields["type"].(string), fields["status"].(string), fields["reason"].(string), fields["message"].(string)}, " "))
	}
	return all
}

func TestRun(t *testing.T) {
	t.Parallel()
	succeeded := []string{
		"Running True Successful Awaiting next reconciliation", "Successful True Successful Last reconciliation succeeded",
		"Failure False Successful ",
	}
	t.Run("hooks 80: a resource is run, and the conditions say how", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		h := drive(t, entry(), f)
		var during []string
		f.answer = func(playbook.Input) (*playbook.Result, error) {
			during = conditionsOf(h)
			return &playbook.Result{OK: 3, Changed: 1, Skipped: 2}, nil
		}
		h.Apply(cache)
		h.Advance(0)
		assert.Equal(t, []string{"Running True Running Running reconciliation", "Successful False Running Running reconciliation"}, during)
		assert.Equal(t, succeeded, conditionsOf(h))
		list, _, _ := unstructured.NestedSlice(h.Get("Cache front").Object, "status", "conditions")
		result := list[0].(map[string]any)["ansibleResult"].(map[string]any)
		assert.Equal(t, h.Now().UTC().Format(time.RFC3339), result["completion"])
		delete(result, "completion")
		assert.Equal(t, map[string]any{"ok": int64(3), "changed": int64(1), "skipped": int64(2), "failures": int64(0)}, result)
		assert.Len(t, f.ran(), 1)
		h.Writes(2)
		h.Advance(0)
		assert.Empty(t, f.ran(), "its own writes bring no run")
	})
	t.Run("hooks 81: after its period it is run again, and nothing is written if nothing is different", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.Advance(0)
		f.ran()
		h.Advance(61 * time.Minute)
		assert.Len(t, f.ran(), 1)
		h.Writes(0)
		h.Edit("Cache front", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{watches.ReconcilePeriodAnnotation: "10s"})
		})
		h.Advance(0)
		assert.Len(t, f.ran(), 1, "its own settings have changed")
		h.Advance(11 * time.Second)
		assert.Len(t, f.ran(), 1)
	})
	t.Run("hooks 81: the playbook may say when it is run again", func(t *testing.T) {
		t.Parallel()
		soon := 30 * time.Second
		f := &fake{answer: func(playbook.Input) (*playbook.Result, error) { return &playbook.Result{RequeueAfter: &soon}, nil }}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.Advance(0)
		f.ran()
		h.Advance(31 * time.Second)
		assert.Len(t, f.ran(), 1)
	})
	t.Run("hooks 82: a failure is in the conditions, and the run is repeated", func(t *testing.T) {
		t.Parallel()
		f := &fake{answer: func(playbook.Input) (*playbook.Result, error) {
			return &playbook.Result{OK: 1, Failures: 1, Failed: []playbook.FailedTask{{Name: "make", Message: "no space"}, {Message: "no time"}}}, nil
		}}
		h := drive(t, entry(), f)
		h.Apply(cache)
		_, err := h.Reconcile("Cache front")
		assert.EqualError(t, err, "/playbook.yml: no space\nno time")
		failing := []string{"Running False Failed no space\nno time", "Successful False Failed no space\nno time", "Failure True Failed no space\nno time"}
		assert.Equal(t, failing, conditionsOf(h))
		_, err = h.Reconcile("Cache front")
		assert.Error(t, err)
		h.Writes(0)
		f.mu.Lock()
		f.answer = nil
		f.mu.Unlock()
		h.Advance(time.Minute)
		assert.Equal(t, succeeded, conditionsOf(h))
	})
	t.Run("hooks 82: a playbook that can't be run", func(t *testing.T) {
		t.Parallel()
		f := &fake{answer: func(playbook.Input) (*playbook.Result, error) { return nil, errors.New("no such program") }}
		h := drive(t, entry(), f)
		h.Apply(cache)
		_, err := h.Reconcile("Cache front")
		assert.EqualError(t, err, "no such program")
		assert.Contains(t, conditionsOf(h), "Failure True Failed no such program")
	})
	t.Run("hooks 83: others manage the status", func(t *testing.T) {
		t.Parallel()
		of := entry()
		of.ManageStatus = false
		f := &fake{}
		h := drive(t, of, f)
		h.Apply(cache)
		h.Advance(0)
		assert.Len(t, f.ran(), 1)
		h.Writes(0)
	})
	t.Run("hooks 83: what set_stats sets is in the status beside the conditions", func(t *testing.T) {
		t.Parallel()
		f := &fake{answer: func(playbook.Input) (*playbook.Result, error) {
			return &playbook.Result{Status: map[string]any{"size": int64(3)}}, nil
		}}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.SetStatus("Cache front", map[string]any{"theirs": "x"})
		h.Advance(0)
		status := h.Get("Cache front").Object["status"].(map[string]any)
		assert.Equal(t, int64(3), status["size"])
		assert.Equal(t, "x", status["theirs"])
		assert.Len(t, status["conditions"], 3)
	})
	t.Run("hooks 84: wrong annotations are an error, and nothing is run", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.Edit("Cache front", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{watches.ReconcilePeriodAnnotation: "soon", watches.VerbosityAnnotation: "9"})
		})
		_, err := h.Reconcile("Cache front")
		assert.ErrorContains(t, err, `annotation ansible.sdk.operatorframework.io/reconcile-period: "soon": must be a time of at least 1s`)
		assert.ErrorContains(t, err, `annotation ansible.sdk.operatorframework.io/verbosity: "9": must be a number from 0 to 7`)
		assert.Empty(t, f.ran())
		h.Edit("Cache front", func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
		h.Advance(0)
		assert.Len(t, f.ran(), 1, "they were corrected")
		assert.Equal(t, succeeded, conditionsOf(h))
	})
	t.Run("hooks 85: a paused one isn't run", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.Edit("Cache front", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": "true"})
		})
		h.Advance(0)
		assert.Empty(t, f.ran())
		h.Writes(0)
		h.Edit("Cache front", func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
		h.Advance(0)
		assert.Len(t, f.ran(), 1)
	})
	t.Run("hooks 85: one that the selector doesn't select isn't either", func(t *testing.T) {
		t.Parallel()
		of := entry()
		of.Selector.MatchLabels = map[string]string{"run": "yes"}
		f := &fake{}
		h := drive(t, of, f)
		h.Apply(cache)
		h.Advance(0)
		assert.Empty(t, f.ran())
		h.Edit("Cache front", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"run": "yes"}) })
		h.Advance(0)
		assert.Len(t, f.ran(), 1)
	})
}

func TestFinalizer(t *testing.T) {
	t.Parallel()
	t.Run("hooks 86: it is there before the first run, and its run has to succeed", func(t *testing.T) {
		t.Parallel()
		of := entry()
		of.Finalizer = &watches.Finalizer{Name: "example.com/cache", Vars: map[string]any{"state": "absent"}}
		f := &fake{}
		h := drive(t, of, f)
		f.answer = func(playbook.Input) (*playbook.Result, error) {
			assert.Equal(t, []string{"example.com/cache"}, h.Get("Cache front").GetFinalizers())
			return &playbook.Result{}, nil
		}
		h.Apply(cache)
		h.Advance(0)
		assert.False(t, f.ran()[0].Finalizes)
		f.answer = func(playbook.Input) (*playbook.Result, error) {
			return &playbook.Result{Failed: []playbook.FailedTask{{Message: "not yet"}}}, nil
		}
		h.Delete("Cache front")
		_, err := h.Reconcile("Cache front")
		assert.ErrorContains(t, err, "not yet")
		h.Exists("Cache front")
		f.answer = nil
		f.ran()
		h.Edit("Cache front", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{watches.VerbosityAnnotation: "much"})
		})
		h.Advance(0)
		h.Gone("Cache front")
		assert.Len(t, f.runs, 1, "once, also with a mistake in an annotation")
		for _, one := range f.ran() {
			assert.True(t, one.Finalizes)
		}
		assert.Equal(t, []string{"test/front"}, f.forgotten)
	})
	t.Run("hooks 86: without one, nothing is run for a resource that is being deleted", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.Edit("Cache front", func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"example.com/theirs"}) })
		h.Advance(0)
		f.ran()
		h.Delete("Cache front")
		h.Advance(0)
		assert.Empty(t, f.ran())
	})
}

func TestDependents(t *testing.T) {
	t.Parallel()
	change := func(h *reconciletest.Harness, value string) {
		h.Edit("ConfigMap front", func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"a": value} })
		h.Advance(0)
	}
	for reason, row := range map[string]struct {
		change func(*watches.Entry)
		mark   func(h *reconciletest.Harness, obj *unstructured.Unstructured)
		runs   int
	}{
		"hooks 87: an owned object brings its owner": {nil, owned, 1},
		"hooks 87: an annotated one, too":            {nil, annotated, 1},
		"hooks 87: the name of no object": {nil, func(_ *reconciletest.Harness, obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operator-sdk/primary-resource": "test/../../front", "operator-sdk/primary-resource-type": "Cache.example.com"})
		}, 0},
		"hooks 87: another one doesn't":                      {nil, func(*reconciletest.Harness, *unstructured.Unstructured) {}, 0},
		"hooks 87: none does if the entry doesn't watch":     {func(e *watches.Entry) { e.WatchDependentResources = false }, owned, 0},
		"hooks 87: none of a kind in the blacklist":          {func(e *watches.Entry) { e.Blacklist = []schema.GroupVersionKind{configMaps} }, owned, 0},
		"hooks 87: none of a kind that the entry hasn't got": {func(e *watches.Entry) { e.Manages = nil }, owned, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			of := entry()
			of.Manages = []schema.GroupVersionKind{configMaps}
			if row.change != nil {
				row.change(of)
			}
			f := &fake{}
			h := drive(t, of, f)
			h.Apply(cache)
			h.Advance(0)
			obj := &unstructured.Unstructured{Object: map[string]any{}}
			obj.SetGroupVersionKind(configMaps)
			obj.SetName("front")
			obj.SetNamespace("test")
			row.mark(h, obj)
			h.Apply(obj)
			h.Advance(0)
			f.ran()
			change(h, "1")
			assert.Len(t, f.ran(), row.runs)
			h.Delete("ConfigMap front")
			h.Advance(0)
			assert.Len(t, f.ran(), row.runs, "it is gone")
		})
	}
	t.Run("hooks 87: a change of the status of a dependent doesn't count", func(t *testing.T) {
		t.Parallel()
		of := entry()
		pods := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
		of.Manages = []schema.GroupVersionKind{pods}
		f := &fake{}
		h := drive(t, of, f)
		h.Apply(cache)
		h.Advance(0)
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "b"}}}}}
		obj.SetGroupVersionKind(pods)
		obj.SetName("front")
		obj.SetNamespace("test")
		owned(h, obj)
		h.Apply(obj)
		h.Advance(0)
		f.ran()
		h.SetStatus("Pod front", map[string]any{"message": "x"})
		h.Advance(0)
		assert.Empty(t, f.ran())
	})
}

func owned(h *reconciletest.Harness, obj *unstructured.Unstructured) {
	owner := h.Get("Cache front")
	_ = unstructured.SetNestedSlice(obj.Object, []any{map[string]any{
		"apiVersion": "example.com/v1", "kind": "Cache", "name": "front", "uid": string(owner.GetUID()),
	}}, "metadata", "ownerReferences")
}

func annotated(_ *reconciletest.Harness, obj *unstructured.Unstructured) {
	obj.SetAnnotations(map[string]string{"operator-sdk/primary-resource": "test/front", "operator-sdk/primary-resource-type": "Cache.example.com"})
}

func TestReadFile(t *testing.T) {
	t.Setenv("WORKER_CACHE_EXAMPLE_COM", "many")
	var p Playbooks
	err := p.ReadFile(filepath.Join("testdata", "watches.yaml"))
	require.ErrorContains(t, err, `environment variable WORKER_CACHE_EXAMPLE_COM: "many"`)
	t.Setenv("WORKER_CACHE_EXAMPLE_COM", "3")
	require.NoError(t, p.ReadFile(filepath.Join("testdata", "watches.yaml")))
	assert.Equal(t, []string{"Cache.example.com"}, p.Names())
	assert.ErrorContains(t, p.ReadFile(filepath.Join("testdata", "watches.yaml")), "another file has an entry for this kind")
}

func resourceOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}
