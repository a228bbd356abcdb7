package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ExampleManager_Get() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello"))))
	for _, name := range []string{"web", "absent"} {
		obj, err := m.Get(context.Background(), deploy.RefOf(newConfigMap(name, "")))
		fmt.Println(obj != nil, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

func ExampleManager_List() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello"), newConfigMap("db", "hello"))))
	objects, err := m.List(context.Background(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "shop", labels.Everything())
	if err != nil {
		log.Fatal(err)
	}
	for _, obj := range objects {
		fmt.Println(deploy.RefOf(obj))
	}
	// Output:
	// ConfigMap shop/db
	// ConfigMap shop/web
}

func ExampleManager_Watch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello"), newConfigMap("db", "hello"))))
	subscription, err := m.Watch(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, deploy.WatchScope{Name: "web"}, func(event deploy.Event) {
		fmt.Println(event.Type, deploy.RefOf(event.New))
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := subscription.Synced(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: ADDED ConfigMap shop/web
}

func ExampleManager_Kind() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello"))))
	kind, err := m.Kind(context.Background(), "ConfigMap")
	fmt.Println(kind, err)
	// Output: /v1, Kind=ConfigMap <nil>
}

func ExampleForbiddenError_MissingRight() {
	err := &deploy.ForbiddenError{Verb: "patch", Err: errors.New(`exceeded quota: pods`)}
	fmt.Println(err.MissingRight())
	// Output: false
}
