package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Nothing is told of it unless it comes back several times.
func Example_passing() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(context.Context, *reconcile.Session) error {
		return request.Passing(errors.New("the helper is started again"))
	}))
	fmt.Println("status:", cluster.Objects()[0].Object["status"])
	// Output:
	// failed: setup: the helper is started again (again in 50ms)
	// status: <nil>
}

// shelves has a folder for each version.
type shelves map[string]fs.FS

// Open implements reconcile.Assets.
func (s shelves) Open(_ context.Context, session *reconcile.Session) (fs.FS, func(), error) {
	files, ok := s[session.Version()]
	if !ok {
		return nil, nil, request.Configuration("there is no version %q", session.Version())
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

// watching stands for the engine of package reconcile/watch.
type watching struct{}

// Own implements source.Watcher.
func (watching) Own(_ context.Context, owner, child schema.GroupVersionKind) error {
	fmt.Println(owner.Kind, "owns", child.Kind)
	return nil
}

// Follow implements source.Watcher.
func (watching) FollowAll(context.Context, deploy.Ref, schema.GroupVersionKind, string, labels.Selector) error {
	return nil
}

func (watching) Follow(_ context.Context, owner deploy.Ref, ref deploy.Ref) error {
	fmt.Println(owner, "follows", ref)
	return nil
}

func ExampleSession_Own() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(ctx context.Context, s *reconcile.Session) error {
		return s.Own(ctx, schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"})
	}), reconcile.WithWatcher(watching{}))
	// Output: Shop owns Job
}
