package ansible

import (
	"cmp"
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/proxy"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// run runs the playbook of a resource, or that of the finalizer, with access to the API as long as it runs.
func (r *reconciler) run(ctx context.Context, resource *unstructured.Unstructured, settings watches.Settings) (*playbook.Result, error) {
	input := playbook.Input{
		Entry: r.entry, Object: resource, Finalizes: resource.GetDeletionTimestamp() != nil,
		Verbosity: settings.Verbosity, MaxArtifacts: settings.MaxRunnerArtifacts,
	}
	if r.entry.ServiceAccount == nil {
		return r.runs.Run(ctx, input)
	}
	grant, err := r.grant(resource)
	if err != nil {
		return nil, request.Permanent(err)
	}
	access, err := r.access.Issue(grant)
	if err != nil {
		return nil, err
	}
	defer access.End()
	input.Kubeconfig = access.Kubeconfig()
	return r.runs.Run(ctx, input)
}

// grant returns what a run may do.
func (r *reconciler) grant(resource *unstructured.Unstructured) (proxy.Grant, error) {
	account := r.entry.ServiceAccount
	namespace := cmp.Or(account.Namespace, resource.GetNamespace())
	if namespace == "" {
		return proxy.Grant{}, fmt.Errorf("serviceAccount of the entry %s: the resource has no namespace: set serviceAccount.namespace", r.entry.Kind.GroupKind())
	}
	kinds := make([]schema.GroupKind, len(r.entry.Manages))
	for i, kind := range r.entry.Manages {
		kinds[i] = kind.GroupKind()
	}
	return proxy.Grant{Owner: resource, ServiceAccount: types.NamespacedName{Namespace: namespace, Name: account.Name}, Kinds: kinds}, nil
}
