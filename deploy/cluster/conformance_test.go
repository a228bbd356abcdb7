package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/deploytest"
	"github.com/operkit/operkit/tools/envtest"
)

// A real API server keeps the contract of a cluster: the cases that deploy/dryrun passes in memory.
func TestConformance(t *testing.T) {
	t.Parallel()
	deploytest.Run(t, func(t *testing.T) deploytest.World {
		env := envtest.Start(t)
		return deploytest.World{
			Cluster:   newCluster(t, env.Config, cluster.Namespaces(env.Namespace)),
			Namespace: env.Namespace,
			Others:    newCluster(t, env.Admin),
		}
	})
}
