package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

// FuzzMerge merges the conditions of whatever JSON object there is into those
// of another one: the source isn't changed, the conditions of other types
// aren't, every taken type is there with the source's status, and a second
// merge has nothing to do; or an error, and nothing is changed. A patch between
// the two states, sent to the old one, leads to the new one.
func FuzzMerge(f *testing.F) {
	for i, seed := range oddStatuses {
		f.Add([]byte(`{"status":`+seed+`}`), []byte(`{"status":`+oddStatuses[len(oddStatuses)-1-i]+`}`), "", false)
		f.Add([]byte(`{"status":`+seed+`}`), []byte(`{"status":`+oddStatuses[i/2]+`}`), "Ready", true)
	}
	f.Fuzz(func(t *testing.T, source, target []byte, only string, floats bool) {
		from, ok := decode(source, floats)
		if !ok {
			return
		}
		into, ok := decode(target, floats)
		if !ok {
			return
		}
		var types []string
		if only != "" {
			types = []string{only}
		}
		fromText, intoText := text(t, from), text(t, into)
		conditions := status.Conditions(into)
		changed := conditions.Merge(now, status.Conditions(from), types...)
		require.Equal(t, fromText, text(t, from))
		require.Equal(t, changed, intoText != text(t, into))
		if conditions.Err() != nil {
			require.False(t, changed)
			return
		}
		require.False(t, conditions.Merge(now.Add(time.Hour), status.Conditions(from), types...), "merged already")
		before, _ := decode([]byte(intoText), floats)
		taken := map[string]bool{}
		for _, c := range status.Conditions(from).List() {
			if only != "" && only != c.Type {
				continue
			}
			taken[c.Type] = true
			got, found := conditions.Get(c.Type)
			require.True(t, found)
			require.Equal(t, []string{string(c.Status), c.Message}, []string{string(got.Status), got.Message})
		}
		for _, c := range status.Conditions(before).List() {
			if got, found := conditions.Get(c.Type); !taken[c.Type] {
				require.True(t, found)
				require.Equal(t, c, got)
			}
		}
		patches(t, before, into, taken)
	})
}

// patches holds Patch to its word: nothing when nothing has changed, and
// otherwise what makes the one state of the other.
func patches(t *testing.T, before, after object, types map[string]bool) {
	t.Helper()
	if len(types) == 0 {
		return
	}
	var owned []string
	for conditionType := range types {
		owned = append(owned, conditionType)
	}
	before["metadata"], after["metadata"] = object{"resourceVersion": "7"}, object{"resourceVersion": "7"}
	patch, err := status.Patch(before, after, status.MergePatch, owned...)
	require.NoError(t, err)
	state := before
	if sent, _ := patch["status"].(object); sent["conditions"] != nil {
		state = object{"metadata": before["metadata"], "status": sent}
	}
	for _, conditionType := range owned {
		want, _ := status.Conditions(after).Get(conditionType)
		got, _ := status.Conditions(state).Get(conditionType)
		want.LastTransitionTime, got.LastTransitionTime = metav1.Time{}, metav1.Time{} // whole seconds are written
		require.Equal(t, want, got)
	}
	for _, c := range status.Conditions(before).List() {
		if !types[c.Type] {
			got, _ := status.Conditions(state).Get(c.Type)
			require.Equal(t, c, got, "somebody else's")
		}
	}
}
