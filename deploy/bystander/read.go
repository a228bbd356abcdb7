package bystander

import (
	"errors"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

// List reads all objects of a kind, ascending by name, from the cluster itself: those of the namespace, or of the whole cluster if the kind lives in
// none.
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
