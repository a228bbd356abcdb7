package leader_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var leases = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}

// newPort is a cluster in memory; a program takes the Port of a cluster.New.
func newPort(objects ...*unstructured.Unstructured) deploy.Port {
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(objects...))
	if err != nil {
		fmt.Println(err)
	}
	return cluster.Port()
}

// newElector is quiet.
func newElector(port deploy.Port, opts ...leader.Option) *leader.Elector {
	elector, err := leader.Lease(port, "shop/guestbook-operator", append([]leader.Option{leader.Logger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		fmt.Println(err)
	}
	return elector
}

func Example() {
	lock, err := leader.Lease(newPort(), "shop/guestbook-operator", leader.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background()) // a program takes signal.NotifyContext
	err = lock.Run(ctx, func(ctx context.Context) error {
		fmt.Println("this replica leads")
		stop()
		<-ctx.Done()
		return nil
	})
	fmt.Println(err)
	// Output:
	// this replica leads
	// <nil>
}

func ExampleLease() {
	_, err := leader.Lease(newPort(), "shop/Guestbook Operator")
	fmt.Println(err)
	// Output: lease: name "shop/Guestbook Operator": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
}

func ExampleMarks() {
	port := newPort()
	lock, err := leader.Lease(port, "shop/guestbook-operator", leader.Logger(slog.New(slog.DiscardHandler)),
		leader.Marks(map[string]string{"app": "guestbook"}, map[string]string{"example.dev/team": "web"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = lock.Run(context.Background(), func(ctx context.Context) error {
		lease, err := port.Get(ctx, deploy.Ref{Kind: leases, Namespace: "shop", Name: "guestbook-operator"})
		fmt.Println(lease.GetLabels(), lease.GetAnnotations())
		return err
	})
	fmt.Println(err)
	// Output:
	// map[app:guestbook] map[example.dev/team:web]
	// <nil>
}

func ExampleForLife() {
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "operator-0", "namespace": "shop", "uid": "uid-of-operator-0"},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "operator", "image": "operator"}}},
	}}
	port := newPort(pod)
	// In a Pod the environment says which one it is.
	lock, err := leader.ForLife(port, "shop/guestbook-operator", leader.Identity("operator-0"), leader.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lock.Run(context.Background(), func(context.Context) error { return nil }))
	configMap, err := port.Get(context.Background(), deploy.Ref{
		Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "guestbook-operator",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("owned by", configMap.GetOwnerReferences()[0].Name)
	// Output:
	// <nil>
	// owned by operator-0
}

func ExampleNone() {
	fmt.Println(leader.None().Run(context.Background(), func(context.Context) error {
		fmt.Println("it always leads")
		return nil
	}))
	// Output:
	// it always leads
	// <nil>
}

// Metering is a reconciler that starts work that goes on between reconciles.
type Metering struct{}

func (Metering) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

// NeedsLeader implements leader.Undivided.
func (Metering) NeedsLeader() error {
	return errors.New("Metering measures between reconciles")
}

func ExampleUndivided() {
	var metering leader.Undivided = Metering{}
	fmt.Println(metering.NeedsLeader())
	cluster, err := dryrun.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = leader.PerObject(Metering{}, manager)
	fmt.Println(err)
	// Output:
	// Metering measures between reconciles
	// lock per object: Metering measures between reconciles: use one lock for all objects, such as a Lease
}

func ExampleElector_Run() {
	port := newPort()
	lock := newElector(port, leader.Timing(0, 0, time.Millisecond))
	err := lock.Run(context.Background(), func(ctx context.Context) error {
		// Somebody takes the Lease away by force.
		ref := deploy.Ref{Kind: leases, Namespace: "shop", Name: "guestbook-operator"}
		for {
			lease, err := port.Get(ctx, ref)
			if err != nil {
				return err
			}
			lease.Object["spec"].(map[string]any)["holderIdentity"] = "operator-1"
			_, err = port.Update(ctx, lease, deploy.UpdateOptions{FieldManager: "example"})
			var stale *deploy.StaleError
			if !errors.As(err, &stale) { // else it was renewed meanwhile
				break
			}
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, leader.ErrLost))
	// Output:
	// Lease shop/guestbook-operator: leadership lost: operator-1 leads
	// true
}

func ExampleElector_Transport() {
	lock := newElector(newPort())
	// For a client of client-go: config.Wrap(lock.Transport)
	client := http.Client{Transport: lock.Transport(http.DefaultTransport)}
	resp, err := client.Get("http://127.0.0.1:6443/api")
	if err == nil {
		_ = resp.Body.Close()
	}
	fmt.Println(err)
	fmt.Println(errors.Is(err, leader.ErrNotLeading))
	// Output:
	// Get "http://127.0.0.1:6443/api": GET /api: this replica doesn't lead
	// true
}

func ExampleElector_Leading() {
	lock := newElector(newPort())
	fmt.Println(lock.Leading())
	_ = lock.Run(context.Background(), func(context.Context) error {
		fmt.Println(lock.Leading())
		return nil
	})
	// Output:
	// false
	// true
}

func ExampleElector_Identity() {
	lock := newElector(newPort(), leader.Identity("operator-0"))
	fmt.Println(len(lock.Identity()) - len("operator-0_"))
	// Output: 10
}

func ExampleIdentity() {
	lock := newElector(newPort(), leader.Identity("operator-0"))
	fmt.Println(lock.Identity()[:len("operator-0_")])
	// Output: operator-0_
}

func ExampleTermOf() {
	lock := newElector(newPort())
	for range 2 {
		_ = lock.Run(context.Background(), func(ctx context.Context) error {
			term, leads := leader.TermOf(ctx)
			fmt.Println(term.Number, leads, term.Holder == lock.Identity())
			return nil
		})
	}
	// Output:
	// 1 true true
	// 2 true true
}

func ExampleTiming() {
	_, err := leader.Lease(newPort(), "shop/op", leader.Timing(5*time.Second, 10*time.Second, 0))
	fmt.Println(err)
	_, err = leader.Lease(newPort(), "shop/op", leader.Timing(5*time.Second, 0, 0))
	fmt.Println(err)
	// Output:
	// lease: duration: 5s: it must be longer than the renew deadline of 10s
	// <nil>
}

func ExampleLogger() {
	brief := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "identity" {
			return slog.Attr{}
		}
		return a
	}}))
	lock := newElector(newPort(), leader.Logger(brief))
	_ = lock.Run(context.Background(), func(context.Context) error { return nil })
	// Output:
	// level=INFO msg="this replica leads" lock="Lease shop/guestbook-operator"
	// level=INFO msg="the leadership was released" lock="Lease shop/guestbook-operator"
}

