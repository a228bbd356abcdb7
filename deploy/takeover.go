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

// TakeOverFrom names the predecessors of this manager, such as `kubectl apply` ("kubectl-client-side-apply"), `kubectl
// create` ("kubectl-create") or an operator of another name. Apply takes over their fields of an object, once, with two
// more calls. So fields that predecessors set and the intent omits are removed. Predecessors must not write these
// objects any more. Fields that were written under this manager's own name by other requests than applies, such as
// updates of an older release, are always taken over.
//
// An object on which predecessors own fields isn't Unchanged. Predecessors keep finalizers, references to other owners,
// the record of temporary patches, and fields that they set through a subresource. Objects with the strategies
// CreateOnly, OnDelete, Replace and Ignore aren't taken over.
func TakeOverFrom(managers ...string) Option {
	return func(s *settings) { s.takeOverFrom = append(slices.Clip(s.takeOverFrom), managers...) }
}

// upgrade takes over the fields of predecessors, and returns the resulting object. It removes the annotation with the
// hash in the cluster: if this process ends before the apply, the next process must see that the object isn't applied
// yet.
func (t *task) upgrade(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if t.dryRun || !t.inherits(live) {
		return live, nil
	}
	// Read from the cluster: a View may leave out entries of managedFields, and the patch must write all entries.
	current, err := t.current(ctx)
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
	// Restore the annotation in our copy: the policy ForceOwn depends on it.
	taken = taken.DeepCopy()
	taken.SetAnnotations(over(taken.GetAnnotations(), map[string]string{t.hashKey(): ""}))
	return taken, nil
}

// inheritance returns the JSON patch that replaces managedFields of live and removes the hash.
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

// inherits reports whether live has fields of predecessors to take over.
func (t *task) inherits(live *unstructured.Unstructured) bool {
	return (t.in.strategy == ServerSideApply || t.in.strategy.recreates()) && t.hasPredecessor(live)
}

// hasPredecessor reports whether predecessors own fields of live that this manager takes over.
func (s *settings) hasPredecessor(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(managedEntries(live), func(entry managedEntry) bool {
		taken, _ := s.heritage(entry)
		return len(taken) > 0
	})
}

// isPredecessor reports whether this manager takes over the fields of the manager called name.
func (s *settings) isPredecessor(name string) bool {
	return name == s.fieldManager || slices.Contains(s.takeOverFrom, name)
}

// heritage splits the fields of an entry of managedFields: taken are the fields that this manager takes over, and left
// are the fields that the entry keeps.
func (s *settings) heritage(entry managedEntry) (taken, left fieldSet) {
	fields := entry.fields()
	if entry.isApplyOf(s.fieldManager) || entry["subresource"] != nil || !s.isPredecessor(entry.manager()) {
		return nil, fields
	}
	taken, left = maps.Clone(fields), fieldSet{}
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
	if entry.manager() == s.fieldManager && isReferenceOnly(taken) {
		return nil, fields
	}
	return taken, left
}

// isReferenceOnly reports whether a set has nothing but the reference to the owner, as AddOwner writes it. Our apply
// owns the reference, too, so it needn't be taken over.
func isReferenceOnly(fields fieldSet) bool {
	metadata := fields.below("f:metadata")
	return len(fields) == 1 && len(metadata) == 1 && metadata["f:ownerReferences"] != nil
}

// marks splits the fields of an entry in a list or map of the metadata. mine are the fields that come from a manifest.
// theirs are the fields that others wrote under the same manager name: AddFinalizer, the controller of temporary
// patches, other owners.
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

