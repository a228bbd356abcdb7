package temporarypatch_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/smp"
)

// ShopKind is the kind of resource that the examples are about.
var ShopKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}

// Shop renders one ConfigMap.
type Shop struct{}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind { return ShopKind }

// Setup implements reconcile.Controller.
func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("door", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": s.ScopedName("door")},
		"data":     map[string]any{"sign": "open", "colour": "green"},
	})
	return nil
}

// cluster is one in memory with the shop market/tea and a patch of it.
func cluster(patchSpec string) *dryrun.Cluster {
	c, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(
		object(`{apiVersion: example.com/v1, kind: Shop, metadata: {name: tea, namespace: market}}`),
		object(`{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: closed, namespace: market, generation: 1}, spec: {
			apiVersion: example.com/v1, kind: Shop, name: tea, `+patchSpec+`}}`),
	))
	if err != nil {
		fmt.Println(err)
	}
	return c
}

// reconcileBoth reconciles the patch and then the shop.
func reconcileBoth(c *dryrun.Cluster, options ...temporarypatch.Option) {
	manager := must(deploy.NewManager(c))
	quiet := reconcile.Logger(slog.New(slog.DiscardHandler))
	patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(Shop{}), options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	own, err := patches.Reconciler(quiet)
	if err != nil {
		fmt.Println(err)
		return
	}
	shops, err := reconcile.New(Shop{}, manager, quiet, reconcile.WithPatches(patches))
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcileOne(own, "closed")
	reconcileOne(shops, "tea")
	reconcileOne(own, "closed")
}

func reconcileOne(r interface {
	watch.Reconciler
	Kind() schema.GroupVersionKind
}, name string) {
	req := request.Request{Key: deploy.Ref{Kind: r.Kind(), Namespace: "market", Name: name}}
	if _, err := r.Reconcile(context.Background(), req); err != nil {
		fmt.Println("failed:", err)
	}
}

func printDoor(c *dryrun.Cluster) {
	door, err := c.View().Get(context.Background(), deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "market", Name: "tea-door"})
	if err != nil || door == nil {
		fmt.Println("no door", err)
		return
	}
	fmt.Println(door.Object["data"])
}

