package changes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/operkit/operkit/deploy"
)

// names are the fields that identify the element of a list if no two elements have the same value.
var names = []string{"name", "type"}

// Between returns the changes of deploy.Changes. The elements of any list that all have a name or a type of their own
// are matched by it, and not by index: .status.conditions[type="Ready"].status. It changes neither state.
func Between(before, after map[string]any) []deploy.Change {
	return deploy.Changes(named(before), named(after))
}

// named returns a copy of an object with an entry of managedFields that has the names of the elements of its lists.
func named(content map[string]any) map[string]any {
	outside := maps.Clone(content)
	delete(outside, "metadata") // the lists in it have keys
	below := fieldsOf(outside)
	if len(below) == 0 {
		return content
	}
	metadata, _ := content["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["managedFields"] = append(slices.Clone(entries), map[string]any{"fieldsV1": below})
	outside["metadata"] = metadata
	return outside
}

// fieldsOf returns the field set of the elements with a name in a value, empty if there are none.
func fieldsOf(value any) map[string]any {
	set := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if below := fieldsOf(field); len(below) > 0 {
				set["f:"+name] = below
			}
		}
	case []any:
		for _, name := range names {
			for id, element := range Elements(value, name) {
				key, _ := json.Marshal(map[string]any{name: id}) // a string is always JSON
				set["k:"+string(key)] = fieldsOf(element)
			}
		}
	}
	return set
}

// Elements returns the elements of a list by the text in one of their fields. It returns nil if an element hasn't got
// the field, or if two have the same text.
func Elements(list []any, field string) map[string]map[string]any {
	elements := map[string]map[string]any{}
	for _, one := range list {
		element, _ := one.(map[string]any)
		id, is := element[field].(string)
		if _, twice := elements[id]; twice || !is {
			return nil
		}
		elements[id] = element
	}
	return elements
}

// Sorted returns the elements of a list in the order of their names or types. A list whose elements don't all have one
// of their own is returned as it is.
func Sorted(list []any) []any {
	for _, name := range names {
		if elements := Elements(list, name); len(elements) > 1 {
			sorted := make([]any, 0, len(list))
			for _, id := range slices.Sorted(maps.Keys(elements)) {
				sorted = append(sorted, elements[id])
			}
			return sorted
		}
	}
	return list
}

// Key returns what names an element of a list in the path of a change: name="a", type="Ready" or its index.
func Key(list []any, index int) string {
	element, _ := list[index].(map[string]any)
	for _, name := range names {
		if Elements(list, name) != nil {
			return fmt.Sprintf("%s=%q", name, element[name])
		}
	}
	return strconv.Itoa(index)
}
