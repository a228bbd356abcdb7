package desired_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var catSetsDefinition = definitionOf("CatSet")

// definitionOf returns the definition of a kind of parents.
func definitionOf(kind string) string {
	name := strings.ToLower(kind)
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]ss.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]ss, singular: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, kind, name)
}

// life is the life of a parent, and of the processes that reconcile it one after the other.
type life struct {
	t *testing.T
	// others is the cluster as others see it, and open connects a process.
	others    deploy.Cluster
	open      func() deploy.Cluster
	namespace string
	mortal    *mortal.Cluster
	process   watch.Reconciler
	processes int
	// states are the states of the cluster after each chapter.
	states []string
}

func newLife(t *testing.T) *life {
	l := &life{t: t, namespace: "default", mortal: &mortal.Cluster{}}
	inMemory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	l.others, l.open = inMemory, func() deploy.Cluster { return inMemory }
	return l
}

// newRealLife returns a life on a real API server. Without subscriptions, its processes read from the server itself.
func newRealLife(t *testing.T, env *envtest.Env) *life {
	l := newLife(t)
	l.open = func() deploy.Cluster {
		c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
		require.NoError(t, err)
		return c
	}
	l.others, l.namespace = l.open(), env.Namespace
	return l
}

func (l *life) ref() deploy.Ref {
	return deploy.Ref{Kind: catSets, Namespace: l.namespace, Name: "tom"}
}

// start starts a process. Its parents keep their ConfigMaps until they are free.
func (l *life) start() {
	l.processes++
	l.mortal.Connect(l.open())
	manager, err := deploy.NewManager(l.mortal, deploy.Concurrency(0)) // a process ends by a panic of its own goroutine
	require.NoError(l.t, err)
	keep := func(r desired.Request[desired.Unstructured]) (kept []any) {
		for _, one := range r.Children.Of(configMaps) {
			kept = append(kept, one)
		}
		return kept
	}
	c := desired.New(catSets, teardown{script{}, keep},
		desired.Child(configMaps, desired.InPlace), desired.Child(services, desired.RollingInPlace), desired.Child(accounts, desired.Recreate))
	l.process, err = c.Reconciler(l.t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(l.t, err)
}

// work reconciles until nothing is written any more. A killed process is followed by another one.
func (l *life) work() {
	for range 50 {
		before := l.mortal.Writes()
		killed := l.reconcile()
		if killed {
			l.start()
		} else if l.mortal.Writes() == before {
			return
		}
	}
	l.t.Fatal("it never ends")
}

func (l *life) reconcile() (killed bool) {
	defer func() {
		if panicked := recover(); panicked != nil {
			require.True(l.t, l.mortal.Dead(), "%v", panicked)
			killed = true
		}
	}()
	_, err := l.process.Reconcile(l.t.Context(), request.Request{Key: l.ref()})
	if !l.mortal.Dead() {
		require.NoError(l.t, err)
	}
	return l.mortal.Dead()
}

// edit edits the parent as somebody else.
func (l *life) edit(change func(p *unstructured.Unstructured)) {
	p, err := l.others.Port().Get(l.t.Context(), l.ref())
	require.NoError(l.t, err)
	change(p)
	_, err = l.others.Port().Update(l.t.Context(), p, deploy.UpdateOptions{FieldManager: "somebody"})
	require.NoError(l.t, err)
}

// service and account are wanted children of these kinds.
func service(name string, port int64) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"ports": []any{map[string]any{"port": port}}},
	}
}

func account(name, label string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name, "labels": map[string]any{"v": label}},
	}
}

