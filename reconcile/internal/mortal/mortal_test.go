package mortal_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestKilled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		after  bool
	}{
		{"a write that doesn't arrive", false},
		{"a write whose answer is lost", true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			memory, err := dryrun.New(dryrun.AnyKind())
			require.NoError(t, err)
			create := func(c deploy.Cluster, name string) error {
				_, err := c.Port().Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "default"},
				}}, deploy.CreateOptions{})
				return err
			}
			c := &mortal.Cluster{At: 2, After: row.after}
			c.Connect(memory)
			require.NoError(t, create(c, "first"))
			assert.PanicsWithValue(t, mortal.ErrKilled, func() { _ = create(c, "second") })
			assert.PanicsWithValue(t, mortal.ErrKilled, func() { _ = create(c, "third") }, "a dead process writes nothing")
			assert.True(t, c.Dead())
			assert.Equal(t, 2, c.Writes())
			killed := c.Port()
			c.Connect(memory)
			require.NoError(t, create(c, "fourth"))
			assert.Equal(t, 3, c.Writes())
			assert.PanicsWithValue(t, mortal.ErrKilled, func() {
				_ = killed.Delete(t.Context(), deploy.Ref{}, deploy.DeleteOptions{})
			}, "what is left of it stays dead")
			err = create(memory, "second")
			assert.Equal(t, row.after, err != nil, "%v", err)
			require.NoError(t, create(memory, "third"))
		})
	}
}
