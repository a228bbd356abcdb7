package dryrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// port answers requests out of the memory of a Cluster.
type port struct{ *Cluster }

// Scope implements deploy.Port. Every kind is known.
func (p port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	if err := interrupted(ctx); err != nil {
		return "", err
	}
	return p.scopes.of(kind.GroupKind()), nil
}

// Get implements deploy.Port.
func (p port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	found, err := view(p).Get(ctx, ref)
	if err == nil && found == nil {
		return nil, notFound(ref)
	}
	return found, err
}

// Apply implements deploy.Port.
func (p port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	if err := interrupted(ctx); err != nil {
		return deploy.Applied{}, err
	}
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
	manager, err := p.fields.of(ref.Kind, "")
	if err != nil {
		return deploy.Applied{}, err
	}
	live, base := p.storage.get(addressOf(ref)), emptyObject(ref.Kind)
	if live != nil {
		base = inVersion(live, ref.Kind.GroupVersion()).DeepCopy()
	}
	merged, err := manager.Apply(base, intent, options.FieldManager, options.Force)
	if err != nil {
		return deploy.Applied{}, refused(ref, err)
	}
	next, err := plain(merged)
	if err != nil {
		return deploy.Applied{}, err
	}
	var stored *unstructured.Unstructured
	if live == nil {
		stored, err = p.create(ref, next, options.DryRun)
	} else {
		stored, err = p.update(ref, live, next, "", options.DryRun)
	}
	if err != nil {
		return deploy.Applied{}, err
	}
	return deploy.Applied{Object: shown(stored, ref.Kind), Created: live == nil}, nil
}

// Delete implements deploy.Port.
func (p port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if err := interrupted(ctx); err != nil {
		return err
	}
	if options.Propagation != "" && options.Propagation != metav1.DeletePropagationBackground {
		return &deploy.InvalidError{Ref: ref, Err: fmt.Errorf("propagation %s: in memory there is only Background", options.Propagation)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := addressOf(ref)
	live := p.storage.get(at)
	if live == nil {
		return notFound(ref)
	}
	if options.UID != "" && options.UID != live.GetUID() {
		return &deploy.StaleError{Ref: ref, Err: fmt.Errorf("uid %s isn't the object's, %s", options.UID, live.GetUID())}
	}
	if !options.DryRun {
		p.terminate(at, live)
	}
	return nil
}

// asSent copies obj by the way it would take to a server.
func asSent(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	sent := &unstructured.Unstructured{}
	return sent, sent.UnmarshalJSON(body)
}

// shown copies a stored object for somebody who asked for kind.
func shown(stored *unstructured.Unstructured, kind schema.GroupVersionKind) *unstructured.Unstructured {
	return inVersion(stored, kind.GroupVersion()).DeepCopy()
}

func notFound(ref deploy.Ref) error {
	return &deploy.NotFoundError{Ref: ref, Err: errors.New("no such object in memory")}
}

// refused turns an error of the field management into one of package deploy.
func refused(ref deploy.Ref, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) {
		return &deploy.InvalidError{Ref: ref, Err: err}
	}
	conflict := &deploy.ConflictError{Ref: ref, Err: err}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			conflict.Fields = append(conflict.Fields, deploy.FieldConflict{Field: cause.Field, Manager: deploy.ManagerOf(cause.Message), Message: cause.Message})
		}
	}
	return conflict
}
