package dryrun

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Create implements deploy.Port. A name made of generateName is counted, not drawn, so that
// the same calls make the same objects.
func (p port) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	ref := deploy.RefOf(obj)
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	switch err := p.placeable(ref); {
	case err != nil:
		return nil, err
	case ref.Name == "" && obj.GetGenerateName() == "":
		return nil, invalid("metadata.name and metadata.generateName are missing")
	case obj.GetResourceVersion() != "":
		return nil, invalid("metadata.resourceVersion is set: what was read from a cluster isn't new")
	}
	call := Call{Verb: VerbCreate, Ref: ref, FieldManager: options.FieldManager, DryRun: options.DryRun}
	return request(ctx, p.Cluster, call, obj, func() (*unstructured.Unstructured, error) { return p.post(obj, options) })
}

func (p port) post(obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	next, err := asSent(obj)
	if err != nil {
		return nil, &deploy.InvalidManifestError{Ref: deploy.RefOf(obj), Reason: err.Error()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if prefix := next.GetGenerateName(); prefix != "" && next.GetName() == "" {
		next.SetName(p.storage.freeName(addressOf(deploy.RefOf(next)), prefix))
	}
	ref := deploy.RefOf(next)
	d, err := p.kinds.of(ref.Kind)
	if err != nil {
		return nil, err
	}
	// Whose object it is is for the server to say.
	delete(metadataOf(next), "uid")
	if err := d.strictly(ref, next); err != nil {
		return nil, err
	}
	d.complete(next)
	if d.status {
		delete(next.Object, "status")
	}
	if next, err = p.attribute(d, ref, emptyObject(ref.Kind), next, options.FieldManager, ""); err != nil {
		return nil, err
	}
	stored, err := p.create(d, ref, next, options.DryRun)
	if err != nil {
		return nil, err
	}
	return shown(stored, d), nil
}

// Update implements deploy.Port.
func (p port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	ref := deploy.RefOf(obj)
	if err := p.sendable(ref); err != nil {
		return nil, err
	}
	if obj.GetResourceVersion() == "" {
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.resourceVersion is missing: replace an object that was read"}
	}
	call := Call{Verb: VerbUpdate, Ref: ref, FieldManager: options.FieldManager, DryRun: options.DryRun}
	return request(ctx, p.Cluster, call, obj, func() (*unstructured.Unstructured, error) { return p.put(ref, obj, options) })
}

func (p port) put(ref deploy.Ref, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	next, err := asSent(obj)
	if err != nil {
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.kinds.of(ref.Kind)
	if err != nil {
		return nil, err
	}
	live := p.live(d, addressOf(ref))
	if live == nil {
		return nil, notFound(ref)
	}
	if err := d.strictly(ref, next); err != nil {
		return nil, err
	}
	return p.replace(d, ref, live, next, options.FieldManager, "", options.DryRun)
}

// replace stores next in the place of live, with what it changes attributed to manager, and
// returns it as the caller's own. The lock is held.
func (c *Cluster) replace(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured, manager, subresource string, dryRun bool) (*unstructured.Unstructured, error) {
	d.complete(next)
	next, err := c.attribute(d, ref, shown(live, d), next, manager, subresource)
	if err != nil {
		return nil, err
	}
	stored, err := c.update(d, ref, live, next, subresource, dryRun)
	if err != nil {
		return nil, err
	}
	return shown(stored, d), nil
}

// attribute gives next the managedFields that it has when manager makes it of live. Both are
// consumed. The lock is held.
func (c *Cluster) attribute(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured, manager, subresource string) (*unstructured.Unstructured, error) {
	fields, err := c.fields.of(d, subresource)
	if err != nil {
		return nil, err
	}
	managed, err := fields.Update(live, next, manager)
	if err != nil {
		return nil, refused(d, ref, next, err)
	}
	return plain(managed)
}
