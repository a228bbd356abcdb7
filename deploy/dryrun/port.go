package dryrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// port answers requests out of the memory of a Cluster.
type port struct{ *Cluster }

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
	call := Call{Verb: VerbApply, Ref: deploy.RefOf(obj), FieldManager: options.FieldManager, Force: options.Force, DryRun: options.DryRun}
	return request(ctx, p.Cluster, call, obj, func() (deploy.Applied, error) { return p.apply(obj, options) })
}

func (p port) apply(obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	ref := deploy.RefOf(obj)
	intent, err := asSent(obj)
	if err != nil {
		return deploy.Applied{}, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	if options.FieldManager == "" {
		return deploy.Applied{}, &deploy.InvalidError{Ref: ref, Err: errors.New("fieldManager is required for an apply")}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.kinds.of(ref.Kind)
	if err != nil {
		return deploy.Applied{}, err
	}
	if err := d.strictly(ref, intent); err != nil {
		return deploy.Applied{}, err
	}
	manager, err := p.fields.of(d, "")
	if err != nil {
		return deploy.Applied{}, err
	}
	live, base := p.storage.get(addressOf(ref)), emptyObject(ref.Kind)
	if live != nil {
		base = shown(live, d)
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
		stored, err = p.create(d, ref, next, options.DryRun)
	} else {
		stored, err = p.update(d, ref, live, next, "", options.DryRun)
	}
	if err != nil {
		return deploy.Applied{}, err
	}
	return deploy.Applied{Object: shown(stored, d), Created: live == nil}, nil
}

// Delete implements deploy.Port.
func (p port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if err := p.sendable(ref); err != nil {
		return err
	}
	call := Call{Verb: VerbDelete, Ref: ref, DryRun: options.DryRun, UID: options.UID}
	_, err := request(ctx, p.Cluster, call, nil, func() (struct{}, error) { return struct{}{}, p.delete(ref, options) })
	return err
}

var propagations = []metav1.DeletionPropagation{
	"", metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}

func (p port) delete(ref deploy.Ref, options deploy.DeleteOptions) error {
	if !slices.Contains(propagations, options.Propagation) {
		return &deploy.InvalidError{Ref: ref, Err: fmt.Errorf("propagation %q: must be Background, Foreground or Orphan", options.Propagation)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.kinds.of(ref.Kind)
	if err != nil {
		return err
	}
	at := addressOf(ref)
	live := p.live(d, at)
	if live == nil {
		return notFound(ref)
	}
	if options.UID != "" && options.UID != live.GetUID() {
		return &deploy.StaleError{Ref: ref, Err: fmt.Errorf("uid %s isn't the object's, %s", options.UID, live.GetUID())}
	}
	if !options.DryRun {
		p.terminate(at, live, options.Propagation)
	}
	return nil
}

// shown copies a stored object for somebody who asked for the kind of a declaration.
func shown(stored *unstructured.Unstructured, d *declaration) *unstructured.Unstructured {
	if seen := shared(stored, d); seen != stored {
		return seen
	}
	return stored.DeepCopy()
}

// shared is a stored object for somebody who asked for the kind of a declaration and won't change it: the
// stored one itself unless it has another version.
func shared(stored *unstructured.Unstructured, d *declaration) *unstructured.Unstructured {
	if stored.GetAPIVersion() == d.kind.GroupVersion().String() {
		return stored
	}
	other := inVersion(stored, d.kind.GroupVersion()).DeepCopy()
	d.unknown(other, true)
	return other
}

func notFound(ref deploy.Ref) error {
	return &deploy.NotFoundError{Ref: ref, Err: errors.New("no such object in memory")}
}
