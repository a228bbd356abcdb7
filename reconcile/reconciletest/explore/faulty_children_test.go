package explore

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deaf never looks at its child again, so an edit is ignored without a word:
// https://github.com/rabbitmq/cluster-operator/issues/992
func deaf(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if m.sound {
		return careful(ctx, m, resource)
	}
	if err != nil || till != nil {
		return err
	}
	return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%d'}}", sizeOf(resource))
}

// blind looks only at its own status, so a child that somebody deletes stays away:
// https://github.com/stacklok/toolhive/issues/6343
func blind(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "size") == fmt.Sprint(sizeOf(resource)) && !m.sound {
		return nil
	}
	return careful(ctx, m, resource)
}

// unwatched doesn't watch its children, so it learns of a deletion only when something else happens:
// https://github.com/scylladb/scylla-operator/issues/449
func unwatched(sound bool) *manual {
	if sound {
		return newManual(careful, true, "ConfigMap")
	}
	return newManual(careful, false)
}

// clinging merges the labels of its child, so it never removes one:
// https://github.com/pingcap/tidb-operator/issues/4942
func clinging(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	title, has, _ := unstructured.NestedString(resource.Object, "spec", "title")
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err == nil && till == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}}")
		if err == nil {
			till, err = m.get(ctx, "ConfigMap", "till", resource)
		}
	}
	if err != nil || till == nil {
		return err
	}
	label, labelled := till.GetLabels()["title"]
	switch {
	case has && label != title:
		return m.patch(ctx, till, "", fmt.Sprintf(`{"metadata":{"labels":{"title":%q}}}`, title))
	case !has && labelled && m.sound:
		return m.patch(ctx, till, "", `{"metadata":{"labels":{"title":null}}}`)
	}
	return nil
}

// untidy leaves an object behind that nobody owns: https://github.com/kudobuilder/kudo/issues/1538
func untidy(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	left, err := m.get(ctx, "ConfigMap", "left", resource)
	if err != nil || left != nil {
		return err
	}
	if m.sound {
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: left}}")
	}
	obj := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: left, namespace: %s}}", resource.GetNamespace())}
	_, err = m.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "manual"})
	return err
}

// adopting looks at its child only when the child has another version than the last one that it knows. It reads that
// version after its own write, so it takes what somebody changes in between for its own.
func adopting(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size := fmt.Sprint(sizeOf(resource))
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	switch {
	case err != nil:
		return err
	case till == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%s'}}", size)
	case m.kept["known"] == size+" "+till.GetResourceVersion() && !m.sound, dataOf(till, "size") == size:
		return nil
	}
	if err := m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":%q}}`, size)); err != nil {
		return err
	}
	if till, err = m.get(ctx, "ConfigMap", "till", resource); err == nil && till != nil {
		m.kept["known"] = size + " " + till.GetResourceVersion()
	}
	return err
}
