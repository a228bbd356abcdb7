package filter_test

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// shop is an object of a generation, changed by edits.
func shop(generation int64, edits ...func(obj *unstructured.Unstructured)) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": generation}}}
	obj.SetGeneration(generation)
	for _, edit := range edits {
		edit(obj)
	}
	return obj
}

func annotated(key, value string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{key: value}) }
}

func labelled(key, value string) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{key: value}) }
}

func created(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Added, New: obj}
}

func updated(before, after *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Modified, Old: before, New: after}
}

func gone(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Deleted, Old: obj, New: obj}
}

func Example() {
	// New specs and changes of one annotation, of shops in the north.
	north := labels.SelectorFromSet(labels.Set{"region": "north"})
	counts := filter.While(filter.Labels(north), filter.Or(
		filter.Lifecycle(),
		filter.Generation(),
		filter.Field("metadata", "annotations", "example.dev/restart-at"),
	))
	inNorth := labelled("region", "north")
	fmt.Println("a shop in the south:", counts(created(shop(1))))
	fmt.Println("it moves north:", counts(updated(shop(1), shop(1, inNorth))))
	fmt.Println("its status:", counts(updated(shop(1, inNorth), shop(1, inNorth))))
	fmt.Println("a restart:", counts(updated(shop(1, inNorth), shop(1, inNorth, annotated("example.dev/restart-at", "now")))))
	// Output:
	// a shop in the south: false
	// it moves north: true
	// its status: false
	// a restart: true
}

func ExamplePredicate() {
	// A predicate of one's own is a function.
	large := filter.Predicate(func(event deploy.Event) bool {
		size, _, _ := unstructured.NestedInt64(event.New.Object, "spec", "size")
		return size > 10
	})
	fmt.Println(filter.And(large, filter.Created())(created(shop(11))))
	// Output: true
}

func ExampleAlways() {
	fmt.Println(filter.Always()(created(shop(1))))
	// Output: true
}

func ExampleNever() {
	fmt.Println(filter.Never()(created(shop(1))))
	// Output: false
}

func ExampleAnd() {
	counts := filter.And(filter.Generation(), filter.Not(filter.Paused("")))
	fmt.Println(counts(updated(shop(1), shop(2))), filter.And()(created(shop(1))))
	// Output: true true
}

func ExampleOr() {
	counts := filter.Or(filter.Generation(), filter.Annotations())
	fmt.Println(counts(updated(shop(1), shop(1, annotated("a", "b")))), counts(created(shop(1))))
	// Output: true false
}

func ExampleNot() {
	// What oper8 calls DependentWatch.
	counts := filter.Not(filter.Created())
	fmt.Println(counts(created(shop(1))), counts(gone(shop(1))))
	// Output: false true
}

func ExampleWhile() {
	north := labels.SelectorFromSet(labels.Set{"region": "north"})
	counts := filter.While(filter.Labels(north), filter.Generation())
	fmt.Println("a new spec elsewhere:", counts(updated(shop(1), shop(2))))
	fmt.Println("there at last:", counts(updated(shop(2), shop(2, labelled("region", "north")))))
	// Output:
	// a new spec elsewhere: false
	// there at last: true
}

func ExampleCreated() {
	fmt.Println(filter.Created()(created(shop(1))), filter.Created()(updated(shop(1), shop(2))))
	// Output: true false
}

func ExampleReplaced() {
	successor := shop(1, func(obj *unstructured.Unstructured) { obj.SetUID("another") })
	fmt.Println(filter.Replaced()(updated(shop(1), successor)), filter.Replaced()(updated(shop(1), shop(2))))
	// Output: true false
}

func ExampleDeletion() {
	fmt.Println(filter.Deletion()(gone(shop(1))), filter.Deletion()(created(shop(1))))
	// Output: true false
}

func ExampleLifecycle() {
	counts := filter.Lifecycle()
	fmt.Println(counts(created(shop(1))), counts(updated(shop(1), shop(2))), counts(gone(shop(2))))
	// Output: true false true
}

func ExampleGeneration() {
	counts := filter.Generation()
	fmt.Println(counts(updated(shop(1), shop(2))), counts(updated(shop(2), shop(2, annotated("a", "b")))))
	// Output: true false
}

func ExampleWithoutGeneration() {
	fmt.Println(filter.WithoutGeneration()(created(shop(0))), filter.WithoutGeneration()(created(shop(1))))
	// Output: true false
}

func ExampleResourceVersion() {
	seen := shop(1)
	seen.SetResourceVersion("7")
	fmt.Println(filter.ResourceVersion()(updated(seen, seen)))
	// Output: false
}

func ExampleAnnotations() {
	seen := shop(1, annotated("example.dev/seen", "today"))
	fmt.Println(filter.Annotations()(updated(shop(1), seen)))
	fmt.Println(filter.Annotations("example.dev/seen")(updated(shop(1), seen)))
	leased := shop(1, annotated("operkit.dev/lease-name", "replica-7"))
	fmt.Println(filter.Annotations()(updated(shop(1), leased)))
	// Output:
	// true
	// false
	// false
}

