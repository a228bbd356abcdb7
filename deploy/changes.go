package deploy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Change is one path at which two states of an object differ.
type Change struct {
	// Path is the path in the API server's notation:
	// .spec.template.spec.containers[name="app"].image
	Path string
	// Before and After are the values there, nil if there is none. They are shared with the objects that were compared:
	// don't change them.
	Before, After any
}

// String returns the change on one line: .spec.replicas: 1 -> 3
func (c Change) String() string {
	return c.Path + ": " + valueText(c.Before) + " -> " + valueText(c.After)
}

func valueText(value any) string {
	if value == nil {
		return "none"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// movingFields are the fields of metadata that the API server sets; they don't count as changes.
var movingFields = []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"}

// Changes returns the paths at which two states of one object differ, in the order of field names and, within a list,
// of the elements before. A map or list that is on one side only is one change. Elements of a list are matched by its
// merge keys if an entry of managedFields on either side has them, as items of a set if an entry says so, and else by
// their index. A list whose matched elements have only changed places is one change. Null counts as absent. Fields that
// change with every write (managedFields, resourceVersion, generation, uid, creationTimestamp) don't count.
//
// Changes returns values of Secrets in the clear.
func Changes(before, after map[string]any) []Change {
	var owned []fieldSet
	for _, content := range []map[string]any{before, after} {
		owned = append(owned, ownedFields(&unstructured.Unstructured{Object: content})...)
	}
	c := comparison{}
	c.fields("", before, after, owned)
	return c.changes
}

// comparison compares two states. The field sets are those of all managers.
type comparison struct{ changes []Change }

func (c *comparison) report(path string, before, after any) {
	c.changes = append(c.changes, Change{path, before, after})
}

func (c *comparison) fields(path string, before, after map[string]any, owned []fieldSet) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if path == ".metadata" && slices.Contains(movingFields, name) {
			continue
		}
		c.value(path+"."+name, before[name], after[name], allBelow(owned, "f:"+name))
	}
}

func (c *comparison) value(path string, before, after any, owned []fieldSet) {
	oldMap, wasMap := before.(map[string]any)
	newMap, isMap := after.(map[string]any)
	oldList, wasList := before.([]any)
	newList, isList := after.([]any)
	// If only one side has metadata, report its fields one by one, without those that don't count.
	lone := path == ".metadata" && (wasMap && after == nil || isMap && before == nil)
	switch {
	case wasMap && isMap, lone:
		c.fields(path, oldMap, newMap, owned)
	case wasList && isList:
		c.list(path, oldList, newList, owned)
	case !sameScalar(before, after):
		c.report(path, before, after)
	}
}

// list compares element by element, by key if all elements have different keys.
func (c *comparison) list(path string, before, after []any, owned []fieldSet) {
	held := ownersOf(owned)
	for _, identify := range held.ways() {
		old, oldKnown := index(before, identify)
		now, nowKnown := index(after, identify)
		if oldKnown && nowKnown {
			c.elements(path, old, now, held)
			return
		}
	}
	for i := range max(len(before), len(after)) {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(before):
			c.report(at, nil, after[i])
		case i >= len(after):
			c.report(at, before[i], nil)
		default:
			c.value(at, before[i], after[i], nil)
		}
	}
}

// elements compares lists whose elements have identities.
func (c *comparison) elements(path string, old, now listIndex, held listOwners) {
	known := len(c.changes)
	var before, after []string
	for _, id := range old.order {
		if element, both := now.elements[id]; both {
			before = append(before, id)
			c.value(path+id, old.elements[id], element, held.below[id])
		} else {
			c.report(path+id, old.elements[id], nil)
		}
	}
	for _, id := range now.order {
		if _, both := old.elements[id]; both {
			after = append(after, id)
		} else {
			c.report(path+id, nil, now.elements[id])
		}
	}
	if len(c.changes) == known && !slices.Equal(before, after) {
		c.report(path, old.list, now.list)
	}
}

// listIndex is a list with its elements by identity.
type listIndex struct {
	list     []any
	order    []string
	elements map[string]any
}

