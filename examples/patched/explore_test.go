package main

import (
	"os"
	"testing"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them, with a
// temporary patch that is there from the beginning. Nothing is ignored.
func TestExplore(t *testing.T) {
	content, err := os.ReadFile("config/patch.yaml")
	require.NoError(t, err)
	patch := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(content, &patch.Object))
	explore.Run(t, func() Cache { return Cache{} }, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default"), reconciletest.With(reconcile.NameObjects()),
			reconciletest.TemporaryPatches(), reconciletest.Memory(dryrun.Objects(patch))),
		explore.States(800))
}
