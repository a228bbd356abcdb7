package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// neverEdited counts the fields of the schemas that no edit changes, by the reason. It is empty if there are none.
func (c *coverage) neverEdited() string {
	counts := map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(c.unedited)) {
		if _, edited := c.fields[path]; !edited {
			counts[c.unedited[path]]++
		}
	}
	var parts []string
	for _, reason := range edit.Reasons {
		if counts[reason] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "fields without an edit: " + strings.Join(parts, ", ")
}

// schema adds the fields of the schema of a sample.
func (c *coverage) schema(sample *unstructured.Unstructured, definitions []*unstructured.Unstructured) {
	if c.unedited == nil {
		c.unedited = map[string]string{}
	}
	maps.Copy(c.unedited, edit.Fields(sample, definitions))
}
