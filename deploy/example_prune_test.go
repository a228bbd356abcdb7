package deploy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// folderSet is the set whose parent is the Secret shop/folder.
var folderSet = deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "folder"}}

// A file was removed from the folder: its objects are deleted, and nothing else.
func ExampleManager_ApplySet() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(newConfigMap("foreign", "hello"))))
	show := func(objects ...*unstructured.Unstructured) {
		results, err := m.ApplySet(ctx, folderSet, objects)
		for _, result := range results.Applied {
			fmt.Println(result.Ref, result.Action)
		}
		for _, member := range results.Pruned {
			fmt.Println(member.Ref, member.Action, "because", member.Reason)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	show(newConfigMap("web", "hello"), newConfigMap("db", "hello"))
	show(newConfigMap("web", "hello"))
	show()
	// Output:
	// ConfigMap shop/web created
	// ConfigMap shop/db created
	// ConfigMap shop/web unchanged
	// ConfigMap shop/db deleted because it is in the set and not among its objects any more
	// ApplySet of Secret shop/folder: the set is empty, so all its members would be deleted: set ApplySet.PruneAll to allow this
}

func ExampleApplySet_ID() {
	fmt.Println(folderSet.ID())
	// Output: applyset-Mtwf_pfFYCgyqCJu7zCmMSChKVY80pnqKYr4qrS06fo-v1
}

func ExampleManager_PruneCandidates() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory()))
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "disk", "namespace": "shop"},
	}}
	if _, err := m.ApplySet(ctx, folderSet, []*unstructured.Unstructured{newConfigMap("web", ""), newConfigMap("db", ""), claim}); err != nil {
		log.Fatal(err)
	}
	found, err := m.PruneCandidates(ctx, folderSet, []*unstructured.Unstructured{newConfigMap("web", "")})
	if err != nil {
		log.Fatal(err)
	}
	for _, member := range found {
		fmt.Printf("%s would be %s: %s\n", member.Ref, member.Action, member.Reason)
	}
	// Output:
	// ConfigMap shop/db would be deleted: it is in the set and not among its objects any more
	// PersistentVolumeClaim shop/disk would be skipped: objects of kind PersistentVolumeClaim are kept unless ApplySet.Deletable names it
}

func ExampleSetResults_Changed() {
	m := must(deploy.NewManager(newMemory()))
	for range 2 {
		results, err := m.ApplySet(context.Background(), folderSet, []*unstructured.Unstructured{newConfigMap("web", "hello")})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results.Changed())
	}
	// Output:
	// true
	// false
}
