package smp

import "strings"

// The keys of a strategic merge patch that are instructions instead of fields.
const (
	patchDirective      = "$patch"
	retainKeysDirective = "$retainKeys"
	// These two are followed by a slash and the name of a list field.
	orderDirective  = "$setElementOrder"
	deleteDirective = "$deleteFromPrimitiveList"
)

// The values of patchDirective. deleteElement is valid in maps and in elements of lists.
const (
	replaceValue  = "replace"
	deleteElement = "delete"
	mergeValue    = "merge"
)

// isDirective reports whether a key is an instruction, well-formed or not.
func isDirective(key string) bool {
	if len(key) == 0 || key[0] != '$' {
		return false
	}
	return key == patchDirective || key == retainKeysDirective ||
		strings.HasPrefix(key, orderDirective) || strings.HasPrefix(key, deleteDirective)
}

// directiveField returns the field that key names, if key is the given directive. ok is false for a malformed
// directive.
func directiveField(key, directive string) (field string, ok bool) {
	field, ok = strings.CutPrefix(key, directive+"/")
	return field, ok && field != ""
}

// instructions holds all instructions about one field in one map of a patch.
type instructions struct {
	value, order, remove          any
	hasValue, hasOrder, hasRemove bool
}

// instructionsFor collects the directives of patch about a field.
func instructionsFor(patch map[string]any, field string) instructions {
	var in instructions
	in.value, in.hasValue = patch[field]
	in.order, in.hasOrder = patch[orderDirective+"/"+field]
	in.remove, in.hasRemove = patch[deleteDirective+"/"+field]
	return in
}
