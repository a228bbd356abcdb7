package bystander

import (
	"context"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// Bystander is somebody who uses a cluster beside an operator. Objects of kinds that live in namespaces are those of its own namespace. It is
// for the goroutine of its test, since each of its methods may end that.
type Bystander struct {
	t         T
	port      deploy.Port
	namespace string
	// name is the field manager, patience how long it waits.
	name     string
	patience time.Duration
}

// New returns somebody who uses a cluster in a namespace, which may be empty for one who has to do with objects of the whole cluster only,
// under a name: that of the field manager who owns what they write, which should be another one than the operator's.
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
