package explore

import (
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Neighbours adds lives with two resources, see "Two resources" of the package. It is for an operator of which a
// cluster may have several resources, and finds what confuses them.
func Neighbours() Option { return func(o *options) { o.neighbours = true } }

// elsewhere is the namespace of a second resource that has the name of the first one.
const elsewhere = "elsewhere"

// beside is the life of a resource beside a second one, which other makes of it. Each of them is once the older one,
// and deleted first. name describes the second one.
func beside(sample *unstructured.Unstructured, name string, other func(*unstructured.Unstructured) *unstructured.Unstructured) life {
	second := other(sample)
	return life{
		name: nameOf(sample) + " beside " + name, resource: sample, second: second, first: 1,
		again:    func(resource *unstructured.Unstructured) life { return beside(resource, name, other) },
		chapters: []chapter{create(sample), create(second), remove(sample), create(sample), remove(second), remove(sample)},
		equal: []pair{
			{-1, 5, "what is deleted leaves nothing", false},
			{0, 4, "the deletion of one resource leaves another one as it was alone", false},
		},
		own: []pair{{first: 0, second: 1, reason: besideOther}, {first: 0, second: 3, reason: besideOther}},
	}
}

const besideOther = "a resource has beside another one what it has alone"

// paired reports whether a life has two resources.
func (l life) paired() bool { return l.second != nil }

// twins returns the lives of each sample beside another resource: one with another name, one of the same name in
// another namespace, and one with another name and the first edit. edits are those of each sample.
func (e *explorer) twins(samples []*unstructured.Unstructured, edits [][]edit.Edit) (lives []life) {
	if !e.options.neighbours {
		return nil
	}
	for i, sample := range e.located(samples) {
		if sample == nil {
			continue
		}
		name := sample.GetName() + "-2"
		renamed := func(resource *unstructured.Unstructured) *unstructured.Unstructured {
			second := resource.DeepCopy()
			second.SetName(name)
			return second
		}
		lives = append(lives, beside(sample, name, renamed))
		if sample.GetNamespace() != "" {
			lives = append(lives, beside(sample, elsewhere+"/"+sample.GetName(), func(resource *unstructured.Unstructured) *unstructured.Unstructured {
				second := resource.DeepCopy()
				second.SetNamespace(elsewhere)
				return second
			}))
		}
		if len(edits[i]) > 0 {
			by := edits[i][0]
			lives = append(lives, beside(sample, name+" with "+by.Name, func(resource *unstructured.Unstructured) *unstructured.Unstructured {
				second := renamed(resource)
				by.Do(second)
				return second
			}))
		}
	}
	return lives
}

// located returns the samples with their namespaces, nil for those that the cluster refuses.
func (e *explorer) located(samples []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, len(samples))
	trial := newTrial(e.t.Context())
	trial.run(func() {
		h := e.start(trial, func() {})
		for i, sample := range samples {
			if h.TryApply(sample.DeepCopy()) != nil {
				continue
			}
			all[i] = sample.DeepCopy()
			all[i].SetNamespace(h.Get(nameOf(sample)).GetNamespace())
			_ = h.TryDelete(nameOf(sample)) // the harness isn't used any more
		}
	})
	trial.end()
	return all
}

// makeRoom makes the namespace of the second resource, which is one of others from then on.
func (x *execution) makeRoom() {
	if x.life.paired() && x.life.second.GetNamespace() == elsewhere {
		namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		namespace.SetName(elsewhere)
		_ = x.h.TryApply(namespace) // if it fails, the cluster refuses the second resource
	}
}

// withoutChapter returns pairs of chapters with the numbers that they have without one. Pairs with that one are left
// out.
func withoutChapter(pairs []pair, n int) (left []pair) {
	for _, p := range pairs {
		if p.first == n || p.second == n {
			continue
		}
		if p.first > n {
			p.first--
		}
		if p.second > n {
			p.second--
		}
		left = append(left, p)
	}
	return left
}
