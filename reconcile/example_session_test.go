package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// setup is a controller of shops that is only a Setup.
type setup func(ctx context.Context, s *reconcile.Session) error

func (setup) Kind() schema.GroupVersionKind { return ShopKind }

func (f setup) Setup(ctx context.Context, s *reconcile.Session) error { return f(ctx, s) }

// reconcileOnce reconciles the shop market/tea in a cluster that holds it and objects.
func reconcileOnce(c reconcile.Controller, objects ...*unstructured.Unstructured) *dryrun.Cluster {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(append(objects, shop())...))
	if err != nil {
		fmt.Println(err)
		return nil
	}
	reconcileAgain(cluster, c)
	return cluster
}

func reconcileAgain(cluster *dryrun.Cluster, c reconcile.Controller, options ...reconcile.Option) {
	options = append([]reconcile.Option{reconcile.Logger(slog.New(slog.DiscardHandler))}, options...)
	reconciler, err := reconcile.New(c, must(deploy.NewManager(cluster)), options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	req := request.Request{Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}}
	if _, err := reconciler.Reconcile(context.Background(), req); err != nil {
		fmt.Println("failed:", err)
	}
}

func configMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
	}}
}

func ExampleYAML() {
	cluster := reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("shop", reconcile.YAML(`
apiVersion: v1
kind: ConfigMap
metadata: {name: door}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: window}
`))
		return nil
	}))
	for _, obj := range cluster.Objects() {
		fmt.Println(obj.GetKind(), obj.GetName())
	}
	// Output:
	// Shop tea
	// ConfigMap door
	// ConfigMap window
}

func ExampleStatus_dependencyGraph() {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop()))
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("window").After(s.Add("door"))
		return nil
	}), reconcile.Status(reconcile.DependencyGraph))
	tea, err := cluster.Port().Get(context.Background(), deploy.RefOf(shop()))
	if err != nil {
		fmt.Println(err)
		return
	}
	graph, _, err := unstructured.NestedString(tea.Object, "status", "componentStatus", "dependencyGraph")
	fmt.Println(graph, err)
	// Output: Graph({window:[door],door:[]}) <nil>
}

func ExampleSession_Follow() {
	reconcileOnce(setup(func(ctx context.Context, s *reconcile.Session) error {
		key := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: s.Namespace(), Name: "theirs"}
		if err := s.Follow(ctx, key); err != nil {
			return err
		}
		found, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		if found == nil {
			fmt.Println("waiting: the shop is reconciled when it comes")
		}
		return nil
	}))
	// Output: waiting: the shop is reconciled when it comes
}

func ExampleSession_FollowAll() {
	reconcileOnce(setup(func(ctx context.Context, s *reconcile.Session) error {
		kind := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
		certificates := labels.SelectorFromSet(labels.Set{"use": "tls"})
		if err := s.FollowAll(ctx, kind, s.Namespace(), certificates); err != nil {
			return err
		}
		found, err := s.List(ctx, kind, s.Namespace(), certificates)
		fmt.Println(len(found), "certificates: the shop is reconciled when one comes, changes or goes", err)
		return nil
	}))
	// Output: 0 certificates: the shop is reconciled when one comes, changes or goes <nil>
}

func ExampleSession_Passthrough() {
	quiet := shop()
	quiet.SetAnnotations(map[string]string{"operkit.dev/log-default-level": "warn", "example.com/note": "ours"})
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(quiet))
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		till := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Till", "metadata": map[string]any{"name": "till"}}}
		till.SetAnnotations(s.Passthrough())
		s.Add("till", till)
		fmt.Println(till.GetAnnotations())
		return nil
	}))
	// Output: map[operkit.dev/log-default-level:warn]
}

func ExampleSession_Components() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		s.Add("window", configMap("window")).Disable()
		for _, c := range s.Components() {
			fmt.Println(c.Name(), c.Disabled(), c.Session() == s)
		}
		fmt.Println(s.Component("roof") == nil)
		return nil
	}))
	// Output:
	// door false true
	// window true true
	// true
}

// caretaker deploys its component in a way of its own.
type caretaker struct{}

func (caretaker) Build(_ context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	c.Add("door", configMap("door"))
	return nil
}

func (caretaker) Deploy(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	results, err := s.Manager().Apply(ctx, c.Objects())
	for _, result := range results {
		fmt.Println(result.Action, result.Ref)
	}
	return err
}

func ExampleSession_Manager() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Use("house", caretaker{})
		return nil
	}))
	// Output: created ConfigMap market/door
}

func ExampleSession() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		sign, _, err := unstructured.NestedString(s.Resource().Object, "spec", "sign")
		fmt.Println(s.Kind().Kind, s.Namespace(), s.Name(), sign, len(s.ID()), s.DryRun())
		s.Logger().Info("only this reconcile logs with this id")
		return err
	}))
	// Output: Shop market tea open 22 false
}

func ExampleSession_Add() {
	show(reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"), map[string]any{
			"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "keeper"},
		})
		return nil
	})))
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap door
	//   ServiceAccount keeper
}

func ExampleSession_Into() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		var fitting, unfit struct {
			Spec struct {
				Sign any `json:"sign"`
			} `json:"spec"`
		}
		if err := s.Into(&fitting); err != nil {
			return err
		}
		fmt.Println(fitting.Spec.Sign)
		unfit.Spec.Sign = new(int)
		return s.Into(&unfit)
	}))
	// Output:
	// open
	// failed: setup: Shop market/tea: spec.sign: string doesn't fit the type int: correct it
}

func ExampleSession_ScopedName() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		fmt.Println(s.ScopedName("door"))
		fmt.Println(s.ScopedName("a-door-with-a-name-that-is-much-longer-than-any-label-may-ever-be"))
		return nil
	}))
	// Output:
	// tea-door
	// tea-a-door-with-a-name-that-is-much-longer-than-any-la-2dcb2bb3
}

