package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Parameters of the measurements. Both engines get the events of one kind one after the other, as from an informer.
const (
	eventObjects = 10_000
	eventRounds  = 10
	eventWorkers = 8
	// latencyPace is the time between two events in the measurement of latency, latencyEvents is their number, and
	// latencyWork is how long a reconcile waits, as it would for an API server.
	latencyPace   = time.Second / 200
	latencyEvents = 100
	latencyWork   = 10 * time.Millisecond
)

// engine starts an engine that calls reconcile with the names of objects, and gives it events for all existing objects.
// The returned function sends the next change of the spec of object i. The engine ends with the test or benchmark.
type engine func(b testing.TB, reconcile func(name string)) (update func(i int))

// specs is the number of different specs of an object, which it gets one after the other, so that events close to each
// other never restore an earlier spec.
const specs = eventRounds + 1

// itemVersions has all objects with all their specs.
type itemVersions[T any] struct {
	all  [specs][]T
	next [eventObjects]int
}

func newVersions[T any](make func(i, spec int) T) *itemVersions[T] {
	v := &itemVersions[T]{}
	for spec := range v.all {
		for i := range eventObjects {
			v.all[spec] = append(v.all[spec], make(i, spec))
		}
	}
	return v
}

// update returns the next change of object i.
func (v *itemVersions[T]) update(i int) (before, after T) {
	spec := v.next[i]
	v.next[i] = (spec + 1) % specs
	return v.all[spec][i], v.all[v.next[i]][i]
}

// item is the reconciled object as a Go type, for controllers that use types.
type item struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec struct{ Size int64 }
}

// DeepCopyObject implements runtime.Object.
func (o *item) DeepCopyObject() runtime.Object {
	return &item{o.TypeMeta, *o.ObjectMeta.DeepCopy(), o.Spec}
}

func nameOf(i int) string { return fmt.Sprintf("shop-%d", i) }

// typedItem is object i with one of its specs.
func typedItem(i, spec int) *item {
	obj := &item{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: nameOf(i), UID: types.UID("uid-of-" + nameOf(i)), Generation: int64(spec + 1),
		ResourceVersion: strconv.Itoa(spec*eventObjects + i + 1), CreationTimestamp: metav1.NewTime(created),
	}}
	obj.Spec.Size = int64(spec)
	return obj
}

// plainItem is the same object as a View shows it.
func plainItem(i, spec int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind,
		"metadata": map[string]any{
			"namespace": namespace, "name": nameOf(i), "uid": "uid-of-" + nameOf(i), "generation": int64(spec + 1),
			"resourceVersion": strconv.Itoa(spec*eventObjects + i + 1), "creationTimestamp": created.Format(time.RFC3339),
		},
		"spec": map[string]any{"size": int64(spec)},
	}}
}

// indexOf returns the index of the object with that name.
func indexOf(b testing.TB, name string) int {
	i, err := strconv.Atoi(strings.TrimPrefix(name, "shop-"))
	if err != nil {
		b.Errorf("reconciled %q: %v", name, err)
	}
	return i
}

// settled finds out when every object has been reconciled after its last event.
type settled struct {
	objects [eventObjects]struct{ told, seen atomic.Int64 }
	last    int64
	left    atomic.Int64
	calls   atomic.Int64
	done    chan struct{}
}

// expect sets how many more rounds of events to wait for. All earlier events must have been reconciled.
func (s *settled) expect(rounds int64) {
	s.last += rounds
	s.left.Store(eventObjects)
	s.done = make(chan struct{})
}

// told counts an event of object i, before the engine gets it.
func (s *settled) told(i int) { s.objects[i].told.Add(1) }

// reconciled counts a reconcile of object i.
func (s *settled) reconciled(i int) {
	s.calls.Add(1)
	object := &s.objects[i]
	if told := object.told.Load(); told == s.last && object.seen.Swap(told) != told && s.left.Add(-1) == 0 {
		close(s.done)
	}
}

// throughput gives rounds of events of each object to an engine, whose reconciles do nothing, and waits until they are
// done.
func throughput(start engine) func(b *testing.B) {
	return func(b *testing.B) {
		defer allProcessors()()
		s := &settled{}
		s.expect(0)
		update := start(b, func(name string) { s.reconciled(indexOf(b, name)) })
		s.calls.Store(0)
		for b.Loop() {
			s.expect(eventRounds)
			for range eventRounds {
				for i := range eventObjects {
					s.told(i)
					update(i)
				}
			}
			<-s.done
		}
		b.ReportMetric(float64(s.calls.Load())/float64(b.N), "reconciles/op")
	}
}

// latency gives single events to an engine at a steady pace, and reports the median time from an event to the start of
// its reconcile.
func latency(start engine) func(b *testing.B) {
	return func(b *testing.B) {
		defer allProcessors()()
		origin := time.Now()
		var given [eventObjects]atomic.Int64
		began := make(chan time.Duration, eventObjects)
		update := start(b, func(name string) {
			now := time.Since(origin)
			if since := given[indexOf(b, name)].Load(); since > 0 {
				began <- now - time.Duration(since)
				time.Sleep(latencyWork)
			}
		})
		var times []time.Duration
		next, object := time.Now(), 0
		for b.Loop() {
			for range latencyEvents {
				next = next.Add(latencyPace)
				time.Sleep(time.Until(next))
				given[object].Store(int64(time.Since(origin)))
				update(object)
				object = (object + 1) % eventObjects
			}
			for range latencyEvents {
				times = append(times, <-began)
			}
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2]), "median-ns")
		b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
	}
}
