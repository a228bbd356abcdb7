package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inSetup calls f with the session of a reconcile of the widget.
func (w *world) inSetup(f func(ctx context.Context, s *Session), options ...Option) {
	w.t.Helper()
	called := false
	w.calm(w.reconciler(&controller{func(ctx context.Context, s *Session) error {
		called = true
		f(ctx, s)
		return nil
	}}, options...))
	require.True(w.t, called)
}

func TestSession(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 2: what it says of the resource", func(t *testing.T) {
		t.Parallel()
		newWorld(t).inSetup(func(_ context.Context, s *Session) {
			assert.Equal(t, "w", s.Name())
			assert.Equal(t, "shop", s.Namespace())
			assert.Equal(t, widgets, s.Kind())
			assert.Equal(t, "w-redis", s.ScopedName("redis"), "reconcile 6")
			assert.False(t, s.DryRun())
			size, _, err := unstructured.NestedInt64(s.Resource().Object, "spec", "size")
			require.NoError(t, err)
			assert.Equal(t, int64(3), size)
		})
	})
	t.Run("reconcile 5: its id is 22 characters of base32, another one each time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		seen := map[string]bool{}
		r := w.reconciler(adding(func(s *Session) {
			assert.Regexp(t, `^[A-Z2-7]{22}$`, s.ID())
			seen[s.ID()] = true
			s.Logger().Info("hello from setup")
		}))
		for range 20 {
			w.calm(r)
		}
		assert.Len(t, seen, 20)
		for id := range seen {
			assert.Contains(t, w.logs.String(), `msg="hello from setup" object="Widget shop/w" reconcile=`+id, "its logger names it")
		}
	})
	t.Run("the resource is a copy", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inSetup(func(_ context.Context, s *Session) {
			s.Resource().Object["spec"] = "spoilt"
			assert.NotEqual(t, "spoilt", s.Resource().Object["spec"])
		})
	})
	t.Run("reconcile 8: components are found by name, disabled ones too", func(t *testing.T) {
		t.Parallel()
		newWorld(t).inSetup(func(_ context.Context, s *Session) {
			door, window := s.Add("door"), s.Add("window").Disable()
			assert.Equal(t, []*Component{door, window}, s.Components())
			assert.Same(t, window, s.Component("window"))
			assert.Nil(t, s.Component("roof"))
			assert.Same(t, s, door.Session())
			s.Components()[0] = nil
			assert.Same(t, door, s.Components()[0], "the list is the caller's own")
		})
	})
	t.Run("reconcile 2: what its manager applies is the resource's", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Use("c", appliesItself{}) }))
		w.calm(r)
		made := w.get(deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "own"})
		require.NotNil(t, made)
		assert.Equal(t, widgetUID, made.GetOwnerReferences()[0].UID)
	})
	t.Run("a dry run says so", func(t *testing.T) {
		t.Parallel()
		newWorld(t).inSetup(func(_ context.Context, s *Session) { assert.True(t, s.DryRun()) }, DryRun())
	})
}

// appliesItself deploys what it renders by the session's manager.
type appliesItself struct{}

func (appliesItself) Build(_ context.Context, _ *Session, c *Component) error {
	c.Add("own", configMap("own"))
	return nil
}

func (appliesItself) Deploy(ctx context.Context, s *Session, c *Component) error {
	_, err := s.Manager().Apply(ctx, c.Objects())
	return err
}

func TestClusterScopedResource(t *testing.T) {
	t.Parallel()
	regions := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Region"}
	region := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "north"}}}
	region.SetGroupVersionKind(regions)
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(region), dryrun.AnyKind(regions.GroupKind()))
	require.NoError(t, err)
	w := &world{recorder: &recorder{memory: memory}, t: t, clock: &clock{}, logs: &testlog.Text{}}
	r, err := New(&regional{}, must(deploy.NewManager(w)))
	require.NoError(t, err)
	_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: regions, Name: "north"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"apply Namespace shop", "apply ConfigMap shop/c", "patch Region north/status"}, w.made(),
		"reconcile mistake 16: owners without a namespace, children with one and without")
	children := w.get(deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "c"})
	require.Len(t, children.GetOwnerReferences(), 1)
	assert.Equal(t, "Region", children.GetOwnerReferences()[0].Kind)
}

type regional struct{}

func (*regional) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Region"}
}

func (*regional) Setup(_ context.Context, s *Session) error {
	inShop := configMap("c")
	inShop.SetNamespace("shop")
	s.Add("all", inShop, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}})
	return nil
}

