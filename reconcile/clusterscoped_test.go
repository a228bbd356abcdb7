package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	regions  = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Region"}
	northRef = deploy.Ref{Kind: regions, Name: "north"}
)

// country is a cluster in memory with the region north, which is in no namespace; what it has without one is in
// "platform".
type country struct {
	*recorder
	*Reconciler
	t *testing.T
}

// national is a controller of regions.
type national struct{ controller }

func (*national) Kind() schema.GroupVersionKind { return regions }

func newCountry(t *testing.T, setup func(ctx context.Context, s *Session) error, manager ...deploy.Option) *country {
	t.Helper()
	north := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Region", "metadata": map[string]any{"name": "north", "uid": "uid-of-north"},
	}}
	memory, err := dryrun.New(dryrun.Schemaless(), dryrun.AnyKind(regions.GroupKind()), dryrun.Objects(north))
	require.NoError(t, err)
	calls := &recorder{memory: memory}
	r, err := New(&national{controller{setup}}, must(deploy.NewManager(calls, append([]deploy.Option{deploy.DefaultNamespace("platform")}, manager...)...)),
		StartAfter(0), Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	return &country{calls, r, t}
}

// once reconciles the region and returns the calls that it took.
func (c *country) once() ([]string, error) {
	c.recorder.forget()
	_, err := c.Reconcile(c.t.Context(), request.Request{Key: deploy.Ref{Kind: regions, Name: "north"}})
	return c.made(), err
}

func (c *country) calm() []string {
	c.t.Helper()
	calls, err := c.once()
	require.NoError(c.t, err)
	return calls
}

// What a cluster-scoped resource has without a namespace is looked for where it is.
func TestClusterScopedResources(t *testing.T) {
	t.Parallel()
	const writeNorth = "patch Region north/status"
	t.Run("reconcile mistake 28: what is rendered stays, the rest is pruned", func(t *testing.T) {
		t.Parallel()
		names := []string{"a", "b"}
		c := newCountry(t, func(_ context.Context, s *Session) error {
			all := s.Add("c", clusterRole("r"))
			for _, name := range names {
				all.Add(name, configMap(name))
			}
			return nil
		})
		assert.Equal(t, []string{"apply ClusterRole r", "apply ConfigMap platform/a", "apply ConfigMap platform/b", writeNorth}, c.calm())
		for range 2 {
			assert.Empty(t, c.calm())
		}
		north, err := c.recorder.memory.View().Get(t.Context(), northRef)
		require.NoError(t, err)
		plan, err := c.Plan(t.Context(), north)
		require.NoError(t, err)
		assert.Empty(t, plan.Pruned)
		names = names[:1]
		assert.Equal(t, []string{"delete ConfigMap platform/b"}, c.calm())
	})
	t.Run("with the namespace and without it is one object", func(t *testing.T) {
		t.Parallel()
		c := newCountry(t, func(_ context.Context, s *Session) error {
			named := configMap("a")
			named.SetNamespace("platform")
			s.Add("c", configMap("a"))
			s.Add("d", named)
			return nil
		})
		_, err := c.once()
		assert.EqualError(t, err, "component d: ConfigMap platform/a is in component c already: remove it from one of them")
	})
	t.Run("a generated value is read back", func(t *testing.T) {
		t.Parallel()
		made := 0
		c := newCountry(t, func(ctx context.Context, s *Session) error {
			value, err := s.Generated(ctx, "db", "password", func() (string, error) {
				made++
				return fmt.Sprint("password", made), nil
			})
			s.Add("db", map[string]any{
				"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "db"}, "stringData": map[string]any{"password": value},
			})
			return err
		})
		assert.Equal(t, []string{"apply Secret platform/db", writeNorth}, c.calm())
		assert.Empty(t, c.calm())
		assert.Equal(t, 1, made)
	})
	t.Run("a generated value needs a namespace to be read back from", func(t *testing.T) {
		t.Parallel()
		c := newCountry(t, func(ctx context.Context, s *Session) error {
			_, err := s.Generated(ctx, "db", "password", func() (string, error) { return "new each time", nil })
			return err
		}, deploy.DefaultNamespace(""))
		_, err := c.once()
		assert.EqualError(t, err, "setup: Secret db: generate password: a cluster-scoped resource needs a namespace for it: give the manager a default one (deploy.DefaultNamespace)")
	})
	t.Run("its configuration is in that namespace", func(t *testing.T) {
		t.Parallel()
		var config any
		c := newCountry(t, func(_ context.Context, s *Session) error {
			config = s.Config()
			return nil
		})
		for _, edit := range []*unstructured.Unstructured{
			{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "ours", "namespace": "platform"},
				"data": map[string]any{"size": "3"}}},
			{Object: map[string]any{"apiVersion": "example.dev/v1", "kind": "Region", "metadata": map[string]any{"name": "north",
				"annotations": map[string]any{"operkit.dev/config-defaults": "ours"}}}},
		} {
			_, err := c.recorder.memory.Port().Apply(t.Context(), edit, deploy.ApplyOptions{FieldManager: "somebody"})
			require.NoError(t, err)
		}
		c.calm()
		assert.Equal(t, map[string]any{"size": int64(3)}, config)
	})
}
