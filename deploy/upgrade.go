package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TakeOverFrom names the predecessors of this manager: Apply takes over all that they own of an object, once and with
// two calls more, so that what they set and the intent leaves out goes. Such are `kubectl apply`
// ("kubectl-client-side-apply"), `kubectl create` ("kubectl-create") and an operator of another name. Those named must
// not write these objects any more. What this manager's own name wrote by other requests than applies, such as a
// predecessor of the same name that sent whole objects, is taken over without being named.
//
// An object on which predecessors own fields isn't Unchanged. Left to them are fields that they set through a
// subresource, finalizers, references to other owners, and the record of temporary patches. Objects by CreateOnly,
// OnDelete, Replace and Ignore aren't taken over.
func TakeOverFrom(managers ...string) Option {
	return func(s *settings) { s.takeOverFrom = append(slices.Clip(s.takeOverFrom), managers...) }
}

// upgrade makes ours what predecessors own, and returns the object as it is then. Of the hash of what was applied last
// nothing is left on it: should this process end before the apply, the next one has to see that there is more to do.
func (t *task) upgrade(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if t.dryRun || !t.inherits(live) {
		return live, nil
	}
	// A View may show less of managedFields, all of which are written.
	current, err := t.port.Get(ctx, t.in.ref)
	switch {
	case err != nil:
		return nil, err
	case current == nil:
		return nil, &NotFoundError{Ref: t.in.ref}
	case current.GetUID() != live.GetUID():
		return nil, &StaleError{Ref: t.in.ref, Err: fmt.Errorf("the uid isn't %s any more", live.GetUID())}
	}
	t.partial = false
	entries := t.inherit(current)
	if entries == nil {
		return current, nil
	}
	_, applied := current.GetAnnotations()[t.hashKey()]
	body, err := inheritance(current, entries, t.hashKey(), applied)
	if err != nil {
		return nil, fmt.Errorf("%s: its managedFields can't be taken over: %w", t.in.ref, err)
	}
	taken, err := t.port.Patch(ctx, t.in.ref, PatchRequest{Type: types.JSONPatchType, Body: body, FieldManager: t.fieldManager})
	if err != nil || !applied {
		return taken, err
	}
	// It has been applied before all the same, which decides about contested fields.
	taken = taken.DeepCopy()
	taken.SetAnnotations(over(taken.GetAnnotations(), map[string]string{t.hashKey(): ""}))
	return taken, nil
}

// inheritance is the JSON patch that gives live new entries of managedFields and takes the hash away.
func inheritance(live *unstructured.Unstructured, entries []any, hashKey string, hashed bool) ([]byte, error) {
	operations := []map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	}
	if hashed {
		operations = append(operations, map[string]any{"op": "remove", "path": "/metadata/annotations/" + strings.ReplaceAll(hashKey, "/", "~1")})
	}
	return json.Marshal(operations)
}

// inherits reports whether live has fields that the work on it takes over from predecessors.
func (t *task) inherits(live *unstructured.Unstructured) bool {
	return (t.in.strategy == ServerSideApply || t.in.strategy.recreates()) && t.hasPredecessor(live)
}

// hasPredecessor reports whether live has fields of predecessors that are to become ours.
func (s *settings) hasPredecessor(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(managedEntries(live), func(entry map[string]any) bool {
		taken, _ := s.heritage(entry)
		return len(taken) > 0
	})
}

// isPredecessor reports whether name is that of a manager whose fields are taken over.
func (s *settings) isPredecessor(name string) bool {
	return name == s.fieldManager || slices.Contains(s.takeOverFrom, name)
}

// heritage splits what an entry of managedFields holds: what becomes ours, and what is left to it.
func (s *settings) heritage(entry map[string]any) (taken, left fieldSet) {
	fields, _ := entry["fieldsV1"].(map[string]any)
	name, _ := entry["manager"].(string)
	own := name == s.fieldManager && entry["operation"] == "Apply"
	if own || entry["subresource"] != nil || !s.isPredecessor(name) {
		return nil, fields
	}
	taken, left = maps.Clone(fieldSet(fields)), fieldSet{}
	metadata, marks := maps.Clone(taken.below("f:metadata")), fieldSet{}
	for _, field := range []string{"f:finalizers", "f:ownerReferences", "f:annotations"} {
		if mine, theirs := s.marks(field, metadata.below(field)); len(theirs) > 0 {
			marks[field] = map[string]any(theirs)
			delete(metadata, field)
			if len(mine) > 0 {
				metadata[field] = map[string]any(mine)
			}
		}
	}
	if len(marks) > 0 {
		left["f:metadata"] = map[string]any(marks)
		delete(taken, "f:metadata")
		if len(metadata) > 0 {
			taken["f:metadata"] = map[string]any(metadata)
		}
	}
	return taken, left
}

// marks splits what an entry holds of a list or map of the metadata into what belongs to a manifest, and what others of
// the same name put onto the object: this module's AddFinalizer, the controller of temporary patches, other owners.
func (s *settings) marks(field string, fields fieldSet) (mine, theirs fieldSet) {
	mine, theirs = fieldSet{}, fieldSet{}
	for key, below := range fields {
		reference, isReference := listKeyOf(key)
		switch {
		case key == ".":
		case field == "f:finalizers",
			field == "f:ownerReferences" && !(isReference && s.owner != nil && reference.key["uid"] == string(s.owner.GetUID())),
			field == "f:annotations" && key == "f:"+s.domain+"/temporary-patches":
			theirs[key] = below
		default:
			mine[key] = below
		}
	}
	return mine, theirs
}
