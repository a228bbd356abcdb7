package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
		Name: "explore-states", Goal: 2, Ours: measureStates("ours"), Peer: measureStates("peer"), Metric: "ns/state",
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

// side is the environment variable with the side that a process measures.
const side = "OPERKIT_EXPLORE_SIDE"

// exploreAsTest makes this process measure a side, and end, if it was started for that: explore needs a test.
func exploreAsTest() {
	test := map[string]func(t *testing.T, folder string, reconciles *int){"ours": exploreStates, "peer": plainStates}[os.Getenv(side)]
	if test == nil {
		return
	}
	os.Args = os.Args[:1]
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestStates", F: func(t *testing.T) {
		folder := t.TempDir()
		for name, content := range map[string]string{"definition.yaml": exploredDefinition, "sample.yaml": exploredSample} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		reconciles, began := 0, time.Now()
		test(t, folder, &reconciles)
		fmt.Println(float64(time.Since(began).Nanoseconds()) / float64(reconciles))
	}}}, nil, nil)
}

// exploreStates explores.
func exploreStates(t *testing.T, folder string, reconciles *int) {
	explore.Run(t, func() counted { return counted{reconciles} },
		explore.Definitions(filepath.Join(folder, "definition.yaml")), explore.Samples(filepath.Join(folder, "sample.yaml")),
		explore.Harness(reconciletest.Namespace(namespace)), explore.States(explored))
}

// plainStates creates and deletes the resource in the harness, as an exploration does without disturbances.
func plainStates(t *testing.T, folder string, reconciles *int) {
	for *reconciles < explored {
		h := reconciletest.New(t, counted{reconciles}, reconciletest.Definitions(filepath.Join(folder, "definition.yaml")), reconciletest.Namespace(namespace))
		h.Apply(exploredSample)
		h.RunUntilSettled()
		h.RunUntilSettled()
		h.Delete("Shop shop")
		h.RunUntilSettled()
		h.RunUntilSettled()
	}
}

// measureStates measures a side in processes of its own, and reports the time for each reconcile.
func measureStates(of string) func(b *testing.B) {
	return func(b *testing.B) {
		var sum float64
		rounds := 0
		for b.Loop() {
			program, err := os.Executable()
			if err != nil {
				b.Fatal(err)
			}
			cmd := exec.CommandContext(b.Context(), program)
			cmd.Env = append(os.Environ(), side+"="+of)
			out, err := cmd.CombinedOutput()
			first, _, _ := strings.Cut(string(out), "\n")
			each, failed := strconv.ParseFloat(first, 64)
			if err = errors.Join(err, failed); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			sum, rounds = sum+each, rounds+1
		}
		b.ReportMetric(sum/float64(rounds), "ns/state")
	}
}
