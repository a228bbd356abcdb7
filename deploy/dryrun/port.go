package dryrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// port implements deploy.Port over the memory of a Cluster.
type port struct {
	*Cluster
	selected selections
}

// Scope implements deploy.Port.
func (p port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	call := Call{Verb: VerbDiscover, Ref: deploy.Ref{Kind: kind}}
	return request(ctx, p.Cluster, call, nil, func() (deploy.Scope, error) {
		d, err := p.declared(kind)
		if err != nil {
			return "", err
		}
		return d.scope, nil
	})
}

// Get implements deploy.Port.
func (p port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := p.sendable(ref); err != nil {
		return nil, err
	}
	return request(ctx, p.Cluster, Call{Verb: VerbGet, Ref: ref}, nil, func() (*unstructured.Unstructured, error) {
		found, err := view(p).Get(ctx, ref)
		if found == nil {
			return nil, err
		}
		return found.DeepCopy(), nil
	})
}

// Apply implements deploy.Port.
func (p port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	if err := p.sendable(deploy.RefOf(obj)); err != nil {
		return deploy.Applied{}, err
	}
	if options.Subresource == "" {
		if err := p.creatable(obj); err != nil {
			return deploy.Applied{}, err
		}
	}
	call := Call{
		Verb: VerbApply, Ref: deploy.RefOf(obj), Subresource: options.Subresource,
		FieldManager: options.FieldManager, Force: options.Force, DryRun: options.DryRun,
	}
	return write(ctx, p.Cluster, call, obj, func(d *declaration) (deploy.Applied, error) { return p.apply(d, obj, options, asking{ctx, call}) })
}

func (p port) apply(d *declaration, obj *unstructured.Unstructured, options deploy.ApplyOptions, w asking) (deploy.Applied, error) {
	ref := deploy.RefOf(obj)
	intent, err := asSent(obj)
	if err != nil {
		return deploy.Applied{}, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	if options.FieldManager == "" {
		return deploy.Applied{}, &deploy.InvalidError{Ref: ref, Err: errors.New("fieldManager is required for an apply")}
	}
	if err := d.strictly(ref, intent); err != nil {
		return deploy.Applied{}, err
	}
	live, base := p.storage.get(addressOf(ref)), emptyObject(ref.Kind)
	if live != nil {
		if base, err = shown(live, d); err != nil {
			return deploy.Applied{}, err
		}
	}
	if options.Subresource != "" {
		if err := d.serves(ref, options.Subresource, live); err != nil {
			return deploy.Applied{}, err
		}
	}
	manager, err := p.fields.of(d, options.Subresource)
	if err != nil {
		return deploy.Applied{}, err
	}
	merged, err := manager.Apply(base, intent, options.FieldManager, options.Force)
	if err != nil {
		return deploy.Applied{}, refused(d, ref, intent, err)
	}
	next, err := plain(merged)
	if err != nil {
		return deploy.Applied{}, err
	}
	var stored *unstructured.Unstructured
	if live == nil {
		stored, err = p.create(d, ref, next, w)
	} else {
		stored, err = p.update(d, ref, live, next, w)
	}
	if err != nil {
		return deploy.Applied{}, err
	}
	after, err := shown(stored, d)
	if err != nil {
		return deploy.Applied{}, err
	}
	return deploy.Applied{Object: after, Created: live == nil}, nil
}

// Delete implements deploy.Port.
func (p port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if err := p.sendable(ref); err != nil {
		return err
	}
	call := Call{Verb: VerbDelete, Ref: ref, DryRun: options.DryRun, UID: options.UID}
	_, err := write(ctx, p.Cluster, call, nil, func(d *declaration) (struct{}, error) {
		return struct{}{}, p.delete(d, ref, options, asking{ctx, call})
	})
	return err
}

var propagations = []metav1.DeletionPropagation{
	"", metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}

func (p port) delete(d *declaration, ref deploy.Ref, options deploy.DeleteOptions, w asking) error {
	if !slices.Contains(propagations, options.Propagation) {
		return &deploy.InvalidError{Ref: ref, Err: fmt.Errorf("propagation %q: must be Background, Foreground or Orphan", options.Propagation)}
	}
	at := addressOf(ref)
	live := p.live(d, at)
	if live == nil {
		return notFound(ref)
	}
	if options.UID != "" && options.UID != live.GetUID() {
		return &deploy.StaleError{Ref: ref, Err: fmt.Errorf("uid %s doesn't match the object's, %s", options.UID, live.GetUID())}
	}
	if err := p.deletable(w, d, ref, live); err != nil {
		return err
	}
	if !options.DryRun {
		p.terminate(at, live, options.Propagation)
	}
	return nil
}

// shown returns a copy of a stored object in the version of d.
func shown(stored *unstructured.Unstructured, d *declaration) (*unstructured.Unstructured, error) {
	if seen, err := shared(stored, d); err != nil || seen != stored {
		return seen, err
	}
	return stored.DeepCopy(), nil
}

// shared is like shown, for a caller that doesn't change the object: it copies the object only if the version differs.
func shared(stored *unstructured.Unstructured, d *declaration) (*unstructured.Unstructured, error) {
	if stored.GetAPIVersion() == d.kind.GroupVersion().String() {
		return stored, nil
	}
	if d.conversion != nil {
		return d.convertTo(stored)
	}
	other := inVersion(stored, d.kind.GroupVersion()).DeepCopy()
	d.unknown(other, true)
	return other, nil
}

func notFound(ref deploy.Ref) error {
	return &deploy.NotFoundError{Ref: ref, Err: errors.New("no such object in memory")}
}

// Create implements deploy.Port. Generated names are counted, not random, so that the same calls create the same
// objects.
func (p port) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	ref := deploy.RefOf(obj)
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	switch err := p.placeable(ref); {
	case err != nil:
		return nil, err
	case ref.Name == "" && obj.GetGenerateName() == "":
		return nil, invalid("metadata.name and metadata.generateName are missing")
	case obj.GetResourceVersion() != "":
		return nil, invalid("metadata.resourceVersion is set: remove it from an object that was read from a cluster")
	}
	if err := p.creatable(obj); err != nil {
		return nil, err
	}
	call := Call{Verb: VerbCreate, Ref: ref, FieldManager: options.FieldManager, DryRun: options.DryRun}
	return write(ctx, p.Cluster, call, obj, func(d *declaration) (*unstructured.Unstructured, error) { return p.post(d, obj, asking{ctx, call}) })
}

