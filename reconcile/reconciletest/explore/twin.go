package explore

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Single says that the operator is made for one resource in a cluster: no life has two of them.
func Single() Option { return func(o *options) { o.single = true } }

// elsewhere is the namespace of a second resource that has the name of the first one.
const elsewhere = "elsewhere"

// beside is the life of a resource beside a second one, which other makes of it. Each of them is once the older one,
// and deleted first. name describes the second one.
func beside(sample *unstructured.Unstructured, name string, other func(*unstructured.Unstructured) *unstructured.Unstructured) life {
	second := other(sample)
	return life{
		name: nameOf(sample) + " beside " + name, resource: sample, second: second,
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

// twins returns the lives of each sample beside another resource: one with another name, one of the same name in another
// namespace, and one with another name and the first edit. edits are those of each sample.
func (e *explorer) twins(samples []*unstructured.Unstructured, edits [][]edit.Edit) (lives []life) {
	if e.options.single {
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

// refusesSecond reports whether the first failure of a life is that of a resource that was just created: the operator
// may be made for one resource, or a value may have to be unique.
func (l *lesson) refusesSecond() bool {
	for n, now := range l.chapters {
		if created, is := strings.CutPrefix(l.life.chapters[n].name, "create "); len(now.errs) > 0 {
			return is && now.errs[created] != ""
		}
	}
	return false
}

// crossed finds what a resource has only beside another one: its status, or what it alone owns, differs.
func (l *lesson) crossed() *finding {
	for _, p := range l.life.own {
		alone, both := l.chapters[p.first].end, l.chapters[p.second].end
		differences := slices.DeleteFunc(l.differences(alone, both), func(d difference) bool {
			return !l.owns(d.object, alone) || both[d.object] != nil && !l.owns(d.object, both)
		})
		if len(differences) > 0 {
			return found(l.trace, p.second, p.reason, texts(differences)...)
		}
	}
	return nil
}

// robbed finds an object of the operator that it deletes, and creates again, because another resource is deleted.
func (l *lesson) robbed() *finding {
	for n, now := range l.chapters {
		if n == 0 || !l.life.paired() || !strings.HasPrefix(l.life.chapters[n].name, "delete ") {
			continue
		}
		for _, call := range now.calls {
			name := refName(call.Ref)
			if call.Action == deploy.Removed && l.chapters[n-1].end[name] != nil && now.end[name] != nil {
				return found(l.trace, n, "the deletion of one resource deletes what another one has", name+": it is deleted, and created again")
			}
		}
	}
	return nil
}

// owns reports whether an object is the first resource of a life, or belongs to it and to nobody else.
func (l *lesson) owns(object string, in state) bool {
	if object == nameOf(l.life.resource) {
		return true
	}
	owners, _, _ := unstructured.NestedSlice(in[object], "metadata", "ownerReferences")
	resource := l.life.resource
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(owner any) bool {
		fields, _ := owner.(map[string]any)
		return fields["kind"] != resource.GetKind() || fields["name"] != resource.GetName()
	}) && namespaceIn(in[object]) == resource.GetNamespace()
}

func namespaceIn(content map[string]any) string {
	namespace, _, _ := unstructured.NestedString(content, "metadata", "namespace")
	return namespace
}

// turnOfPaired reports whether the states that lives of two resources get aren't used up. They come after the samples.
func (e *explorer) turnOfPaired() bool {
	a := &e.agenda
	waits := len(a.lives) > 0 && !a.lives[0].edited()
	next := a.nextPaired()
	if waits || next == nil && len(a.paired) == 0 {
		return false
	}
	return a.next() == nil && len(a.lives) == 0 || (a.onTwins+a.onPaired)*partOfPaired <= e.visited
}

// nextPaired returns a disturbance of two resources, nil if there is none.
func (a *agenda) nextPaired() *job { return a.twins.least(a.tried) }

// studyPaired learns the next life of two resources, or tries a disturbance of such a life. They take turns, so that
// both get half of the states.
func (e *explorer) studyPaired() error {
	a := &e.agenda
	next := a.nextPaired()
	if next != nil && (len(a.paired) == 0 || a.onPaired < a.onTwins) {
		a.onPaired += e.try(next)
		return nil
	}
	l, before := a.paired[0], e.visited
	a.paired = a.paired[1:]
	err := e.studyLife(l)
	a.onTwins += e.visited - before
	return err
}

// overlapsFirst puts those disturbances first that only two resources have.
func overlapsFirst(choices []choice) []choice {
	order := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(choices, func(a, b choice) int { return order[a.act == overlap] - order[b.act == overlap] })
	return choices
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
