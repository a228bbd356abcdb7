package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// operation is one thing that happens to both sides.
type operation struct {
	// kind is what it is, text all that it is.
	kind, text string
	// objects are those it is about, by kind and name.
	objects []string
	trouble *trouble
	// restart ends our process instead.
	restart bool
	// run returns what came of it, in words that have to be the same on both sides.
	run func(ctx context.Context, s *side) []string
}

// ours draws an operation of one of our Managers.
func (d *dice) ours() operation {
	manager := pick(d, soakManagers...)
	draw := pick(d, d.apply, d.apply, d.apply, d.apply, d.remove, d.set, d.set, d.status, d.finalizer)
	op := draw(manager)
	op.trouble = d.trouble()
	op.text = manager + " " + op.text + op.trouble.String()
	return op
}

// options draws how an operation is done.
func (d *dice) options() (options []deploy.Option, text string) {
	add := func(option deploy.Option, name string) {
		options = append(options, option)
		text += " " + name
	}
	if d.chance(70) {
		policy := pick(d, deploy.ForceOwn, deploy.Force, deploy.Force, deploy.Force, deploy.Keep, deploy.Keep, deploy.Fail)
		add(deploy.Conflicts(policy), fmt.Sprintf("conflicts=%d", policy))
	}
	if d.chance(20) {
		field := pick(d, ".data.a", ".spec.title", ".spec.replicas", ".spec.items", ".metadata.labels")
		policy := pick(d, deploy.Force, deploy.Keep)
		add(deploy.Conflicts(policy, field), fmt.Sprintf("conflicts(%s)=%d", field, policy))
	}
	if d.chance(70) {
		adoption := pick(d, deploy.RefuseAdoption, deploy.AdoptUnowned, deploy.AdoptAlways, deploy.AdoptAlways, deploy.AdoptAlways)
		add(deploy.Adopt(adoption), fmt.Sprintf("adopt=%d", adoption))
	}
	if d.chance(10) {
		add(deploy.DryRun(), "dry-run")
	}
	if d.chance(10) {
		add(deploy.RetryFor(0), "retry=0")
	}
	if d.chance(15) {
		add(deploy.TakeOverFrom("editor", "writer"), "take-over")
	}
	if d.chance(30) {
		add(deploy.AsController(), "controller")
	}
	return options, text
}

// several draws objects of different names, with content; at times those of a moment ago.
func (d *dice) several(limit int) []*unstructured.Unstructured {
	if d.chance(25) && len(d.lately) > 0 {
		return pick(d, d.lately...)
	}
	drawn := map[deploy.Ref]bool{}
	var objects []*unstructured.Unstructured
	for range 1 + d.IntN(limit) {
		obj := d.object(d.kind())
		if ref := deploy.RefOf(obj); !drawn[ref] {
			drawn[ref] = true
			objects = append(objects, obj)
		}
	}
	d.lately = append(d.lately[max(0, len(d.lately)-3):], objects)
	return objects
}

func (d *dice) apply(manager string) operation {
	objects := d.several(4)
	options, text := d.options()
	if d.chance(30) {
		strategy := pick(d, deploy.Replace, deploy.Replace, deploy.Recreate, deploy.Recreate, deploy.CreateOnly, deploy.OnDelete, deploy.Ignore)
		options = append(options, deploy.DefaultStrategy(strategy))
		text += " by=" + string(strategy)
	}
	again := d.chance(30)
	return operation{kind: "apply", text: "applies" + text + describeAll(objects), objects: names(objects), run: func(ctx context.Context, s *side) []string {
		// What waits for finalizers waits in vain.
		ctx, cancel := context.WithTimeout(ctx, recreateTime)
		defer cancel()
		results, err := s.managers[manager].Apply(ctx, copies(objects), options...)
		said := outcomes(results, err)
		if again {
			results, err = s.managers[manager].Apply(ctx, copies(objects), options...)
			said = append(said, outcomes(results, err)...)
		}
		return said
	}}
}

// recreateTime is longer than any operation takes that doesn't wait for a finalizer.
const recreateTime = 5 * time.Second

func (d *dice) remove(manager string) operation {
	objects := d.several(3)
	options, text := d.options()
	if d.chance(30) {
		options = append(options, deploy.EvenForeign())
		text += " even-foreign"
	}
	return operation{kind: "delete", text: "deletes" + text + ": " + strings.Join(names(objects), ", "), objects: names(objects), run: func(ctx context.Context, s *side) []string {
		results, err := s.managers[manager].Delete(ctx, copies(objects), options...)
		return outcomes(results, err)
	}}
}

