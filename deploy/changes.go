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
	// Before and After are the values at the path, nil if there is no value. They are shared with the objects that were
	// compared: don't change them.
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

// Changes returns the paths at which two states of one object differ. They are sorted by field name. Within a list, the
// elements of before come first, in their order. A map or list that only one state has is one change. Elements of a
// list are matched by merge keys if an entry of managedFields in either state has such keys for the list. They are
// matched by value if an entry owns them by value, and by index otherwise. A list is one change if its elements are the
// same and only their order differs. Null counts as absent. Fields of metadata that the API server sets (managedFields,
// resourceVersion, generation, uid, creationTimestamp, selfLink) don't count.
//
// Changes doesn't redact the values of Secrets.
func Changes(before, after map[string]any) []Change {
	var owned []fieldSet
	for _, content := range []map[string]any{before, after} {
		owned = append(owned, ownedFields(&unstructured.Unstructured{Object: content})...)
	}
	c := comparison{}
	c.fields("", before, after, owned)
	return c.changes
}

// comparison compares two states. The parameter owned of its methods has the field sets of all managers.
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
	// If only one state has metadata, report its fields one by one, so that movingFields are left out.
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

// list compares two lists element by element. Elements are matched by key or by value if each has a unique key or
// value, and by index otherwise.
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

// identity returns the part of a path that identifies an element. It returns false if the element has no identity.
type identity func(element any) (string, bool)

// index returns the elements of a list by identity. It returns false if two elements have the same identity, or if an
// element has no identity.
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

// listOwners holds what the field sets of a list show about its elements.
type listOwners struct {
	// keys are the names of the fields that make up the key of an element, by their joined names. It has several
	// entries if the field sets are of several API versions.
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

// ways returns the functions that may identify the elements, in the order in which to try them.
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

// scalarText formats a scalar as the API server does in paths. It returns false for maps, lists and null.
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

// redact changes content: it replaces the values of a Secret by digests, also in kubectl's annotation.
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
	redact(manifest) // the manifest has the annotation, too, if it was made from a live object
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

// digestOf returns the digest of a value. A value in stringData and its encoded form in data have the same digest.
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