func TestLookups(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 7: by namespace, of the cluster, by labels; absent is no error, unreadable is", func(t *testing.T) {
		t.Parallel()
		elsewhere := configMap("there")
		elsewhere.SetNamespace("elsewhere")
		here := configMap("here")
		here.SetNamespace("shop")
		here.SetLabels(map[string]string{"app": "x"})
		node := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n"}}}
		nodes := node.GroupVersionKind()
		w := newWorld(t, elsewhere, here, node)
		w.unreadable = func(ref deploy.Ref) error {
			if ref.Name == "broken" {
				return &deploy.UnavailableError{Err: errors.New("no answer")}
			}
			return nil
		}
		w.inSetup(func(ctx context.Context, s *Session) {
			for _, row := range []struct {
				reason string
				ref    deploy.Ref
				found  bool
			}{
				{"reconcile 7: in the namespace asked for", deploy.Ref{Kind: configMaps, Namespace: "elsewhere", Name: "there"}, true},
				{"reconcile 7: an empty namespace is cluster scope", deploy.Ref{Kind: nodes, Name: "n"}, true},
				{"reconcile 7: and not the resource's", deploy.Ref{Kind: configMaps, Name: "here"}, false},
				{"reconcile 7: none is nil and no error", deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "there"}, false},
			} {
				obj, err := s.Get(ctx, row.ref)
				require.NoError(t, err, row.reason)
				assert.Equal(t, row.found, obj != nil, row.reason)
			}
			_, err := s.Get(ctx, configMapRef("broken"))
			assert.Error(t, err, "reconcile 7: a failed look-up is an error, not an absent object")
			for _, row := range []struct {
				reason, namespace string
				selector          labels.Selector
				byField           []fields.Selector
				want              int
			}{
				{"reconcile 7: of one namespace", "shop", nil, nil, 1},
				{"reconcile 7: of all", "", nil, nil, 2},
				{"reconcile 7: of those that a selector matches", "", labels.SelectorFromSet(labels.Set{"app": "x"}), nil, 1},
				{"reconcile 7: of those that a field selector matches", "", nil, []fields.Selector{fields.ParseSelectorOrDie("metadata.name=there")}, 1},
				{"reconcile 7: by any field", "", nil, []fields.Selector{fields.ParseSelectorOrDie("metadata.labels.app!=x")}, 1},
				{"reconcile 7: of those that all of them match", "", nil,
					[]fields.Selector{fields.ParseSelectorOrDie("metadata.name=there"), nil, fields.ParseSelectorOrDie("metadata.namespace=shop")}, 0},
				{"nil and everything select all", "", nil, []fields.Selector{nil, fields.Everything()}, 2},
			} {
				found, err := s.List(ctx, configMaps, row.namespace, row.selector, row.byField...)
				require.NoError(t, err, row.reason)
				assert.Len(t, found, row.want, row.reason)
			}
		})
		assert.Equal(t, []string{writeStatus}, w.made(), "they read the View")
	})
}

// typedWidget is the Go type of a widget.
type typedWidget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size    int32          `json:"size"`
		Colours map[string]any `json:"colours"`
		Tags    []string       `json:"tags"`
	} `json:"spec"`
}

func TestInto(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inSetup(func(_ context.Context, s *Session) {
		var typed typedWidget
		require.NoError(t, s.Into(&typed))
		assert.Equal(t, "w", typed.Name)
		assert.Equal(t, int32(3), typed.Spec.Size)
		typed.Spec.Colours["door"].(map[string]any)["red"] = "spoilt"
		var again typedWidget
		require.NoError(t, s.Into(&again))
		assert.Equal(t, "yes", again.Spec.Colours["door"].(map[string]any)["red"], "what was decoded shares nothing with the resource")
	})
}

// They are of no use to a controller, and the larger part of most resources.
func TestIntoLeavesManagedFieldsOut(t *testing.T) {
	t.Parallel()
	resource := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "w", "managedFields": []any{map[string]any{"manager": "x", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}}},
		"spec":     map[string]any{"size": int64(3)},
	}}
	before := resource.DeepCopy()
	s := &Session{reconciler: &Reconciler{}, resource: resource, described: resource}
	var typed typedWidget
	require.NoError(t, s.Into(&typed))
	assert.Equal(t, "w", typed.Name)
	assert.Equal(t, int32(3), typed.Spec.Size)
	assert.Empty(t, typed.ManagedFields)
	assert.Equal(t, before, resource, "the resource keeps them")
}

func TestIntoRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, spec, want string }{
		{"a string for a number", `{"size":"many"}`,
			"Widget shop/w: spec.size: string doesn't fit the type int32: correct it"},
		{"a number that doesn't fit isn't cut", `{"size":1099511627776}`,
			"Widget shop/w: spec.size: number 1099511627776 doesn't fit the type int32: correct it"},
		{"a map for a list", `{"tags":{"a":"b"}}`,
			"Widget shop/w: spec.tags: object doesn't fit the type []string: correct it"},
	} {
		t.Run("status 14: "+row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.merge(widgetRef, `{"spec":`+row.spec+`}`)
			r := w.reconciler(&controller{func(_ context.Context, s *Session) error {
				err := s.Into(&typedWidget{})
				assert.EqualError(t, err, row.want)
				return err
			}})
			calls, _, err := w.once(r)
			require.EqualError(t, err, "setup: "+row.want)
			assert.Equal(t, []string{writeStatus}, calls)
			assert.Equal(t, "ConfigError/Errored", w.verdict())
			assert.Equal(t, "setup: "+row.want, w.message())
		})
	}
	t.Run("a type that decodes itself says in its own words what doesn't fit", func(t *testing.T) {
		t.Parallel()
		newWorld(t).inSetup(func(_ context.Context, s *Session) {
			var target struct {
				Metadata struct {
					Name metav1.Time `json:"name"`
				} `json:"metadata"`
			}
			err := s.Into(&target)
			assert.ErrorContains(t, err, "Widget shop/w: doesn't fit *struct")
			assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		})
	})
	t.Run("a target that is no pointer is the operator's mistake, not the resource's", func(t *testing.T) {
		t.Parallel()
		newWorld(t).inSetup(func(_ context.Context, s *Session) {
			for _, target := range []any{typedWidget{}, (*typedWidget)(nil), nil} {
				err := s.Into(target)
				assert.ErrorContains(t, err, "pass a pointer to its Go type")
				assert.Equal(t, status.ErrorUnknown, request.ClassOf(err))
			}
		})
	})
}
