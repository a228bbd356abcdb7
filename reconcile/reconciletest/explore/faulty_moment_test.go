package explore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// repeating writes its child in each reconcile: https://github.com/rabbitmq/cluster-operator/pull/438
func repeating(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if err := careful(ctx, m, resource); err != nil || m.sound {
		return err
	}
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err != nil || till == nil {
		return err
	}
	return m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":"%d"}}`, sizeOf(resource)))
}

// trusting creates its workload, and doesn't compare it later:
// https://github.com/Altinity/clickhouse-operator/issues/1535
func trusting(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	live, err := m.get(ctx, "Deployment", "till", resource)
	if err != nil {
		return err
	}
	if live == nil {
		return m.create(ctx, resource, till)
	}
	if m.sound {
		return m.scale(ctx, live)
	}
	return nil
}

// resurrecting keeps its child as it was before a change. If somebody deletes the child meanwhile, the operator creates
// it from that with its resourceVersion, which is refused:
// https://github.com/kubevirt/hyperconverged-cluster-operator/pull/1839
func resurrecting(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size := fmt.Sprint(sizeOf(resource))
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	switch {
	case err != nil:
		return err
	case till == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till, labels: {size: %q}, resourceVersion: %q}}",
			size, m.kept["version"])
	case sizeLabel(till) == size:
		return nil
	case !m.sound:
		m.kept["version"] = till.GetResourceVersion()
	}
	if err := m.relabel(ctx, till, size); err != nil {
		return err
	}
	delete(m.kept, "version")
	return nil
}

// mixing reports the size that the resource has at the end of a reconcile, and works again only if that differs.
func mixing(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size := fmt.Sprint(sizeOf(resource))
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err == nil && till == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till, labels: {size: %q}}}", size)
	} else if err == nil && sizeLabel(till) != size && (m.sound || statusOf(resource, "size") != size) {
		err = m.relabel(ctx, till, size)
	}
	if err != nil {
		return err
	}
	if !m.sound {
		if resource, err = m.port.Get(ctx, deploy.RefOf(resource)); err != nil || resource == nil {
			return err
		}
	}
	return m.status(ctx, resource, "size", fmt.Sprint(sizeOf(resource)))
}

// mistaking remembers which status it has written, by the name of the resource, and takes a new resource of that name
// for the old one.
func mistaking(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size := fmt.Sprint(sizeOf(resource))
	if m.kept["size"] == size && !m.sound {
		return nil
	}
	err := m.status(ctx, resource, "size", size)
	if gone := (*deploy.NotFoundError)(nil); errors.As(err, &gone) {
		return nil
	}
	if err == nil {
		m.kept["size"] = size
	}
	return err
}

// doubling looks for its child before it creates one with a generated name. Two replicas that do so at a time create
// two children.
func doubling(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	present, err := m.list(ctx, resource)
	if err != nil || len(present) > 0 {
		return err
	}
	name := "generateName: till-"
	if m.sound {
		name = "name: till"
	}
	return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {%s}}", name)
}

// numbered is a component whose object has the next number.
type numbered struct{ next func() int64 }

// Build implements reconcile.Builder.
func (n numbered) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if _, err := s.Get(ctx, deploy.Ref{Kind: kindOf("ConfigMap"), Namespace: s.Namespace(), Name: c.Name()}); err != nil {
		return err
	}
	c.Add("number", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {number: '%d'}}", c.Name(), n.next()))
	return nil
}

// numbering numbers two components in the order in which they happen to be built.
func numbering(_ context.Context, c *stand, s *reconcile.Session) error {
	var last atomic.Int64
	for i, name := range []string{"door", "till"} {
		next := func() int64 { return last.Add(1) }
		if c.sound {
			next = func() int64 { return int64(i) }
		}
		s.Use(name, numbered{next})
	}
	return nil
}
