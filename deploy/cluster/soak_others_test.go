package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// strangers are the names under which others write; at times they use one of ours.
var strangers = []string{"editor", "editor", "writer", "applier", "alpha"}

// hashPrefix begins the annotations in which our managers remember what they applied.
const hashPrefix = deploy.Domain + "/applied-"

// theirs draws what somebody else does to an object.
func (d *dice) theirs() operation {
	kind := d.kind()
	draw := pick(d, d.create, d.applyToo, d.applyToo, d.merge, d.merge, d.merge, d.rewrite, d.rewrite, d.rewrite, d.take, d.release, d.release)
	op := draw(d.object(kind), pick(d, strangers...))
	return op
}

// editing is an operation of others on one object.
func editing(kind, text string, obj *unstructured.Unstructured, run func(ctx context.Context, port deploy.Port, ref deploy.Ref) error) operation {
	ref := deploy.RefOf(obj)
	return operation{kind: kind, text: text, objects: names([]*unstructured.Unstructured{obj}), run: func(ctx context.Context, s *side) []string {
		return []string{kindOf(run(ctx, s.others, ref))}
	}}
}

func (d *dice) create(obj *unstructured.Unstructured, who string) operation {
	return editing("create", who+" creates "+describeOne(obj), obj, func(ctx context.Context, port deploy.Port, _ deploy.Ref) error {
		_, err := port.Create(ctx, obj.DeepCopy(), deploy.CreateOptions{FieldManager: who})
		return err
	})
}

func (d *dice) applyToo(obj *unstructured.Unstructured, who string) operation {
	force := d.chance(60)
	return editing("apply of others", fmt.Sprintf("%s applies force=%v %s", who, force, describeOne(obj)), obj, func(ctx context.Context, port deploy.Port, _ deploy.Ref) error {
		_, err := port.Apply(ctx, obj.DeepCopy(), deploy.ApplyOptions{FieldManager: who, Force: force})
		return err
	})
}

// merge draws a merge patch.
func (d *dice) merge(obj *unstructured.Unstructured, who string) operation {
	change := d.change(obj)
	body, err := json.Marshal(change)
	subresource := ""
	if _, ok := change["status"]; ok {
		subresource = "status"
	}
	text := fmt.Sprintf("%s merges into %s: %s", who, names([]*unstructured.Unstructured{obj}), body)
	return editing("merge patch", text, obj, func(ctx context.Context, port deploy.Port, ref deploy.Ref) error {
		if err != nil {
			return err
		}
		_, err := port.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: who, Subresource: subresource})
		return err
	})
}

// change draws what a merge patch of obj says.
func (d *dice) change(obj *unstructured.Unstructured) map[string]any {
	metadata := func(field string, value any) map[string]any {
		return map[string]any{"metadata": map[string]any{field: value}}
	}
	key := pick(d, "one", "two")
	changes := []func() map[string]any{
		func() map[string]any { return metadata("labels", map[string]any{key: d.value()}) },
		func() map[string]any { return metadata("labels", map[string]any{key: nil}) },
		func() map[string]any { return metadata("annotations", map[string]any{key: d.value()}) },
		func() map[string]any { return metadata("annotations", nil) },
		func() map[string]any {
			return metadata("annotations", map[string]any{hashPrefix + soakManagers[0]: pick[any](d, nil, "wrong")})
		},
		func() map[string]any { return metadata("ownerReferences", pick[any](d, nil, d.references())) },
		func() map[string]any { return metadata("finalizers", pick[any](d, []any{soakFinalizer}, nil)) },
	}
	if !withDefaults[obj.GroupVersionKind()] {
		// What was filled in would be somebody's then.
		changes = append(changes, func() map[string]any { return metadata("managedFields", []any{map[string]any{}}) })
	}
	switch obj.GroupVersionKind() {
	case configMap:
		changes = append(changes,
			func() map[string]any { return map[string]any{"data": d.fields("a", "b", "c")} },
			func() map[string]any { return map[string]any{"data": map[string]any{pick(d, "a", "b", "c"): nil}} },
			func() map[string]any { return map[string]any{"data": nil} })
	case basket:
		field := pick(d, "size", "title", "amount", "tags", "steps", "items", "rules", "limits", "frozen", "free")
		changes = append(changes,
			func() map[string]any { return map[string]any{"spec": d.basket()} },
			func() map[string]any { return map[string]any{"spec": d.basket()} },
			func() map[string]any { return map[string]any{"spec": map[string]any{field: nil}} },
			func() map[string]any {
				return map[string]any{"spec": map[string]any{"rules": map[string]any{"one": map[string]any{"to": nil}}}}
			},
			func() map[string]any { return map[string]any{"status": map[string]any{"phase": d.value()}} })
	case deployment:
		changes = append(changes, func() map[string]any {
			return map[string]any{"spec": map[string]any{"replicas": d.replicas(), "template": d.deployment()["template"]}}
		})
	case service:
		changes = append(changes, func() map[string]any { return map[string]any{"spec": d.service()} })
	}
	return pick(d, changes...)()
}