func ExampleUserAnnotations() {
	counts := filter.UserAnnotations()
	fmt.Println(counts(updated(shop(1), shop(1, annotated("deployment.kubernetes.io/revision", "2")))))
	fmt.Println(counts(updated(shop(1), shop(1, annotated("example.dev/note", "open late")))))
	// Output:
	// false
	// true
}

func ExampleLabels() {
	north, err := labels.Parse("region in (north, east)")
	if err != nil {
		fmt.Println(err)
	}
	counts := filter.Labels(north)
	fmt.Println(counts(created(shop(1, labelled("region", "east")))), counts(created(shop(1))))
	// Output: true false
}

func ExampleLabelsChanged() {
	fmt.Println(filter.LabelsChanged()(updated(shop(1), shop(1, labelled("region", "east")))))
	// Output: true
}

func ExampleFinalizers() {
	held := shop(1, func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"example.dev/close"}) })
	counts := filter.Finalizers()
	fmt.Println(counts(updated(shop(1), held)), counts(updated(held, shop(1))))
	// Output: false true
}

func ExampleContent() {
	data := func(values map[string]any) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) { obj.Object["data"] = values }
	}
	counts := filter.Content()
	before := shop(0, data(map[string]any{"a": "b"}))
	fmt.Println(counts(updated(before, shop(0, data(map[string]any{"a": "c"})))))
	fmt.Println(counts(updated(before, shop(0, data(map[string]any{"a": "b"}), annotated("a", "b")))))
	// Output:
	// true
	// false
}

func ExampleField() {
	fmt.Println(filter.Field("spec", "size")(updated(shop(1), shop(2))))
	fmt.Println(filter.Field("spec", "color")(updated(shop(1), shop(2))))
	// Output:
	// true
	// false
}

func ExampleReadyReason() {
	because := func(reason string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) {
			obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "reason": reason}}}
		}
	}
	fmt.Println(filter.ReadyReason()(updated(shop(1, because("Initializing")), shop(1, because("Stable")))))
	// Output: true
}

func ExampleCondition() {
	backup := func(status, message string) func(*unstructured.Unstructured) {
		return func(obj *unstructured.Unstructured) {
			obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "BackedUp", "status": status, "message": message}}}
		}
	}
	counts := filter.Condition("BackedUp")
	fmt.Println(counts(updated(shop(1, backup("False", "")), shop(1, backup("True", "")))))
	fmt.Println(counts(updated(shop(1, backup("True", "")), shop(1, backup("True", "at noon")))))
	// Output:
	// true
	// false
}

func ExamplePaused() {
	fmt.Println(filter.Paused("")(created(shop(1, annotated("operkit.dev/pause-execution", "true")))))
	fmt.Println(filter.Paused("example.dev")(created(shop(1, annotated("example.dev/pause-execution", "true")))))
	// Output:
	// true
	// true
}

func ExampleUnpaused() {
	paused := shop(1, annotated("operkit.dev/pause-execution", "true"))
	fmt.Println(filter.Unpaused("")(updated(paused, shop(1))), filter.Unpaused("")(updated(shop(1), paused)))
	// Output: true false
}

func ExampleUnlessPaused() {
	pause := annotated("operkit.dev/pause-execution", "true")
	counts := filter.UnlessPaused("", filter.Generation())
	fmt.Println("a new spec under pause:", counts(updated(shop(1, pause), shop(2, pause))))
	fmt.Println("the end of the pause:", counts(updated(shop(2, pause), shop(2))))
	// Output:
	// a new spec under pause: false
	// the end of the pause: true
}

func ExampleStandard() {
	// What the engine does by itself, and one thing more.
	counts := filter.Or(filter.Standard(), filter.ReadyReason())
	fmt.Println(counts(updated(shop(1), shop(2))), counts(updated(shop(2), shop(2))))
	// Output: true false
}

func ExampleIgnoring() {
	// The reconciler writes an annotation; its own write brings no reconcile.
	counts := filter.Ignoring(filter.Standard(), "example.dev/synced")
	before, synced := shop(1), shop(1, annotated("example.dev/synced", "yes"))
	fmt.Println(counts(updated(before, synced)), counts(updated(before, shop(1, annotated("example.dev/theme", "dark")))))
	// Output: false true
}

func ExampleNamed() {
	counts, err := filter.Named("user-annotation", "oper8.org")
	fmt.Println(counts(updated(shop(1), shop(2))), err)
	_, err = filter.Named("my.Filter", "oper8.org")
	fmt.Println(err)
	// Output:
	// true <nil>
	// filter "my.Filter": unknown name: use default, annotation or user-annotation
}

func ExampleLeasing() {
	mine := filter.And(filter.Field("metadata", "annotations"), filter.Not(filter.Leasing()))
	free, taken := shop(1), shop(1, annotated("operkit.dev/lease-name", "replica-1"))
	fmt.Println(mine(updated(free, taken)), mine(updated(free, shop(1, annotated("color", "red")))))
	// Output: false true
}
