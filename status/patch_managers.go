package status

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// ErrHeldByOthers means that an apply can't remove a condition, because another manager also owns fields of it. It
// wraps ErrPatch.
var ErrHeldByOthers = fmt.Errorf("%w: another field manager owns a condition that has to be removed", ErrPatch)

// removable uses metadata.managedFields to find out whether an apply removes every own condition that it leaves out,
// and returns an error if such a condition would stay. The API server removes a condition only when applies by this
// manager own all its fields. An update or a merge patch counts as another manager, even with the same name.
func removable(old, next map[string]any, owned []string) error {
	present, rest := condition.List(old), condition.List(next)
	for _, conditionType := range owned {
		if condition.Find(present, conditionType) == nil || condition.Find(rest, conditionType) != nil {
			continue
		}
		held := holders(old, conditionType)
		if len(held) > 1 || len(held) == 1 && held[0].operation != string(metav1.ManagedFieldsOperationApply) {
			return fmt.Errorf("%w: %s is owned by %s: remove it with a MergePatch, or first convert updates to applies with client-go's csaupgrade",
				ErrHeldByOthers, conditionType, join(held))
		}
	}
	return nil
}

// holder is a manager of fields.
type holder struct{ name, operation string }

func join(holders []holder) string {
	texts := make([]string, len(holders))
	for i, h := range holders {
		texts[i] = fmt.Sprintf("%.64q (%.16s)", h.name, h.operation)
	}
	return strings.Join(texts, " and ")
}

// holders returns the managers of the fields of a condition, none when the object has no managedFields.
func holders(object map[string]any, conditionType string) []holder {
	entries, _ := condition.Map(object, "metadata")["managedFields"].([]any)
	var result []holder
	for _, element := range entries {
		entry, _ := element.(map[string]any)
		fields := condition.Map(condition.Map(condition.Map(entry, "fieldsV1"), "f:status"), "f:"+conditionsKey)
		h := holder{condition.Text(entry, "manager"), condition.Text(entry, "operation")}
		if names(fields, conditionType) && !slices.Contains(result, h) {
			result = append(result, h)
		}
	}
	return result
}

// names reports whether the managed fields of the conditions include the condition of a type.
func names(fields map[string]any, conditionType string) bool {
	for key := range fields {
		text, isKey := strings.CutPrefix(key, "k:")
		var keys struct {
			Type string `json:"type"`
		}
		if isKey && json.Unmarshal([]byte(text), &keys) == nil && keys.Type == conditionType {
			return true
		}
	}
	return false
}