// references draws references to owners that stay.
func (d *dice) references() []any {
	references := []any{}
	for _, owner := range some(d, d.owners...) {
		references = append(references, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "name": owner.GetName(), "uid": string(owner.GetUID()),
		})
	}
	return references
}

// rewrite draws the replacement of a whole object that was read.
func (d *dice) rewrite(obj *unstructured.Unstructured, who string) operation {
	what, change := d.rewriting(obj)
	stale := d.chance(5)
	text := fmt.Sprintf("%s replaces %s stale=%v: %s", who, names([]*unstructured.Unstructured{obj}), stale, what)
	return editing("update", text, obj, func(ctx context.Context, port deploy.Port, ref deploy.Ref) error {
		live, err := port.Get(ctx, ref)
		if err == nil && live == nil {
			err = &deploy.NotFoundError{Ref: ref}
		}
		if err != nil {
			return err
		}
		change(live)
		if stale {
			live.SetResourceVersion("1")
		}
		_, err = port.Update(ctx, live, deploy.UpdateOptions{FieldManager: who})
		return err
	})
}

// rewriting draws what is other in an object that replaces another one.
func (d *dice) rewriting(obj *unstructured.Unstructured) (text string, change func(live *unstructured.Unstructured)) {
	content := obj.Object["spec"]
	field := "spec"
	if obj.GroupVersionKind() == configMap {
		field, content = "data", obj.Object["data"]
	}
	what := []string{"content", "content", "labels", "finalizers", "annotations", "hashes", "owners"}
	if !withDefaults[obj.GroupVersionKind()] {
		what = append(what, "managers")
	}
	switch pick(d, what...) {
	case "content":
		return fmt.Sprintf("%s=%v", field, content), func(live *unstructured.Unstructured) {
			if spec, isMap := live.Object[field].(map[string]any); isMap && withDefaults[obj.GroupVersionKind()] {
				for name, value := range content.(map[string]any) {
					spec[name] = value
				}
				return
			}
			live.Object[field] = content
		}
	case "labels":
		return fmt.Sprintf("labels=%v", obj.GetLabels()), func(live *unstructured.Unstructured) { live.SetLabels(obj.GetLabels()) }
	case "finalizers":
		finalizers := pick(d, nil, []string{soakFinalizer}, []string{soakFinalizer, "soak.operkit.dev/other"})
		return fmt.Sprintf("finalizers=%v", finalizers), func(live *unstructured.Unstructured) { live.SetFinalizers(finalizers) }
	case "owners":
		references := d.references()
		return fmt.Sprintf("owners=%v", references), func(live *unstructured.Unstructured) {
			live.Object["metadata"].(map[string]any)["ownerReferences"] = references
		}
	case "hashes":
		return "with other hashes", func(live *unstructured.Unstructured) {
			annotations := live.GetAnnotations()
			for key := range annotations {
				if strings.HasPrefix(key, hashPrefix) {
					annotations[key] = "wrong"
				}
			}
			live.SetAnnotations(annotations)
		}
	case "managers":
		manager := pick(d, soakManagers...)
		return "without the fields of " + manager, func(live *unstructured.Unstructured) {
			entries := live.GetManagedFields()
			live.SetManagedFields(slices.DeleteFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
				return isOurs(e.Manager) && strings.HasPrefix(e.Manager, manager)
			}))
		}
	}
	return "without annotations", func(live *unstructured.Unstructured) { live.SetAnnotations(nil) }
}

// take draws a deletion, of whatever is there or of what was looked at.
func (d *dice) take(obj *unstructured.Unstructured, who string) operation {
	byUID := d.chance(50)
	return editing("deletion by others", fmt.Sprintf("%s deletes %s", who, names([]*unstructured.Unstructured{obj})), obj, func(ctx context.Context, port deploy.Port, ref deploy.Ref) error {
		options := deploy.DeleteOptions{}
		if byUID {
			live, err := port.Get(ctx, ref)
			if err == nil && live == nil {
				err = &deploy.NotFoundError{Ref: ref}
			}
			if err != nil {
				return err
			}
			options.UID = live.GetUID()
		}
		return port.Delete(ctx, ref, options)
	})
}

// release takes all finalizers off.
func (d *dice) release(obj *unstructured.Unstructured, who string) operation {
	text := fmt.Sprintf("%s lets go of %s", who, names([]*unstructured.Unstructured{obj}))
	return editing("release", text, obj, func(ctx context.Context, port deploy.Port, ref deploy.Ref) error {
		body := []byte(`[{"op": "test", "path": "/kind", "value": "` + ref.Kind.Kind + `"}, {"op": "add", "path": "/metadata/finalizers", "value": []}]`)
		_, err := port.Patch(ctx, ref, deploy.PatchRequest{Type: types.JSONPatchType, Body: body, FieldManager: who})
		return err
	})
}
