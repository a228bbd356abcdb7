package jobs_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A controller that migrates once for each version, before the program of that version starts.
func ExampleOnce() {
	const migration = `
apiVersion: batch/v1
kind: Job
spec:
  activeDeadlineSeconds: 600
  template: {spec: {containers: [{name: migrate, image: shop, args: [migrate]}]}}`
	controller := reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		migrate := s.Use("migrate", jobs.Once(s.Version(), reconcile.YAML(migration)))
		s.Add("web", reconcile.YAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")).After(migrate, reconcile.Ready)
		return nil
	})
	reconciler, cluster, tea, err := started(controller)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.RefOf(tea)}); err != nil {
			fmt.Println(err)
			return
		}
		for _, obj := range cluster.Objects() {
			switch obj.GetKind() {
			case "Job":
				fmt.Println("Job", obj.GetName(), obj.GetLabels()[deploy.Domain+"/"+jobs.ValueLabel])
				finish(cluster, obj)
			case "ConfigMap":
				fmt.Println("ConfigMap", obj.GetName())
			}
		}
	}
	// Output:
	// Job tea-migrate-fc11b6d702 1.2
	// Job tea-migrate-fc11b6d702 1.2
	// ConfigMap web
}

// A migration that can be interrupted, and that may print secrets.
func ExampleReplace() {
	options := []jobs.Option{jobs.Replace(), jobs.WithoutOutput()}
	version := "1"
	controller := reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		s.Use("migrate", jobs.Once(version, jobs.Make(func(context.Context, *reconcile.Component) (any, error) {
			return migration(fields{"backoffLimit": int64(0)}), nil
		}), options...))
		return nil
	})
	reconciler, cluster, tea, err := started(controller)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, version = range []string{"1", "2", "2"} {
		if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.RefOf(tea)}); err != nil {
			fmt.Println(err)
			return
		}
		for _, obj := range cluster.Objects() {
			if obj.GetKind() == "Job" {
				fmt.Println("version", version, "wanted, runs:", obj.GetLabels()["operkit.dev/once-value"])
			}
		}
	}
	// Output:
	// version 1 wanted, runs: 1
	// version 2 wanted, runs: 2
}

// started returns a reconciler in a cluster with a shop.
func started(controller reconcile.Controller) (*reconcile.Reconciler, *dryrun.Cluster, *unstructured.Unstructured, error) {
	tea := newTea("1.2")
	tea.SetNamespace("default")
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
	if err != nil {
		return nil, nil, nil, err
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		return nil, nil, nil, err
	}
	reconciler, err := reconcile.New(controller, manager)
	return reconciler, cluster, tea, err
}

// finish completes a Job, as the cluster does when its Pod has succeeded.
func finish(cluster *dryrun.Cluster, job *unstructured.Unstructured) {
	_, err := cluster.Port().Patch(context.Background(), deploy.RefOf(job), deploy.PatchRequest{Type: types.MergePatchType, Subresource: "status",
		FieldManager: "cluster", Body: []byte(`{"status": {"startTime": "2030-01-01T00:00:00Z", "conditions": [{"type": "Complete", "status": "True"}]}}`)})
	if err != nil {
		fmt.Println(err)
	}
}
