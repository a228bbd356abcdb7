package explore

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// manual is a hand-written controller: each of its reconcilers calls a function.
type manual struct {
	reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error
	port      deploy.Port
	env       watch.Env
	// resumed is remembered until the process ends.
	resumed bool
}

func manually(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error) func() *manual {
	return func() *manual { return &manual{reconcile: reconcile} }
}

// Kind implements watch.Controller.
func (*manual) Kind() schema.GroupVersionKind { return shopKind }

// Reconciler implements watch.Controller.
func (m *manual) Reconciler(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	m.port, m.env = env.Manager.Port(), env
	return m, nil
}

// Sources implements source.Provider.
func (*manual) Sources() source.Sources {
	return source.Sources{Owned: []source.Owned{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}}}
}

// Reconcile implements watch.Reconciler.
func (m *manual) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	resource, err := m.port.Get(ctx, req.Key)
	if err != nil || resource == nil {
		return request.Result{}, err
	}
	return request.Result{}, m.reconcile(ctx, m, resource)
}

// get returns an object in the resource's namespace, nil if there is none.
func (m *manual) get(ctx context.Context, kind, name string, resource *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return m.port.Get(ctx, deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: kind}, Namespace: resource.GetNamespace(), Name: name})
}

// create creates an object that the resource owns.
func (m *manual) create(ctx context.Context, resource *unstructured.Unstructured, text string, args ...any) error {
	obj := &unstructured.Unstructured{Object: object(text, args...)}
	obj.SetNamespace(resource.GetNamespace())
	obj.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": resource.GetAPIVersion(), "kind": resource.GetKind(), "name": resource.GetName(), "uid": string(resource.GetUID()),
	}}
	_, err := m.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "manual"})
	return err
}

func (m *manual) patch(ctx context.Context, obj *unstructured.Unstructured, subresource, body string) error {
	_, err := m.port.Patch(ctx, deploy.RefOf(obj), deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(body), FieldManager: "manual", Subresource: subresource,
	})
	return err
}

// status sets a field of the status, unless it has the value.
func (m *manual) status(ctx context.Context, resource *unstructured.Unstructured, field, value string) error {
	if now, _, _ := unstructured.NestedString(resource.Object, "status", field); now == value {
		return nil
	}
	return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{%q:%q}}`, field, value))
}

// careful is without faults.
func careful(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err == nil && till == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%d'}}", size)
	} else if err == nil && till.Object["data"].(map[string]any)["size"] != fmt.Sprint(size) {
		err = m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":"%d"}}`, size))
	}
	if err != nil {
		return err
	}
	return m.status(ctx, resource, "size", fmt.Sprint(size))
}

// forgetful creates a child unless status.made is set. After a crash between both writes it creates a second child.
func forgetful(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if made, _, _ := unstructured.NestedString(resource.Object, "status", "made"); made == "yes" {
		return nil
	}
	if err := m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: till-}}"); err != nil {
		return err
	}
	return m.status(ctx, resource, "made", "yes")
}

// careless generates a password unless status.made is set. After a crash it replaces the stored password.
func careless(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if made, _, _ := unstructured.NestedString(resource.Object, "status", "made"); made == "yes" {
		return nil
	}
	secret, err := m.get(ctx, "Secret", "key", resource)
	if err == nil && secret == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: %q}}", rand.Text())
	} else if err == nil {
		err = m.patch(ctx, secret, "", fmt.Sprintf(`{"stringData":{"password":%q}}`, rand.Text()))
	}
	if err != nil {
		return err
	}
	return m.status(ctx, resource, "made", "yes")
}

// giving up: an error is logged, and nothing is tried again.
func givingUp(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	_ = careful(ctx, m, resource)
	return nil
}

// untidy leaves an object behind that nobody owns.
func untidy(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	left, err := m.get(ctx, "ConfigMap", "left", resource)
	if err != nil || left != nil {
		return err
	}
	obj := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: left, namespace: %s}}", resource.GetNamespace())}
	_, err = m.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "manual"})
	return err
}

// restless counts its reconciles in the status.
func restless(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	count, _, _ := unstructured.NestedInt64(resource.Object, "status", "count")
	return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{"count":%d}}`, count+1))
}

// early is Ready as soon as its Deployment is there.
func early(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	live, err := m.port.Get(ctx, deploy.Ref{Kind: kind, Namespace: resource.GetNamespace(), Name: "till"})
	if err == nil && live == nil {
		err = m.create(ctx, resource, till)
	}
	if err != nil || resource.Object["status"] != nil {
		return err
	}
	return m.patch(ctx, resource, "status", `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Made","message":"","lastTransitionTime":"2030-01-01T00:00:00Z"}]}}`)
}

// deaf never looks at its child again.
func deaf(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err != nil || till != nil {
		return err
	}
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%d'}}", size)
}

// blind doesn't see that its child is gone, because it looks only at its own status.
func blind(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	if now, _, _ := unstructured.NestedString(resource.Object, "status", "size"); now == fmt.Sprint(size) {
		return nil
	}
	return careful(ctx, m, resource)
}
