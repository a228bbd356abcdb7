package desired_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// kennel is a Syncer with all that a Syncer may have.
type kennel struct{ cats }

// Finalize implements desired.Finalizer: the cats leave one after the other, the last one first.
func (kennel) Finalize(r desired.Request[CatSet]) (response desired.Response, err error) {
	left := r.Children.Of(pods)
	for i, cat := range left {
		if i < len(left)-1 {
			response.Children = append(response.Children, cat) // it stays as it is
		}
	}
	response.Finalized = len(left) == 0
	return response, nil
}

// Related implements desired.Relater.
func (kennel) Related(context.Context, *CatSet) ([]desired.Selection, error) {
	return []desired.Selection{{Kind: configMaps, Labels: labels.SelectorFromSet(labels.Set{"food": "true"})}}, nil
}

// Failed implements desired.Reporter.
func (kennel) Failed(_ desired.Request[CatSet], err error) any {
	return map[string]any{"error": err.Error()}
}

// Adopts implements desired.Adopter.
func (kennel) Adopts(_ context.Context, parent *CatSet) (*metav1.LabelSelector, error) {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"set": parent.Metadata.Name}}, nil
}

// Each kind of children has its own strategy.
func ExampleNew() {
	controller := desired.New(catSets, kennel{},
		desired.FinalizerName("example.dev/cats"),
		desired.Child(pods, desired.RollingRecreate, desired.Healthy("Ready", metav1.ConditionTrue)),
		desired.Child(claims, desired.OnDelete, desired.Deletable()),
	)
	h := reconciletest.Drive(console{}, controller)
	h.Apply(catSet("tom", 2, "cat:1"))
	h.RunUntilSettled()
	fmt.Println(h.Get("CatSet tom").GetFinalizers())
	h.Delete("CatSet tom")
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		if call.Write() {
			fmt.Println(call)
		}
	}
	// Output:
	// [example.dev/cats]
	// deleted Pod test/tom-1
	// deleted Pod test/tom-0
	// configured CatSet test/tom
}

// A change of the template rolls, and a change of the number of cats doesn't.
func ExampleRevisions() {
	h := reconciletest.Drive(console{}, desired.New(catSets, cats{},
		desired.Child(pods, desired.RollingRecreate),
		desired.Revisions("spec.image"),
	))
	h.Apply(catSet("tom", 2, "cat:1"))
	h.RunUntilSettled()
	h.Hold("Pod tom-0")
	h.Apply(catSet("tom", 3, "cat:2"))
	h.RunUntilSettled()
	fmt.Println(h.Condition("CatSet tom", "Updated").Message)
	h.Release()
	h.RunUntilSettled()
	fmt.Println(h.Condition("CatSet tom", "Updated").Message)
	// Output:
	// Pod tom-1 waits for Pod tom-0
	// no child waits for an update to revision 2
}

// A roll waits for cats that are brushed: a rule for their kind.
func ExampleReadyBy() {
	rules := readiness.Registry{pods.GroupKind(): {Condition: &readiness.Condition{Type: "Brushed"}}}
	h := reconciletest.Drive(console{}, desired.New(catSets, cats{},
		desired.Child(pods, desired.RollingRecreate), desired.Revisions("spec.image"),
		desired.ReadyBy(readiness.Checker{Registry: rules}),
	))
	h.Apply(catSet("tom", 2, "cat:1"))
	h.RunUntilSettled()
	h.Apply(catSet("tom", 2, "cat:2"))
	h.RunUntilSettled()
	fmt.Println(h.Condition("CatSet tom", "Updated").Message)
	// Output:
	// Pod tom-1 waits for Pod tom-0
}

// An error of the function, or of a child, gets into the status.
func ExampleReporter() {
	h := reconciletest.Drive(console{}, desired.New(catSets, kennel{}))
	h.Apply(catSet("tom", 1, "cat:1"))
	_, err := h.Reconcile("CatSet tom")
	fmt.Println(err)
	fmt.Println(h.Get("CatSet tom").Object["status"].(map[string]any)["error"])
	// Output:
	// CatSet test/tom: child 0, Pod tom-0: the kind Pod of v1 isn't declared: declare it by Child
	// CatSet test/tom: child 0, Pod tom-0: the kind Pod of v1 isn't declared: declare it by Child
}

func ExampleChildError() {
	err := error(&desired.ChildError{Place: 2, Reason: "it has no name: set metadata.name"})
	fmt.Println(err)
	// Output: : child 2, without a name: it has no name: set metadata.name
}

// A function needs no type of its own.
func ExampleFuncs() {
	set := desired.Funcs[desired.Unstructured]{OnSync: func(r desired.Request[desired.Unstructured]) (desired.Response, error) {
		return desired.Response{
			Children: []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": r.Parent.GetName()}}},
			Status:   map[string]any{"children": r.Children.Len()},
		}, nil
	}}
	h := reconciletest.Drive(console{}, desired.New(catSets, set, desired.Child(configMaps, desired.InPlace)))
	h.Apply(catSet("tom", 1, "cat:1"))
	h.RunUntilSettled()
	h.Exists("ConfigMap tom")
	fmt.Println(h.Get("CatSet tom").Object["status"])
	// Output: map[children:1 observedGeneration:1]
}

// Pod has what the function needs of a Pod.
type Pod struct {
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// Children are read as values of a type, or as they are.
func ExampleList() {
	cat := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Running"}}}
	cat.SetGroupVersionKind(pods)
	cat.SetName("tom-0")
	r := desired.Request[CatSet]{Children: desired.Collect(cat)}
	all, err := desired.List[Pod](r.Children, pods)
	fmt.Println(all[0].Status.Phase, err)
	one, err := desired.Find[Pod](r.Children, pods, "tom-0")
	fmt.Println(one.Status.Phase, err)
	none, err := desired.Find[Pod](r.Children, pods, "tom-1")
	fmt.Println(none, err)
	fmt.Println(r.Children.Get(pods, "tom-0").GetName(), r.Context().Err())
	// Output:
	// Running <nil>
	// Running <nil>
	// <nil> <nil>
	// tom-0 <nil>
}
