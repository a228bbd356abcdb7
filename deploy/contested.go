package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// contestedField is a field of an intent that others hold with another value.
type contestedField struct {
	FieldConflict
	// keys lead to it, as those of a field set.
	keys []string
}

// claim is what one entry of managedFields holds at a place.
type claim struct {
	manager string
	fields  fieldSet
	// all: it holds whatever is there, as far as it is known.
	all bool
	// ours: it is no other manager's. It tells how a place is owned.
	ours bool
}

// unmanaged is the name by which the API server calls who wrote an object before field management.
const unmanaged = "before-first-apply"

// contestedFields are the fields of an intent, ascending, that managers other than the given one
// hold on live with another value than the intent's: those for which the API server would report a
// conflict. A field that several hold is reported once for each. lost: of live only the metadata is known, but the intent is the
// one that was applied last. What the manager still holds has its value then, so only what it has lost counts.
func contestedFields(intent map[string]any, live *unstructured.Unstructured, manager string, lost bool) []contestedField {
	var claims []claim
	for _, entry := range managedEntries(live) {
		fields, _ := entry["fieldsV1"].(map[string]any)
		name, _ := entry["manager"].(string)
		ours := name == manager && entry["operation"] == "Apply" && entry["subresource"] == nil
		claims = append(claims, claim{manager: name, fields: fields, ours: ours})
	}
	if len(managedEntries(live)) == 0 {
		claims = []claim{{manager: unmanaged, all: true}}
	}
	w := contest{lost: lost}
	for _, field := range slices.Sorted(maps.Keys(intent)) {
		if field != "apiVersion" && field != "kind" {
			w.field(field, intent[field], live.Object, claims)
		}
	}
	return w.found
}

// contest walks an intent, what others hold, and the object side by side.
type contest struct {
	lost  bool
	keys  []string
	found []contestedField
}

func (w *contest) field(name string, value any, live map[string]any, claims []claim) {
	w.enter("f:"+name, value, live[name], claims)
}

// enter looks at what is below one key.
func (w *contest) enter(key string, value, live any, claims []claim) {
	var below []claim
	for _, c := range claims {
		if _, holds := c.fields[key]; holds || c.all && live != nil {
			below = append(below, claim{c.manager, c.fields.below(key), c.all, c.ours})
		}
	}
	if !slices.ContainsFunc(below, func(c claim) bool { return !c.ours }) {
		return
	}
	w.keys = append(w.keys, key)
	w.value(value, live, below)
	w.keys = w.keys[:len(w.keys)-1]
}

func isEmptyMap(value any) bool {
	content, isMap := value.(map[string]any)
	return isMap && len(content) == 0
}

func (w *contest) value(value, live any, claims []claim) {
	var inner []claim
	_, isMap := value.(map[string]any)
	granular := slices.ContainsFunc(claims, func(c claim) bool { return len(c.fields) > 0 })
	for _, c := range claims {
		switch {
		case len(c.fields) > 0 || c.all && isMap:
			inner = append(inner, c)
		case isMap && (granular || isEmptyMap(live)) || c.ours:
			// Of a map whose fields are owned one by one its path alone is left to who had something
			// there. An empty one may be owned as a whole: if so the cluster will say it.
		case w.lost && slices.ContainsFunc(claims, func(c claim) bool { return c.ours }):
		case !sameValue(value, live):
			w.report(c.manager)
		}
	}
	inner = slices.DeleteFunc(inner, func(c claim) bool {
		// What they hold is below a place of another type than the intent's; it counts when they hold
		// the place itself too.
		other := !c.all && !c.fields.isOf(value)
		if _, itself := c.fields["."]; other && itself && !c.ours {
			w.report(c.manager)
		}
		return other
	})
	switch value := value.(type) {
	case map[string]any:
		content, _ := live.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			w.field(name, value[name], content, inner)
		}
	case []any:
		list, _ := live.([]any)
		for _, item := range value {
			if element, isMap := item.(map[string]any); isMap {
				w.item(element, list, inner)
			}
		}
	}
}

// item finds what others hold of an element of a list with keys. Elements of sets can't differ.
func (w *contest) item(element map[string]any, list []any, claims []claim) {
	keys := map[string]listKey{}
	for _, c := range claims {
		for _, key := range c.fields.listKeys() {
			if key.fits(element) {
				keys[key.name] = key
			}
		}
	}
	// Several fit only where the element leaves a key to the server: it can't be told then which is meant.
	if len(keys) != 1 {
		return
	}
	for name, key := range keys {
		current := key.find(list)
		w.enter(name, any(element), any(current), claims)
	}
}

func (w *contest) report(manager string) {
	field := fieldPath(w.keys)
	for _, known := range w.found {
		if known.Field == field && known.Manager == manager {
			return
		}
	}
	w.found = append(w.found, contestedField{
		FieldConflict{Field: field, Manager: manager, Message: fmt.Sprintf("conflict with %q", manager)}, slices.Clone(w.keys),
	})
}

// fieldPath writes keys of a field set as the API server does: .spec.ports[port=80,protocol="TCP"].name.
func fieldPath(keys []string) string {
	var out strings.Builder
	for _, key := range keys {
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			out.WriteString("." + name)
		} else if item, isItem := listKeyOf(key); isItem {
			out.WriteString("[" + item.text() + "]")
		} else if value, isValue := strings.CutPrefix(key, "v:"); isValue {
			out.WriteString("[=" + value + "]")
		}
	}
	return out.String()
}

func (k listKey) text() string {
	parts := make([]string, 0, len(k.key))
	for _, name := range slices.Sorted(maps.Keys(k.key)) {
		value, err := json.Marshal(k.key[name])
		if err != nil {
			value = []byte("?")
		}
		parts = append(parts, name+"="+string(value))
	}
	return strings.Join(parts, ",")
}

// sameValue compares plain values; numbers by what they are.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, sameValue)
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, sameValue)
	}
	return reflect.DeepEqual(number(a), number(b))
}
