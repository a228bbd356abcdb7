package deploy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func printChanges(results deploy.Results) {
	for _, result := range results {
		fmt.Println(result.Ref, result.Action)
	}
}

// readFolder reads the objects in the YAML and JSON files of a folder.
func readFolder(name string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(name, "*"))
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			var document runtime.RawExtension
			if err := documents.Decode(&document); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			obj := &unstructured.Unstructured{}
			if err := obj.UnmarshalJSON(document.Raw); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			objects = append(objects, obj)
		}
	}
	return objects, nil
}

func newShop() *dryrun.Cluster {
	memory, err := dryrun.New(dryrun.Namespaces("shop"))
	if err != nil {
		log.Fatal(err)
	}
	return memory
}

// Apply the objects of a folder, twice.
func Example_applyAFolder() {
	ctx, shop := context.Background(), newShop()
	m, err := deploy.NewManager(shop, deploy.FieldManager("greeter"), deploy.DefaultNamespace("shop"))
	if err != nil {
		log.Fatal(err)
	}
	objects, err := readFolder("testdata/greeter")
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		results, err := m.Apply(ctx, objects)
		if err != nil {
			log.Fatal(err)
		}
		printChanges(results) // the second time no request is sent
	}
	// Output:
	// Service shop/greeter created
	// ConfigMap shop/texts created
	// Deployment shop/greeter created
	// Service shop/greeter unchanged
	// ConfigMap shop/texts unchanged
	// Deployment shop/greeter unchanged
}

// Changes by others are reverted as soon as they are seen.
func Example_keepItApplied() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	shop := newShop()
	objects := []*unstructured.Unstructured{newConfigMap("web", "hello"), newConfigMap("db", "hello")}
	m := must(deploy.NewManager(shop))

	edited, changed := false, make(chan struct{}, 1)
	changed <- struct{}{} // the first time nothing has to happen before
	_, err := m.View().Subscribe(ctx, deploy.RefOf(objects[0]).Kind, func(deploy.Event) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	for range changed {
		results, err := m.Apply(ctx, objects)
		if err != nil {
			log.Print(err) // a person has to resolve conflicts and refusals; all other objects are applied
		}
		for _, result := range results {
			if result.Changed() {
				fmt.Println(result.Ref, result.Action, result.Changes)
			}
		}
		switch {
		case !results.Changed() && !edited:
			somebodyEdits(shop.Port(), "go away")
			edited = true
		case results.Changed() && edited:
			cancel()
			return
		}
	}
	// Output:
	// ConfigMap shop/web created []
	// ConfigMap shop/db created []
	// ConfigMap shop/web configured [.data.greeting: "go away" -> "hello"]
}

// Objects that have left the folder since the last run are deleted, and nothing else.
func Example_prune() {
	ctx, m := context.Background(), must(deploy.NewManager(newShop()))
	web, db := newConfigMap("web", "hello"), newConfigMap("db", "hello")

	folder := deploy.ApplySet{Parent: deploy.Ref{Namespace: "shop", Name: "folder"}} // a Secret
	for _, objects := range [][]*unstructured.Unstructured{{web, db}, {web}} {
		results, err := m.ApplySet(ctx, folder, objects)
		if err != nil {
			log.Fatal(err)
		}
		printChanges(results.Applied)
		for _, member := range results.Pruned {
			fmt.Println(member.Ref, member.Action)
		}
	}
	// Output:
	// ConfigMap shop/web created
	// ConfigMap shop/db created
	// ConfigMap shop/web unchanged
	// ConfigMap shop/db deleted
}
