package size_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	fields = map[string]any
	list   = []any
)

var shops = schema.GroupVersionKind{Group: "size.example.dev", Version: "v1", Kind: "Shop"}

const sizes = `
small:
  web: {replicas: 1, resources: {requests: {cpu: 100m, memory: 128Mi}}}
  db: 1
large:
  web: {replicas: 3, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 2Gi}}}
  db: 2
`

func table(t testing.TB) *size.Table {
	t.Helper()
	read, err := size.ReadYAML([]byte(sizes))
	require.NoError(t, err)
	return read
}

// deployment returns a Deployment with containers.
func deployment(name string, containers ...string) fields {
	labels, all := fields{"app": name}, list{}
	for _, container := range containers {
		all = append(all, fields{"name": container, "image": "example.invalid/web:1"})
	}
	return fields{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": name}, "spec": fields{
		"selector": fields{"matchLabels": labels}, "template": fields{"metadata": fields{"labels": labels}, "spec": fields{"containers": all}},
	}}
}

// autoscaler returns an HPA of a Deployment.
func autoscaler(name string) fields {
	return fields{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": fields{"name": name}, "spec": fields{
		"minReplicas": int64(2), "maxReplicas": int64(9), "scaleTargetRef": fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}}}
}

// field returns a field of the spec of a shop.
func field(s *reconcile.Session, name string) any {
	spec, _ := s.Resource().Object["spec"].(fields)
	return spec[name]
}

// store adds a web component, with an autoscaler if the shop is scaled, and a component that isn't in the table.
func store(_ context.Context, s *reconcile.Session) error {
	web := deployment("web", "web")
	if image, given := field(s, "image").(string); given {
		web["spec"].(fields)["template"].(fields)["spec"].(fields)["containers"].(list)[0].(fields)["image"] = image
	}
	objects := []any{web}
	if field(s, "scaled") == true {
		objects = append(objects, autoscaler("web"))
	}
	s.Add("web", objects...)
	other := deployment("other", "other")
	other["spec"].(fields)["replicas"] = int64(4)
	s.Add("other", other)
	return nil
}

func sized(t testing.TB, options ...size.Option) reconcile.Option {
	t.Helper()
	option, err := size.Components(table(t), options...)
	require.NoError(t, err)
	return option
}

func harness(t *testing.T, setup func(context.Context, *reconcile.Session) error, option reconcile.Option, more ...reconciletest.Option) *reconciletest.Harness {
	t.Helper()
	return reconciletest.New(t, reconciletest.Controlling(shops, setup), append([]reconciletest.Option{reconciletest.With(option)}, more...)...)
}

func shop(spec fields) *unstructured.Unstructured {
	return reconciletest.Resource(shops, "tea", spec)
}

// edit changes the spec of the shop.
func edit(t *testing.T, h *reconciletest.Harness, change fields) {
	t.Helper()
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
		spec, _ := obj.Object["spec"].(fields)
		for name, value := range change {
			if value == nil {
				delete(spec, name)
			} else {
				spec[name] = value
			}
		}
	})
}

// replicas returns the number of replicas of an object, nil for none.
func replicas(h *reconciletest.Harness, object string) any {
	spec, _ := h.Get(object).Object["spec"].(fields)
	return spec["replicas"]
}
