package child_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/versions/child"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Guestbook is the controller of a version.
type Guestbook struct{}

// Kind implements reconcile.Controller.
func (Guestbook) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Guestbook"}
}

// Setup implements reconcile.Controller.
func (Guestbook) Setup(context.Context, *reconcile.Session) error { return nil }

// nobody is a manager that has nothing to ask.
func nobody() child.Option { return child.Streams(strings.NewReader(""), io.Discard) }

// A version serves until its manager has no more to ask.
func ExampleServe() {
	err := child.Serve(context.Background(), "1.1.0", []reconcile.Controller{Guestbook{}}, nobody())
	fmt.Println(err)
	err = child.Serve(context.Background(), "", nil, nobody())
	fmt.Println(err)
	// Output:
	// <nil>
	// serve: no controllers
}

// What a manager says that is none isn't understood.
func ExampleStreams() {
	err := child.Serve(context.Background(), "", []reconcile.Controller{Guestbook{}}, child.Streams(strings.NewReader("GET / HTTP/1.1\n"), os.Stderr))
	fmt.Println(err)
	// Output: serve: a message of 1195725856 bytes is announced: at most 268435456 are read; is something else written to the stream?
}

// The resources of a version may be patched.
func ExampleWith() {
	controllers := []reconcile.Controller{Guestbook{}}
	err := child.Serve(context.Background(), "", controllers, nobody(), child.With(func(_ reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error) {
		patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(controllers...))
		return []reconcile.Option{reconcile.WithPatches(patches)}, err
	}))
	fmt.Println(err)
	// Output: <nil>
}
