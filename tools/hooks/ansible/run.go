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

// run runs the playbook of a resource, or that of the finalizer, with access to the API as long as it runs. It returns
// the states of objects that the run has written.
func (r *reconciler) run(ctx context.Context, resource *unstructured.Unstructured, settings watches.Settings) (*playbook.Result, []request.Revision, error) {
	input := playbook.Input{
		Entry: r.entry, Object: resource, Finalizes: resource.GetDeletionTimestamp() != nil,
		Verbosity: settings.Verbosity, MaxArtifacts: settings.MaxRunnerArtifacts,
	}
	if r.entry.ServiceAccount == nil {
		result, err := r.runs.Run(ctx, input)
		return result, nil, err
	}
	grant, err := r.grant(resource)
	if err != nil {
		return nil, nil, request.Permanent(err)
	}
	access, err := r.access.Issue(grant)
	if err != nil {
		return nil, nil, err
	}
	defer access.End()
	input.Kubeconfig = access.Kubeconfig()
	result, err := r.runs.Run(ctx, input)
	access.End() // so that nothing is written any more
	var written []request.Revision
	for _, object := range access.Written() {
		if object.ResourceVersion != "" {
			written = append(written, request.Revision{UID: object.UID, ResourceVersion: object.ResourceVersion})
		}
	}
	return result, written, err
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
