package status_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/status"
)

// specifiedChange compares as W8 says.
func specifiedChange(v *vector, a, b any) bool {
	x, isX := a.(object)
	y, isY := b.(object)
	if !isX || !isY {
		return true
	}
	v.because("status W8")
	return !reflect.DeepEqual(bare(x), bare(y))
}

// bare leaves out the times that don't count, and the order of conditions.
func bare(st object) object {
	st = withoutOldTimes(st).(object)
	list, isList := st["conditions"].([]any)
	if !isList {
		return st
	}
	for _, element := range list {
		if c, ok := element.(object); ok && slices.Contains([]any{"Ready", "Updating", "Reconciling", "Stalled"}, c["type"]) {
			delete(c, "lastTransitionTime")
		}
	}
	slices.SortStableFunc(list, func(a, b any) int {
		x, _ := a.(object)
		y, _ := b.(object)
		return strings.Compare(fmt.Sprint(x["type"]), fmt.Sprint(y["type"]))
	})
	return st
}

func withoutOldTimes(value any) any {
	switch value := value.(type) {
	case object:
		result := object{}
		for key, each := range value {
			if key != "lastTransactionTime" {
				result[key] = withoutOldTimes(each)
			}
		}
		return result
	case []any:
		result := []any{}
		for _, each := range value {
			result = append(result, withoutOldTimes(each))
		}
		return result
	}
	return value
}

func runGetCondition(t *testing.T, v *vector, input object, recorded any) {
	conditionType := fmt.Sprint(input["type"])
	st, _ := input["status"].(object)
	got, found := status.Conditions(object{"status": input["status"]}).Get(conditionType)
	want := recorded
	if len(v.Error) > 0 {
		list, isList := st["conditions"].([]any)
		if !isList {
			v.because("status W2")
		}
		v.because("status 19")
		want = object{}
		if entry := decisive(v, list, conditionType); entry != nil {
			want = entry
		}
	}
	entry, _ := want.(object)
	assert.Equal(t, len(entry) > 0, found)
	text := func(key string) string { s, _ := entry[key].(string); return s }
	state := "Unknown"
	for _, each := range []string{"True", "False"} {
		if strings.EqualFold(fmt.Sprint(entry["status"]), each) {
			state = each
		}
	}
	if !found {
		return
	}
	if state != entry["status"] {
		v.because("status 20")
	}
	assert.Equal(t, []string{text("type"), state, text("reason"), text("message")}, []string{got.Type, string(got.Status), got.Reason, got.Message})
}
