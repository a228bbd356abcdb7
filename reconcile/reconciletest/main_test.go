package reconciletest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var shops = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}

// shop is a controller that a test puts together.
type shop struct {
	setup func(ctx context.Context, s *reconcile.Session) error
}

func (s *shop) Kind() schema.GroupVersionKind { return shops }

func (s *shop) Setup(ctx context.Context, session *reconcile.Session) error {
	return s.setup(ctx, session)
}

// market is the usual one: a store, and a door that waits for it to be ready.
func market() *shop {
	return &shop{func(_ context.Context, s *reconcile.Session) error {
		sign, _ := s.Resource().Object["spec"].(map[string]any)["sign"].(string)
		store := s.Add("store", workload("Deployment", s.ScopedName("store")))
		s.Add("door", settings(s.ScopedName("door"), map[string]any{"sign": sign})).After(store, reconcile.Ready)
		return nil
	}}
}

// closing is a controller with a Finalize.
type closing struct {
	*shop
	finalize func(ctx context.Context, s *reconcile.Session) error
}

func (c *closing) Finalize(ctx context.Context, s *reconcile.Session) error {
	return c.finalize(ctx, s)
}

const tea = "{apiVersion: example.dev/v1, kind: Shop, metadata: {name: tea}, spec: {sign: open}}"

func settings(name string, data map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data}
}

func workload(kind, name string) map[string]any {
	labels := map[string]any{"app": name}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": name},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "x:1"}}},
		}},
	}
}

// trial is a T that keeps what a test would have said.
type trial struct {
	ctx      context.Context
	mu       sync.Mutex
	said     []string
	fatal    bool
	cleanups []func()
	logs     []string
}

func (t *trial) Helper()                  {}
func (t *trial) Context() context.Context { return t.ctx }
func (t *trial) Cleanup(f func())         { t.cleanups = append(t.cleanups, f) }
func (t *trial) Failed() bool             { return len(t.said) > 0 }

func (t *trial) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.logs = append(t.logs, fmt.Sprintf(format, args...))
}

func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	t.fatal = true
	runtime.Goexit()
}

// try runs a test that is to fail, and returns what it said.
func try(t *testing.T, test func(t *trial)) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	tried := &trial{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(tried)
	}()
	<-done
	cancel()
	for i := len(tried.cleanups) - 1; i >= 0; i-- {
		tried.cleanups[i]()
	}
	return strings.Join(tried.said, "\n")
}
