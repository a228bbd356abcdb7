package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/deploytest"
	"github.com/operkit/operkit/tools/envtest"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A real API server keeps the contract of a cluster: the cases that deploy/dryrun passes in memory.
func TestConformance(t *testing.T) {
	t.Parallel()
	conforms(t)
}

// So it does where kinds are held as metadata only.
func TestConformanceByMetadata(t *testing.T) {
	t.Parallel()
	conforms(t, cluster.MetadataOnly(
		schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Group: "apps", Kind: "Deployment"},
		schema.GroupKind{Group: "deploytest.operkit.dev", Kind: "Widget"},
	))
}

func conforms(t *testing.T, options ...cluster.Option) {
	t.Helper()
	deploytest.Run(t, func(t *testing.T) deploytest.World {
		env := envtest.Start(t)
		return deploytest.World{
			Cluster:   newCluster(t, env.Config, append([]cluster.Option{cluster.Namespaces(env.Namespace)}, options...)...),
			Namespace: env.Namespace,
			Others:    newCluster(t, env.Admin),
		}
	})
}
