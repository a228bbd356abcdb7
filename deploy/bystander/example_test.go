package bystander_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// exampleT takes the place of the *testing.T of a test.
type exampleT struct{}

func (exampleT) Helper()                           {}
func (exampleT) Context() context.Context          { return context.Background() }
func (exampleT) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func exampleCluster() *dryrun.Cluster {
	memory, err := dryrun.New(dryrun.Namespaces("shop"))
	if err != nil {
		log.Fatal(err)
	}
	return memory
}

// A bystander creates the resource of an operator, edits it, waits and deletes it.
func ExampleNew() {
	memory := exampleCluster()
	somebody := bystander.New(exampleT{}, memory, "shop", "somebody")
	somebody.CreateYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: world}}")
	somebody.Merge(configMaps, "world", `{"data":{"greeting":"hello"}}`) // an operator may do this
	somebody.Eventually("the world is greeted", func() bool {
		greeting, _, _ := unstructured.NestedString(somebody.Get(configMaps, "world").Object, "data", "greeting")
		return greeting == "hello"
	})
	somebody.Delete(configMaps, "world")
	fmt.Println(somebody.Get(configMaps, "world") == nil, len(somebody.List(configMaps)))
	// Output: true 0
}

// Create objects from a file and from a value.
func ExampleBystander_CreateFile() {
	somebody := bystander.New(exampleT{}, exampleCluster(), "shop", "somebody")
	made := somebody.CreateFile("testdata/settings.yaml")
	fmt.Println(deploy.RefOf(made), made.Object["data"])

	copied := &unstructured.Unstructured{Object: map[string]any{"data": made.Object["data"]}}
	copied.SetGroupVersionKind(configMaps)
	copied.SetName("copied")
	fmt.Println(deploy.RefOf(somebody.Create(copied)))
	// Output:
	// ConfigMap shop/settings map[greeting:hello]
	// ConfigMap shop/copied
}

// The bystander owns the fields that it applies; other fields are left alone.
func ExampleBystander_Apply() {
	memory := exampleCluster()
	bystander.New(exampleT{}, memory, "shop", "somebody").CreateFile("testdata/settings.yaml")
	intent := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"farewell": "goodbye"}}}
	intent.SetGroupVersionKind(configMaps)
	intent.SetName("settings")
	applied := bystander.New(exampleT{}, memory, "shop", "else").Apply(intent)
	fmt.Println(applied.Object["data"])
	// Output: map[farewell:goodbye greeting:hello]
}

// The status is a subresource.
func ExampleBystander_MergeSubresource() {
	somebody := bystander.New(exampleT{}, exampleCluster(), "shop", "somebody")
	somebody.CreateYAML("{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: nginx}]}}")
	pods := somebody.List(configMaps.GroupVersion().WithKind("Pod"))
	somebody.MergeSubresource(pods[0].GroupVersionKind(), "web", "status", `{"status":{"phase":"Running"}}`)
	fmt.Println(somebody.Get(pods[0].GroupVersionKind(), "web").Object["status"])
	// Output: map[phase:Running]
}

// Within allows more time.
func ExampleBystander_Within() {
	begun := time.Now()
	bystander.New(exampleT{}, exampleCluster(), "shop", "somebody").Within(4*time.Minute).Eventually("a moment has passed", func() bool {
		return time.Since(begun) > 10*time.Millisecond
	})
	fmt.Println(time.Since(begun) < bystander.Patience)
	// Output: true
}
