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

// unionSwitch is a map of the live object in which the intent sets other members, such as the strategy of a Deployment
// whose type changes. The server filled in some of the old members. Nobody owns these, so an apply doesn't remove them,
// and the server refuses the new members together with them.
type unionSwitch struct {
	// keys are the path of the map, as keys of a field set.
	keys []string
	// unowned are the old members that nobody owns.
	unowned []string
	// nulls are the members that the intent sets to null, which would keep them owned.
	nulls []string
}

// switchUnions carries out a refused change in two applies if the only reason of the refusal is members that nobody
// owns. The first apply takes these members over and changes no value. The second apply omits them, which removes them.
// ok is false if the refusal has another reason, too.
func (t *task) switchUnions(ctx context.Context, decided decision, live *unstructured.Unstructured, refusal error) (result Result, ok bool) {
	switches := unionSwitches(decided.wanted, live, causesOf(refusal))
	if len(switches) == 0 {
		return Result{}, false
	}
	patch, err := t.switchedPatch(decided.wanted, live, switches)
	if err != nil {
		return failure(t.in.ref, err), true
	}
	next, err := t.port.Patch(ctx, t.in.ref, patch)
	if err != nil {
		return Result{}, false // the refusal has other reasons, too
	}
	if t.dryRun {
		return Result{Ref: t.in.ref, Action: Configured, Object: next, Changes: t.changes(live, next)}, true
	}
	applied, err := t.port.Apply(ctx, t.takingOver(live, switches), ApplyOptions{FieldManager: t.fieldManager})
	if err != nil {
		return failure(t.in.ref, err), true
	}
	var nulls [][]string
	for _, s := range switches {
		for _, name := range s.nulls {
			nulls = append(nulls, append(slices.Clone(s.keys), "f:"+name))
		}
	}
	decided.wanted = &unstructured.Unstructured{Object: withoutKeys(decided.wanted.Object, nulls...)}
	result = t.write(ctx, decided, applied.Object)
	if result.Err == nil && !applied.Partial {
		result.Changes = t.changes(live, result.Object)
	}
	return result, true
}

// unionSwitches returns the unions for the fields that the server named. A union is the field itself or the map that
// contains the field. If there is no union for one of the fields, unionSwitches returns nothing.
func unionSwitches(wanted, live *unstructured.Unstructured, causes []InvalidField) []unionSwitch {
	var switches []unionSwitch
	for _, cause := range causes {
		path := fieldSteps(cause.Field)
		found := unionSwitchesAt(wanted, live, path)
		if len(found) == 0 {
			found = unionSwitchesAt(wanted, live, path[:max(len(path)-1, 0)])
		}
		if len(found) == 0 {
			return nil
		}
		for _, at := range found {
			if !slices.ContainsFunc(switches, func(known unionSwitch) bool { return slices.Equal(known.keys, at.keys) }) {
				switches = append(switches, at)
			}
		}
	}
	return switches
}

// unionSwitchesAt returns the unions among the maps at a path. Top-level maps, such as the spec, aren't unions.
func unionSwitchesAt(wanted, live *unstructured.Unstructured, path []any) []unionSwitch {
	if len(path) < 2 {
		return nil
	}
	places := []descent{{wanted: wanted.Object, live: live.Object, owned: ownedFields(live)}}
	for _, step := range path {
		var below []descent
		for _, d := range places {
			below = append(below, d.enter(step)...)
		}
		places = below
	}
	var found []unionSwitch
	for _, d := range places {
		if at := d.unionSwitch(); len(at.unowned) > 0 {
			found = append(found, at)
		}
	}
	return found
}

// descent is a position in an intent, the live object, and the field sets of all managers.
type descent struct {
	wanted, live any
	owned        []fieldSet
	keys         []string
}

