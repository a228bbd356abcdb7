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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
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

func ExampleGraceOf() {
	meter := source.Func(func(ctx context.Context, _ source.Target) {
		<-ctx.Done()
		grace, _ := source.GraceOf(ctx)
		fmt.Println("ends within", grace, "for good:", !errors.Is(context.Cause(ctx), source.ErrReleased))
	})
	ctx, end := context.WithCancel(source.WithGrace(context.Background(), 20*time.Second)) // as an engine does it
	end()
	meter.Run(ctx, printer{})
	// Output: ends within 20s for good: true
}

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

// users is a table of the ConfigMaps that name a Secret, by the name of the Secret.
type users struct{ of map[string][]string }

// index keeps the table up to date.
func (u *users) index(event deploy.Event) {
	if event.Type == deploy.Added {
		secret := event.New.GetAnnotations()["example.dev/secret"]
		u.of[secret] = append(u.of[secret], event.New.GetName())
	}
}

func ExampleIndexed() {
	table := &users{of: map[string][]string{}}
	sources := source.Sources{Indexed: []source.Indexed{{Kind: configMaps, Index: table.index}}}

	// The engine calls Index for each ConfigMap before it reconciles the first object, and for each later event.
	obj := &unstructured.Unstructured{}
	obj.SetName("settings")
	obj.SetAnnotations(map[string]string{"example.dev/secret": "login"})
	sources.Indexed[0].Index(deploy.Event{Type: deploy.Added, New: obj})
	fmt.Println(table.of["login"])
	// Output: [settings]
}

// daemons start work for objects in reconciles, which brings the objects back when it has found something.
type daemons struct{ target source.Target }

// start is called before the first reconcile.
func (d *daemons) start(_ context.Context, target source.Target) error {
	d.target = target
	return nil
}

func ExampleStarted() {
	d := &daemons{}
	started := source.Started(d.start)
	var _ source.Starter = started
	fmt.Println(started.Start(context.Background(), printer{})) // the engine does this before the first reconcile
	d.target.Bring(deploy.Ref{Namespace: "shop", Name: "hello"})
	// Output:
	// <nil>
	// bring shop/hello
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

func (printing) FollowAll(_ context.Context, owner deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	fmt.Println(owner, "follows each", kind.Kind, "of", namespace, "with", selector)
	return nil
}

func ExampleWatcher() {
	var watcher source.Watcher = printing{}
	guestbook := deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Guestbook"}, Namespace: "shop", Name: "hello"}
	secret := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "shop", Name: "login"}
	certificates := labels.SelectorFromSet(labels.Set{"use": "tls"})
	if err := errors.Join(
		watcher.Own(context.Background(), guestbook.Kind, services),
		watcher.Follow(context.Background(), guestbook, secret),
		watcher.FollowAll(context.Background(), guestbook, secret.Kind, "shop", certificates),
	); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Guestbook owns Service
	// Guestbook shop/hello follows Secret shop/login
	// Guestbook shop/hello follows each Secret of shop with use=tls
}
