package reconcile_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Shop controls the shops of a market: a store, and a door that opens once the store is ready.
type Shop struct{}

// ShopKind is the kind of the custom resource.
var ShopKind = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind { return ShopKind }

// Setup implements reconcile.Controller.
func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
	var shop struct {
		Spec struct {
			Sign string `json:"sign"`
		} `json:"spec"`
	}
	if err := s.Into(&shop); err != nil {
		return err
	}
	store := s.Add("store", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": s.ScopedName("store")},
		"spec":     map[string]any{"replicas": 1},
	})
	door := s.Add("door", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": s.ScopedName("door")},
		"data":     map[string]any{"sign": shop.Spec.Sign},
	})
	door.After(store, reconcile.Ready)
	return nil
}

// A whole rollout on a cluster in memory: the store first, the door once the store is ready,
// and then nothing more.
func Example() {
	ctx := context.Background()
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop()))
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(Shop{}, manager)
	if err != nil {
		fmt.Println(err)
		return
	}
	req := request.Request{Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}}
	for _, step := range []string{"created", "store is ready"} {
		if step == "store is ready" {
			makeReady(cluster, "tea-store")
		}
		result, err := reconciler.Reconcile(ctx, req)
		var names []string
		for _, obj := range cluster.Objects() {
			names = append(names, obj.GetKind()+" "+obj.GetName())
		}
		ready := status.Conditions(cluster.Objects()[0]).IsTrue(status.ConditionReady)
		fmt.Println(step+": ready", ready, "again after", result.RequeueAfter, err)
		fmt.Println(" ", strings.Join(names, ", "))
	}
	// Output:
	// created: ready false again after 1m0s <nil>
	//   Shop tea, Deployment tea-store
	// store is ready: ready true again after 10m0s <nil>
	//   Shop tea, Deployment tea-store, ConfigMap tea-door
}

// shop is a custom resource as somebody has created it.
func shop() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Shop",
		"metadata": map[string]any{"name": "tea", "namespace": "market"},
		"spec":     map[string]any{"sign": "open"},
	}}
}

// makeReady does what the controllers of a real cluster do.
func makeReady(cluster *dryrun.Cluster, name string) {
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "market", Name: name}
	_, err := cluster.Port().Patch(context.Background(), ref, deploy.PatchRequest{
		Type: "application/merge-patch+json", Subresource: "status", FieldManager: "kubelet",
		Body: []byte(`{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,
			"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`),
	})
	if err != nil {
		fmt.Println(err)
	}
}

// show prints what is in the cluster, and what its resources say of themselves.
func show(cluster *dryrun.Cluster) {
	for _, obj := range cluster.Objects() {
		line := "  " + obj.GetKind() + " " + obj.GetName()
		if updating, ok := status.Conditions(obj).Get(status.ConditionUpdating); ok {
			line += ": Updating " + updating.Reason + ", " + updating.Message
		}
		fmt.Println(line)
	}
}

// must returns a value that can't fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
