package reconciletest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var ledgers = schema.GroupVersionKind{Group: "reconciletest.operkit.dev", Version: "v1", Kind: "Ledger"}

// bookkeeper is a controller of ledgers that sets fields of their status.
type bookkeeper struct {
	fields map[string]any
}

func (b *bookkeeper) Kind() schema.GroupVersionKind { return ledgers }

func (b *bookkeeper) Setup(_ context.Context, s *reconcile.Session) error {
	for path, value := range b.fields {
		s.SetStatus(path, value)
	}
	return nil
}

// lines is a log that is written by several goroutines.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestStatusFields sets fields of a status whose schema has only some of them, on a control plane.
func TestStatusFields(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata/crds"))
	ctx, cancel := context.WithCancel(t.Context())
	operator, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		operator.Wait()
	})
	b, log := &bookkeeper{}, &lines{}
	h := reconciletest.New(t, b, reconciletest.On(operator, time.Second), reconciletest.Namespace(env.Namespace),
		reconciletest.With(reconcile.StartAfter(0), reconcile.Logger(slog.New(slog.NewTextHandler(log, nil)))))
	h.Apply("{apiVersion: reconciletest.operkit.dev/v1, kind: Ledger, metadata: {name: mine}}")
	book := func() map[string]any {
		found, _, err := unstructured.NestedMap(h.Get("Ledger mine").Object, "status", "book")
		require.NoError(t, err)
		return found
	}

	b.fields = map[string]any{"book.pages": 3, "book.title": "income"}
	_, err = h.Reconcile("Ledger mine")
	require.NoError(t, err)
	h.Writes(1)
	assert.Equal(t, map[string]any{"pages": int64(3), "title": "income"}, book(), "fields 1: in the one write")
	_, err = h.Reconcile("Ledger mine")
	require.NoError(t, err)
	h.Writes(0)

	b.fields = map[string]any{"cover": map[string]any{"colour": "red"}}
	_, err = h.Reconcile("Ledger mine")
	require.NoError(t, err)
	h.Writes(1)
	_, err = h.Reconcile("Ledger mine")
	require.NoError(t, err)
	h.Writes(0) // although the schema has added the paper
	paper, _, _ := unstructured.NestedString(h.Get("Ledger mine").Object, "status", "cover", "paper")
	assert.Equal(t, "plain", paper)

	b.fields = map[string]any{"book.title": nil, "book.colour": "red"}
	_, err = h.Reconcile("Ledger mine")
	require.NoError(t, err)
	h.Writes(1)
	assert.Equal(t, map[string]any{"pages": int64(3)}, book(), "fields 2: what isn't set stays, null removes, and the schema drops what it doesn't have")
	assert.Contains(t, log.String(), "the CustomResourceDefinition drops fields of the status")
	assert.Contains(t, log.String(), ".book.colour")
	_, err = h.Reconcile("Ledger mine")
	require.NoError(t, err)
	h.Writes(0) // a dropped field isn't sent again each time

	b.fields = map[string]any{"book.pages": "three"}
	_, err = h.Reconcile("Ledger mine")
	require.ErrorContains(t, err, "status fields book.pages: ", "fields 6: the schema refuses a value")
	require.ErrorContains(t, err, "must be of type integer")
	assert.Equal(t, map[string]any{"pages": int64(3)}, book())
	ready := h.Condition("Ledger mine", "Ready")
	assert.Equal(t, "Errored", ready.Reason, "and the status says so")
	assert.Contains(t, ready.Message, "must be of type integer")
}
