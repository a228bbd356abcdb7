package operator_test

import (
	"bytes"
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// patient is a reconciler whose reconciles never end by themselves.
type patient struct {
	mu           sync.Mutex
	running, max int
	causes       []string
}

func (p *patient) Reconcile(ctx context.Context, _ request.Request) (request.Result, error) {
	p.mu.Lock()
	p.running++
	p.max = max(p.max, p.running)
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	p.causes = append(p.causes, context.Cause(ctx).Error())
	return request.Result{}, nil
}

// seen returns how many reconciles ran at most at once, and why they ended.
func (p *patient) seen() (atOnce int, causes []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.max, append([]string{}, p.causes...)
}

// TestReconciles has limits of single kinds in an operator of two styles.
func TestReconciles(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		flags  []string
		cause  string
	}{
		{"the program sets a limit", nil, "the reconcile took longer than 200ms: context deadline exceeded"},
		{"operator 15: a setting that is given overrides it", []string{"--watch.timeout", "300ms"}, "the reconcile took longer than 300ms: context deadline exceeded"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, envtest.CRDs(definitions))
			p := &patient{}
			op := operator.New("gadget-operator", operator.WithoutTemporaryPatches(), operator.Reconciles(gears, watch.Workers(1), watch.Timeout(200*time.Millisecond)))
			op.Control(settings{gadgets})
			op.Drive(watch.NewController(gears, func(context.Context, watch.Env) (watch.Reconciler, error) { return p, nil }))
			for _, name := range []string{"one", "two", "three"} {
				w.resource(gears, name)
			}
			r := w.run("gadget-operator", op, w.replica("operator"), append([]string{"--namespace", w.Namespace, "--watch.workers", "4"}, row.flags...)...)
			w.eventually("all were reconciled", func() bool { _, causes := p.seen(); return len(causes) == 3 })
			w.resource(gadgets, "one")
			w.eventually("other kinds have their own limits", func() bool { return w.mode("one") == "old" })
			r.stop()
			atOnce, causes := p.seen()
			assert.Equal(t, 1, atOnce)
			for _, cause := range causes {
				assert.Equal(t, row.cause, cause)
			}
		})
	}
}

func TestMistakesOfReconciles(t *testing.T) {
	t.Parallel()
	for want, option := range map[string]operator.Option{
		"option Reconciles: the operator has no controller of the kind Other.x":              operator.Reconciles(schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Other"}),
		"controller operator_test.widget: Widget: timeout: 0s: it must be positive":          operator.Reconciles(widgetKind, watch.Timeout(0)),
		"the options Grace, Logger and Domain are for the whole engine: pass them to New":    operator.Reconciles(widgetKind, watch.Grace(0)),
		"controller operator_test.widget: Widget: workers: 0: at least 1 is needed":          operator.Reconciles(widgetKind, nil, watch.Workers(1), watch.Workers(0)),
		"controller operator_test.widget: Widget: backoff: 1s to 1ms: both must be positive": operator.Reconciles(widgetKind, watch.Backoff(time.Second, time.Millisecond)),
	} {
		op := operator.New("widget-operator", option)
		op.Control(widget{})
		var log bytes.Buffer
		assert.Equal(t, 1, op.Execute(t.Context(), []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig")}, &log, &log))
		assert.Contains(t, log.String(), want)
	}
}
