package peering_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var group = peering.Group{Domain: "operkit.dev", Operator: "op", Namespace: "shop"}

func newMemory(t *testing.T) *dryrun.Cluster {
	t.Helper()
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	return memory
}

// wire is the cluster as one process reaches it.
type wire struct {
	deploy.Port
	view deploy.View
	mu   sync.Mutex
	// down: requests fail. blind: events don't come. skew is by how much the clock of the process is wrong.
	down, blind bool
	skew        time.Duration
	calls       []string
}

type wired struct{ *wire }

func (w wired) Port() deploy.Port { return w.wire }
func (w wired) View() deploy.View { return seeing{w.view, w.wire} }

// seeing is the View of a wire.
type seeing struct {
	deploy.View
	*wire
}

func (s seeing) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return s.View.Get(ctx, ref)
}

func (s seeing) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return s.View.List(ctx, kind, namespace, selector)
}

func (s seeing) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	return s.View.Subscribe(ctx, kind, func(e deploy.Event) {
		s.mu.Lock()
		blind := s.blind
		s.mu.Unlock()
		if !blind {
			handle(e)
		}
	})
}

func (w *wire) set(change func(w *wire)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

func (w *wire) call(verb string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, verb)
	if w.down {
		return errors.New("connection refused")
	}
	return nil
}

// since returns the calls after the first n.
func (w *wire) since(n int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.calls[n:]...)
}

func (w *wire) skewed(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	if _, set, _ := unstructured.NestedString(obj.Object, "spec", "renewTime"); set {
		_ = unstructured.SetNestedField(obj.Object, time.Now().Add(w.skew).UTC().Format("2006-01-02T15:04:05.000000Z"), "spec", "renewTime")
	}
	return obj
}

func (w *wire) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := w.call("get"); err != nil {
		return nil, err
	}
	return w.Port.Get(ctx, ref)
}

func (w *wire) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, o deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	if err := w.call("list"); err != nil {
		return nil, err
	}
	return w.Port.List(ctx, kind, namespace, o)
}

func (w *wire) Create(ctx context.Context, obj *unstructured.Unstructured, o deploy.CreateOptions) (*unstructured.Unstructured, error) {
	if err := w.call("create"); err != nil {
		return nil, err
	}
	return w.Port.Create(ctx, w.skewed(obj), o)
}

func (w *wire) Update(ctx context.Context, obj *unstructured.Unstructured, o deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	if err := w.call("update"); err != nil {
		return nil, err
	}
	return w.Port.Update(ctx, w.skewed(obj), o)
}

func (w *wire) Delete(ctx context.Context, ref deploy.Ref, o deploy.DeleteOptions) error {
	if err := w.call("delete"); err != nil {
		return err
	}
	return w.Port.Delete(ctx, ref, o)
}

// process is a process of the operator.
type process struct {
	*wire
	*peering.Peering
	log  testlog.Text
	stop func()
	// windUp is how long its work goes on when it has to end.
	windUp time.Duration

	state sync.Mutex
	works bool
	// begun counts the turns, and causes are why they have ended.
	begun  int
	causes []error
	// lost counts the turns whose term was lost.
	lost int
}

// work is the work of a process: it works until it has to end.
func (p *process) work(ctx context.Context) error {
	p.state.Lock()
	p.works = true
	p.begun++
	p.state.Unlock()
	<-ctx.Done()
	select {
	case <-time.After(p.windUp):
	case <-term(ctx):
		p.state.Lock()
		p.lost++
		p.state.Unlock()
	}
	p.state.Lock()
	defer p.state.Unlock()
	p.works = false
	p.causes = append(p.causes, context.Cause(ctx))
	return nil
}

func term(ctx context.Context) <-chan struct{} {
	t, _ := leader.TermOf(ctx)
	return t.Lost
}

func (p *process) isWorking() bool {
	synctest.Wait()
	p.state.Lock()
	defer p.state.Unlock()
	return p.works
}

// start runs a process until the test ends or stops it.
func start(t *testing.T, memory *dryrun.Cluster, name string, priority int, change ...func(*peering.Config, *process)) *process {
	t.Helper()
	p := &process{wire: &wire{Port: memory.Port(), view: memory.View()}}
	c := peering.Config{Group: group, Priority: priority, Logger: slog.New(slog.NewTextHandler(&p.log, nil))}
	for _, f := range change {
		f(&c, p)
	}
	t.Setenv("POD_NAME", name)
	var err error
	p.Peering, err = peering.New(wired{p.wire}, c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		assert.NoError(t, p.Run(ctx, p.work))
	}()
	p.stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(p.stop)
	return p
}

// leads makes a process the leader of an election.
func leads(election string) func(*peering.Config, *process) {
	return func(c *peering.Config, _ *process) { c.Election = election }
}

// within waits until a process works, or doesn't, and returns how long that took.
func within(t *testing.T, most time.Duration, p *process, works bool) time.Duration {
	t.Helper()
	began := time.Now()
	for p.isWorking() != works {
		require.LessOrEqual(t, time.Since(began), most, p.log.String())
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// leases returns the number of Leases.
func leases(memory *dryrun.Cluster) int { return len(memory.Objects()) }
