package metacontroller

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read returns a definition of the controller of Pods, as kubectl prints it.
func read(t *testing.T, name string) *definition.Controller {
	t.Helper()
	found, err := definition.Read(fmt.Appendf(nil, `{apiVersion: metacontroller.k8s.io/v1alpha1, kind: CompositeController, metadata: {name: %s, uid: %[1]s},
		spec: {parentResource: {apiVersion: v1, resource: pods}, hooks: {sync: {webhook: {url: "http://a/sync"}}}}}`, name))
	require.NoError(t, err)
	return found[0]
}

func refOf(name string) deploy.Ref {
	return deploy.Ref{Kind: definition.GroupVersion.WithKind(string(definition.Composite)), Name: name}
}

func TestPut(t *testing.T) {
	t.Parallel()
	t.Run("hooks 12: one that a file defines, too, which was written from the cluster", func(t *testing.T) {
		t.Parallel()
		c := Controllers{files: []*definition.Controller{read(t, "a")}}
		require.EqualError(t, c.put(refOf("a"), read(t, "a")), "CompositeController a: a file defines it, too: remove one of the definitions")
		assert.Equal(t, []string{"a"}, c.Names())
	})
	t.Run("hooks 12: of two that come at once with the same parents one counts", func(t *testing.T) {
		t.Parallel()
		var c Controllers
		var all sync.WaitGroup
		var refused atomic.Int32
		for i := range 8 {
			one := read(t, fmt.Sprint("a", i))
			all.Go(func() {
				if c.put(refOf(one.Object.GetName()), one) != nil {
					refused.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 7, refused.Load())
		require.Len(t, c.Names(), 1)
		name := c.Names()[0]
		require.NoError(t, c.put(refOf(name), read(t, name)), "the same one again")
		c.remove(refOf(name))
		require.NoError(t, c.put(refOf("b"), read(t, "b")), "another one, once it is gone")
	})
}
