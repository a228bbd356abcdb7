package leader

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	podKind       = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// ForLife returns an elector that leads while its Pod owns the ConfigMap called name: "namespace/name", or "name" alone
// in the namespace of the service account. In both cases it must be the namespace of the Pod. The ConfigMap is never
// given up: when the Pod is gone, the garbage collection deletes it, and another replica creates a new one. A container
// that is restarted in the same Pod continues to lead. So nobody takes over from a Pod that still exists, be it frozen,
// failed or on a node that can't be reached, until somebody deletes it.
//
// A holder that can't read the ConfigMap before the renew deadline stops, too. Identity is only the name of the Pod,
// and the duration of Timing isn't used. port is as for Lease.
func ForLife(port deploy.Port, name string, opts ...Option) (*Elector, error) {
	opts = append(slices.Clone(opts), func(o *options) {
		o.duration, o.deadline, o.retry = longestDuration, cmp.Or(o.deadline, DefaultRenewDeadline), cmp.Or(o.retry, DefaultRetryPeriod)
	})
	return newElector("leader for life", port, name, opts, func(ref deploy.Ref, _ options, replica string) (lock, string) {
		ref.Kind = configMapKind
		return &forLife{port: port, ref: ref, pod: deploy.Ref{Kind: podKind, Namespace: ref.Namespace, Name: replica}}, replica
	})
}

// forLife is a lock in a ConfigMap.
type forLife struct {
	port     deploy.Port
	ref, pod deploy.Ref
	// owner is the Pod of this process, nil until the Pod has been read.
	owner *metav1.OwnerReference
}

func (f *forLife) String() string { return f.ref.String() }

func (f *forLife) rights() string {
	return "get and create of configmaps and get of pods in namespace " + f.ref.Namespace
}

func (f *forLife) take(ctx context.Context) (standing, error) {
	if err := f.findPod(ctx); err != nil {
		return standing{}, err
	}
	return f.keep(ctx)
}

// findPod reads the Pod of this process. If the Pod is missing, waiting is useless.
func (f *forLife) findPod(ctx context.Context) error {
	if f.owner != nil {
		return nil
	}
	pod, err := f.port.Get(ctx, f.pod)
	switch {
	case err == nil && pod == nil:
		return &impossibleError{fmt.Errorf("%w: set POD_NAME to the name of the Pod that this process runs in", &deploy.NotFoundError{Ref: f.pod})}
	case failure.Is[*deploy.ForbiddenError](err):
		return &impossibleError{err}
	case err != nil:
		return err
	}
	f.owner = &metav1.OwnerReference{APIVersion: "v1", Kind: podKind.Kind, Name: pod.GetName(), UID: pod.GetUID()}
	return nil
}

func (f *forLife) keep(ctx context.Context) (standing, error) {
	current, err := f.port.Get(ctx, f.ref)
	if err != nil {
		return standing{}, err
	}
	if current == nil {
		return f.create(ctx)
	}
	owners := current.GetOwnerReferences()
	if len(owners) != 1 {
		return standing{holder: fmt.Sprintf("nobody, because the ConfigMap has %d owners", len(owners))}, nil
	}
	if owners[0].UID == f.owner.UID {
		return standing{held: true, holder: f.owner.Name}, nil
	}
	return standing{holder: owners[0].Name}, nil
}

// create makes the ConfigMap. If a ConfigMap was created meanwhile, the next attempt reads it.
func (f *forLife) create(ctx context.Context) (standing, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(configMapKind)
	obj.SetNamespace(f.ref.Namespace)
	obj.SetName(f.ref.Name)
	obj.SetOwnerReferences([]metav1.OwnerReference{*f.owner})
	_, err := f.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: fieldManager})
	if failure.Is[*deploy.AlreadyExistsError](err) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	return standing{held: true, holder: f.owner.Name}, nil
}

// release leaves the ConfigMap to the garbage collection.
func (f *forLife) release(context.Context) (bool, error) { return false, nil }