func newManager(cluster deploy.Cluster, options ...deploy.Option) *deploy.Manager {
	manager, err := deploy.NewManager(cluster, options...)
	if err != nil {
		fmt.Println(err)
	}
	return manager
}

// greeter is a Reconciler.
type greeter struct{}

func (greeter) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	_, locked := leader.TermOf(ctx)
	fmt.Println("at work on", req.Key, locked)
	return request.Result{}, nil
}

// shop is an object, with annotations.
func shop(annotations map[string]string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "hello", "namespace": "shop"},
	}}
	obj.SetAnnotations(annotations)
	return obj
}

func ExamplePerObject() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(shop(nil)))
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := leader.PerObject(greeter{}, newManager(cluster))
	if err != nil {
		fmt.Println(err)
		return
	}
	// An engine does this: engine.Control(kind, lock)
	key := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "hello"}
	_, err = lock.Reconcile(context.Background(), request.Request{Key: key})
	fmt.Println(err)
	// Output:
	// at work on ConfigMap shop/hello true
	// <nil>
}

// The annotations are those that replicas of an operator written with oper8 use.
func ExamplePerObject_oper8() {
	locked := shop(map[string]string{"oper8.org/lease-name": "operator-1", "oper8.org/lease-time": "2026-11-21T12:00:00Z"})
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(locked))
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := leader.PerObject(greeter{}, newManager(cluster, deploy.KeyDomain("oper8.org")))
	if err != nil {
		fmt.Println(err)
		return
	}
	key := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "hello"}
	result, err := lock.Reconcile(context.Background(), request.Request{Key: key})
	fmt.Println(result.RequeueAfter > 0, err)
	// Output: true <nil>
}

func ExampleObjectLock_Identity() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := leader.PerObject(greeter{}, newManager(cluster), leader.Identity("operator-0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lock.Identity()[:len("operator-0_")])
	// Output: operator-0_
}

// attentive is a Reconciler that says what it depends on, and is told of events and of what is gone.
type attentive struct{ greeter }

func (attentive) Sources() source.Sources {
	return source.Sources{Owned: []source.Owned{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}}}
}

func (attentive) Observe(event deploy.Event) { fmt.Println(event.Type, event.New.GetName()) }

func (attentive) Forget(key deploy.Ref) { fmt.Println("forget", key) }

// What an engine asks of the Reconciler it asks of the lock.
func ExampleObjectLock() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := leader.PerObject(attentive{}, newManager(cluster))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("owns", lock.Sources().Owned[0].Kind.Kind)
	lock.Observe(deploy.Event{Type: deploy.Added, New: shop(nil)})
	lock.Forget(deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "hello"})
	// Output:
	// owns Secret
	// ADDED hello
	// forget ConfigMap shop/hello
}

func ExampleObjectTransport() {
	// For a client of client-go: config.Wrap(leader.ObjectTransport)
	client := http.Client{Transport: leader.ObjectTransport(answering{})}
	resp, err := client.Get("http://127.0.0.1:6443/api")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.StatusCode, resp.Body.Close())
	// Output: 200 <nil>
}

func ExampleCheck() {
	fmt.Println(leader.Check(leader.Timing(5*time.Second, 10*time.Second, 0)))
	// Output: duration: 5s: it must be longer than the renew deadline of 10s
}

// answering answers everything.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func ExampleWithTerm() {
	lost := make(chan struct{}) // closed by whoever elects the leader
	ctx := leader.WithTerm(context.Background(), leader.Term{Holder: "replica-1", Lost: lost})
	term, leads := leader.TermOf(ctx) // which the engine of package watch does
	fmt.Println(term.Holder, leads)
	// Output: replica-1 true
}