func ExampleSession_Generated() {
	controller := setup(func(ctx context.Context, s *reconcile.Session) error {
		name := s.ScopedName("safe")
		code, err := s.Generated(ctx, name, "code", func() (string, error) {
			fmt.Println("a new code")
			return "1234", nil // a real one asks crypto/rand
		})
		if err != nil {
			return err
		}
		s.Add("safe", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name},
			"stringData": map[string]any{"code": code},
		})
		return nil
	})
	cluster := reconcileOnce(controller)
	reconcileAgain(cluster, controller)
	// Output: a new code
}

func ExampleSession_Get() {
	rules := configMap("rules")
	rules.SetNamespace("market")
	reconcileOnce(setup(func(ctx context.Context, s *reconcile.Session) error {
		for _, name := range []string{"rules", "exceptions"} {
			obj, err := s.Get(ctx, deploy.Ref{Kind: rules.GroupVersionKind(), Namespace: s.Namespace(), Name: name})
			fmt.Println(name, obj != nil, err)
		}
		return nil
	}), rules)
	// Output:
	// rules true <nil>
	// exceptions false <nil>
}

func ExampleSession_List() {
	rules := configMap("rules")
	rules.SetNamespace("market")
	reconcileOnce(setup(func(ctx context.Context, s *reconcile.Session) error {
		found, err := s.List(ctx, rules.GroupVersionKind(), s.Namespace(), nil)
		fmt.Println(len(found), err)
		found, err = s.List(ctx, rules.GroupVersionKind(), s.Namespace(), nil, fields.OneTermNotEqualSelector("metadata.name", "rules"))
		fmt.Println(len(found), err)
		return nil
	}), rules)
	// Output:
	// 1 <nil>
	// 0 <nil>
}

// closing is a controller that closes the door before the shop goes.
type closing struct{ setup }

func (closing) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, configMap("door"))
}

func ExampleSession_Remove() {
	controller := closing{func(_ context.Context, s *reconcile.Session) error {
		door := configMap("door")
		door.SetFinalizers([]string{"example.dev/stuck"})
		s.Add("door", door)
		return nil
	}}
	cluster := reconcileOnce(controller)
	err := cluster.Port().Delete(context.Background(), deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}, deploy.DeleteOptions{})
	if err != nil {
		fmt.Println(err)
	}
	reconcileAgain(cluster, controller)
	show(cluster)
	// Output:
	//   Shop tea: Updating PreconditionWait, finalize: waiting until ConfigMap market/door is gone
	//   ConfigMap door
}

func ExampleComponent() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		door := s.Add("door", configMap("door"))
		fmt.Println(door.Name(), door.Disabled(), door.Objects()[0].GetName())
		return nil
	}))
	// Output: door false door
}

func ExampleComponent_After() {
	show(reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		door := s.Add("door", configMap("door"))
		s.Add("bell", configMap("bell")).After(door)
		door.After(s.Add("wall", configMap("wall")))
		return nil
	})))
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap wall
	//   ConfigMap door
	//   ConfigMap bell
}

func ExampleComponent_Disable() {
	open := true
	controller := setup(func(_ context.Context, s *reconcile.Session) error {
		if door := s.Add("door", configMap("door")); !open {
			door.Disable()
		}
		return nil
	})
	cluster := reconcileOnce(controller)
	show(cluster)
	open = false
	reconcileAgain(cluster, controller)
	show(cluster)
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap door
	//   Shop tea: Updating Stable, Rollout Complete
}

func ExampleReady() {
	show(reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door")).After(s.Add("wall", configMap("wall")), reconcile.Ready)
		return nil
	})))
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   ConfigMap wall
	//   ConfigMap door
}

func ExampleGate() {
	dry := func(context.Context, *reconcile.Component) (bool, error) { return false, nil }
	show(reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door")).After(s.Add("paint", configMap("paint")), dry)
		return nil
	})))
	// Output:
	//   Shop tea: Updating VerifyWait, door waits for paint (its gate is closed)
	//   ConfigMap paint
}

func Example_precondition() {
	show(reconcileOnce(setup(func(context.Context, *reconcile.Session) error {
		return reconcile.Precondition("the market opens at %d", 9)
	})))
	// Output:
	//   Shop tea: Updating PreconditionWait, setup: the market opens at 9
}

func Example_configuration() {
	show(reconcileOnce(setup(func(context.Context, *reconcile.Session) error {
		return request.Configuration("spec.sign: %w", errors.New("it has no letters"))
	})))
	// Output:
	// failed: setup: spec.sign: it has no letters
	//   Shop tea: Updating Errored, setup: spec.sign: it has no letters
}

func ExampleTruncate() {
	fmt.Println(reconcile.Truncate("short"))
	fmt.Println(reconcile.Truncate("a-name-that-is-much-longer-than-any-label-may-ever-be-in-kubernetes"))
	// Output:
	// short
	// a-name-that-is-much-longer-than-any-label-may-ever-be-dc8429bd
}

func ExampleOutcome() {
	outcome := reconcile.Outcome{Components: map[string]reconcile.ComponentOutcome{
		"wall": {State: reconcile.Verified, Deployed: true},
		"door": {State: reconcile.Failed, Err: errors.New("no wood")},
		"bell": {State: reconcile.Unstarted, Reason: "waits for door (failed)"},
		"lamp": {State: reconcile.Unverified, Deployed: true, Err: errors.New("no light yet")},
	}}
	fmt.Println(outcome.Complete())
	fmt.Println(outcome.Err())
	fmt.Println(outcome.Waiting())
	// Output:
	// false
	// component door: no wood
	// component lamp: no light yet
}
