package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func ExampleInvalidManifestError() {
	_, err := must(deploy.NewManager(newMemory())).Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("", "hello")})
	var invalid *deploy.InvalidManifestError
	fmt.Println(errors.As(err, &invalid), invalid.Reason)
	// Output: true metadata.name is missing
}

func ExampleKindUnknownError() {
	memory, err := dryrun.New() // serves built-in kinds
	if err != nil {
		log.Fatal(err)
	}
	_, err = must(deploy.NewManager(memory)).Apply(context.Background(), []*unstructured.Unstructured{newOwner("cart")})
	var unknown *deploy.KindUnknownError
	fmt.Println(errors.As(err, &unknown), unknown.Kind)
	// Output: true shop.example.com/v1, Kind=Cart
}

func ExampleAmbiguousKindError() {
	memory, err := dryrun.New()
	if err != nil {
		log.Fatal(err)
	}
	_, err = must(deploy.NewManager(memory)).Kind(context.Background(), "Event")
	var ambiguous *deploy.AmbiguousKindError
	fmt.Println(errors.As(err, &ambiguous), ambiguous.Candidates)
	// Output: true [/v1, Kind=Event events.k8s.io/v1, Kind=Event]
}

func ExampleConflictError() {
	memory := newMemory()
	m := must(deploy.NewManager(memory, deploy.Conflicts(deploy.Fail)))
	objects := []*unstructured.Unstructured{newConfigMap("web", "hello")}
	if _, err := m.Apply(context.Background(), objects); err != nil {
		log.Fatal(err)
	}
	somebodyEdits(memory.Port(), "go away")
	_, err := m.Apply(context.Background(), objects)
	var conflict *deploy.ConflictError
	if errors.As(err, &conflict) {
		for _, field := range conflict.Fields {
			fmt.Println(conflict.Ref, field.Field, "is held by", field.Manager)
		}
	}
	// Output: ConfigMap shop/web .data.greeting is held by kubectl
}

func ExampleInvalidError() {
	memory, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		log.Fatal(err)
	}
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": "eighty"}}},
	}}
	_, err = must(deploy.NewManager(memory)).Apply(context.Background(), []*unstructured.Unstructured{service})
	var invalid *deploy.InvalidError
	if errors.As(err, &invalid) {
		for _, cause := range invalid.Causes {
			fmt.Println(cause.Field, cause.Message)
		}
	}
	// Output: spec.ports[port="eighty",protocol="TCP"].port expected numeric (int or float), got string
}

func ExampleUnavailableError() {
	memory := newMemory()
	if err := memory.Fail(dryrun.Fault{Code: 429, RetryAfter: time.Minute}); err != nil {
		log.Fatal(err)
	}
	_, err := must(deploy.NewManager(memory, deploy.RetryFor(0))).Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
	var unavailable *deploy.UnavailableError
	fmt.Println(errors.As(err, &unavailable), unavailable.RetryAfter)
	// Output: true 1m0s
}

func ExampleTerminatingError() {
	ctx := context.Background()
	held := newConfigMap("web", "hello")
	held.SetFinalizers([]string{"example.com/backup"})
	m := must(deploy.NewManager(newMemory(held), deploy.EvenForeign()))
	if _, err := m.Delete(ctx, []*unstructured.Unstructured{held}); err != nil {
		log.Fatal(err)
	}
	_, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", "hello")})
	var terminating *deploy.TerminatingError
	fmt.Println(errors.As(err, &terminating), terminating.Finalizers)
	// Output: true [example.com/backup]
}

func ExampleTimeoutError() {
	held := newConfigMap("web", "hello")
	held.SetFinalizers([]string{"example.com/backup"})
	m := must(deploy.NewManager(newMemory(held), deploy.EvenForeign()))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := m.Delete(ctx, []*unstructured.Unstructured{held}, deploy.UntilGone())
	var timeout *deploy.TimeoutError
	fmt.Println(errors.As(err, &timeout), timeout.Reason)
	// Output: true it is being deleted and waits for the finalizers example.com/backup
}

func ExampleInvalidSetError() {
	_, err := must(deploy.NewManager(newMemory())).ApplySet(context.Background(), folderSet, nil)
	var invalid *deploy.InvalidSetError
	fmt.Println(errors.As(err, &invalid), invalid.Reason)
	// Output: true the set is empty, so all its members would be deleted: set ApplySet.PruneAll to allow this
}
