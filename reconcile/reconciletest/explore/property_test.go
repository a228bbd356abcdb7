package explore

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pairing makes two ConfigMaps, one after the other.
func pairing(first, second string) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		for _, name := range []string{first, second} {
			obj, err := m.get(ctx, "ConfigMap", name, resource)
			if err == nil && obj == nil {
				err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func noKeyWithoutLock(s State) error {
	if s.Object("ConfigMap key") != nil && s.Object("ConfigMap lock") == nil {
		return errors.New("the key lies there without its lock")
	}
	return nil
}

func locked(s State) error {
	if s.Resource() != nil && s.Object("ConfigMap lock") == nil {
		return errors.New("the shop is open")
	}
	return nil
}

func TestProperties(t *testing.T) {
	for _, row := range []struct {
		name      string
		reconcile reconciling
		property  Option
		says      []string
	}{
		{"at each write", pairing("key", "lock"), Always("no key without a lock", noKeyWithoutLock), []string{
			"what always holds doesn't: no key without a lock", "the key lies there without its lock", "after it has sent: created ConfigMap test/key"}},
		{"only after a disturbance", once(pairing("lock", "mat")), Eventually("the shop is locked", locked), []string{
			"what holds at rest doesn't: the shop is locked", "the shop is open", "somebody deletes ConfigMap test/lock"}},
		{"a property that panics", pairing("lock", "key"), Eventually("nothing", func(s State) error {
			return errors.New(s.Object("ConfigMap nobody").GetName())
		}), []string{"what holds at rest doesn't: nothing", "panic"}},
	} {
		t.Run("explore 36: "+row.name, func(t *testing.T) {
			r := explored(t, manually(row.reconcile), startDriven, Findings(1), row.property)
			require.Len(t, r.findings, 1)
			for _, says := range row.says {
				assert.Contains(t, r.findings[0].story(), says)
			}
		})
	}
	t.Run("explore 36: they hold", func(t *testing.T) {
		r := explored(t, manually(pairing("lock", "key")), startDriven, States(60),
			Always("no key without a lock", noKeyWithoutLock), Eventually("the shop is locked", locked))
		assert.Empty(t, r.findings, stories(r))
	})
	for _, row := range []struct {
		option Option
		says   string
	}{
		{Always("", locked), "property: its name is empty"},
		{Eventually("locked", nil), `property "locked": nil function`},
	} {
		_, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples"), row.option})
		assert.ErrorContains(t, err, row.says)
	}
}

// once reconciles until it has succeeded.
func once(reconcile reconciling) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		if made, _, _ := unstructured.NestedString(resource.Object, "status", "made"); made == "yes" {
			return nil
		}
		if err := reconcile(ctx, m, resource); err != nil {
			return err
		}
		return m.status(ctx, resource, "made", "yes")
	}
}

func TestState(t *testing.T) {
	var seen, gone int
	r := explored(t, manually(careful), startDriven, States(20), others(), Always("the state is that of the cluster", func(s State) error {
		resource := s.Resource()
		switch {
		case resource == nil:
			gone++
			return nil
		case s.Object("ConfigMap others") == nil: // somebody has deleted it
			return nil
		}
		seen++
		assert.Equal(t, "tea", resource.GetName())
		assert.Equal(t, "others", s.Object("ConfigMap others").GetName(), "in the namespace of the resource")
		assert.Equal(t, "others", s.Object("ConfigMap test/others").GetName())
		assert.Equal(t, "test", s.Object("Namespace test").GetName(), "without a namespace")
		assert.Equal(t, "tea", s.Object("Shop.explore.operkit.dev tea").GetName())
		assert.Nil(t, s.Object("Shop.other.dev tea"), "another group")
		assert.Nil(t, s.Object("ConfigMap other/others"), "another namespace")
		assert.Nil(t, s.Object("nonsense"))
		assert.NotEmpty(t, s.Objects())
		assert.False(t, s.Now().Before(reconciletest.Started))
		return nil
	}))
	t.Run("explore 36: a state has the resource, all objects and the time", func(t *testing.T) {
		assert.Empty(t, r.findings, stories(r))
		assert.Positive(t, seen)
		assert.Positive(t, gone, "after its deletion")
	})
}
