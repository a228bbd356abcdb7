package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lives returns the lives of all samples: first of each one as it is, of the first one also while nothing happens, then
// beside a second resource, with changes of objects of others, and with each generated edit, the most important ones
// first. What is like in an earlier sample comes last.
func (e *explorer) lives() (lives []life, err error) {
	samples, possible, err := e.read()
	if err != nil {
		return nil, err
	}
	names := lifeNames(samples)
	for i, sample := range samples {
		lives = append(lives, whole(names[i], sample))
	}
	lives = append(lives, leftAlone(names[0], samples[0]))
	lives = append(lives, e.twins(samples, possible)...)
	lives = append(lives, dependent(names[0], samples[0], e.others)...)
	var again []life
	for i, sample := range samples[1:] {
		again = append(again, dependent(names[i+1], sample, e.others)...)
	}
	first, like := editedLives(names, samples, possible)
	return slices.Concat(lives, first, again, like), nil
}

// editedLives returns the lives of samples with each edit, those first of which no earlier sample has one like it.
func editedLives(names []string, samples []*unstructured.Unstructured, possible [][]edit.Edit) (lives, again []life) {
	edited := map[string]int{}
	for rank := edit.OneField; rank <= edit.TwoFields; rank++ {
		for i, sample := range samples {
			for _, by := range possible[i] {
				if by.Rank != rank {
					continue
				}
				what := fmt.Sprint(rank, by.Paths)
				if first, is := edited[what]; is && first != i {
					again = append(again, changed(names[i], sample, by))
					continue
				}
				edited[what] = i
				lives = append(lives, changed(names[i], sample, by))
			}
		}
	}
	return lives, again
}

// lifeNames returns the names of the lives of samples as they are: those of the samples, followed by a number from the
// second sample of a name on, as in "Shop tea (2)".
func lifeNames(samples []*unstructured.Unstructured) (names []string) {
	count := map[string]int{}
	for _, sample := range samples {
		name := nameOf(sample)
		if count[name]++; count[name] > 1 {
			names = append(names, fmt.Sprintf("%s (%d)", name, count[name]))
		} else {
			names = append(names, name)
		}
	}
	return names
}

// read reads the samples, and returns the edits of each one.
func (e *explorer) read() (samples []*unstructured.Unstructured, edits [][]edit.Edit, err error) {
	trial := newTrial(e.t.Context())
	trial.run(func() {
		samples = reconciletest.Samples(trial, e.kind, e.options.samples...)
		h := e.start(trial, func() {})
		e.others = e.dependenciesIn(h)
		for i, sample := range samples {
			samples[i] = sample.DeepCopy()
			unstructured.RemoveNestedField(samples[i].Object, "status")
			edits = append(edits, accepted(h, samples[i]))
			e.covered.schema(samples[i], definitionsOf(h))
		}
	})
	trial.end()
	if trial.failure != "" {
		return nil, nil, fmt.Errorf("%s", strings.TrimPrefix(trial.failure, "reconciletest: "))
	}
	return samples, edits, nil
}

// unready returns the lives of a sample in each of which one of its workloads never becomes ready.
func (e *explorer) unready(known *lesson) (lives []life) {
	created := known.chapters[0]
	if known.life.sample == nil || len(created.ready) == 0 {
		return nil
	}
	for _, object := range slices.Sorted(maps.Keys(created.end)) {
		content := created.end[object]
		ref := deploy.RefOf(&unstructured.Unstructured{Object: content})
		metadata, _ := content["metadata"].(map[string]any)
		replicas, counted, _ := unstructured.NestedInt64(content, "spec", "replicas")
		holds := metadata["generateName"] == nil && (!counted || replicas > 0) && !e.options.ignoresPart(ref, "status")
		if known.began[object] == nil && holds && isWorkload(ref) {
			lives = append(lives, held(known.life.name, known.life.sample, object))
		}
	}
	return lives
}
