package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy/deploytest"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/require"
)

// The cluster in memory keeps the contract of a cluster: the cases that deploy/cluster passes on a real
// API server.
func TestConformance(t *testing.T) {
	t.Parallel()
	deploytest.Run(t, func(t *testing.T) deploytest.World {
		cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.CollectUnknownOwners())
		require.NoError(t, err)
		return deploytest.World{
			Cluster:   cluster.Selected(deploytest.SelectedKind, deploytest.Selector(), nil),
			Namespace: "shop", Others: cluster, Selects: true,
		}
	})
}