// inherit returns the managedFields of live, changed so that our apply entry owns the fields of predecessors. It
// returns nil if nothing can be taken over before our next apply. Field sets of different versions of a kind can't be
// merged. If the predecessors wrote in another version than our last apply, our entry then has only their fields. The
// apply that follows owns our fields again, provided that the last apply was of our whole intent.
func (t *task) inherit(live *unstructured.Unstructured) []any {
	entries := managedEntries(live)
	version := t.inheritedVersion(live, entries)
	if version == nil {
		return nil
	}
	ours := map[string]any{"manager": t.fieldManager, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1"}
	all, out := fieldSet{}, make([]any, 0, len(entries)+1)
	for _, entry := range entries {
		taken, left := t.heritage(entry)
		same := entry["apiVersion"] == version
		switch {
		case entry.isApplyOf(t.fieldManager):
			ours["time"] = entry["time"]
			if same {
				all = all.union(left)
			}
			continue
		case same && len(taken) > 0:
			all = all.union(taken)
			if ours["time"] == nil {
				ours["time"] = entry["time"]
			}
			if len(left) == 0 {
				continue
			}
			out = append(out, entry.withFields(left))
			continue
		}
		out = append(out, map[string]any(entry))
	}
	ours["fieldsV1"] = map[string]any(all)
	return append(out, ours)
}

// inheritedVersion returns the apiVersion whose entries are taken over first. It returns nil if none can be taken over.
func (t *task) inheritedVersion(live *unstructured.Unstructured, entries []managedEntry) any {
	var versions []any
	for _, entry := range entries {
		if taken, _ := t.heritage(entry); len(taken) > 0 {
			versions = append(versions, entry["apiVersion"])
		}
	}
	if len(versions) == 0 {
		return nil
	}
	for _, entry := range entries {
		switch applied := entry["apiVersion"]; {
		case !entry.isApplyOf(t.fieldManager):
		case slices.Contains(versions, applied):
			return applied
		case !t.appliedLast(live):
			return nil
		}
	}
	return versions[0]
}

// union returns the union of two field sets. It changes neither of them.
func (f fieldSet) union(other fieldSet) fieldSet {
	out := maps.Clone(f)
	for key, value := range other {
		below, _ := value.(map[string]any)
		present, both := out[key].(map[string]any)
		if !both {
			out[key] = below
			continue
		}
		merged := fieldSet(present).union(below)
		// A leaf owns the path itself. An inner node expresses this by ".".
		if (len(present) == 0 || len(below) == 0) && len(merged) > 0 {
			merged["."] = map[string]any{}
		}
		out[key] = map[string]any(merged)
	}
	return out
}

// withoutHeritage returns after, the result of a dry run of an apply, without the fields of predecessors that nobody
// else owns. It sends a patch as a dry run, so that the cluster fills in defaults. It doesn't send an update, because
// operators may lack the permission.
func (c comparedSet) withoutHeritage(ctx context.Context, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gone, stay := fieldSet{}, []fieldSet{}
	for _, entry := range managedEntries(after) {
		taken, left := c.heritage(entry)
		gone, stay = gone.union(taken), append(stay, left)
	}
	next := after.DeepCopy()
	withoutFields(next.Object, gone, stay)
	body, err := replacement(after, next)
	if err != nil {
		return nil, err
	}
	patch := PatchRequest{Type: types.JSONPatchType, Body: body, FieldManager: c.fieldManager, DryRun: true}
	return c.requests(c.settings).Patch(ctx, RefOf(after), patch)
}

// replacement returns the JSON patch that replaces the content of an object by the content of next. The object in the
// cluster has the fields of the parameter before, or fewer.
func replacement(before, next *unstructured.Unstructured) ([]byte, error) {
	operations := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": before.GetResourceVersion()}}
	replace := func(at string, field string, content map[string]any) {
		path := at + "/" + strings.ReplaceAll(field, "/", "~1")
		value, there := content[field]
		operations = append(operations, map[string]any{"op": "add", "path": path, "value": value})
		if !there {
			operations = append(operations, map[string]any{"op": "remove", "path": path})
		}
	}
	metadata, _ := before.Object["metadata"].(map[string]any)
	after, _ := next.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if _, there := metadata[field]; there {
			replace("/metadata", field, after)
		}
	}
	for field := range before.Object {
		if field != "apiVersion" && field != "kind" && field != "metadata" && field != "status" {
			replace("", field, next.Object)
		}
	}
	return json.Marshal(operations)
}

// withoutFields removes from value the fields that are in gone and in none of stay. It changes value.
func withoutFields(value any, gone fieldSet, stay []fieldSet) any {
	for key, item := range gone {
		below, _ := item.(map[string]any)
		kept := allBelow(stay, key)
		_, itself := below["."]
		whole := len(kept) == 0 && (itself || len(below) == 0)
		if !whole && len(below) == 0 {
			continue
		}
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			withoutField(value, name, whole, below, kept)
		} else {
			value = withoutItem(value, key, whole, below, kept)
		}
	}
	return value
}

func withoutField(value any, name string, whole bool, gone fieldSet, stay []fieldSet) {
	content, isMap := value.(map[string]any)
	inner, there := content[name]
	if !isMap || !there {
		return
	}
	if !whole {
		inner = withoutFields(inner, gone, stay)
		content[name] = inner
	}
	if whole || isEmptyMap(inner) {
		delete(content, name)
	}
}

func withoutItem(value any, key string, whole bool, gone fieldSet, stay []fieldSet) any {
	list, isList := value.([]any)
	i := indexOf(list, key)
	switch {
	case !isList || i < 0:
		return value
	case whole:
		return slices.Delete(list, i, i+1)
	}
	list[i] = withoutFields(list[i], gone, stay)
	return list
}

// indexOf returns the index of the list item that a key of a field set identifies, -1 if there is none. An item may
// omit a field of the key that the server defaults. Such an item matches if it is the only one that fits.
func indexOf(list []any, key string) int {
	if named, ok := listKeyOf(key); ok {
		var fitting []int
		for i, item := range list {
			element, isMap := item.(map[string]any)
			if isMap && named.isOf(element) {
				return i
			}
			if isMap && named.fits(element) {
				fitting = append(fitting, i)
			}
		}
		if len(fitting) == 1 {
			return fitting[0]
		}
		return -1
	}
	text, isValue := strings.CutPrefix(key, "v:")
	var member any
	if !isValue || json.Unmarshal([]byte(text), &member) != nil {
		return -1
	}
	return slices.IndexFunc(list, func(item any) bool { return sameScalar(item, member) })
}
