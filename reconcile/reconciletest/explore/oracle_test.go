package explore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type reconciling = func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error

// then runs two reconciles, one after the other.
func then(first, second reconciling) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		if err := first(ctx, m, resource); err != nil {
			return err
		}
		return second(ctx, m, resource)
	}
}

// eager patches its child once more, if the resource has just changed.
func eager(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	if now, _, _ := unstructured.NestedString(resource.Object, "status", "size"); now == fmt.Sprint(size) {
		return nil
	}
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err != nil {
		return err
	}
	return m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":"%d"}}`, size))
}

// trying makes a ConfigMap and deletes it again, when a condition holds.
func trying(when func(m *manual) bool) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		if till, err := m.get(ctx, "ConfigMap", "till", resource); err != nil || till != nil || !when(m) {
			return err
		}
		if err := m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: try}}"); err != nil {
			return err
		}
		try, err := m.get(ctx, "ConfigMap", "try", resource)
		if err != nil || try == nil {
			return err
		}
		return m.port.Delete(ctx, deploy.RefOf(try), deploy.DeleteOptions{})
	}
}

// patching patches the ConfigMap of others.
func patching(body string) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		others, err := m.get(ctx, "ConfigMap", "others", resource)
		if err != nil || others == nil {
			return err
		}
		size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
		if others.GetAnnotations()["done"] == fmt.Sprint(size) {
			return nil
		}
		return m.patch(ctx, others, "", fmt.Sprintf(body, size))
	}
}

// replacing replaces its child when the size changes.
func replacing(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size")
	if err != nil || till == nil || till.Object["data"].(map[string]any)["size"] == fmt.Sprint(size) {
		return err
	}
	next := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%d'}}", size)}
	next.SetNamespace(till.GetNamespace())
	next.SetOwnerReferences(till.GetOwnerReferences())
	next.SetResourceVersion(till.GetResourceVersion())
	_, err = m.port.Update(ctx, next, deploy.UpdateOptions{FieldManager: "manual"})
	return err
}

func takingAway(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	others, err := m.get(ctx, "ConfigMap", "others", resource)
	if err != nil || others == nil {
		return err
	}
	return m.port.Delete(ctx, deploy.RefOf(others), deploy.DeleteOptions{})
}

// others is an object that exists at the beginning.
func others() Option {
	return Harness(reconciletest.Memory(dryrun.Objects(&unstructured.Unstructured{
		Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: others, namespace: test}, data: {size: '0'}}"),
	})))
}

// wavering changes a value in each reconcile, back and forth.
func wavering(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if err != nil || till == nil {
		return err
	}
	on := till.GetAnnotations()["lamp"] != "on"
	return m.patch(ctx, till, "", fmt.Sprintf(`{"metadata":{"annotations":{"lamp":%q}}}`, map[bool]string{true: "on", false: "off"}[on]))
}

// fragile panics for one size.
func fragile(_ context.Context, _ *manual, resource *unstructured.Unstructured) error {
	if size, _, _ := unstructured.NestedInt64(resource.Object, "spec", "size"); size == 3 {
		panic("no such size")
	}
	return nil
}

// unchecked doesn't look at the error of a request.
func unchecked(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	if till == nil && err == nil {
		return nil // it isn't there yet, or somebody has deleted it
	}
	_ = till.Object["data"].(map[string]any)
	return nil
}

// dying panics when its process is killed, as code does that doesn't expect such an error.
func dying(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	err := careful(ctx, m, resource)
	if errors.Is(err, mortal.ErrKilled) {
		panic(err)
	}
	return err
}

func TestOracles(t *testing.T) {
	var reconciles atomic.Int64
	const annotated = `{"metadata":{"annotations":{"done":"%d"}}}`
	for _, row := range []struct {
		fault     string
		reconcile reconciling
		says      []string
	}{
		{"explore 31: a write that changes nothing", then(careful, eager),
			[]string{"sends a write that changes nothing", "unchanged ConfigMap test/till", "sent as: patch"}},
		{"explore 33: the time makes a difference", then(trying(func(m *manual) bool { return m.env.Now().Hour() > 3 }), careful),
			[]string{"answers differently for the same state", "create ConfigMap test/try: sent 0 times, and 1 times", "depends on the time", "the other execution begins 1h37m13s later"}},
		{"explore 33: chance makes a difference", then(trying(func(*manual) bool { return reconciles.Add(1) == 1 }), careful),
			[]string{"answers differently for the same state", "create ConfigMap test/try: sent 1 times, and 0 times", "depends on chance"}},
		{"explore 34: it deletes an object of others", then(careful, takingAway),
			[]string{"changes what belongs to others", "ConfigMap test/others: it is deleted"}},
		{"explore 34: it changes a value of others", then(careful, patching(`{"metadata":{"annotations":{"done":"%[1]d"}},"data":{"size":"%[1]d"}}`)),
			[]string{"changes what belongs to others", `ConfigMap test/others .data.size: "0" -> "2"`}},
		{"explore 34: it removes what others add to its object", then(replacing, careful),
			[]string{"removes what others add to its objects", "ConfigMap test/till metadata.annotations[explore.operkit.dev/added]"}},
		{"explore 37: it panics after an edit", then(careful, fragile),
			[]string{"the operator panics", "Shop.explore.operkit.dev test/tea: panic: no such size (oracle_test.go:", "spec.size: 3"}},
		{"explore 37: it panics after a failed request", then(unchecked, careful),
			[]string{"the operator panics", "Shop.explore.operkit.dev test/tea: panic: runtime error", "answers 500: get ConfigMap test/till"}},
		{"explore 38: a value flips", then(careful, wavering),
			[]string{"doesn't come to rest", "ConfigMap test/till was changed", `"on" -> "off"`}},
	} {
		t.Run(row.fault, func(t *testing.T) {
			r := explored(t, manually(row.reconcile), startDriven, Findings(1), others())
			require.Len(t, r.findings, 1, stories(r))
			for _, says := range row.says {
				assert.Contains(t, r.findings[0].story(), says)
			}
			assert.Less(t, r.visited, 500, "soon")
		})
	}
	t.Run("explore 37: a killed process doesn't panic", func(t *testing.T) {
		r := explored(t, manually(dying), startDriven, States(250))
		assert.Empty(t, r.findings, stories(r))
		assert.Positive(t, r.disturbed)
	})
	t.Run("explore 34: what it adds to an object of others is its own", func(t *testing.T) {
		r := explored(t, manually(then(careful, patching(annotated))), startDriven, States(300), others())
		require.NotEmpty(t, r.findings, "it leaves what it has added")
		for _, f := range r.findings {
			assert.NotContains(t, f.problem, "belongs to others", stories(r))
		}
	})
}

// A cosmetic fault doesn't hide what goes wrong after a crash.
func TestFaultsSideBySide(t *testing.T) {
	nameless := func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		if err := forgetful(ctx, m, resource); err != nil || resource.Object["status"] == nil {
			return err
		}
		if conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions"); len(conditions) > 0 {
			return nil
		}
		return m.patch(ctx, resource, "status", `{"status":{"conditions":[{"type":"Made","status":"True","lastTransitionTime":"2030-01-01T00:00:00Z"}]}}`)
	}
	r := explored(t, manually(nameless), startDriven, Findings(2))
	t.Run("explore 19: a fault of the status doesn't hide another one", func(t *testing.T) {
		require.Len(t, r.findings, 2, stories(r))
		assert.Contains(t, r.findings[0].story(), "status.conditions[Made].reason: it is missing")
		assert.Contains(t, r.findings[1].story(), "the operator is killed after it has sent: create ConfigMap test/till-")
	})
}
