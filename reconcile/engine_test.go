package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inBubble runs a test in a time that passes when nothing is to be done.
func inBubble(t *testing.T, reason string, test func(w *world)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
	})
}

// onEngine runs a test in which the engine reconciles the widget by c from start on, in a time
// that passes when nothing is to be done.
func onEngine(t *testing.T, reason string, c Controller, test func(w *world, start func()), more ...Option) {
	t.Helper()
	inBubble(t, reason, func(w *world) {
		_, start := w.engine(c, more...)
		test(w, func() { w.t.Cleanup(start()) })
	})
}

// engine returns what an engine reconciles the widget by, from start until stop.
func (w *world) engine(c Controller, options ...Option) (r *Reconciler, start func() (stop func())) {
	w.t.Helper()
	engine, err := watch.New(w.View(), watch.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(w.t, err)
	r = w.reconciler(c, append(options, Clock(time.Now), WithWatcher(engine))...)
	require.NoError(w.t, engine.Control(r.Kind(), r))
	return r, func() func() {
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan error)
		go func() { ended <- engine.Run(ctx) }()
		return func() {
			cancel()
			assert.NoError(w.t, <-ended)
			w.memory.Wait()
		}
	}
}

// settle waits until there is nothing to do and returns the calls that were made since the
// last look.
func (w *world) settle() []string {
	w.t.Helper()
	synctest.Wait()
	calls := w.made()
	w.forget()
	return calls
}