// identity returns the part of a path that identifies an element, false if it has none.
type identity func(element any) (string, bool)

// index returns false if two elements have the same identity or one has none.
func index(list []any, identify identity) (listIndex, bool) {
	found := listIndex{list: list, elements: make(map[string]any, len(list))}
	for _, element := range list {
		id, ok := identify(element)
		if _, twice := found.elements[id]; !ok || twice {
			return listIndex{}, false
		}
		found.order = append(found.order, id)
		found.elements[id] = element
	}
	return found, true
}

// listOwners is what the field sets of a list say about its elements.
type listOwners struct {
	// keys are the fields that make up the key of an element, by their joined names. There are several if entries have
	// several versions.
	keys  map[string][]string
	isSet bool
	// below are the field sets of an element, by its identity.
	below map[string][]fieldSet
}

func ownersOf(owned []fieldSet) listOwners {
	held := listOwners{keys: map[string][]string{}, below: map[string][]fieldSet{}}
	for _, set := range owned {
		for _, key := range set.listKeys() {
			names := slices.Sorted(maps.Keys(key.key))
			if id, ok := byKeys(names)(key.key); ok {
				held.keys[strings.Join(names, ",")] = names
				held.below[id] = append(held.below[id], set.below(key.name))
			}
		}
		for key := range set {
			held.isSet = held.isSet || strings.HasPrefix(key, "v:")
		}
	}
	return held
}

// ways returns the possible identities of elements.
func (held listOwners) ways() []identity {
	var ways []identity
	for _, text := range slices.Sorted(maps.Keys(held.keys)) {
		ways = append(ways, byKeys(held.keys[text]))
	}
	if held.isSet {
		ways = append(ways, func(element any) (string, bool) {
			text, ok := scalarText(element)
			return "[=" + text + "]", ok
		})
	}
	return ways
}

func byKeys(names []string) identity {
	return func(element any) (string, bool) {
		content, ok := element.(map[string]any)
		parts := make([]string, 0, len(names))
		for _, name := range names {
			text, isScalar := scalarText(content[name])
			ok = ok && isScalar
			parts = append(parts, name+"="+text)
		}
		return "[" + strings.Join(parts, ",") + "]", ok && len(names) > 0
	}
}

// scalarText formats a scalar as in paths of the API server.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v), true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case int, int32:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// lastApplied is the annotation in which kubectl stores the manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redact replaces the values of a Secret by digests, also those in the annotation of kubectl. It changes content.
func redact(content map[string]any) {
	redactFields(content)
	annotations, _, err := unstructured.NestedFieldNoCopy(content, "metadata", "annotations")
	fields, ok := annotations.(map[string]any)
	if err != nil || !ok || fields[lastApplied] == nil {
		return
	}
	var manifest map[string]any
	text, _ := fields[lastApplied].(string)
	if json.Unmarshal([]byte(text), &manifest) != nil {
		fields[lastApplied] = digest([]byte(text))
		return
	}
	redact(manifest) // the manifest may have the annotation, too, if an object that was read was applied
	if short, err := json.Marshal(manifest); err == nil {
		fields[lastApplied] = string(short)
	}
}

func redactFields(content map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		switch values := content[field].(type) {
		case nil:
		case map[string]any:
			for key, value := range values {
				values[key] = digestOf(value, field == "data")
			}
		default:
			content[field] = digestOf(values, false)
		}
	}
}

// digestOf returns the same digest for a value in stringData and its encoding in data.
func digestOf(value any, encoded bool) any {
	if value == nil {
		return nil
	}
	text, isText := value.(string)
	if !isText {
		raw, err := json.Marshal(value)
		if err != nil {
			raw = []byte(fmt.Sprint(value))
		}
		return digest(raw)
	}
	if encoded {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			return digest(raw)
		}
	}
	return digest([]byte(text))
}

func digest(value []byte) string {
	sum := sha256.Sum256(value)
	return fmt.Sprintf("sha256:%x (%d bytes)", sum[:6], len(value))
}
