package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ofTwo returns operators whose faults show when there are two resources.
func ofTwo() []faulty {
	operatorOfTwo := func(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error) operator {
		return driven(func(sound bool) *manual { return newManual(reconcile, sound, "ConfigMap") }, Neighbours())
	}
	everyMinute := driven(func(sound bool) *manual {
		m := newManual(binding, sound)
		m.again = time.Minute
		return m
	}, Neighbours())
	return []faulty{
		{
			fault: "explore 60: a child of a fixed name", source: "infinispan-operator#1516", style: "by hand",
			operator: operatorOfTwo(sharing), story: []string{"create Shop.explore.operkit.dev test/tea-2", "ConfigMap test/till"},
		},
		{
			fault: "explore 60: memory by name without namespace", source: "metacontroller#429", style: "by hand",
			operator: operatorOfTwo(namesake), story: []string{"elsewhere/tea", `ConfigMap test/tea-till .metadata.labels.home: "test" -> "elsewhere"`},
		},
		{
			fault: "explore 60: one name in the whole cluster", source: "opentelemetry-operator#2862", style: "by hand",
			operator: everyMinute, story: []string{"elsewhere/tea", "ClusterRole.rbac.authorization.k8s.io", "tea"},
		},
		{
			fault: "explore 61: a deletion selects too much", source: "VictoriaMetrics/operator#1662", style: "by hand",
			operator: operatorOfTwo(sweeping), story: []string{"the deletion of one resource deletes what another one has", "-till"},
		},
		{
			fault: "explore 61: a status counts what others have", source: "a beginner's mistake", style: "by hand",
			operator: operatorOfTwo(counting), story: []string{"create Shop.explore.operkit.dev test/tea-2", `test/tea .status.tills: "1" -> "2"`},
		},
		{
			fault: "explore 62: a reconcile in a field", source: "opensearch-k8s-operator#1342", style: "by hand",
			operator: operatorOfTwo(mistaken), story: []string{"the other resource is reconciled at the same time", ".metadata.labels.shop"},
		},
	}
}

const tillOf = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {shop: %s, home: %s}}}"

// makeTill creates a child, unless it is there. Its labels have the name of the resource and a home.
func makeTill(ctx context.Context, m *manual, resource *unstructured.Unstructured, home string) error {
	name := resource.GetName() + "-till"
	till, err := m.get(ctx, "ConfigMap", name, resource)
	if err != nil || till != nil {
		return err
	}
	return m.create(ctx, resource, tillOf, name, resource.GetName(), home)
}

// sharing has a child whose name is the same for all resources, as that of a cache of each of two clusters was:
// https://github.com/infinispan/infinispan-operator/issues/1516
func sharing(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	name, size := resource.GetName()+"-till", fmt.Sprint(sizeOf(resource))
	if !m.sound {
		name = "till"
	}
	till, err := m.get(ctx, "ConfigMap", name, resource)
	switch {
	case err != nil:
		return err
	case till == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {size: %q}}", name, size)
	case dataOf(till, "size") != size:
		return m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":%q}}`, size))
	}
	return nil
}

// namesake remembers the home of each resource by its name, without its namespace:
// https://github.com/metacontroller/metacontroller/pull/429
func namesake(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	key := resource.GetName()
	if m.sound {
		key = resource.GetNamespace() + "/" + key
	}
	if m.kept[key] == "" {
		m.kept[key] = resource.GetNamespace()
	}
	return makeTill(ctx, m, resource, m.kept[key])
}

// binding has an object in the whole cluster that has the name of the resource:
// https://github.com/open-telemetry/opentelemetry-operator/issues/2862
func binding(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	name, home := resource.GetName(), resource.GetNamespace()
	if m.sound {
		name = home + "-" + name
	}
	role, err := m.port.Get(ctx, deploy.Ref{Kind: kindOf("ClusterRole"), Name: name})
	if err != nil {
		return err
	}
	return m.finally(ctx, resource, func() error {
		if role == nil {
			return nil
		}
		return m.delete(ctx, role)
	}, func() error {
		if role == nil {
			obj := &unstructured.Unstructured{Object: object("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %s, labels: {home: %s}}}", name, home)}
			_, err := m.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "manual"})
			return err
		}
		if role.GetLabels()["home"] == home {
			return nil
		}
		return m.patch(ctx, role, "", fmt.Sprintf(`{"metadata":{"labels":{"home":%q}}}`, home))
	})
}

// sweeping deletes its children before the resource goes, and those of other resources with them:
// https://github.com/VictoriaMetrics/operator/pull/1662
func sweeping(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	return m.finally(ctx, resource, func() error {
		present, err := m.list(ctx, resource)
		if err != nil {
			return err
		}
		for _, till := range present {
			if m.sound && till.GetLabels()["shop"] != resource.GetName() {
				continue
			}
			if err := m.delete(ctx, till); err != nil {
				return err
			}
		}
		return nil
	}, func() error { return makeTill(ctx, m, resource, "here") })
}

// counting counts all tills, and not only its own.
func counting(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if err := makeTill(ctx, m, resource, "here"); err != nil {
		return err
	}
	present, err := m.list(ctx, resource)
	if err != nil {
		return err
	}
	count := 0
	for _, till := range present {
		if !m.sound || till.GetLabels()["shop"] == resource.GetName() {
			count++
		}
	}
	return m.status(ctx, resource, "tills", fmt.Sprint(count))
}

// mistaken keeps the resource that it reconciles in the controller, where another reconcile replaces it:
// https://github.com/opensearch-project/opensearch-k8s-operator/pull/1342
func mistaken(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	m.kept["present"] = resource.GetName()
	name := resource.GetName() + "-till"
	till, err := m.get(ctx, "ConfigMap", name, resource)
	if err != nil || till != nil {
		return err
	}
	of := m.kept["present"]
	if m.sound {
		of = resource.GetName()
	}
	return m.create(ctx, resource, tillOf, name, of, "here")
}

// finally keeps a resource from going before it is cleaned up.
func (m *manual) finally(ctx context.Context, resource *unstructured.Unstructured, cleanUp, ensure func() error) error {
	const finalizer = "explore.operkit.dev/tills"
	held := len(resource.GetFinalizers()) > 0
	switch {
	case resource.GetDeletionTimestamp() != nil && held:
		if err := cleanUp(); err != nil {
			return err
		}
		return m.patch(ctx, resource, "", `{"metadata":{"finalizers":null}}`)
	case resource.GetDeletionTimestamp() != nil:
		return nil
	case !held:
		if err := m.patch(ctx, resource, "", fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, finalizer)); err != nil {
			return err
		}
	}
	return ensure()
}