func (p port) post(d *declaration, obj *unstructured.Unstructured, w asking) (*unstructured.Unstructured, error) {
	next, err := asSent(obj)
	if err != nil {
		return nil, &deploy.InvalidManifestError{Ref: deploy.RefOf(obj), Reason: err.Error()}
	}
	if prefix := next.GetGenerateName(); prefix != "" && next.GetName() == "" {
		next.SetName(p.storage.freeName(addressOf(deploy.RefOf(next)), prefix))
	}
	ref := deploy.RefOf(next)
	// The cluster chooses the uid.
	delete(metadataOf(next), "uid")
	if err := d.strictly(ref, next); err != nil {
		return nil, err
	}
	d.complete(next)
	if d.status {
		delete(next.Object, "status")
	}
	if next, err = p.attribute(d, ref, emptyObject(ref.Kind), next, w.call.FieldManager, ""); err != nil {
		return nil, err
	}
	stored, err := p.create(d, ref, next, w)
	if err != nil {
		return nil, err
	}
	return shown(stored, d)
}

// Update implements deploy.Port.
func (p port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	ref := deploy.RefOf(obj)
	if err := p.sendable(ref); err != nil {
		return nil, err
	}
	if obj.GetResourceVersion() == "" {
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.resourceVersion is missing: read the object before it is replaced"}
	}
	call := Call{Verb: VerbUpdate, Ref: ref, FieldManager: options.FieldManager, DryRun: options.DryRun}
	return write(ctx, p.Cluster, call, obj, func(d *declaration) (*unstructured.Unstructured, error) { return p.put(d, ref, obj, asking{ctx, call}) })
}

func (p port) put(d *declaration, ref deploy.Ref, obj *unstructured.Unstructured, w asking) (*unstructured.Unstructured, error) {
	next, err := asSent(obj)
	if err != nil {
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	live := p.live(d, addressOf(ref))
	if live == nil {
		return nil, notFound(ref)
	}
	if err := d.strictly(ref, next); err != nil {
		return nil, err
	}
	return p.replace(d, ref, live, next, w)
}

// replace stores next in place of live, with its changes attributed to the field manager, and returns a copy for the
// caller. The lock is held.
func (c *Cluster) replace(d *declaration, ref deploy.Ref, live, next *unstructured.Unstructured, w asking) (*unstructured.Unstructured, error) {
	d.complete(next)
	before, err := shown(live, d)
	if err != nil {
		return nil, err
	}
	next, err = c.attribute(d, ref, before, next, w.call.FieldManager, w.call.Subresource)
	if err != nil {
		return nil, err
	}
	stored, err := c.update(d, ref, live, next, w)
	if err != nil {
		return nil, err
	}
	return shown(stored, d)
}

// attribute returns next with the managedFields that result when manager changes live into next. It may change live and
// next. The lock is held.
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

// sendable returns an error if ref can't name an object: if it has no name, if its name isn't a path segment (such as
// "web/status"), or if its namespace doesn't fit the scope of the kind. It doesn't check whether the kind is served.
// The request checks this.
func (p port) sendable(ref deploy.Ref) error {
	if ref.Name == "" {
		return &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.name is missing"}
	}
	return p.placeable(ref)
}

// creatable returns an error if a write of obj could create an object that the View doesn't show.
func (p port) creatable(obj *unstructured.Unstructured) error {
	ref := deploy.RefOf(obj)
	return p.selected[ref.Kind.GroupKind()].Creatable(ref, obj)
}

// placeable is like sendable, but ref may lack a name.
func (p port) placeable(ref deploy.Ref) error {
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	if problems := content.IsPathSegmentName(ref.Name); len(problems) > 0 {
		return invalid("metadata.name " + strings.Join(problems, ", "))
	}
	if problems := content.IsPathSegmentName(ref.Namespace); len(problems) > 0 {
		return invalid("metadata.namespace " + strings.Join(problems, ", "))
	}
	d, err := p.declared(ref.Kind)
	if err != nil {
		return nil //nolint:nilerr // the request returns the error
	}
	switch {
	case d.scope == deploy.ClusterScoped && ref.Namespace != "":
		return invalid("its kind is cluster-scoped: leave metadata.namespace out")
	case d.scope == deploy.Namespaced && ref.Namespace == "":
		return invalid("metadata.namespace is missing")
	}
	return nil
}
