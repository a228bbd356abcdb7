package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ExampleClassOf() {
	fmt.Println(reconcile.ClassOf(reconcile.Configuration("spec.size: %d is odd", 7)))
	fmt.Println(reconcile.ClassOf(fmt.Errorf("component web: %w", reconcile.Precondition("no node has a GPU"))))
	fmt.Println(reconcile.ClassOf(errors.New("no")))
	// Output:
	// configuration
	// precondition
	// operator
}

// An error that has come from elsewhere, where its type was lost.
func ExampleWithClass() {
	text, class := "spec.size: 7 is odd", "configuration"
	err := reconcile.WithClass(reconcile.ErrorClass(class), errors.New(text))
	fmt.Println(err, "|", reconcile.ClassOf(err))
	// Output: spec.size: 7 is odd | configuration
}

func ExampleErrorClass() {
	waits := reconcile.WithClass(reconcile.WaitsForReadiness, errors.New("the disk is being made"))
	fmt.Println(reconcile.IsWaiting(waits))
	// Output: true
}

// Nothing is told of it unless it comes back several times.
func ExamplePassing() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(context.Context, *reconcile.Session) error {
		return reconcile.Passing(errors.New("the helper is started again"))
	}))
	fmt.Println("status:", cluster.Objects()[0].Object["status"])
	// Output:
	// failed: setup: the helper is started again (again in 50ms)
	// status: <nil>
}

func ExampleIsPassing() {
	passing := reconcile.Passing(errors.New("the helper is started again"))
	fmt.Println(reconcile.IsPassing(passing), reconcile.IsPassing(errors.Join(passing, errors.New("no"))))
	// Output: true false
}

// What another Reconciler has said is passed on as it is.
func ExampleVerbatim() {
	elsewhere := errors.New("setup: spec.size: 7 is odd")
	reconcileOnce(setup(func(context.Context, *reconcile.Session) error { return reconcile.Verbatim(elsewhere) }))
	// Output: failed: setup: spec.size: 7 is odd
}

// shelves has a folder for each version.
type shelves map[string]fs.FS

// Open implements reconcile.Assets.
func (s shelves) Open(_ context.Context, session *reconcile.Session) (fs.FS, func(), error) {
	files, ok := s[session.Version()]
	if !ok {
		return nil, nil, reconcile.Configuration("there is no version %q", session.Version())
	}
	return files, nil, nil
}

func ExampleWithAssets() {
	files := shelves{"1.0.0": fstest.MapFS{"sign.txt": {Data: []byte("open")}}, "1.1.0": fstest.MapFS{"sign.txt": {Data: []byte("come in")}}}
	r := quietReconciler(setup(func(_ context.Context, s *reconcile.Session) error {
		text, err := fs.ReadFile(s.Assets(), "sign.txt")
		fmt.Printf("%s %s\n", s.Version(), text)
		return err
	}), reconcile.WithAssets(files))
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		if _, err := r.Plan(context.Background(), versionedShop("", version)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 1.0.0 open
	// 1.1.0 come in
	// version 2.0.0: there is no version "2.0.0"
}

// Without any there are none.
func ExampleSession_Assets() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		fmt.Println(s.Assets())
		return nil
	}))
	// Output: <nil>
}

// watching says what is watched.
type watching struct{}

// Own implements reconcile.Watcher.
func (watching) Own(_ context.Context, owner, child schema.GroupVersionKind) error {
	fmt.Println(owner.Kind, "owns", child.Kind)
	return nil
}

func ExampleSession_Own() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(ctx context.Context, s *reconcile.Session) error {
		return s.Own(ctx, schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"})
	}), reconcile.WithWatcher(watching{}))
	// Output: Shop owns Job
}
