package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"github.com/operkit/operkit/tools/peers/ratio"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// explored is how many states one iteration visits, about.
const explored = 60

// explorePairs are the goals of package explore.
func explorePairs() []ratio.Pair {
	return []ratio.Pair{{
		Name: "explore-states", Goal: 2, Ours: ourStates, Peer: plainStates, Metric: "ns/state",
		Hint: "reconcile/reconciletest/explore: what an execution does beside the operator: state.go, the oracles, the gate of reconciletest",
	}}
}

// counted is a controller of ten components, which don't wait for each other, of ten objects. It counts its reconciles.
type counted struct{ reconciles *int }

// Kind implements reconcile.Controller.
func (counted) Kind() schema.GroupVersionKind { return kind }

// Setup implements reconcile.Controller.
func (c counted) Setup(_ context.Context, s *reconcile.Session) error {
	*c.reconciles++
	for n := range 10 {
		component := s.Add(fmt.Sprintf("c%d", n))
		for _, obj := range objects(n, 10) {
			component.Add(obj.GetKind()+"-"+obj.GetName(), obj)
		}
	}
	return nil
}

const (
	exploredDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {
  group: example.com, scope: Namespaced, names: {kind: Shop, plural: shops}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}},
  schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`
	exploredSample = `{apiVersion: example.com/v1, kind: Shop, metadata: {name: shop, namespace: shop}, spec: {size: 3}}`
)

// exploredFiles writes the definition and the sample.
func exploredFiles(b *testing.B) (definition, sample string) {
	b.Helper()
	folder := b.TempDir()
	definition, sample = filepath.Join(folder, "definition.yaml"), filepath.Join(folder, "sample.yaml")
	for path, content := range map[string]string{definition: exploredDefinition, sample: exploredSample} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return definition, sample
}

// ourStates explores.
func ourStates(b *testing.B) {
	definition, sample := exploredFiles(b)
	measureStates(b, func(t *testing.T, reconciles *int) {
		explore.Run(t, func() counted { return counted{reconciles} }, explore.Definitions(definition), explore.Samples(sample),
			explore.Harness(reconciletest.Namespace(namespace)), explore.States(explored))
	})
}

// plainStates creates and deletes the resource in the harness, as an exploration does without disturbances.
func plainStates(b *testing.B) {
	definition, _ := exploredFiles(b)
	measureStates(b, func(t *testing.T, reconciles *int) {
		for *reconciles < explored {
			h := reconciletest.New(t, counted{reconciles}, reconciletest.Definitions(definition), reconciletest.Namespace(namespace))
			h.Apply(exploredSample)
			h.RunUntilSettled()
			h.RunUntilSettled()
			h.Delete("Shop shop")
			h.RunUntilSettled()
			h.RunUntilSettled()
		}
	})
}

// measureStates runs a test again and again, and reports the time for each reconcile.
func measureStates(b *testing.B, test func(t *testing.T, reconciles *int)) {
	reconciles := 0
	began := time.Now()
	for b.Loop() {
		once := 0
		ok := testing.RunTests(func(string, string) (bool, error) { return true, nil },
			[]testing.InternalTest{{Name: "explore", F: func(t *testing.T) { test(t, &once) }}})
		if !ok {
			b.Fatal("the exploration has findings")
		}
		reconciles += once
	}
	b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(reconciles), "ns/state")
}