// enter returns the position of a field of a map. For a list it returns the positions of all items, because indexes in
// the server's message are indexes of the merged list, whose order isn't known. It skips values that are missing in the
// intent or on live.
func (d descent) enter(step any) []descent {
	name, isName := step.(string)
	if isName {
		want, _ := d.wanted.(map[string]any)
		have, _ := d.live.(map[string]any)
		if want[name] == nil || have[name] == nil {
			return nil
		}
		return []descent{d.at("f:"+name, want[name], have[name])}
	}
	want, _ := d.wanted.([]any)
	var items []descent
	for _, element := range mapsOf(d.live) {
		if key, item := d.itemOf(element, want); item != nil {
			items = append(items, d.at(key, item, element))
		}
	}
	return items
}

// itemOf returns the item of the intent that has the key of element, and the key.
func (d descent) itemOf(element map[string]any, want []any) (string, map[string]any) {
	for _, set := range d.owned {
		for _, key := range set.listKeys() {
			if item := key.find(want); key.isOf(element) && item != nil {
				return key.name, item
			}
		}
	}
	return "", nil
}

func (d descent) at(key string, wanted, live any) descent {
	return descent{wanted, live, allBelow(d.owned, key), append(slices.Clone(d.keys), key)}
}

// unionSwitch returns the switch of the map at this position.
func (d descent) unionSwitch() unionSwitch {
	want, _ := d.wanted.(map[string]any)
	have, _ := d.live.(map[string]any)
	found := unionSwitch{keys: d.keys}
	if len(want) == 0 {
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if want[name] == nil && len(allBelow(d.owned, "f:"+name)) == 0 {
			found.unowned = append(found.unowned, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if want[name] == nil {
			found.nulls = append(found.nulls, name)
		}
	}
	return found
}

// switchedPatch returns a dry-run patch that merges the intent into live, and removes the old members and the fields
// that only this manager owns and the intent omits.
func (t *task) switchedPatch(wanted, live *unstructured.Unstructured, switches []unionSwitch) (PatchRequest, error) {
	content := wanted.DeepCopy()
	content.SetUID(live.GetUID())
	ours, others := appliedFields(live, t.fieldManager)
	ours.nullUnwanted(content.Object, others)
	for _, s := range switches {
		at := any(content.Object)
		for _, key := range s.keys {
			name, _ := strings.CutPrefix(key, "f:")
			fields, _ := at.(map[string]any)
			at = fields[name] // nil below a list, because a merge patch replaces lists as a whole
		}
		if union, isMap := at.(map[string]any); isMap {
			for _, name := range s.unowned {
				union[name] = nil
			}
		}
	}
	body, err := json.Marshal(content.Object)
	return PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: t.fieldManager, DryRun: true}, err
}

// takingOver returns an intent with all fields that this manager owns on live and with the old members. All have their
// values on live.
func (t *task) takingOver(live *unstructured.Unstructured, switches []unionSwitch) *unstructured.Unstructured {
	ours, _ := appliedFields(live, t.fieldManager)
	for _, s := range switches {
		for _, name := range s.unowned {
			ours = ours.with(append(slices.Clone(s.keys), "f:"+name))
		}
	}
	owned, _ := ours.of(live.Object).(map[string]any)
	taking := &unstructured.Unstructured{Object: owned}
	taking.SetGroupVersionKind(t.in.ref.Kind)
	taking.SetNamespace(t.in.ref.Namespace)
	taking.SetName(t.in.ref.Name)
	taking.SetUID(live.GetUID())
	return taking
}

// heldMembers describes the refused fields that other managers have set on live and that wanted omits, such as the
// rollingUpdate of a Deployment whose new strategy is Recreate. It returns "" if there are no such fields. It skips
// fields of list items.
func (t *task) heldMembers(wanted, live *unstructured.Unstructured, causes []InvalidField) string {
	var held []string
	for _, cause := range causes {
		path := fieldSteps(cause.Field)
		_, isWanted := valueAt(wanted.Object, path)
		if isWanted || slices.ContainsFunc(path, func(step any) bool { _, isIndex := step.(int); return isIndex }) {
			continue
		}
		for _, entry := range managedEntries(live) {
			if holder := entry.manager(); holder != t.fieldManager && entry.fields().holds(path) {
				held = append(held, fmt.Sprintf("%s is set by %q", cause.Field, holder))
			}
		}
	}
	slices.Sort(held)
	return strings.Join(slices.Compact(held), ", ")
}
