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
// create` ("kubectl-create") and an operator of another name. Apply takes over all fields that they own of an object,
// once and with two calls more, so that fields which they set and the intent leaves out are removed. Predecessors must
// not write these objects any more. Fields that were written under this manager's own name by other requests than
// applies are taken over without being named, such as those of a predecessor of the same name that sent whole objects.
//
// An object on which predecessors own fields isn't Unchanged. Fields that they set through a subresource, finalizers,
// references to other owners, and the record of temporary patches are left to them. Objects with the strategies
// CreateOnly, OnDelete, Replace and Ignore aren't taken over.
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
	return slices.ContainsFunc(managedEntries(live), func(entry managedEntry) bool {
		taken, _ := s.heritage(entry)
		return len(taken) > 0
	})
}

// isPredecessor reports whether name is that of a manager whose fields are taken over.
func (s *settings) isPredecessor(name string) bool {
	return name == s.fieldManager || slices.Contains(s.takeOverFrom, name)
}

// heritage splits what an entry of managedFields holds: what becomes ours, and what is left to it.
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

// inherit returns the managedFields of live in which our apply owns what predecessors own, nil if nothing can be taken
// over before our next apply. Field sets of two versions of a kind don't mix. What predecessors wrote in another
// version than the one in which we applied takes the place of our fields: the apply that follows makes those ours
// again, if the last one was all of our intent.
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

// inheritedVersion is the apiVersion of which entries are taken over first, nil for none.
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

// union returns what is in either of two field sets, neither of which is changed.
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
		// A leaf is the place itself, which an inner node holds by its ".".
		if (len(present) == 0 || len(below) == 0) && len(merged) > 0 {
			merged["."] = map[string]any{}
		}
		out[key] = map[string]any(merged)
	}
	return out
}

// withoutHeritage is what becomes of after, the answer to an apply as a dry run, once fields of predecessors that
// nobody else owns are gone. The cluster is asked, by a patch as a dry run, so that defaults come back. It isn't a
// replacement, for which operators have no right.
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

// replacement is the JSON patch that gives an object, in the state of before or one with less in it, the content of
// next.
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

// withoutFields takes out of value, which it changes, what gone holds and none of stay does.
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

// indexOf is where the item of a list is that a key of a field set names, -1 for nowhere. A field of the key that the
// item leaves out was filled in: such an item is meant if it is the only one that fits.
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
