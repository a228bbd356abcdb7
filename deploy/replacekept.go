package deploy

import (
	"context"
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fillAttempts bounds how often an update is sent again with more of what is on the live object: a server may name one
// field after the other.
const fillAttempts = 3

// updateKeeping writes next in the place of live. If the cluster refuses that for fields which the intent doesn't name
// in full, such as the selector that it gave a Job, they are kept as they are on live.
func (t *task) updateKeeping(ctx context.Context, next, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	options := UpdateOptions{FieldManager: t.fieldManager, DryRun: t.dryRun}
	stored, err := t.port.Update(ctx, next, options)
	for attempt := 0; isRefusedChange(err) && attempt < fillAttempts; attempt++ {
		filled := next.DeepCopy()
		for _, cause := range causesOf(err) {
			if cause.Field == wholeObject {
				keepContent(filled.Object, live.Object)
			} else {
				keepAt(filled.Object, live.Object, fieldSteps(cause.Field))
			}
		}
		if sameValue(filled.Object, next.Object) {
			break
		}
		next = filled
		stored, err = t.port.Update(ctx, next, options)
	}
	return stored, err
}

// wholeObject is how a server names the field for which a validation rule of a whole custom resource stands.
const wholeObject = "<nil>"

// keepContent gives content what it leaves out and live has, but for the metadata.
func keepContent(content, live map[string]any) {
	for name := range live {
		if name != "metadata" {
			keepAt(content, live, []any{name})
		}
	}
}

// keepAt gives content, at a path and below it, what it leaves out and live has.
func keepAt(content, live map[string]any, path []any) {
	have, there := valueAt(live, path)
	if !there || len(path) == 0 {
		return
	}
	parent := any(content)
	for i, step := range path[:len(path)-1] {
		below, there := valueAt(parent, []any{step})
		fields, isMap := parent.(map[string]any)
		if name, isName := step.(string); !there && isMap && isName {
			if _, isIndex := path[i+1].(int); isIndex {
				return // a list that isn't named isn't filled in parts
			}
			below = map[string]any{}
			fields[name] = below
		}
		parent = below
	}
	switch step := path[len(path)-1].(type) {
	case string:
		if fields, isMap := parent.(map[string]any); isMap {
			fields[step] = filled(fields[step], have)
		}
	case int:
		if list, isList := parent.([]any); isList && step < len(list) {
			list[step] = filled(list[step], have)
		}
	}
}

// filled is want with what it leaves out and have holds. Lists of the same length are filled item by item.
func filled(want, have any) any {
	switch have := have.(type) {
	case map[string]any:
		fields, isMap := want.(map[string]any)
		if want != nil && !isMap {
			return want
		}
		out := maps.Clone(have)
		for name, value := range fields {
			out[name] = filled(value, have[name])
		}
		return out
	case []any:
		list, isList := want.([]any)
		if !isList || len(list) != len(have) {
			break
		}
		out := make([]any, len(list))
		for i := range list {
			out[i] = filled(list[i], have[i])
		}
		return out
	}
	if want == nil {
		return have
	}
	return want
}

// dropUnsaid takes out of next, made of live, what manager wrote at the top level, or as a label or annotation, and the
// intent doesn't say any more. What others own too stays.
func dropUnsaid(next, live, intent *unstructured.Unstructured, manager string) {
	var ours, others []fieldSet
	for _, entry := range managedEntries(live) {
		fields, _ := entry["fieldsV1"].(map[string]any)
		if entry["manager"] == manager && entry["subresource"] == nil {
			ours = append(ours, fields)
		} else {
			others = append(others, fields)
		}
	}
	drop := func(fields, said map[string]any, ours, others []fieldSet) {
		for name := range fields {
			_, still := said[name]
			if key := "f:" + name; !still && len(allBelow(ours, key)) > 0 && len(allBelow(others, key)) == 0 {
				delete(fields, name)
			}
		}
	}
	status, hasStatus := next.Object["status"]
	drop(next.Object, intent.Object, ours, others)
	if hasStatus {
		next.Object["status"] = status
	}
	metadata, _ := next.Object["metadata"].(map[string]any)
	said, _ := intent.Object["metadata"].(map[string]any)
	for _, marks := range []string{"labels", "annotations"} {
		fields, _ := metadata[marks].(map[string]any)
		saidMarks, _ := said[marks].(map[string]any)
		at := func(sets []fieldSet) []fieldSet { return allBelow(allBelow(sets, "f:metadata"), "f:"+marks) }
		drop(fields, saidMarks, at(ours), at(others))
	}
}

// causesOf returns the fields that the cluster named in a refusal.
func causesOf(err error) []InvalidField {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return invalid.Causes
	}
	return nil
}
