package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Edit is a change of a resource.
type Edit struct {
	// Name is at most longestName characters long, and no other edit of the sample has it.
	Name string
	// Rank is how early it is tried.
	Rank Rank
	// Paths are the fields that it changes, as Fields has them.
	Paths []string
	// Do changes a resource. It keeps nothing of it.
	Do func(obj *unstructured.Unstructured)
	// First is the first step of an edit of two fields.
	First *Edit
	// at is where it changes the resource, of an edit of one field.
	at *location
}

// Rank says which edits are tried before others.
type Rank int

// The ranks of edits, in their order.
const (
	OneField  Rank = iota // another value of a field
	absent                // no value
	edge                  // a value at the edge of what is valid
	ofItems               // another order or number of items or entries
	TwoFields             // two fields of an object
)

// Bounds of what is generated.
const (
	longestName = 60
	// mostEdits is how many edits of a sample are tried at most.
	mostEdits = 300
)

// Of returns changes of a resource that the schema of its version allows, the most important ones first: of each
// field one, of fields of the resource before those of objects in it. complete is a sample with its defaults.
func Of(complete *unstructured.Unstructured, definitions []*unstructured.Unstructured) []Edit {
	schema := schemaOf(complete, definitions)
	w := &walker{sample: complete.Object, frozen: frozen{}}
	resource := &location{schema: schema}
	w.frozen.add(schema, "")
	for _, name := range ownFields(schema) {
		w.visit(resource.field(name), !slices.Contains(stringsOf(schema["required"]), name))
	}
	all := append(w.edits, pairs(w.edits)...)
	slices.SortStableFunc(all, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.at.depth, b.at.depth))
	})
	return distinct(all[:min(len(all), mostEdits)])
}

// distinct gives each edit a name of its own that is short enough.
func distinct(all []Edit) []Edit {
	count := map[string]int{}
	for i := range all {
		name := shortened(all[i].Name, longestName)
		if count[name]++; count[name] > 1 {
			suffix := fmt.Sprintf(" (%d)", count[name])
			name = shortened(name, longestName-len(suffix)) + suffix
		}
		all[i].Name = name
	}
	return all
}

// shortened leaves out the middle of a text with more than a number of characters.
func shortened(text string, length int) string {
	chars := []rune(text)
	if len(chars) <= length {
		return text
	}
	half := (length - len("...")) / 2
	return string(chars[:half]) + "..." + string(chars[len(chars)-half:])
}

// valueText returns a scalar for the name of an edit.
func valueText(value any) string {
	content, is := value.(string)
	if length := utf8.RuneCountInString(content); length > 30 {
		return fmt.Sprintf("%s, %d characters", strings.TrimSuffix(fmt.Sprintf("%.8q", content), `"`)+`..."`, length)
	}
	if is {
		return fmt.Sprintf("%q", content)
	}
	return fmt.Sprint(value)
}
