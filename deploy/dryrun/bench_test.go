package dryrun_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func benchObjects(b *testing.B, n int) []*unstructured.Unstructured {
	b.Helper()
	objects := make([]*unstructured.Unstructured, n)
	for i := range objects {
		objects[i] = object(b, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%d, namespace: shop, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.invalid/web:1", ports: [{containerPort: 80}]}]}}`, i))
	}
	return objects
}

// BenchmarkApply applies sets of new objects: the cost of one doesn't hang on how many there are.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("new=%d", n), func(b *testing.B) {
			objects := benchObjects(b, n)
			b.ReportAllocs()
			for b.Loop() {
				manager, err := deploy.NewManager(newCluster(b))
				require.NoError(b, err)
				_, err = manager.Apply(b.Context(), objects)
				require.NoError(b, err)
			}
		})
	}
	b.Run("same=1000", func(b *testing.B) {
		objects := benchObjects(b, 1_000)
		m, err := deploy.NewManager(newCluster(b))
		require.NoError(b, err)
		_, err = m.Apply(b.Context(), objects)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			_, err = m.Apply(b.Context(), objects)
			require.NoError(b, err)
		}
	})
}
