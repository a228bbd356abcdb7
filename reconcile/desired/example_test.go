package desired_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	catSets    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "CatSet"}
	pods       = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	catHouses  = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "CatHouse"}
	services   = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	accounts   = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	claims     = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
)

// CatSet is a set of cats, each a Pod.
type CatSet struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Cats  int    `json:"cats"`
		Image string `json:"image"`
	} `json:"spec"`
}

// CatSetStatus is the status of a CatSet.
type CatSetStatus struct {
	Cats int `json:"cats"`
}

// cats computes the Pods of a CatSet.
type cats struct{}

// Sync implements desired.Syncer.
func (cats) Sync(r desired.Request[CatSet]) (response desired.Response, err error) {
	response.Status = CatSetStatus{Cats: len(r.Children.Of(pods))}
	for i := range r.Parent.Spec.Cats {
		response.Children = append(response.Children, map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": fmt.Sprintf("%s-%d", r.Parent.Metadata.Name, i)},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "cat", "image": r.Parent.Spec.Image}}},
		})
	}
	return response, nil
}

func catSet(name string, number int, image string) *unstructured.Unstructured {
	set := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cats": int64(number), "image": image}}}
	set.SetGroupVersionKind(catSets)
	set.SetName(name)
	return set
}

// console is a T that prints, for the examples: a test has its *testing.T.
type console struct{ testing.TB }

func (console) Helper()                  {}
func (console) Context() context.Context { return context.Background() }
func (console) Cleanup(func())           {}
func (console) Failed() bool             { return false }
func (console) Logf(string, ...any)      {}

func (console) Errorf(format string, args ...any) { fmt.Printf("FAIL: "+format+"\n", args...) }
func (console) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// A set of two cats gets a new image: one cat is replaced after the other.
func Example() {
	h := reconciletest.Drive(console{}, desired.New(catSets, cats{}, desired.Child(pods, desired.RollingRecreate)))
	h.Apply(catSet("tom", 2, "cat:1"))
	h.RunUntilSettled()
	h.Created("Pod tom-0", "Pod tom-1")
	h.Edit("CatSet tom", func(set *unstructured.Unstructured) { set.Object["spec"].(map[string]any)["image"] = "cat:2" })
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		if call.Write() {
			fmt.Println(call)
		}
	}
	// Output:
	// deleted Pod test/tom-0
	// created Pod test/tom-0
	// configured CatSet test/tom status
	// deleted Pod test/tom-1
	// created Pod test/tom-1
}

// A Sync is a function without side effects: a test calls it.
func ExampleCollect() {
	set := &CatSet{}
	set.Metadata.Name, set.Spec.Cats = "tom", 1
	cat := &unstructured.Unstructured{}
	cat.SetGroupVersionKind(pods)
	cat.SetName("tom-0")
	response, err := cats{}.Sync(desired.Request[CatSet]{Parent: set, Children: desired.Collect(cat)})
	fmt.Println(len(response.Children), response.Status, err)
	// Output: 1 {1} <nil>
}
