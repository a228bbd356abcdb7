package dryrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Webhooks are asked about writes, as an API server asks admission webhooks. Unlike an Admission, they are called
// without a lock, and may read and write the cluster: if the object changes meanwhile, the write begins again and they
// are asked again. An error that is an *apierrors.StatusError refuses the write, and becomes the error of package
// deploy that a client of an API server would return for it. They aren't asked about what the cluster does by itself,
// such as garbage collection.
type Webhooks interface {
	// Mutate may change Object of the write. It is called before the object is validated.
	Mutate(ctx context.Context, w *Write) error
	// Validate is called for the object as it would be stored, and for deletions. Nothing is changed yet.
	Validate(ctx context.Context, w *Write) error
}

// Write is a write that Webhooks are asked about.
type Write struct {
	// Call is the request.
	Call Call
	// Ref names the object in the version of the request.
	Ref deploy.Ref
	// Resource is the resource of the kind, such as deployments.
	Resource schema.GroupVersionResource
	// Object is the object as it would be stored, nil for a deletion. For Mutate it doesn't have yet what a server sets
	// afterwards: of a new object the uid, the times, the generation, and a generated name. Old is the object as it is
	// stored, nil for a creation. Both are copies, in the version of the request.
	Object, Old *unstructured.Unstructured
}

// Ask sets the Webhooks of the cluster.
func Ask(webhooks Webhooks) Option { return func(o *options) { o.webhooks = webhooks } }

// errMoved means that an object changed while Webhooks were asked about its write, so that the write begins again.
var errMoved = errors.New("the object has changed meanwhile")

// asking is a request that Webhooks are asked about.
type asking struct {
	ctx  context.Context
	call Call
}

// mutated returns next as Webhooks change it. The lock is held, but not during their calls.
func (c *Cluster) mutated(w asking, d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.webhooks == nil {
		return next, nil
	}
	write, err := w.write(d, ref, live, next)
	if err != nil {
		return nil, err
	}
	w.unmake(write, live)
	asked := write.Ref
	if err := c.ask(w, d, ref, func() error { return c.webhooks.Mutate(w.ctx, write) }); err != nil {
		return nil, err
	}
	after, err := asSent(write.Object)
	if err != nil {
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	if got := deploy.RefOf(after); got != asked {
		return nil, &deploy.InvalidError{Ref: ref, Err: fmt.Errorf("a webhook has made another object of it: %s", got)}
	}
	for _, field := range []string{"name", "uid", "creationTimestamp", "generation", "managedFields"} {
		copyField(metadataOf(after), metadataOf(next), field)
	}
	d.complete(after)
	if live != nil {
		after = prepare(d, live, after, w.call.Subresource)
	}
	tidy(metadataOf(after))
	return after, nil
}

// unmake removes from the object what a server sets only after the mutation.
func (w asking) unmake(write *Write, live *unstructured.Unstructured) {
	metadata := metadataOf(write.Object)
	if live != nil {
		copyField(metadata, metadataOf(live), "generation")
		return
	}
	for _, field := range []string{"uid", "creationTimestamp", "generation"} {
		delete(metadata, field)
	}
	if write.Ref.Name = w.call.Ref.Name; write.Ref.Name == "" {
		delete(metadata, "name")
	}
}

// approved returns the error of Webhooks that validate a write. next is nil for a deletion. The lock is held, but not
// during their calls.
func (c *Cluster) approved(w asking, d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured) error {
	if c.webhooks == nil {
		return nil
	}
	write, err := w.write(d, ref, live, next)
	if err != nil {
		return err
	}
	return c.ask(w, d, ref, func() error { return c.webhooks.Validate(w.ctx, write) })
}

// deletable asks Webhooks about a deletion.
func (c *Cluster) deletable(w asking, d *declaration, ref deploy.Ref, live *unstructured.Unstructured) error {
	if c.webhooks == nil {
		return nil
	}
	write, err := w.write(d, ref, live, nil)
	if err != nil {
		return err
	}
	if err := c.ask(w, d, ref, func() error { return c.webhooks.Mutate(w.ctx, write) }); err != nil {
		return err
	}
	return c.approved(w, d, ref, live, nil)
}

func (w asking) write(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured) (write *Write, err error) {
	write = &Write{Call: w.call, Ref: ref, Resource: d.kind.GroupVersion().WithResource(d.plural)}
	if live != nil {
		write.Old, err = shown(live, d)
	}
	if next != nil {
		write.Object = next.DeepCopy()
	}
	return write, err
}

// ask calls Webhooks without the lock. It returns errMoved if the stored object has changed meanwhile.
func (c *Cluster) ask(w asking, d *declaration, ref deploy.Ref, call func() error) error {
	before := c.storage.get(addressOf(ref))
	err := func() error {
		c.mu.Unlock()
		defer c.mu.Lock()
		return call()
	}()
	if err != nil {
		return answered(w.call, ref, d, err)
	}
	if c.storage.get(addressOf(ref)) != before {
		return errMoved
	}
	return nil
}
