package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/peers/ratio"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// pairs are the goals. Fixtures are created once; the loop of a row only does the measured work.
func pairs() []ratio.Pair {
	return []ratio.Pair{
		{
			Name: "reconcile-same", Goal: 1.5, Ours: same(10, 10), Peer: rendered(10, 10),
			Hint: "what is done for each object that is as it should be: deploy/unchanged.go, reconcile/verify.go and prune.go",
		},
		{
			Name: "reconcile-chain", Goal: 12, Ours: first(shop{components: 50, objects: 20}), Peer: first(shop{components: 10, objects: 10}),
			Hint: "ten times the objects in a chain five times as long: something looks at all components for each one",
		},
		{
			Name: "reconcile-linear", Goal: 12, Ours: first(shop{components: 1000, objects: 1}), Peer: first(shop{components: 100, objects: 1}),
			Hint: "something looks at all components, or all objects, for each one",
		},
	}
}

// shop controls one resource: a chain of components with some objects each.
type shop struct{ components, objects int }

// Kind implements reconcile.Controller.
func (shop) Kind() schema.GroupVersionKind { return kind }

// Setup implements reconcile.Controller.
func (p shop) Setup(_ context.Context, s *reconcile.Session) error {
	var before *reconcile.Component
	for c := range p.components {
		component := s.Add(fmt.Sprintf("c%d", c))
		for _, obj := range objects(c, p.objects) {
			component.Add(obj.GetKind()+"-"+obj.GetName(), obj)
		}
		if before != nil {
			component.After(before)
		}
		before = component
	}
	return nil
}

// operator is one Reconciler and its cluster in memory.
type operator struct {
	reconciler *reconcile.Reconciler
	memory     *dryrun.Cluster
}

func (p shop) operator(options ...dryrun.Option) (operator, error) {
	memory, err := dryrun.New(append(options, dryrun.AnyKind(), dryrun.Objects(resource()))...)
	if err != nil {
		return operator{}, err
	}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		return operator{}, err
	}
	reconciler, err := reconcile.New(p, manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
	return operator{reconciler, memory}, err
}

// reconcile reconciles the resource once.
func (o operator) reconcile(ctx context.Context) error {
	key := deploy.Ref{Kind: kind, Namespace: namespace, Name: "shop"}
	_, err := o.reconciler.Reconcile(ctx, request.Request{Key: key})
	return err
}

// settle reconciles until nothing changes any more, and checks that the resource is ready.
func (o operator) settle(ctx context.Context) error {
	if err := o.reconcile(ctx); err != nil {
		return err
	}
	if err := o.rollOut(ctx); err != nil {
		return err
	}
	for range 2 {
		if err := o.reconcile(ctx); err != nil {
			return err
		}
	}
	return o.ready(ctx)
}

// rollOut updates the objects' statuses as Kubernetes would.
func (o operator) rollOut(ctx context.Context) error {
	for _, obj := range o.memory.Objects() {
		patch := deploy.PatchRequest{Type: types.MergePatchType, FieldManager: "kubernetes"}
		switch obj.GetKind() {
		case "Deployment":
			patch.Subresource = "status"
			patch.Body = fmt.Appendf(nil, `{"status":{"observedGeneration":%d,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,
				"conditions":[{"type":"Available","status":"True","reason":"MinimumReplicasAvailable"}]}}`, obj.GetGeneration())
		case "Service":
			patch.Body = []byte(`{"spec":{"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"]}}`)
		default:
			continue
		}
		if _, err := o.memory.Port().Patch(ctx, deploy.RefOf(obj), patch); err != nil {
			return err
		}
	}
	return nil
}

func (o operator) ready(ctx context.Context) error {
	obj, err := o.memory.View().Get(ctx, deploy.Ref{Kind: kind, Namespace: namespace, Name: "shop"})
	if err != nil {
		return err
	}
	document, err := json.Marshal(obj.Object["status"])
	if err != nil {
		return err
	}
	var status struct {
		Conditions []struct{ Type, Status, Message string }
	}
	if err := json.Unmarshal(document, &status); err != nil {
		return err
	}
	for _, condition := range status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
	}
	return fmt.Errorf("the resource isn't ready: %s", document)
}

// same measures reconciles of a resource that needs no change.
func same(components, objects int) func(b *testing.B) {
	return func(b *testing.B) {
		o, err := shop{components, objects}.operator()
		must(b, err)
		must(b, o.settle(b.Context()))
		for b.Loop() {
			must(b, o.reconcile(b.Context()))
		}
	}
}

// rendered renders the same objects, encodes and hashes them: the minimal work to find out that nothing has changed.
func rendered(components, perComponent int) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			for c := range components {
				for _, obj := range objects(c, perComponent) {
					document, err := json.Marshal(obj.Object)
					must(b, err)
					hashed += sha256.Sum256(document)[0]
				}
			}
		}
	}
}

// hashed prevents the compiler from optimizing the work away.
var hashed byte //nolint:unused // written

// first rolls a new resource out, in a new cluster.
func first(p shop) func(b *testing.B) {
	return func(b *testing.B) {
		var o operator
		for b.Loop() {
			var err error
			o, err = p.operator()
			must(b, err)
			must(b, o.reconcile(b.Context()))
		}
		if made := len(o.memory.Objects()); made != p.components*p.objects+1 {
			b.Fatalf("%d objects", made)
		}
	}
}

func must(b testing.TB, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

func counts() []ratio.Count {
	return []ratio.Count{{
		Name: "reconcile-same-calls", Goal: 0, Hint: "what the Manager asked the cluster for although nothing had changed",
		Measure: func() (float64, error) {
			o, err := shop{10, 10}.operator()
			if err != nil {
				return 0, err
			}
			rollout := o.memory.Record()
			if err := o.settle(context.Background()); err != nil {
				return 0, err
			}
			if made := len(rollout.Calls()); made < 100 {
				return 0, fmt.Errorf("only %d calls of the rollout were counted", made)
			}
			settled := o.memory.Record()
			err = o.reconcile(context.Background())
			return float64(len(settled.Calls())), err
		},
	}}
}
