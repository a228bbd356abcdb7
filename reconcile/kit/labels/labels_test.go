package labels_test

import (
	"context"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/labels"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var full = labels.Labels{Name: "shop", Instance: "tea", Component: "web", PartOf: "mall", ManagedBy: "shop-operator", Version: "1.2.3"}

func TestLabels(t *testing.T) {
	t.Parallel()
	t.Run("labels 1: all six are in the metadata, and three in selectors", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, map[string]string{
			"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "tea", "app.kubernetes.io/component": "web",
		}, full.Selector())
		assert.Equal(t, map[string]string{
			"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "tea", "app.kubernetes.io/component": "web",
			"app.kubernetes.io/part-of": "mall", "app.kubernetes.io/managed-by": "shop-operator", "app.kubernetes.io/version": "1.2.3",
		}, full.All())
	})
	t.Run("labels 1: a label without a value is left out", func(t *testing.T) {
		t.Parallel()
		assert.Empty(t, labels.Labels{}.All())
		assert.Equal(t, map[string]string{"app.kubernetes.io/instance": "tea"}, labels.Labels{Instance: "tea"}.Selector())
	})
	t.Run("labels 2: nothing but name, instance and component changes a selector", func(t *testing.T) {
		t.Parallel()
		other := full
		other.PartOf, other.ManagedBy, other.Version = "x", "y", "2"
		assert.Equal(t, full.Selector(), other.Selector())
		_, err := other.With(map[string]string{"colour": "green"})
		require.NoError(t, err)
		assert.Equal(t, full.Selector(), other.Selector())
		selector := full.Selector()
		selector["colour"] = "green"
		assert.NotEqual(t, selector, full.Selector(), "the maps are the caller's")
	})
}

func TestUserLabels(t *testing.T) {
	t.Parallel()
	t.Run("labels 3: labels of a user are added to the metadata", func(t *testing.T) {
		t.Parallel()
		user := map[string]string{"colour": "green", "example.com/team": ""}
		all, err := full.With(user)
		require.NoError(t, err)
		assert.Len(t, all, 8)
		assert.Equal(t, "green", all["colour"])
		assert.Equal(t, map[string]string{"colour": "green", "example.com/team": ""}, user)
	})
	t.Run("labels 3: reserved keys and invalid labels are one error that names all", func(t *testing.T) {
		t.Parallel()
		_, err := full.With(map[string]string{"app.kubernetes.io/part-of": "x", "app.kubernetes.io/name": "shop", "a b": "c", "d": "e f", "good": "g"})
		require.Error(t, err)
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 4)
		assert.Contains(t, lines[0], "label a b: its key: ")
		assert.Equal(t, "label app.kubernetes.io/name: it is set by the operator: remove it", lines[1])
		assert.Equal(t, "label app.kubernetes.io/part-of: it is set by the operator: remove it", lines[2])
		assert.Contains(t, lines[3], "label d: its value: ")
	})
	t.Run("labels 3: a key is reserved also when the operator doesn't set it", func(t *testing.T) {
		t.Parallel()
		_, err := labels.Labels{}.With(map[string]string{"app.kubernetes.io/version": "1"})
		require.ErrorContains(t, err, "label app.kubernetes.io/version")
	})
}

func TestValue(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for reason, row := range map[string]struct{ text, value string }{
		"empty":                        {"", ""},
		"valid":                        {"a-b_c.D", "a-b_c.D"},
		"63 characters":                {long[:63], long[:63]},
		"64 characters":                {long, reconcile.Truncate(long)},
		"a cut at a dot":               {strings.Repeat("a", 53) + "." + long, reconcile.Truncate(strings.Repeat("a", 53) + "." + long)},
		"build metadata of a version":  {"1.2.3+build", "1.2.3-build-c0cd83b4"},
		"spaces and letters of others": {"größe xl", "gr--e-xl-69defbae"},
		"nothing valid":                {"+++", "x-29f5099b"},
	} {
		t.Run("labels 4: "+reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.value, labels.Value(row.text))
		})
	}
}

// Each text has a valid value, and two texts have two.
func FuzzValue(f *testing.F) {
	f.Add("a+b", "a-b")
	f.Add(strings.Repeat("a", 64), strings.Repeat("a", 65))
	f.Add("\xff", ".")
	f.Fuzz(func(t *testing.T, one, other string) {
		assert.Empty(t, validation.IsValidLabelValue(labels.Value(one)))
		assert.Equal(t, labels.Value(one), labels.Value(labels.Value(one)))
		// A text may be the value of another one on purpose.
		if one != other && len(validation.IsValidLabelValue(one)) > 0 && len(validation.IsValidLabelValue(other)) > 0 {
			assert.NotEqual(t, labels.Value(one), labels.Value(other))
		}
	})
}

var shops = schema.GroupVersionKind{Group: "labels.example.dev", Version: "v1", Kind: "Shop"}

func TestOf(t *testing.T) {
	t.Parallel()
	t.Run("labels 5: a session gives kind, name, operator and version, and a long name is shortened", func(t *testing.T) {
		t.Parallel()
		for name, instance := range map[string]string{"tea": "tea", strings.Repeat("t", 70): reconcile.Truncate(strings.Repeat("t", 70))} {
			h := reconciletest.New(t, reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
				l := labels.Of(s, "web")
				all, err := l.With(map[string]string{"colour": "green"})
				if err != nil {
					return err
				}
				s.Add("web", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "labels": anyOf(all)}}})
				return nil
			}))
			h.Apply(reconciletest.Resource(shops, name, map[string]any{"version": "1.2.3"}))
			h.RunUntilSettled()
			found := h.Get("ConfigMap web").GetLabels()
			for key, value := range map[string]string{labels.NameKey: "shop", labels.InstanceKey: instance, labels.ComponentKey: "web",
				labels.ManagedByKey: "operkit", labels.VersionKey: "1.2.3", "colour": "green"} {
				assert.Equal(t, value, found[key], key)
			}
			h.RunUntilSettled()
			h.Writes(0)
		}
	})
}

func TestKeysOfTheOperator(t *testing.T) {
	t.Parallel()
	t.Run("labels 3: in a session the keys with the domain of the operator are reserved, too", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
			_, err := labels.Of(s, "web").With(map[string]string{"operkit.dev/owner-uid": "x", "operkit.development/y": "z"})
			return err
		}))
		h.Apply(reconciletest.Resource(shops, "tea", nil))
		h.RunUntilSettled()
		assert.Contains(t, h.Condition("Shop tea", "Ready").Message+h.Condition("Shop tea", "Updating").Message, "label operkit.dev/owner-uid: it is set by the operator: remove it")
		assert.NotContains(t, h.Condition("Shop tea", "Updating").Message, "development")
		_, err := full.With(map[string]string{"operkit.dev/owner-uid": "x"})
		require.NoError(t, err, "without a session the domain isn't known")
	})
}

func anyOf(texts map[string]string) map[string]any {
	out := map[string]any{}
	for key, text := range texts {
		out[key] = text
	}
	return out
}
