package deploy

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// heldMembers describes the refused fields that other managers have set on live and that wanted leaves out, such as the
// rollingUpdate of a Deployment whose strategy is to be Recreate. It is empty if there are none. Items of lists aren't
// looked at.
func (t *task) heldMembers(wanted, live *unstructured.Unstructured, causes []InvalidField) string {
	var held []string
	for _, cause := range causes {
		path := fieldSteps(cause.Field)
		_, isWanted := valueAt(wanted.Object, path)
		if isWanted || slices.ContainsFunc(path, func(step any) bool { _, isIndex := step.(int); return isIndex }) {
			continue
		}
		for _, entry := range managedEntries(live) {
			fields, _ := entry["fieldsV1"].(map[string]any)
			if holder := holderOf(entry); holder != t.fieldManager && fieldSet(fields).holds(path) {
				held = append(held, fmt.Sprintf("%s is set by %q", cause.Field, holder))
			}
		}
	}
	slices.Sort(held)
	return strings.Join(slices.Compact(held), ", ")
}
