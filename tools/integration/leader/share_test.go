package leader

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
)

// share is an operator of which all replicas work at once, each on other objects.
func share(ctx context.Context, config *rest.Config, logger *slog.Logger) error {
	config.Wrap(leader.ObjectTransport)
	background, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	api, err := cluster.New(background, config, cluster.Namespaces(namespace()), cluster.Logger(logger))
	if err != nil {
		return err
	}
	engine, err := watch.New(api.View(), watch.Workers(workers), watch.Logger(logger))
	if err != nil {
		return err
	}
	manager, err := deploy.NewManager(api)
	if err != nil {
		return err
	}
	lock, err := leader.PerObject(marker{api.Port()}, manager, append(times(), leader.Logger(logger))...)
	if err != nil {
		return err
	}
	if err := engine.Control(configMaps, lock); err != nil {
		return err
	}
	fmt.Println("started", lock.Identity())
	return engine.Run(ctx)
}

// labour is how long the work on an object takes.
const labour = 200 * time.Millisecond

// marker writes down when the work on an object begins and when it ends.
type marker struct{ port deploy.Port }

func (m marker) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	if !strings.HasPrefix(req.Key.Name, sourcePrefix) {
		return request.Result{}, nil
	}
	if err := m.mark(ctx, req.Key, "begin"); err != nil {
		return request.Result{}, err
	}
	time.Sleep(labour)
	return request.Result{}, m.mark(ctx, req.Key, "end")
}

func (m marker) mark(ctx context.Context, key deploy.Ref, phase string) error {
	term, _ := leader.TermOf(ctx)
	// Not under ctx: what has to stop the call at the renew deadline is the transport.
	_, err := m.port.Create(context.WithoutCancel(ctx), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"generateName": "mark-", "namespace": key.Namespace, "annotations": map[string]any{
			"object": key.Name, "holder": term.Holder, "phase": phase, "term": "0",
		}},
	}}, deploy.CreateOptions{FieldManager: "operator"})
	return err
}

func TestPerObject(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.RolesIn("testdata/share.yaml")))
	s := newScene(t, env, 6)
	replicas := []*process{startWork(t, env, brief, sharing), startWork(t, env, brief, sharing), startWork(t, env, brief, sharing)}
	stop := s.change(100 * time.Millisecond)
	s.works("each replica works", func(holders map[string]int) bool { return len(holders) == 3 })

	s.killAtWork(replicas[0])
	time.Sleep(time.Second)
	replicas[1].send(t, syscall.SIGSTOP)
	time.Sleep(brief + time.Second)
	before := len(s.history())
	s.works("the third goes on, also with what the others held", func(map[string]int) bool { return len(s.history()) > before+20 })
	replicas[1].send(t, syscall.SIGCONT)
	time.Sleep(time.Second)
	stop()

	s.free()
	judgeMarks(t, s.history(), s.resources)
	rest := len(s.history())
	versions := s.versions()
	time.Sleep(3 * time.Second)
	assert.Len(t, s.history(), rest, "watch mistake 8: a lock that is taken or released is no change")
	assert.Equal(t, versions, s.versions())
	for _, p := range replicas[1:] {
		p.send(t, syscall.SIGTERM)
		assert.Equal(t, "end", p.awaitEnd(t))
	}
}

// works waits until condition holds of how many marks each replica has made.
func (s *scene) works(what string, condition func(holders map[string]int) bool) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		holders := map[string]int{}
		for _, w := range s.history() {
			holders[w.holder]++
		}
		return condition(holders)
	}, patience, 20*time.Millisecond, what)
}

// killAtWork ends a replica in the middle of work. Only of one that is frozen is it certain that it is: a mark that it
// had sent is stored soon.
func (s *scene) killAtWork(p *process) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		p.send(s.t, syscall.SIGSTOP)
		time.Sleep(100 * time.Millisecond)
		for _, m := range lastMarks(s.history()) {
			if m.holder == p.identity && m.phase == "begin" {
				return true
			}
		}
		p.send(s.t, syscall.SIGCONT)
		return false
	}, patience, 20*time.Millisecond, "it never works")
	p.send(s.t, syscall.SIGKILL)
}

// lastMarks are the last ones of each object.
func lastMarks(marks []stored) map[string]stored {
	last := map[string]stored{}
	for _, m := range marks {
		last[m.object] = m
	}
	return last
}

// free waits until no object is locked, for as long as a reconcile may need to begin.
func (s *scene) free() {
	s.t.Helper()
	since := time.Now()
	require.Eventually(s.t, func() bool {
		all, err := s.api.List(s.t.Context(), configMaps, s.env.Namespace, deploy.ListOptions{})
		require.NoError(s.t, err)
		for _, obj := range all {
			if obj.GetAnnotations()["operkit.dev/lease-name"] != "" {
				since = time.Now()
			}
		}
		return time.Since(since) > 2*time.Second
	}, patience, 20*time.Millisecond, "objects stay locked")
}

// versions are those of the objects.
func (s *scene) versions() map[string]string {
	s.t.Helper()
	all, err := s.api.List(s.t.Context(), configMaps, s.env.Namespace, deploy.ListOptions{})
	require.NoError(s.t, err)
	versions := map[string]string{}
	for _, obj := range all {
		versions[obj.GetName()] = obj.GetResourceVersion()
	}
	return versions
}

// judgeMarks wants each object to be worked on by one replica at a time: whoever ends is who began last. A process
// that was frozen may have had a call in flight for each of its workers.
func judgeMarks(t *testing.T, marks []stored, objects int) {
	t.Helper()
	began := map[string]string{}
	worked, intruded, abandoned := 0, 0, 0
	open := map[string]bool{}
	for _, m := range marks {
		switch {
		case m.phase == "begin":
			if open[m.object] {
				abandoned++
			}
			began[m.object], open[m.object] = m.holder, true
		case began[m.object] == m.holder:
			worked++
			open[m.object] = false
		default:
			intruded++
		}
	}
	assert.Len(t, began, objects)
	assert.LessOrEqual(t, intruded, workers, "watch 35: one at a time")
	assert.Positive(t, abandoned, "what a replica died at was taken up by another one")
	t.Logf("%d works, %d given up by a kill or a freeze, %d ended while another replica worked", worked, abandoned, intruded)
}
