package temporarypatch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/smp"
)

// library is schemas over definitions whose lists end when the test lets them.
type library struct {
	deploy.View
	*schemas
	t     *testing.T
	ctx   context.Context
	now   time.Time
	crds  []*unstructured.Unstructured
	asked chan struct{}
	let   chan struct{}
}

type answer struct {
	found smp.Schema
	err   error
}

func newLibrary(t *testing.T, crds ...*unstructured.Unstructured) *library {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("nobody lets a list end"))
	t.Cleanup(cancel)
	l := &library{schemas: newSchemas(), t: t, ctx: ctx, now: time.Unix(1e9, 0), crds: crds, asked: make(chan struct{}), let: make(chan struct{})}
	return l
}

// List implements deploy.View.
func (l *library) List(ctx context.Context, _ schema.GroupVersionKind, _ string, _ labels.Selector) ([]*unstructured.Unstructured, error) {
	for _, step := range []chan struct{}{l.asked, l.let} {
		select {
		case step <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return l.crds, nil
}

// ask asks for the schema of a kind and returns a channel for the answer.
func (l *library) ask(ctx context.Context, kind schema.GroupVersionKind) <-chan answer {
	answered := make(chan answer, 1)
	go func() {
		found, err := l.schemas.of(ctx, patching.Target{View: l, Logger: slog.New(slog.DiscardHandler)}, kind, func() time.Time { return l.now })
		answered <- answer{found, err}
	}()
	return answered
}

// begun waits until a list has begun, ended lets it end.
func (l *library) begun() { l.receive(l.asked) }
func (l *library) ended() { l.receive(l.let) }

func (l *library) receive(step <-chan struct{}) {
	l.t.Helper()
	select {
	case <-step:
	case <-l.ctx.Done():
		require.FailNow(l.t, "nothing is listed")
	}
}

// listed asks for a kind that takes a list.
func (l *library) listed(kind schema.GroupVersionKind) answer {
	l.t.Helper()
	answered := l.ask(l.ctx, kind)
	l.begun()
	l.ended()
	return <-answered
}

// known asks for a kind that takes none: it would wait for somebody who lets it end.
func (l *library) known(kind schema.GroupVersionKind) bool {
	l.t.Helper()
	a := <-l.ask(l.ctx, kind)
	require.NoError(l.t, a.err)
	return a.found.Known()
}

func kindOf(name, version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "a.dev", Version: version, Kind: name}
}

// crdOf is a definition of a kind in the group a.dev.
func crdOf(kind string, versions ...string) *unstructured.Unstructured {
	var all []any
	for _, version := range versions {
		all = append(all, map[string]any{"name": version, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": strings.ToLower(kind) + "s.a.dev"},
		"spec": map[string]any{"group": "a.dev", "names": map[string]any{"kind": kind}, "versions": all},
	}}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	t.Run("patches mistake 13: all kinds and versions of a list are kept, for a time", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, crdOf("A", "v1", "v2"), crdOf("B", "v1"))
		first := l.listed(kindOf("A", "v1"))
		require.NoError(t, first.err)
		assert.True(t, first.found.Known())
		assert.True(t, l.known(kindOf("A", "v2")))
		assert.True(t, l.known(kindOf("B", "v1")))
		l.now, l.crds = l.now.Add(schemaAge), nil
		assert.False(t, l.listed(kindOf("B", "v1")).found.Known())
	})
	t.Run("patches mistake 13: a kind that nobody declares is looked for once", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, crdOf("A", "v1"))
		assert.False(t, l.listed(kindOf("X", "v1")).found.Known())
		assert.False(t, l.known(kindOf("X", "v1")))
		l.crds = append(l.crds, crdOf("Y", "v1"))
		assert.True(t, l.listed(kindOf("Y", "v1")).found.Known(), "one that nobody has asked for may be new")
		assert.False(t, l.known(kindOf("X", "v1")), "the other isn't looked for again because of it")
	})
	t.Run("patches mistake 13: a definition without the version is an error until it has it", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t)
		l.listed(kindOf("A", "v2"))
		l.now, l.crds = l.now.Add(schemaAge), []*unstructured.Unstructured{crdOf("A", "v1"), crdOf("B", "v1")}
		require.ErrorContains(t, l.listed(kindOf("A", "v2")).err, "schema of A: ")
		assert.True(t, l.known(kindOf("B", "v1")), "others are known")
		l.crds = []*unstructured.Unstructured{crdOf("A", "v1", "v2")}
		assert.True(t, l.listed(kindOf("A", "v2")).found.Known())
	})
	t.Run("a list under way holds up who needs it, as long as that may wait, and nobody else", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, crdOf("A", "v1"))
		l.listed(kindOf("A", "v1"))
		slow := l.ask(l.ctx, kindOf("X", "v1"))
		l.begun()
		assert.True(t, l.known(kindOf("A", "v1")))
		ctx, cancel := context.WithCancelCause(l.ctx)
		waiting := l.ask(ctx, kindOf("Y", "v1"))
		cancel(errors.New("its time is over"))
		require.EqualError(t, (<-waiting).err, "schema of Y: its time is over")
		l.ended()
		assert.NoError(t, (<-slow).err)
	})
	t.Run("who waited takes over from one whose time was over", func(t *testing.T) {
		t.Parallel()
		l := newLibrary(t, crdOf("A", "v1"))
		ctx, cancel := context.WithCancel(l.ctx)
		first := l.ask(ctx, kindOf("A", "v1"))
		l.begun()
		second := l.ask(l.ctx, kindOf("A", "v1"))
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		l.begun()
		l.ended()
		assert.True(t, (<-second).found.Known())
	})
	t.Run("many at once make one list", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := newLibrary(t, crdOf("A", "v1"))
			var all []<-chan answer
			for range 8 {
				all = append(all, l.ask(l.ctx, kindOf("A", "v1")))
			}
			synctest.Wait()
			l.begun()
			l.ended()
			for _, answered := range all {
				assert.True(t, (<-answered).found.Known())
			}
		})
	})
}
