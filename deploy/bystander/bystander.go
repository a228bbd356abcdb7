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

// Patience is how long Eventually waits, and how long a request may take, unless Within sets another time.
const Patience = time.Minute

// T is the part of a test that a Bystander uses; *testing.T, *testing.B and *testing.F implement it. Fatalf must not
// return.
type T interface {
	// Helper marks its caller as a helper function, so that messages name the line that called the helper function.
	Helper()
	// Context returns the context of the test. It may have ended, because a Bystander also works in a cleanup.
	Context() context.Context
	// Fatalf makes the test fail and ends it.
	Fatalf(format string, args ...any)
}

// Bystander is a second user of a cluster, besides an operator. For namespaced kinds it uses only objects in its
// namespace. Use it only from the goroutine of its test, because its methods may end the test.
type Bystander struct {
	t         T
	port      deploy.Port
	namespace string
	// name is the field manager. patience limits each request and each wait.
	name     string
	patience time.Duration
}

// New returns a Bystander that uses cluster in namespace, which may be empty if it uses only cluster-scoped objects.
// name is the bystander's field manager. It should differ from the operator's.
func New(t T, cluster deploy.Cluster, namespace, name string) *Bystander {
	return &Bystander{t: t, port: cluster.Port(), namespace: namespace, name: name, patience: Patience}
}

// Within returns a copy of the bystander whose waits and requests may take as long as patience.
func (b *Bystander) Within(patience time.Duration) *Bystander {
	other := *b
	other.patience = patience
	return &other
}

// do calls request with the reference of an object and returns the result. If the kind is namespaced, the reference has
// the bystander's namespace. An error ends the test. The context of request is valid in a cleanup, too.
func do[R any](
	b *Bystander, verb string, kind schema.GroupVersionKind, name string,
	request func(context.Context, deploy.Ref) (R, error),
) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.t.Context()), b.patience)
	defer cancel()
	ref := deploy.Ref{Kind: kind, Name: name}
	scope, err := b.port.Scope(ctx, kind)
	if err != nil {
		b.t.Fatalf("bystander %s: %s: %v", b.name, ref, err)
	}
	if scope == deploy.Namespaced {
		ref.Namespace = b.namespace
	}
	result, err := request(ctx, ref)
	if err != nil {
		b.t.Fatalf("bystander %s: %s %s: %v", b.name, verb, ref, err)
	}
	return result
}

// Get reads an object from the cluster itself, past any cache. It returns nil if the object doesn't exist. The caller
// may change the object.
func (b *Bystander) Get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	b.t.Helper()
	return do(b, "get", kind, name, b.port.Get)
}

// List reads the objects of a kind from the cluster itself, ascending by name. For a namespaced kind it reads only the
// objects in the bystander's namespace.
func (b *Bystander) List(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	b.t.Helper()
	return do(b, "list", kind, "*", func(ctx context.Context, all deploy.Ref) ([]*unstructured.Unstructured, error) {
		return b.port.List(ctx, kind, all.Namespace, deploy.ListOptions{})
	})
}

// Merge edits an object by a JSON merge patch, such as {"spec":{"replicas":3}}. A null in the patch removes the field.
// Merge fails the test if the object doesn't exist.
func (b *Bystander) Merge(kind schema.GroupVersionKind, name, patch string) {
	b.t.Helper()
	b.MergeSubresource(kind, name, "", patch)
}

// MergeSubresource is like Merge for a subresource of an object, such as status or scale.
func (b *Bystander) MergeSubresource(kind schema.GroupVersionKind, name, subresource, patch string) {
	b.t.Helper()
	do(b, "merge into", kind, name, func(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
		return b.port.Patch(ctx, ref, deploy.PatchRequest{
			Type: types.MergePatchType, Body: []byte(patch), Subresource: subresource, FieldManager: b.name,
		})
	})
}

// Delete requests the deletion of an object and doesn't wait until the object is gone. Delete does nothing if the
// object doesn't exist.
func (b *Bystander) Delete(kind schema.GroupVersionKind, name string) {
	b.t.Helper()
	do(b, "delete", kind, name, func(ctx context.Context, ref deploy.Ref) (gone bool, err error) {
		err = b.port.Delete(ctx, ref, deploy.DeleteOptions{})
		if _, absent := errors.AsType[*deploy.NotFoundError](err); absent {
			return true, nil
		}
		return false, err
	})
}

// pause is how long Eventually waits between two calls of its condition.
const pause = 10 * time.Millisecond

// Eventually calls condition until it returns true, at least once, and on the goroutine of the test. If this takes
// longer than the bystander's patience, it fails the test with the message "timed out after 1m0s waiting until" and the
// text of what, such as "the Deployment is ready". condition may fail the test, too.
func (b *Bystander) Eventually(what string, condition func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(b.patience); !condition(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			b.t.Fatalf("bystander %s: timed out after %s waiting until %s", b.name, b.patience, what)
		}
	}
}
