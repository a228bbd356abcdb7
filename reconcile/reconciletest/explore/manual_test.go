package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// manual is a hand-written controller: each of its reconcilers calls a function. Unless it is sound, the function has
// its fault.
type manual struct {
	reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error
	sound     bool
	// owned are the kinds whose objects are watched for their owners.
	owned []string
	// kept is memory that is lost when the process ends, and resumed, too.
	kept    map[string]string
	resumed bool
	// again is after what time a reconcile that doesn't fail is repeated, 0 for never.
	again time.Duration
	port  deploy.Port
	env   watch.Env
}

// manually returns a function that makes controllers that call reconcile. They watch ConfigMaps.
func manually(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error) func() *manual {
	return func() *manual { return newManual(reconcile, false, "ConfigMap") }
}

func newManual(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error, sound bool, owned ...string) *manual {
	return &manual{reconcile: reconcile, sound: sound, owned: owned, kept: map[string]string{}}
}

// byHand returns an operator with a hand-written controller.
func byHand(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error, owned ...string) operator {
	return driven(func(sound bool) *manual { return newManual(reconcile, sound, append(owned, "ConfigMap")...) })
}

// Kind implements watch.Controller.
func (*manual) Kind() schema.GroupVersionKind { return shopKind }

// Reconciler implements watch.Controller.
func (m *manual) Reconciler(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	m.port, m.env = env.Manager.Port(), env
	return m, nil
}

// Sources implements source.Provider.
func (m *manual) Sources() (all source.Sources) {
	for _, kind := range m.owned {
		all.Owned = append(all.Owned, source.Owned{Kind: kindOf(kind)})
	}
	return all
}

// kindOf returns a kind of apps for workloads, one of rbac for a ClusterRole, else one of core.
func kindOf(kind string) schema.GroupVersionKind {
	group := map[string]string{"Deployment": "apps", "StatefulSet": "apps", "ClusterRole": "rbac.authorization.k8s.io"}[kind]
	return schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
}

// Reconcile implements watch.Reconciler.
func (m *manual) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	resource, err := m.port.Get(ctx, req.Key)
	if err != nil {
		return request.Result{}, err
	}
	if resource == nil {
		clear(m.kept)
		return request.Result{}, nil
	}
	err = m.reconcile(ctx, m, resource)
	return request.Result{RequeueAfter: m.again}, err
}

// get returns an object in the resource's namespace, nil if there is none.
func (m *manual) get(ctx context.Context, kind, name string, resource *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return m.port.Get(ctx, deploy.Ref{Kind: kindOf(kind), Namespace: resource.GetNamespace(), Name: name})
}

// list returns the ConfigMaps in the resource's namespace by name.
func (m *manual) list(ctx context.Context, resource *unstructured.Unstructured) (map[string]*unstructured.Unstructured, error) {
	found, err := m.port.List(ctx, kindOf("ConfigMap"), resource.GetNamespace(), deploy.ListOptions{})
	byName := map[string]*unstructured.Unstructured{}
	for _, obj := range found {
		byName[obj.GetName()] = obj
	}
	return byName, err
}

// create creates an object that the resource owns.
func (m *manual) create(ctx context.Context, resource *unstructured.Unstructured, text string, args ...any) error {
	obj := &unstructured.Unstructured{Object: object(text, args...)}
	obj.SetNamespace(resource.GetNamespace())
	obj.Object["metadata"].(map[string]any)["ownerReferences"] = []any{ownerOf(resource)}
	_, err := m.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "manual"})
	return err
}

// ownerOf returns the reference of an owner.
func ownerOf(resource *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"apiVersion": resource.GetAPIVersion(), "kind": resource.GetKind(), "name": resource.GetName(), "uid": string(resource.GetUID()),
	}
}

func (m *manual) delete(ctx context.Context, obj *unstructured.Unstructured) error {
	return m.port.Delete(ctx, deploy.RefOf(obj), deploy.DeleteOptions{UID: obj.GetUID()})
}

func (m *manual) patch(ctx context.Context, obj *unstructured.Unstructured, subresource, body string) error {
	_, err := m.port.Patch(ctx, deploy.RefOf(obj), deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(body), FieldManager: "manual", Subresource: subresource,
	})
	return err
}

// status sets a field of the status, unless it has the value.
func (m *manual) status(ctx context.Context, resource *unstructured.Unstructured, field, value string) error {
	if statusOf(resource, field) == value {
		return nil
	}
	return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{%q:%q}}`, field, value))
}

func statusOf(resource *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedString(resource.Object, "status", field)
	return value
}

func sizeOf(resource *unstructured.Unstructured) int64 {
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	return size
}

// sizeLabel returns the label size of a child.
func sizeLabel(obj *unstructured.Unstructured) string { return obj.GetLabels()["size"] }

// relabel sets the label size of a child.
func (m *manual) relabel(ctx context.Context, obj *unstructured.Unstructured, size string) error {
	return m.patch(ctx, obj, "", fmt.Sprintf(`{"metadata":{"labels":{"size":%q}}}`, size))
}

// dataOf returns a value of a ConfigMap.
func dataOf(obj *unstructured.Unstructured, key string) string {
	value, _, _ := unstructured.NestedString(obj.Object, "data", key)
	return value
}

// careful is without faults.
func careful(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size := sizeOf(resource)
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err == nil && till == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%d'}}", size)
	} else if err == nil && dataOf(till, "size") != fmt.Sprint(size) {
		err = m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":"%d"}}`, size))
	}
	if err != nil {
		return err
	}
	return m.status(ctx, resource, "size", fmt.Sprint(size))
}
