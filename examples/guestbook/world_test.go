package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const patience = 60 * time.Second

// patchCRD is the definition of temporary patches, which whoever runs a cluster may install.
const patchCRD = "../../reconcile/temporarypatch/operkit.dev_temporarypatches.yaml"

// world is a namespace of a real control plane with an operator's user in it, and somebody
// else who looks and meddles.
type world struct {
	*envtest.Env
	t        *testing.T
	operator *envtest.User
	config   string
	api      *cluster.Cluster
}

func newWorld(t *testing.T, options ...envtest.Option) *world {
	t.Helper()
	return newWorldFor(t, envtest.RolesIn("config/rbac/role.yaml"), append(options, envtest.CRDs("config/crd", patchCRD))...)
}

func newWorldFor(t *testing.T, rights envtest.Grant, options ...envtest.Option) *world {
	t.Helper()
	env := envtest.Start(t, options...)
	w := &world{Env: env, t: t, operator: env.User(t, "operator", rights)}
	w.config = env.Kubeconfig(t, w.operator)
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w.api = api
	return w
}

// start runs the operator on the world's namespace until the test ends or stops it. More variables of its
// environment may be given.
func (w *world) start(variables ...string) *process {
	w.t.Helper()
	p := &process{command: exec.Command(os.Args[0], "run", "--namespace", w.Namespace, "--kubeconfig", w.config), done: make(chan struct{})}
	p.command.Env = append(append(os.Environ(), asOperator+"=1"), variables...)
	p.command.Stderr = &p.log
	require.NoError(w.t, p.command.Start())
	go func() {
		p.err = p.command.Wait()
		close(p.done)
	}()
	w.t.Cleanup(func() {
		p.kill()
		if w.t.Failed() {
			w.t.Logf("the operator said:\n%s", p.log.String())
		}
	})
	return p
}

// process is an operator that runs.
type process struct {
	command *exec.Cmd
	log     buffer
	done    chan struct{}
	err     error
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.done
}

// stop ends the operator in good order and answers how it ended.
func (p *process) stop(t *testing.T) error {
	t.Helper()
	require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		t.Fatal("the operator doesn't stop")
		return nil
	}
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var (
	secrets      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	services     = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	configMaps   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments  = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	statefulSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}

	temporaryPatches = schema.GroupVersionKind{Group: "operkit.dev", Version: "v1", Kind: "TemporaryPatch"}
)

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.Namespace, Name: name}
}

// get reads an object from the API server, nil when there is none.
func (w *world) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.api.View().Get(w.t.Context(), w.ref(kind, name))
	require.NoError(w.t, err)
	return obj
}

// patch edits an object as somebody else.
func (w *world) patch(kind schema.GroupVersionKind, name, body string, subresource ...string) {
	w.t.Helper()
	patch := deploy.Patch{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"}
	if len(subresource) > 0 {
		patch.Subresource = subresource[0]
	}
	_, err := w.api.Port().Patch(w.t.Context(), w.ref(kind, name), patch)
	require.NoError(w.t, err)
}

func (w *world) delete(kind schema.GroupVersionKind, name string) {
	w.t.Helper()
	err := w.api.Port().Delete(w.t.Context(), w.ref(kind, name), deploy.DeleteOptions{})
	var absent *deploy.NotFoundError
	if !errors.As(err, &absent) {
		require.NoError(w.t, err)
	}
}

// create makes the guestbook "hello".
func (w *world) create() {
	w.t.Helper()
	book := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"size": int64(2), "image": "guestbook:1", "message": "Welcome!", "redis": map[string]any{"enabled": true},
	}}}
	book.SetGroupVersionKind(v1.GuestbookKind)
	book.SetNamespace(w.Namespace)
	book.SetName("hello")
	w.put(book)
}

func (w *world) put(obj *unstructured.Unstructured) {
	w.t.Helper()
	_, err := w.api.Port().Apply(w.t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
}

func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	poll(w.t, what, 10*time.Millisecond, condition)
}

// poll asks condition, on the test's own goroutine, until it holds.
func poll(t *testing.T, what string, interval time.Duration, condition func() bool) {
	t.Helper()
	pollFor(t, patience, what, interval, condition)
}

func pollFor(t *testing.T, limit time.Duration, what string, interval time.Duration, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// condition reads one condition of the guestbook.
func (w *world) condition(conditionType string) (status string, message string, current bool) {
	w.t.Helper()
	book := w.get(v1.GuestbookKind, "hello")
	if book == nil {
		return "", "", false
	}
	c, ok := readCondition(book, conditionType)
	return c.status, c.message, ok && c.generation == book.GetGeneration()
}

type condition struct {
	status, message string
	generation      int64
}

func readCondition(book *unstructured.Unstructured, conditionType string) (condition, bool) {
	c, ok := status.Conditions(book).Get(conditionType)
	return condition{string(c.Status), c.Message, c.ObservedGeneration}, ok
}

// ready tells whether the guestbook is rolled out as it is now.
func (w *world) ready() bool {
	w.t.Helper()
	ready, _, current := w.condition(status.ConditionReady)
	updating, _, _ := w.condition(status.ConditionUpdating)
	return ready == "True" && current && updating == "False"
}

// settled waits until the guestbook is Ready as it is now, and the operator has stopped
// writing.
func (w *world) settled() {
	w.t.Helper()
	w.settledWithin(patience)
}

func (w *world) settledWithin(limit time.Duration) {
	w.t.Helper()
	pollFor(w.t, limit, "the guestbook becomes Ready", 10*time.Millisecond, w.ready)
	w.quiet()
}

// quiet waits until the operator hasn't written for a while.
func (w *world) quiet() {
	w.t.Helper()
	last := -1
	poll(w.t, "the operator stops writing", 400*time.Millisecond, func() bool {
		now := len(w.Calls(w.t, w.operator).Writes())
		same := now == last
		last = now
		return same
	})
}

// written counts what the operator wrote to children since the mark, by object.
func written(calls audit.Calls) map[string]int {
	count := map[string]int{}
	for _, call := range calls.Writes() {
		count[call.Verb+" "+call.Resource+"/"+call.Name]++
	}
	return count
}
