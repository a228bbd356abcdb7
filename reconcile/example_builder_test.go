package reconcile_test

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// till is a component as a type of its own. It judges by itself whether it is ready, and has the last word on
// its objects.
type till struct{ currency string }

func (t till) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	drawer := c.Add("drawer", configMap(s.ScopedName("drawer")))
	c.Add("till", configMap(s.ScopedName("till"))).After(drawer)
	return nil
}

func (t till) Verify(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	if t.currency == "" {
		return request.Precondition("nobody has said in which currency")
	}
	return c.Verify(ctx)
}

func (t till) Revise(_ context.Context, _ *reconcile.Session, object string, content *unstructured.Unstructured) error {
	return unstructured.SetNestedField(content.Object, object+" in "+t.currency, "data", "sign")
}

func ExampleSession_Use() {
	cluster := emptyCluster()
	for _, currency := range []string{"", "tea leaves"} {
		reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
			s.Use("till", till{currency})
			return nil
		}))
		show(cluster)
	}
	// Output:
	//   Shop tea: Updating VerifyWait, till: nobody has said in which currency
	//   ConfigMap tea-drawer
	//   ConfigMap tea-till
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap tea-drawer
	//   ConfigMap tea-till
}

func ExampleComponent_Add() {
	reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
		c := s.Add("store")
		shelf := c.Add("shelf", configMap("shelf"))
		floor := c.Add("floor", configMap("floor"), reconcile.By(deploy.CreateOnly),
			reconcile.ReadyWhen(func(_ context.Context, live *unstructured.Unstructured) error { return nil }))
		shelf.After(floor)
		return nil
	}), reconcile.NameObjects(), reconcile.ObserveComponents(func(_ *reconcile.Component, results deploy.Results) {
		for _, result := range results {
			fmt.Println(result.Ref, result.Object.GetAnnotations()["operkit.dev/internal-name"])
		}
	}))
	// Output:
	// ConfigMap market/floor store.floor
	// ConfigMap market/shelf store.shelf
}

func ExampleAndReadyWhen() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("store").Add("stock", configMap("stock"), reconcile.AndReadyWhen(func(_ context.Context, live *unstructured.Unstructured) error {
			if tea, _, _ := unstructured.NestedString(live.Object, "data", "tea"); tea == "" {
				return request.Precondition("there is no tea")
			}
			return nil
		}))
		return nil
	}))
	show(cluster)
	// Output:
	//   Shop tea: Updating VerifyWait, store: ConfigMap stock: there is no tea
	//   ConfigMap stock
}

// counter is a controller with hooks, defaults and a configuration.
type counter struct{ setup }

func (counter) AfterVerify(_ context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	fmt.Println("all", len(o.Components), "are ready")
	return nil
}

func (counter) Requeue(context.Context, *reconcile.Session, reconcile.Outcome) (time.Duration, error) {
	return time.Hour, nil
}

func (counter) Defaults() reconcile.Defaults {
	return reconcile.Defaults{
		Resource: map[string]any{"spec": map[string]any{"shelves": 2, "version": "1"}},
		Config:   map[string]any{"music": "none"},
	}
}

func ExampleAfterVerifier() {
	c := counter{setup(func(_ context.Context, s *reconcile.Session) error {
		shelves, _, err := unstructured.NestedInt64(s.Resource().Object, "spec", "shelves")
		fmt.Println(shelves, "shelves, version", s.Version(), "after", s.CurrentVersion(), s.Config(), err)
		var config struct {
			Music string `json:"music"`
		}
		err = s.ConfigInto(&config)
		fmt.Println("music:", config.Music, err)
		s.Add("shelves", configMap("shelf"))
		return nil
	})}
	cluster := emptyCluster()
	for range 2 {
		reconcileAgain(cluster, c, reconcile.SupportedVersions("1", "2"), reconcile.StrictVersions())
	}
	// Output:
	// 2 shelves, version 1 after  map[music:none] <nil>
	// music: none <nil>
	// all 1 are ready
	// 2 shelves, version 1 after 1 map[music:none] <nil>
	// music: none <nil>
	// all 1 are ready
}

// What a release renders no more is deleted; kinds of which it renders nothing at all are named.
func ExamplePrunes() {
	cluster := emptyCluster()
	for _, names := range [][]string{{"a", "b"}, {"a"}} {
		reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
			for _, name := range names {
				s.Add(name, configMap(name))
			}
			return nil
		}), reconcile.Prunes(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}))
	}
	show(cluster)
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap a
}
