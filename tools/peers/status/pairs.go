package main

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/tools/peers/ratio"
)

// pairs are the goals. Fixtures are created once; the loop of a row only does the measured work.
func pairs() []ratio.Pair {
	return []ratio.Pair{setPair(), setSamePair(), readyPair(), linearPair(), mergePair(), equalPair()}
}

func setPair() ratio.Pair {
	return ratio.Pair{
		Name: "status-set", Goal: 1.2,
		Ours: flipping(setOurs), Peer: flipping(setPeer),
		Hint: "Set, prepare and overwrite (set.go), validateContent and fits (validate.go), firstOf (conditions.go)",
	}
}

func setOurs(list *[]metav1.Condition, c metav1.Condition) bool {
	return status.Conditions(list).Set(time.Now(), c)
}

func setPeer(list *[]metav1.Condition, c metav1.Condition) bool {
	return meta.SetStatusCondition(list, c)
}

// flipping sets one of eight conditions to True and False by turns.
func flipping(set func(list *[]metav1.Condition, c metav1.Condition) bool) func(b *testing.B) {
	return func(b *testing.B) {
		list := eight()
		for i := 0; b.Loop(); i++ {
			if !set(&list, flip[(i+1)%2]) {
				b.Fatal("nothing changed")
			}
		}
	}
}

func setSamePair() ratio.Pair {
	object := unstructuredWidget()
	return ratio.Pair{
		Name: "status-set-same", Goal: 0.1,
		Ours: func(b *testing.B) {
			for b.Loop() {
				if status.Conditions(object).Set(now, flip[0]) {
					b.Fatal("something changed")
				}
			}
		},
		Peer: func(b *testing.B) {
			for b.Loop() {
				_, err := convertAndSet(object, flip[0])
				must(b, err)
			}
		},
		Hint: "condition.Newest: how often an entry is looked into",
	}
}

func readyPair() ratio.Pair {
	ready := deployment()
	return ratio.Pair{
		Name: "status-ready", Goal: 0.1,
		Ours: func(b *testing.B) {
			for b.Loop() {
				if !readiness.Of(ready).Ready() {
					b.Fatal("not ready")
				}
			}
		},
		Peer: func(b *testing.B) {
			for b.Loop() {
				done, err := rolledOut(ready)
				must(b, err)
				if !done {
					b.Fatal("not rolled out")
				}
			}
		},
		Hint: "readiness: how often conditions are looked for, and what is allocated for a result",
	}
}

func linearPair() ratio.Pair {
	return ratio.Pair{
		Name: "status-linear", Goal: 12,
		Ours: updating(rollout(5000)), Peer: updating(rollout(500)),
		Hint: "components.go: sorting is all that may cost more than linear",
	}
}

func mergePair() ratio.Pair {
	return ratio.Pair{
		Name: "status-merge-linear", Goal: 20,
		Ours: merging(5000), Peer: merging(500),
		Hint: "put and finder (set.go): conditions that are set together are looked for together",
	}
}

// merging copies many conditions into an object that has them with another status, and whose conditions have another Go
// type than metav1.Condition. The names of the condition types have equal beginnings and ends, so that comparing them
// takes time.
func merging(n int) func(b *testing.B) {
	return func(b *testing.B) {
		var sources [2][]metav1.Condition
		for i := range n {
			c := metav1.Condition{Type: fmt.Sprintf("C%050dReady", i), Status: metav1.ConditionTrue, Reason: "Fine"}
			sources[0] = append(sources[0], c)
			c.Status = metav1.ConditionFalse
			sources[1] = append(sources[1], c)
		}
		var job batchv1.Job
		conditions := status.Conditions(&job)
		for i := 0; b.Loop(); i++ {
			if !conditions.Merge(now, status.Conditions(&sources[i%2])) {
				b.Fatal(conditions.Err())
			}
		}
	}
}

func equalPair() ratio.Pair {
	before, after := statusOf(rollout(500)), statusOf(rollout(500))
	return ratio.Pair{
		Name: "status-equal", Goal: 1,
		Ours: func(b *testing.B) {
			for b.Loop() {
				if status.Changed(before, after) {
					b.Fatal("changed")
				}
			}
		},
		Peer: func(b *testing.B) {
			for b.Loop() {
				if !equality.Semantic.DeepEqual(before, after) {
					b.Fatal("changed")
				}
			}
		},
		Hint: "same and sameMap (changed.go)",
	}
}

func counts() []ratio.Count {
	object, ready := unstructuredWidget(), deployment()
	return []ratio.Count{
		{Name: "status-set-same-allocs", Goal: 0, Hint: "what Set lets escape", Measure: func() (float64, error) {
			if status.Conditions(object).Set(now, flip[0]) {
				return 0, fmt.Errorf("something changed")
			}
			return testing.AllocsPerRun(1000, func() { status.Conditions(object).Set(now, flip[0]) }), nil
		}},
		{Name: "status-ready-allocs", Goal: 2, Hint: "what a result allocates", Measure: func() (float64, error) {
			if result := readiness.Of(ready); !result.Ready() {
				return 0, fmt.Errorf("not ready: %+v", result)
			}
			return testing.AllocsPerRun(1000, func() { readiness.Of(ready) }), nil
		}},
	}
}

// statusOf returns a status as it is read back from an API server.
func statusOf(a status.Application) map[string]any {
	next, _, err := a.Update(now, nil)
	if err != nil {
		return nil
	}
	return runtime.DeepCopyJSON(next)
}

// updating computes the status of an application on top of an earlier status, which differs in one component.
func updating(a status.Application) func(b *testing.B) {
	return func(b *testing.B) {
		current := statusOf(a)
		next := a
		components := *a.Components
		components.Failed = components.All[:1]
		next.Components = &components
		for b.Loop() {
			_, changed, err := next.Update(now, current)
			must(b, err)
			if !changed {
				b.Fatal("nothing changed")
			}
		}
	}
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}