func TestOnTheEngine(t *testing.T) {
	t.Parallel()
	onEngine(t, "reconcile 44: from its beginning to its end, each call", everything(), func(w *world, start func()) {
		start()
		assert.Equal(w.t, []string{patchWidget, "apply Secret shop/w-db", "apply Deployment shop/db", writeStatus}, w.settle(), "created")
		w.makeReady("db")
		assert.ElementsMatch(w.t, []string{"apply Deployment shop/web", "apply ConfigMap shop/web", writeStatus}, w.settle(), "its first part is ready")
		w.makeReady("web")
		assert.Equal(w.t, []string{writeStatus}, w.settle(), "all of it is")
		assert.Equal(w.t, "Stable/Stable", w.verdict())
		time.Sleep(2 * time.Hour)
		assert.Empty(w.t, w.settle(), "two hours without events")
		w.delete(configMapRef("web"))
		assert.Equal(w.t, []string{"apply ConfigMap shop/web"}, w.settle(), "a part that was deleted")
		w.merge(configMapRef("web"), `{"data":{"key":"drifted"}}`)
		assert.Equal(w.t, []string{"apply ConfigMap shop/web"}, w.settle(), "a part that was changed")
		w.delete(widgetRef)
		assert.Equal(w.t, []string{patchWidget}, w.settle(), "deleted")
		assert.Nil(w.t, w.get(widgetRef))
		assert.Nil(w.t, w.get(deploymentRef("db")), "and collected")
		time.Sleep(2 * time.Hour)
		assert.Empty(w.t, w.settle())
	})

	var mended atomic.Bool
	onEngine(t, "a panic in Setup is the resource's error, until it is mended", adding(func(s *Session) {
		if !mended.Load() {
			panic("boom")
		}
		s.Add("c", configMap("c"))
	}), func(w *world, start func()) {
		start()
		assert.Equal(w.t, []string{writeStatus}, w.settle())
		assert.Equal(w.t, "Errored/Errored", w.verdict())
		time.Sleep(time.Hour)
		assert.Empty(w.t, w.settle(), "the same again is nothing new")
		mended.Store(true)
		time.Sleep(30 * time.Second)
		assert.Equal(w.t, []string{"apply ConfigMap shop/c", writeStatus}, w.settle(), "reconcile mistake 12: it is tried again by itself")
		assert.Equal(w.t, "Stable/Stable", w.verdict())
	})

	onEngine(t, "a kind of child that is installed later", adding(func(s *Session) {
		s.Add("d", deployment("d"))
		s.Add("c", configMap("c"))
	}), func(w *world, start func()) {
		w.serves(deployments)
		start()
		assert.Equal(w.t, []string{"apply ConfigMap shop/c", writeStatus}, w.settle())
		assert.Equal(w.t, "Initializing/ClusterError", w.verdict())
		time.Sleep(time.Hour)
		assert.Empty(w.t, w.settle())
		w.serves()
		time.Sleep(30 * time.Second)
		w.settle()
		assert.NotNil(w.t, w.get(deploymentRef("d")))
		w.makeReady("d")
		assert.Equal(w.t, []string{writeStatus}, w.settle(), "and watched from then on")
	})

	onEngine(t, "what it refers to brings it to reconcile, for as long as it does", adding(func(s *Session) {
		secret := deploy.Ref{Kind: secretKind, Namespace: "shop", Name: "theirs"}
		ctx := context.Background()
		seen := "none"
		if err := s.Follow(ctx, secret); err != nil {
			panic(err)
		}
		if found, _ := s.Get(ctx, secret); found != nil {
			seen = found.GetLabels()["color"]
		}
		note := configMap("note")
		note.Object["data"] = map[string]any{"seen": seen}
		s.Add("c", note)
	}), func(w *world, start func()) {
		start()
		assert.Equal(w.t, []string{"apply ConfigMap shop/note", writeStatus}, w.settle())
		theirs := deploy.Ref{Kind: secretKind, Namespace: "shop", Name: "theirs"}
		_, err := w.memory.Port().Create(w.t.Context(), object(secretKind, "theirs"), deploy.CreateOptions{FieldManager: "they"})
		require.NoError(w.t, err)
		assert.Equal(w.t, []string{"apply ConfigMap shop/note"}, w.settle(), "it comes")
		w.merge(theirs, `{"metadata":{"labels":{"color":"red"}}}`)
		assert.Equal(w.t, []string{"apply ConfigMap shop/note"}, w.settle(), "it changes")
		w.delete(theirs)
		assert.Equal(w.t, []string{"apply ConfigMap shop/note"}, w.settle(), "it goes")
	})
	onEngine(t, "reconcile 41: the ConfigMap of its configuration", configurable(), func(w *world, start func()) {
		w.merge(widgetRef, `{"metadata":{"annotations":{"operkit.dev/config-defaults":"theirs"}}}`)
		start()
		w.settle()
		assert.Equal(w.t, "ConfigError/Errored", w.verdict())
		_, err := w.memory.Port().Create(w.t.Context(), object(configMaps, "theirs"), deploy.CreateOptions{FieldManager: "they"})
		require.NoError(w.t, err)
		w.merge(configMapRef("theirs"), `{"data":{"color":"red"}}`)
		w.settle()
		assert.Equal(w.t, "red", w.get(configMapRef("note")).Object["data"].(map[string]any)["color"])
		w.merge(configMapRef("theirs"), `{"data":{"color":"blue"}}`)
		assert.Equal(w.t, []string{"apply ConfigMap shop/note"}, w.settle(), "at once")
	})
	onEngine(t, "what it owns by label is put back at once", adding(func(s *Session) { s.Add("c", elsewhere("account")) }), func(w *world, start func()) {
		start()
		w.settle()
		account := deploy.Ref{Kind: configMaps, Namespace: "bank", Name: "account"}
		require.NotNil(w.t, w.get(account))
		w.delete(account)
		assert.Equal(w.t, []string{"apply ConfigMap bank/account"}, w.settle())
		w.merge(account, `{"data":{"key":"theirs"}}`)
		assert.Equal(w.t, []string{"apply ConfigMap bank/account"}, w.settle())
	}, OwnAnywhere())
	onEngine(t, "a child's slow end is seen at once", adding(func(s *Session) { s.Add("c", configMap("c")) }), func(w *world, start func()) {
		start()
		w.settle()
		w.merge(configMapRef("c"), `{"metadata":{"finalizers":["example.dev/slow"]}}`)
		assert.Empty(w.t, w.settle())
		w.delete(configMapRef("c"))
		assert.Equal(w.t, []string{writeStatus}, w.settle())
		assert.Equal(w.t, "InProgress/VerifyWait", w.verdict())
		w.merge(configMapRef("c"), `{"metadata":{"finalizers":null}}`)
		assert.Equal(w.t, []string{"apply ConfigMap shop/c", writeStatus}, w.settle())
	})

	onEngine(t, "a conflict is looked at again at once", adding(func(s *Session) { s.Add("c", configMap("c")) }), func(w *world, start func()) {
		start()
		w.settle()
		conflicts := 2
		w.refuse = func(string) error {
			if conflicts--; conflicts >= 0 {
				return &deploy.StaleError{Ref: configMapRef("c"), Err: errors.New("changed")}
			}
			return nil
		}
		w.delete(configMapRef("c"))
		time.Sleep(time.Second)
		assert.Equal(w.t, []string{"apply ConfigMap shop/c", "apply ConfigMap shop/c", "apply ConfigMap shop/c"}, w.settle())
		assert.Equal(w.t, "Stable/Stable", w.verdict(), "and nobody is told of it")
	})

	onEngine(t, "a successor of the same name gets its children once its predecessor's are gone", adding(func(s *Session) { s.Add("c", configMap("c")) }), func(w *world, start func()) {
		start()
		w.settle()
		w.merge(configMapRef("c"), `{"metadata":{"finalizers":["example.dev/slow"]}}`)
		w.settle()
		w.delete(widgetRef)
		successor := widget()
		successor.SetUID("")
		_, err := w.memory.Port().Apply(w.t.Context(), successor, deploy.ApplyOptions{FieldManager: "somebody"})
		require.NoError(w.t, err)
		w.settle()
		assert.Equal(w.t, "Initializing/VerifyWait", w.verdict())
		w.merge(configMapRef("c"), `{"metadata":{"finalizers":null}}`)
		assert.Equal(w.t, []string{"apply ConfigMap shop/c", writeStatus}, w.settle())
		owner, _, err := unstructured.NestedSlice(w.get(configMapRef("c")).Object, "metadata", "ownerReferences")
		require.NoError(w.t, err)
		assert.Equal(w.t, string(w.widget().GetUID()), owner[0].(map[string]any)["uid"])
	})
}

// object is one of the shop without content.
func object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace("shop")
	obj.SetName(name)
	return obj
}

// configurable has an object that says the colour of the configuration.
func configurable() Controller {
	return adding(func(s *Session) {
		note := configMap("note")
		note.Object["data"] = s.Config()
		s.Add("c", note)
	})
}
