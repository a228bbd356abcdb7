package watch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Another style of operator fits on the engine by what any package can use of it.
func TestAnotherStyle(t *testing.T) {
	t.Parallel()
	t.Run("watch 21: handlers of what happens, with old and new", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, testAnotherStyle)
	})
	t.Run("and it takes no more than sixty lines", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("style_test.go")
		require.NoError(t, err)
		assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), 60)
	})
}

func testAnotherStyle(t *testing.T) {
	memory, err := dryrun.New(dryrun.Schemaless())
	require.NoError(t, err)
	var mu sync.Mutex
	var told []string
	fails := map[string]int{"update": 1, "delete": 1}
	handler := func(what string) func(context.Context, *unstructured.Unstructured, *unstructured.Unstructured) error {
		sign := func(obj *unstructured.Unstructured) any {
			if obj == nil {
				return "nothing"
			}
			return obj.Object["spec"].(map[string]any)["sign"]
		}
		return func(_ context.Context, before, after *unstructured.Unstructured) error {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			if fails[what]--; fails[what] >= 0 {
				told = append(told, what+" fails")
				return errors.New("not today")
			}
			told = append(told, fmt.Sprint(what, ": ", sign(before), " -> ", sign(after)))
			return nil
		}
	}
	h := &handlers{view: memory.View(), create: handler("create"), update: handler("update"), delete: handler("delete")}
	engine, err := watch.New(memory.View(), watch.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	require.NoError(t, engine.Control(shops, h))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx) }()
	happens := func(act func() error) (all []string) {
		require.NoError(t, act())
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		all, told = told, nil
		return all
	}
	port, ref := memory.Port(), deploy.Ref{Kind: shops, Namespace: "market", Name: "tea"}
	patch := func(body, subresource string) func() error {
		return func() error {
			_, err := port.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), Subresource: subresource, FieldManager: "somebody"})
			return err
		}
	}
	create := func() error {
		shop := object(shops, "tea")
		shop.Object["spec"] = map[string]any{"sign": "open"}
		_, err := port.Create(ctx, shop, deploy.CreateOptions{FieldManager: "somebody"})
		return err
	}
	remove := func() error { return port.Delete(ctx, ref, deploy.DeleteOptions{}) }
	assert.Equal(t, []string{"create: nothing -> open"}, happens(create))
	assert.Equal(t, []string{"update fails", "update: open -> closed"}, happens(patch(`{"spec":{"sign":"closed"}}`, "")), "with the same old one")
	assert.Empty(t, happens(patch(`{"status":{"visitors":7}}`, "status")), "a status is nothing to handle")
	assert.Empty(t, happens(patch(`{"metadata":{"labels":{"a":"b"}}}`, "")), "nor is a label")
	assert.Equal(t, []string{"update: closed -> first", "update: first -> last"}, happens(func() error {
		err := patch(`{"spec":{"sign":"first"}}`, "")()
		time.Sleep(time.Second / 2)
		return errors.Join(err, patch(`{"spec":{"sign":"second"}}`, "")(), patch(`{"spec":{"sign":"last"}}`, "")())
	}), "what comes while one change is handled is one change")
	assert.Equal(t, []string{"delete fails", "delete: last -> nothing"}, happens(remove))
	assert.Equal(t, []string{"create: nothing -> open"}, happens(create))
	assert.Equal(t, []string{"delete: open -> nothing", "create: nothing -> open"}, happens(func() error { return errors.Join(remove(), create()) }))
	stop()
	assert.NoError(t, <-ended)
	memory.Wait()
}