// set draws the apply of a set of objects, with the deletion of those that have left it.
func (d *dice) set(manager string) operation {
	objects := d.several(6)
	options, text := d.options()
	set := deploy.ApplySet{Parent: deploy.Ref{Kind: configMap, Namespace: d.namespace, Name: "set-" + manager}, PruneAll: true}
	if d.chance(10) {
		objects = nil
	}
	// Which members go is known to the set only.
	return operation{kind: "prune", text: "applies a set" + text + describeAll(objects), run: func(ctx context.Context, s *side) []string {
		results, err := s.managers[manager].ApplySet(ctx, set, copies(objects), options...)
		said := append(outcomes(results.Applied, nil), fmt.Sprintf("set: %d calls", results.Calls))
		for _, pruned := range results.Pruned {
			said = append(said, "pruned: "+outcome(pruned.Result)+": "+pruned.Reason)
		}
		if len(results.Applied) == 0 && len(results.Pruned) == 0 {
			said = append(said, "set: "+kindOf(err))
		}
		return said
	}}
}

func (d *dice) status(manager string) operation {
	obj := d.named(basket)
	phase, seen := d.value(), int64(d.IntN(3))
	conditions := []any{}
	for _, name := range some(d, "Ready", "Full") {
		conditions = append(conditions, map[string]any{"type": name, "status": pick(d, "True", "False"), "reason": d.value()})
	}
	text := fmt.Sprintf("sets the status of %s to %v, %v, %v", obj.GetName(), phase, seen, conditions)
	return operation{kind: "status", text: text, objects: names([]*unstructured.Unstructured{obj}), run: func(ctx context.Context, s *side) []string {
		result, err := s.managers[manager].SetStatus(ctx, deploy.RefOf(obj), func(current *unstructured.Unstructured) (map[string]any, error) {
			status, _, _ := unstructured.NestedMap(current.Object, "status")
			if status == nil {
				status = map[string]any{}
			}
			status["phase"], status["seen"], status["conditions"] = phase, seen, conditions
			return status, nil
		})
		return []string{fmt.Sprintf("%s %s", result.Action, kindOf(err))}
	}}
}

func (d *dice) finalizer(manager string) operation {
	obj := d.named(d.kind())
	add := d.chance(30)
	return operation{kind: "finalizer", text: fmt.Sprintf("its finalizer on %s: %v", names([]*unstructured.Unstructured{obj}), add), objects: names([]*unstructured.Unstructured{obj}), run: func(ctx context.Context, s *side) []string {
		m := s.managers[manager]
		live, err := m.View().Get(ctx, deploy.RefOf(obj))
		switch {
		case err != nil || live == nil:
			return []string{"absent " + kindOf(err)}
		case add:
			err = m.AddFinalizer(ctx, live, soakFinalizer)
		default:
			err = m.RemoveFinalizer(ctx, live, soakFinalizer)
		}
		return []string{kindOf(err)}
	}}
}

func copies(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, obj := range objects {
		out[i] = obj.DeepCopy()
	}
	return out
}

// names are the objects as the state of a side names them.
func names(objects []*unstructured.Unstructured) []string {
	out := make([]string, len(objects))
	for i, obj := range objects {
		out[i] = obj.GetKind() + " " + obj.GetName()
	}
	return out
}

func describeAll(objects []*unstructured.Unstructured) string {
	var text strings.Builder
	for _, obj := range objects {
		text.WriteString("\n    " + describeOne(obj))
	}
	return text.String()
}

func describeOne(obj *unstructured.Unstructured) string {
	content := map[string]any{}
	for field, value := range obj.Object {
		if field != "apiVersion" && field != "kind" {
			content[field] = value
		}
	}
	text, err := (&unstructured.Unstructured{Object: content}).MarshalJSON()
	if err != nil {
		return obj.GetKind() + " " + err.Error()
	}
	return obj.GetKind() + " " + strings.TrimSpace(string(text))
}

func outcomes(results deploy.Results, err error) []string {
	var said []string
	for _, result := range results {
		said = append(said, outcome(result))
	}
	if len(results) == 0 && err != nil {
		said = append(said, kindOf(err))
	}
	return said
}

// outcome is what a Result says, as far as both sides must agree on it.
func outcome(result deploy.Result) string {
	text := fmt.Sprintf("%s %s: %s in %d calls", result.Ref.Kind.Kind, result.Ref.Name, result.Action, result.Calls)
	if len(result.Taken)+len(result.Kept) > 0 {
		text += fmt.Sprintf(", taken %v, kept %v", contested(result.Taken), contested(result.Kept))
	}
	if !withDefaults[result.Ref.Kind] {
		text += fmt.Sprintf(", changes %v", result.Changes)
	}
	return text + "; " + kindOf(result.Err)
}
