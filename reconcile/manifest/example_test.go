package manifest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shopKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}

func password() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "tea-store"},
		"data": map[string]any{"password": "c2VzYW1l"}, "stringData": map[string]any{"user": "ali"},
	}}
}

func ExampleMask() {
	fmt.Println(manifest.Mask(password()).Object["data"])
	// Output: map[password:KG1hc2tlZCk=]
}

func ExampleEncode() {
	store := manifest.Component{Name: "store", Objects: []*unstructured.Unstructured{password()}}
	if err := manifest.Encode(os.Stdout, store); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ---
	// # store: Secret/tea-store (values masked)
	// apiVersion: v1
	// data:
	//   password: KG1hc2tlZCk=
	// kind: Secret
	// metadata:
	//   name: tea-store
	// stringData:
	//   user: (masked)
}

func ExampleShowSecrets() {
	store := manifest.Component{Name: "store", Objects: []*unstructured.Unstructured{password()}}
	if err := manifest.Encode(os.Stdout, store, manifest.ShowSecrets()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ---
	// # store: Secret/tea-store
	// apiVersion: v1
	// data:
	//   password: c2VzYW1l
	// kind: Secret
	// metadata:
	//   name: tea-store
	// stringData:
	//   user: ali
}

// inDirectory calls f with a directory that is gone afterwards.
func inDirectory(f func(name string) error) {
	name, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(name)
	if err := f(name); err != nil {
		fmt.Println(err)
	}
}

// list prints the files below a directory.
func list(name string) error {
	return filepath.WalkDir(name, func(path string, entry os.DirEntry, err error) error {
		if below, relErr := filepath.Rel(name, path); err == nil && relErr == nil && !entry.IsDir() {
			fmt.Println(filepath.ToSlash(below))
		}
		return err
	})
}

func ExampleOpen() {
	inDirectory(func(name string) error {
		directory, err := manifest.Open(filepath.Join(name, "rendered"))
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(name, "rendered"))
		if err == nil {
			fmt.Println(info.Mode())
		}
		return directory.Close()
	})
	// Output: drwx------
}

func ExampleDirectory_Write() {
	inDirectory(func(name string) error {
		directory, err := manifest.Open(name)
		if err != nil {
			return err
		}
		defer directory.Close()
		tea := deploy.Ref{Kind: shopKind, Namespace: "market", Name: "tea"}
		store := manifest.Component{Name: "store", Objects: []*unstructured.Unstructured{password()}}
		if _, err := directory.Write(tea, []manifest.Component{store}); err != nil {
			return err
		}
		return list(name)
	})
	// Output: example.com.v1.shop/market/tea/store/tea-store.k8s.yaml
}

func ExampleDisabled() {
	inDirectory(func(name string) error {
		directory, err := manifest.Open(name, manifest.Disabled())
		if err != nil {
			return err
		}
		defer directory.Close()
		tea := deploy.Ref{Kind: shopKind, Namespace: "market", Name: "tea"}
		attic := manifest.Component{Name: "attic", Disabled: true, Objects: []*unstructured.Unstructured{password()}}
		if _, err := directory.Write(tea, []manifest.Component{attic}); err != nil {
			return err
		}
		if err := list(name); err != nil {
			return err
		}
		return directory.Remove(tea)
	})
	// Output: example.com.v1.shop/market/tea/DISABLED/attic/tea-attic.k8s.yaml
}

// Shop is a controller of one component.
type Shop struct{}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind { return shopKind }

// Setup implements reconcile.Controller.
func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("store", password())
	return nil
}

// rollOut reconciles the shop market/tea on a cluster in memory.
func rollOut(observe func(*reconcile.Component, deploy.Results)) error {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Shop", "metadata": map[string]any{"name": "tea", "namespace": "market"}}}))
	if err != nil {
		return err
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		return err
	}
	reconciler, err := reconcile.New(Shop{}, manager, reconcile.ObserveComponents(observe))
	if err != nil {
		return err
	}
	key := deploy.Ref{Kind: shopKind, Namespace: "market", Name: "tea"}
	_, err = reconciler.Reconcile(context.Background(), request.Request{Key: key})
	return err
}

func ExampleDirectory_Observe() {
	inDirectory(func(name string) error {
		directory, err := manifest.Open(name)
		if err != nil {
			return err
		}
		defer directory.Close()
		if err := rollOut(directory.Observe); err != nil {
			return err
		}
		return list(name)
	})
	// Output: example.com.v1.shop/market/tea/store/tea-store.k8s.yaml
}

func ExampleOf() {
	err := rollOut(func(c *reconcile.Component, results deploy.Results) {
		store := manifest.Of(c, results)
		fmt.Println(store.Name, store.Objects[0].GetNamespace(), store.HasSecrets())
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: store market true
}