// live lives the whole life.
func (l *life) live() {
	l.start()
	spec := func(children ...any) func(p *unstructured.Unstructured) {
		return func(p *unstructured.Unstructured) { p.Object["spec"] = map[string]any{"children": children} }
	}
	for _, chapter := range []func(){
		func() {
			p := parent(configMap("a", "k=1"), configMap("b", "k=1"), service("s", 80), service("t", 80), account("u", "1"))
			p.SetNamespace(l.namespace)
			_, err := l.others.Port().Create(l.t.Context(), p, deploy.CreateOptions{})
			require.NoError(l.t, err)
		},
		func() { // all change, and one isn't wanted any more
			l.edit(spec(configMap("a", "k=2"), configMap("c", "k=1"), service("s", 81), service("t", 81), account("u", "2")))
		},
		func() {
			require.NoError(l.t, l.others.Port().Delete(l.t.Context(), l.ref(), deploy.DeleteOptions{}))
		},
		func() {
			l.edit(func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "true"}) })
		},
	} {
		chapter()
		l.work()
		l.states = append(l.states, l.state())
	}
}

// state describes the parent and its children.
func (l *life) state() string {
	var all []string
	p, err := l.others.Port().Get(l.t.Context(), l.ref())
	require.NoError(l.t, err)
	if p == nil {
		return "gone"
	}
	all = append(all, fmt.Sprint(p.GetFinalizers(), p.Object["status"]))
	for _, kind := range childKinds {
		found, err := l.others.Port().List(l.t.Context(), kind, l.namespace, deploy.ListOptions{})
		require.NoError(l.t, err)
		for _, obj := range found {
			if owner := obj.GetOwnerReferences(); len(owner) == 1 && owner[0].UID == p.GetUID() && obj.GetDeletionTimestamp() == nil {
				ports, _, _ := unstructured.NestedSlice(obj.Object, "spec", "ports")
				port := any(nil)
				if len(ports) > 0 {
					port = ports[0].(map[string]any)["port"]
				}
				all = append(all, fmt.Sprint(obj.GetKind(), obj.GetName(), obj.Object["data"], obj.GetLabels(), port))
			}
		}
	}
	return strings.Join(all, "\n")
}

// TestSurvivesKills kills the process before and after each of its writes, and compares what comes of it with an
// undisturbed life.
func TestSurvivesKills(t *testing.T) {
	survive(t, "in memory", newLife, 1)
}

// TestSurvivesRealKills does so on a real API server: at each write in the long test, otherwise at some.
func TestSurvivesRealKills(t *testing.T) {
	file := filepath.Join(t.TempDir(), "catsets.yaml")
	require.NoError(t, os.WriteFile(file, []byte(catSetsDefinition), 0o600))
	env := envtest.Start(t, envtest.CRDs(file))
	each := 4
	if os.Getenv("OPERKIT_SOAK") != "" {
		each = 1
	}
	survive(t, "on the API server", func(t *testing.T) *life { return newRealLife(t, env) }, each)
}

// survive kills at the first write, and then at each write that many later.
func survive(t *testing.T, where string, begin func(t *testing.T) *life, each int) {
	undisturbed := begin(t)
	undisturbed.live()
	undisturbed.clear()
	writes := undisturbed.mortal.Writes()
	require.Equal(t, 1, undisturbed.processes)
	require.Equal(t, "gone", undisturbed.states[3])
	require.Equal(t, 5, strings.Count(undisturbed.states[0], "\n"), undisturbed.states[0])
	t.Logf("SOAK desired: killed %s at each %d. of %d writes, before and after it", where, each, writes)
	for at := 1; at <= writes; at += each {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("desired 19: killed at write %d, after it: %t", at, after), func(t *testing.T) {
				l := begin(t)
				l.mortal.At, l.mortal.After = at, after
				l.live()
				l.clear()
				assert.Equal(t, 2, l.processes)
				assert.Equal(t, undisturbed.states, l.states)
			})
		}
	}
}

// clear deletes the children of a parent that is gone at once, so that the next life finds none: the garbage collector
// would take a while.
func (l *life) clear() {
	for _, kind := range childKinds {
		found, err := l.others.Port().List(l.t.Context(), kind, l.namespace, deploy.ListOptions{})
		require.NoError(l.t, err)
		for _, obj := range found {
			if len(obj.GetOwnerReferences()) > 0 {
				err := l.others.Port().Delete(l.t.Context(), deploy.RefOf(obj), deploy.DeleteOptions{UID: obj.GetUID()})
				require.True(l.t, err == nil || failure.Is[*deploy.NotFoundError](err), "%v", err)
			}
		}
	}
}