func Example() {
	c := cluster(`patchType: strategic, patch: {door: {configmap/tea-door: {data: {sign: closed}}, window: {}}}`)
	reconcileBoth(c)
	printDoor(c)
	patch, err := c.View().Get(context.Background(), deploy.Ref{Kind: temporarypatch.DefaultKind, Namespace: "market", Name: "closed"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, field := range []string{"matched", "unmatched"} {
		names, _, err := unstructured.NestedStringSlice(patch.Object, "status", field)
		fmt.Println(field, names, err)
	}
	// Output:
	// map[colour:green sign:closed]
	// matched [door.configmap/tea-door] <nil>
	// unmatched [door.window] <nil>
}

func ExampleNew() {
	c := cluster(`patchType: json, patches: [{component: door, object: configmap/tea-door, patch: [{op: remove, path: /data/colour}]}]`)
	manager := must(deploy.NewManager(c))
	patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(Shop{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	// One value is the controller of the patches and what the shops' reconciler asks for them.
	own, err := patches.Reconciler()
	if err != nil {
		fmt.Println(err)
		return
	}
	shops, err := reconcile.New(Shop{}, manager, reconcile.WithPatches(patches))
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcileOne(own, "closed")
	reconcileOne(shops, "tea")
	printDoor(c)
	// Output: map[sign:open]
}

func ExampleKindsOf() {
	fmt.Println(temporarypatch.KindsOf(Shop{}))
	// Output: [example.com/v1/Shop]
}

func ExampleCRD() {
	crd, err := temporarypatch.CRD()
	if err != nil {
		fmt.Println(err)
		return
	}
	results, err := must(deploy.NewManager(cluster(""))).Apply(context.Background(), []*unstructured.Unstructured{crd})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Ref, results[0].Action)
	// Output: CustomResourceDefinition temporarypatches.operkit.dev created
}

func ExampleAs() {
	kind := schema.GroupVersionKind{Group: "shops.example.com", Version: "v1", Kind: "ShopPatch"}
	crd, err := temporarypatch.CRD(temporarypatch.As(kind))
	if err != nil {
		fmt.Println(err)
		return
	}
	patches, err := temporarypatch.New(must(deploy.NewManager(cluster(""))), temporarypatch.KindsOf(Shop{}), temporarypatch.As(kind))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(crd.GetName())
	fmt.Println(patches.Kind())
	// Output:
	// shoppatches.shops.example.com
	// shops.example.com/v1, Kind=ShopPatch
}

func ExampleAlsoReads() {
	c := cluster(`patchType: strategic, patch: {door: {configmap/tea-door: {data: {sign: closed}}}}`)
	shop := object(`{apiVersion: example.com/v1, kind: Shop, metadata: {name: tea, namespace: market, annotations: {
		oper8.org/temporary-patches: '{"closed": {"timestamp": "2020-01-01T00:00:00.5", "api_version": "oper8.org/v1"}}'}}}`)
	left := object(`{apiVersion: oper8.org/v1, kind: TemporaryPatch, metadata: {name: closed, namespace: market}, spec: {
		apiVersion: example.com/v1, kind: Shop, name: tea, patchType: patchStrategicMerge, patch: {door: {configmap/tea-door: {data: {sign: closed}}}}}}`)
	if _, err := c.Port().Create(context.Background(), left, deploy.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	// The annotations go on being oper8's; new patches are of the operator's own kind.
	manager := must(deploy.NewManager(c, deploy.KeyDomain("oper8.org")))
	patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(Shop{}),
		temporarypatch.As(schema.GroupVersionKind{Group: "shops.example.com", Version: "v1", Kind: "ShopPatch"}),
		temporarypatch.AlsoReads(schema.GroupKind{Group: "oper8.org", Kind: "TemporaryPatch"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := patches.Patches(context.Background(), patching.Target{Resource: shop, View: c.View()})
	fmt.Println(len(found), err)
	// Output: 1 <nil>
}

func ExampleMerge() {
	c := cluster(`patchType: strategic, patch: {door: {configmap/tea-door: {data: {sign: closed}, colour: red}}}`)
	reconcileBoth(c, temporarypatch.Merge(smp.InMode(smp.Strict)))
	// Output:
	// failed: component door: object configmap/tea-door: patch closed: ConfigMap tea-door: /colour: io.k8s.api.core.v1.ConfigMap has no field of this name and type: check both
}

func ExampleClock() {
	c := cluster(`patchType: strategic, expiresAt: "2030-01-01T00:00:00Z", patch: {door: {configmap/tea-door: {data: {sign: closed}}}}`)
	reconcileBoth(c, temporarypatch.Clock(func() time.Time { return time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC) }))
	printDoor(c)
	// Output: map[colour:green sign:open]
}

// Each patch that is left out is a warning.
func ExampleController_Patches_warning() {
	c := cluster(`patchType: strategic, patch: {door: {}}`)
	if err := c.Port().Delete(context.Background(), deploy.Ref{Kind: temporarypatch.DefaultKind, Namespace: "market", Name: "closed"}, deploy.DeleteOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	shop := object(`{apiVersion: example.com/v1, kind: Shop, metadata: {name: tea, namespace: market, annotations: {
		operkit.dev/temporary-patches: '{"closed": {"timestamp": "2030-01-01T00:00:00Z", "api_version": "operkit.dev/v1"}}'}}}`)
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	patches, err := temporarypatch.New(must(deploy.NewManager(c)), temporarypatch.KindsOf(Shop{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := patches.Patches(context.Background(), patching.Target{Resource: shop, View: c.View(), Logger: log})
	fmt.Println(len(found), err)
	// Output:
	// level=WARN msg="temporary patch ignored: it is gone" patch=closed
	// 0 <nil>
}

func ExampleController_Patches() {
	c := cluster(`patchType: strategic, patch: {door: {configmap/tea-door: {data: {sign: closed}}}}`)
	patches, err := temporarypatch.New(must(deploy.NewManager(c)), temporarypatch.KindsOf(Shop{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := object(`{apiVersion: example.com/v1, kind: Shop, metadata: {name: tea, namespace: market, annotations: {
		operkit.dev/temporary-patches: '{"closed": {"timestamp": "2030-01-01T00:00:00Z", "api_version": "operkit.dev/v1"}}'}}}`)
	found, err := patches.Patches(context.Background(), patching.Target{Resource: shop, View: c.View()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, patch := range found {
		patched, matched, err := patch.Apply(context.Background(), "door", "configmap/tea-door", map[string]any{"apiVersion": "v1", "kind": "ConfigMap"})
		fmt.Println(patch.Name(), patched, matched, err)
	}
	// Output: closed map[apiVersion:v1 data:map[sign:closed] kind:ConfigMap] true <nil>
}

func ExampleController_Reconciler() {
	c := cluster(`patchType: strategic, patch: {door: {configmap/tea-door: {data: {sign: closed}}}}`)
	// Another operator's: it patches pubs.
	patches, err := temporarypatch.New(must(deploy.NewManager(c)), []string{"example.com/v1/Pub"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := patches.Reconciler()
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := c.Record()
	reconcileOne(reconciler, "closed")
	fmt.Println("left alone:", len(calls.Calls()) == 0)
	// Output: left alone: true
}

func ExampleTarget() {
	patch := object(`{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: closed, namespace: market}, spec: {
		apiVersion: example.com/v1, kind: Shop, name: tea}}`)
	fmt.Println(temporarypatch.Target(patch))
	// Output: Shop market/tea
}

// A program that makes patches has them as a type.
func ExampleTemporaryPatch() {
	patch := temporarypatch.TemporaryPatch{
		TypeMeta:   metav1.TypeMeta{APIVersion: temporarypatch.DefaultKind.GroupVersion().String(), Kind: temporarypatch.DefaultKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "market", Name: "closed"},
		Spec: temporarypatch.TemporaryPatchSpec{
			APIVersion: "example.com/v1", Kind: "Shop", Name: "tea", PatchType: temporarypatch.Strategic,
			Patches: []temporarypatch.ObjectPatch{{
				Component: "door", Object: "configmap/tea-door", Patch: runtime.RawExtension{Raw: []byte(`{"data":{"sign":"closed"}}`)},
			}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&patch)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(temporarypatch.Target(&unstructured.Unstructured{Object: content}))

	// What a list of them says of each:
	list := temporarypatch.TemporaryPatchList{Items: []temporarypatch.TemporaryPatch{
		{Spec: patch.Spec, Status: temporarypatch.TemporaryPatchStatus{Matched: []string{"door.configmap/tea-door"}}},
	}}
	for _, item := range list.Items {
		fmt.Println(item.Spec.Name, item.Status.Matched)
	}
	// Output:
	// Shop market/tea
	// tea [door.configmap/tea-door]
}

// The controller is one like any other: it keeps an entry on the target, takes it off when the patch goes, and comes back in time
// for the expiry. Reconciler makes of it what an engine runs.
func ExampleController() {
	controller, err := temporarypatch.New(must(deploy.NewManager(cluster(""))), temporarypatch.KindsOf(Shop{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	var (
		_ reconcile.Controller = controller
		_ reconcile.Finalizer  = controller
		_ reconcile.Requeuer   = controller
	)
	fmt.Println(controller.Kind())
	// Output: operkit.dev/v1, Kind=TemporaryPatch
}
