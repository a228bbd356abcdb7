package bystander

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Patience is how long Eventually waits, and an answer of the cluster may take, unless Within says something else.
const Patience = time.Minute

// T is what a Bystander needs of a test; *testing.T, *testing.B and *testing.F are one. Fatalf must not return.
type T interface {
	// Helper leaves the caller out of the places that messages name.
	Helper()
	// Context may have ended: a Bystander works in a cleanup, too.
	Context() context.Context
	// Fatalf makes the test fail and ends it.
	Fatalf(format string, args ...any)
}

// Bystander is somebody who uses a cluster beside an operator. Objects of kinds that live in namespaces are those of
// its own namespace. It is for the goroutine of its test, since each of its methods may end that.
type Bystander struct {
	t         T
	port      deploy.Port
	namespace string
	// name is the field manager, patience how long it waits.
	name     string
	patience time.Duration
}

// New returns somebody who uses a cluster in a namespace, which may be empty for one who has to do with objects of the
// whole cluster only, under a name: that of the field manager who owns what they write, which should be another one
// than the operator's.
func New(t T, cluster deploy.Cluster, namespace, name string) *Bystander {
	return &Bystander{t: t, port: cluster.Port(), namespace: namespace, name: name, patience: Patience}
}

// Within returns the same bystander with another patience.
func (b *Bystander) Within(patience time.Duration) *Bystander {
	other := *b
	other.patience = patience
	return &other
}

// request is what one request runs under.
func (b *Bystander) request() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(b.t.Context()), b.patience)
}

// ref names an object by its kind, which says whether it is in the namespace.
func (b *Bystander) ref(ctx context.Context, kind schema.GroupVersionKind, name string) deploy.Ref {
	b.t.Helper()
	ref := deploy.Ref{Kind: kind, Name: name}
	scope, err := b.port.Scope(ctx, kind)
	if err != nil {
		b.t.Fatalf("bystander %s: %s: %v", b.name, ref, err)
	}
	if scope == deploy.Namespaced {
		ref.Namespace = b.namespace
	}
	return ref
}

// failed ends the test if there is an error.
func (b *Bystander) failed(verb string, ref deploy.Ref, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("bystander %s: %s %s: %v", b.name, verb, ref, err)
	}
}

// Get reads an object from the cluster itself, past any cache; nil when there is none. The object is the caller's.
func (b *Bystander) Get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	b.t.Helper()
	ctx, cancel := b.request()
	defer cancel()
	ref := b.ref(ctx, kind, name)
	obj, err := b.port.Get(ctx, ref)
	b.failed("get", ref, err)
	return obj
}

// List reads all objects of a kind, ascending by name, from the cluster itself: those of the namespace, or of the whole
// cluster if the kind lives in none.
func (b *Bystander) List(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	b.t.Helper()
	ctx, cancel := b.request()
	defer cancel()
	all := b.ref(ctx, kind, "*")
	objects, err := b.port.List(ctx, kind, all.Namespace, deploy.ListOptions{})
	b.failed("list", all, err)
	return objects
}

func isAbsent(err error) bool {
	var absent *deploy.NotFoundError
	return errors.As(err, &absent)
}

// Merge edits an object by a JSON merge patch, such as {"spec":{"replicas":3}}; null takes a field away. An absent
// object fails the test.
func (b *Bystander) Merge(kind schema.GroupVersionKind, name, patch string) {
	b.t.Helper()
	b.MergeSubresource(kind, name, "", patch)
}

// MergeSubresource edits a subresource of an object, such as its status or its scale, as Merge does all that isn't one.
func (b *Bystander) MergeSubresource(kind schema.GroupVersionKind, name, subresource, patch string) {
	b.t.Helper()
	ctx, cancel := b.request()
	defer cancel()
	ref := b.ref(ctx, kind, name)
	_, err := b.port.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(patch), Subresource: subresource, FieldManager: b.name})
	b.failed("merge into", ref, err)
}

// Delete asks for the deletion of an object, and doesn't wait until it is gone. An absent one is fine.
func (b *Bystander) Delete(kind schema.GroupVersionKind, name string) {
	b.t.Helper()
	ctx, cancel := b.request()
	defer cancel()
	ref := b.ref(ctx, kind, name)
	if err := b.port.Delete(ctx, ref, deploy.DeleteOptions{}); !isAbsent(err) {
		b.failed("delete", ref, err)
	}
}

// pause is how long Eventually waits before it asks again.
const pause = 10 * time.Millisecond

// Eventually waits until a condition holds, which it asks again and again, on the goroutine of the test: condition may
// fail the test, too. One that doesn't hold within the bystander's patience fails the test, and what is what its
// message says was waited for. A condition is asked once at least.
func (b *Bystander) Eventually(what string, condition func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(b.patience); !condition(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			b.t.Fatalf("bystander %s: not within %s: %s", b.name, b.patience, what)
		}
	}
}
