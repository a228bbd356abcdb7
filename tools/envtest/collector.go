package envtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// collects reports whether the garbage collector knows the kinds. To find out, it creates objects whose owners don't
// exist: the collector deletes them once it can look up the owner's kind. collects waits at most patience for the
// deletion. Each call creates new objects, because the collector retries old ones at growing intervals.
func (p *plane) collects(ctx context.Context, namespace string, kinds []schema.GroupVersionKind, patience time.Duration) (bool, error) {
	children := make([]string, len(kinds))
	for i, kind := range kinds {
		children[i] = "envtest-orphan-" + random()
		if err := p.createOrphan(ctx, namespace, children[i], kind); err != nil {
			return false, fmt.Errorf("garbage collection of %s: %w", kind.GroupKind(), err)
		}
	}
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, child := range children {
		err := until(timed, 2*time.Millisecond, func() (bool, error) { return p.gone(timed, namespace, child) })
		if err != nil && ctx.Err() == nil && timed.Err() != nil {
			return false, p.deleteOrphans(ctx, namespace, children)
		}
		if err != nil {
			return false, fmt.Errorf("garbage collection of %s: %w", kinds[i].GroupKind(), err)
		}
	}
	return true, nil
}

// createOrphan creates an object whose owner has never existed.
func (p *plane) createOrphan(ctx context.Context, namespace, name string, owner schema.GroupVersionKind) error {
	child := object("v1", "ConfigMap", name)
	child.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Name: name, UID: types.UID(uuid.NewUUID()),
	}})
	_, err := p.client.Resource(configMaps).Namespace(namespace).Create(ctx, child, metav1.CreateOptions{})
	return err
}

func (p *plane) gone(ctx context.Context, namespace, name string) (bool, error) {
	_, err := p.client.Resource(configMaps).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

func (p *plane) deleteOrphans(ctx context.Context, namespace string, names []string) error {
	var all error
	for _, name := range names {
		err := p.client.Resource(configMaps).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			all = errors.Join(all, fmt.Errorf("garbage collection: %w", err))
		}
	}
	return all
}
