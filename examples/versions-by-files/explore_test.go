package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// twoReleases has the files of 1.0.0, and those of 1.1.0 for every other version that a resource names.
type twoReleases struct{}

// Open implements reconcile.Assets.
func (twoReleases) Open(_ context.Context, s *reconcile.Session) (fs.FS, func(), error) {
	folder := "1.1.0"
	if s.Version() == "1.0.0" {
		folder = s.Version()
	}
	return os.DirFS(folder), func() {}, nil
}

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them. Nothing is
// ignored. An edit of the version is an upgrade, and the edit undone is a downgrade.
func TestExplore(t *testing.T) {
	explore.Run(t, func() Kiosk { return Kiosk{} }, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default"), reconciletest.With(reconcile.WithAssets(twoReleases{}))),
		explore.Eventually("a Service selects the Pods", selects), explore.States(500))
}

// selects compares the Service, if there is one, with the Deployment.
func selects(s explore.State) error {
	service, deployment := s.Object("Service corner"), s.Object("Deployment corner")
	if service == nil || deployment == nil {
		return nil
	}
	selected, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	pods, _, _ := unstructured.NestedStringMap(deployment.Object, "spec", "template", "metadata", "labels")
	if !maps.Equal(selected, pods) {
		return fmt.Errorf("the Service selects %v, but the Pods have the labels %v", selected, pods)
	}
	return nil
}
