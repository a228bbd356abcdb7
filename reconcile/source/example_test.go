package source_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	nodes       = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
)

// Guestbook is a reconciler, or a controller of package reconcile, that says what it depends on.
type Guestbook struct{}

// guestbooksOf are the guestbooks that a node concerns.
func guestbooksOf(event deploy.Event) []deploy.Ref {
	return []deploy.Ref{{Namespace: event.New.GetLabels()["example.dev/shop"], Name: "hello"}}
}

// versions asks a registry which version each guestbook should have.
func versions(context.Context) (map[deploy.Ref]string, error) {
	return map[deploy.Ref]string{{Namespace: "shop", Name: "hello"}: "1.2.3"}, nil
}

// Sources implements source.Provider.
func (Guestbook) Sources() source.Sources {
	return source.Sources{
		Owned:    []source.Owned{{Kind: deployments}, {Kind: services, When: filter.Content()}},
		Mapped:   []source.Mapped{{Kind: nodes, Keys: guestbooksOf}},
		External: []source.External{source.Poll(time.Minute, versions)},
	}
}

func Example() {
	sources, err := source.Of(Guestbook{})
	fmt.Println(len(sources.Owned), "owned,", len(sources.Mapped), "mapped,", len(sources.External), "external", err)
	// Output: 2 owned, 1 mapped, 1 external <nil>
}

func ExampleOf() {
	var provider source.Provider = Guestbook{}
	sources, err := source.Of(provider)
	fmt.Println(len(sources.Owned), err)
	sources, err = source.Of("no provider at all")
	fmt.Println(len(sources.Owned), err)
	// Output:
	// 2 <nil>
	// 0 <nil>
}

// printer is a Target that prints; the engine of package watch is one otherwise.
type printer struct{}

func (printer) Bring(keys ...deploy.Ref) {
	for _, key := range keys {
		fmt.Println("bring", key.Namespace+"/"+key.Name)
	}
}

func (printer) Keys() []deploy.Ref { return []deploy.Ref{{Namespace: "shop", Name: "hello"}} }
func (printer) Failed(err error)   { fmt.Println("failed:", err) }

func ExampleChannel() {
	keys := make(chan deploy.Ref, 1)
	keys <- deploy.Ref{Namespace: "shop", Name: "hello"} // a webhook was called
	close(keys)
	source.Channel(keys).Run(context.Background(), printer{})
	// Output: bring shop/hello
}

func ExampleFunc() {
	source.Func(func(_ context.Context, target source.Target) {
		for _, key := range target.Keys() {
			target.Bring(key)
		}
	}).Run(context.Background(), printer{})
	// Output: bring shop/hello
}

func ExamplePoll() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	answers := []string{"1.2.3", "1.2.3", "", "1.3.0"}
	source.Poll(time.Millisecond, func(context.Context) (map[deploy.Ref]string, error) {
		if len(answers) == 1 {
			cancel() // what is answered now isn't brought any more
		}
		version := answers[0]
		answers = slices.Delete(answers, 0, 1)
		if version == "" {
			return nil, errors.New("the registry doesn't answer")
		}
		return map[deploy.Ref]string{{Namespace: "shop", Name: "hello"}: version}, nil
	}).Run(ctx, printer{})
	// Output:
	// bring shop/hello
	// failed: poll: the registry doesn't answer
}

func ExamplePollEach() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	version := 0
	source.PollEach(time.Millisecond, func(_ context.Context, key deploy.Ref) (int, error) {
		if version++; version == 3 {
			cancel()
		}
		return version, nil
	}).Run(ctx, printer{})
	// Output:
	// bring shop/hello
	// bring shop/hello
}

// printing stands for the engine of package watch.
type printing struct{}

func (printing) Own(_ context.Context, owner, child schema.GroupVersionKind) error {
	fmt.Println(owner.Kind, "owns", child.Kind)
	return nil
}

func (printing) Follow(_ context.Context, owner deploy.Ref, ref deploy.Ref) error {
	fmt.Println(owner, "follows", ref)
	return nil
}

func ExampleWatcher() {
	var watcher source.Watcher = printing{}
	guestbook := deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Guestbook"}, Namespace: "shop", Name: "hello"}
	secret := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "shop", Name: "login"}
	if err := errors.Join(watcher.Own(context.Background(), guestbook.Kind, services), watcher.Follow(context.Background(), guestbook, secret)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Guestbook owns Service
	// Guestbook shop/hello follows Secret shop/login
}
