package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

// crowd is an object with n conditions.
func crowd(n int, name func(int) string) object {
	list := make([]any, n)
	for i := range list {
		list[i] = object{"type": name(i), "status": "True", "reason": "R", "lastTransitionTime": "9999-12-31T23:59:59Z"}
	}
	return object{"metadata": object{"resourceVersion": "1"}, "status": object{"conditions": list}}
}

func TestTenThousandOfOneType(t *testing.T) {
	t.Parallel()
	obj := crowd(10_000, func(int) string { return "Ready" })
	require.True(t, status.Conditions(obj).Set(now, isReady("True", "A", "")))
	require.Len(t, obj["status"].(object)["conditions"], 1)
	c, _ := status.Conditions(obj).Get("Ready")
	assert.Equal(t, 9999, c.LastTransitionTime.UTC().Year(), "a time of the far future is a time")
}

func TestTenThousandTypes(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("T%d", i) }
	for kind, empty := range map[string]func() any{
		"map": func() any { return object{} }, "list": func() any { return &[]metav1.Condition{} },
		"accessor": func() any { return &typed{} }, "struct": func() any { return &plainObject{} },
	} {
		t.Run("merged in linear time, "+kind, func(t *testing.T) {
			merge := func(n int) time.Duration {
				source, obj := crowd(n, name), empty()
				conditions, begin := status.Conditions(obj), time.Now()
				require.True(t, conditions.Merge(now, status.Conditions(source)))
				took := time.Since(begin)
				require.NoError(t, conditions.Err())
				require.Len(t, conditions.List(), n)
				require.False(t, conditions.Merge(now, status.Conditions(source)))
				return took
			}
			one := min(merge(1000), merge(1000), merge(1000))
			ten := min(merge(10_000), merge(10_000))
			assert.Less(t, ten, 50*one, "ten times as many take ten times as long, not a hundred times")
		})
	}
	t.Run("nothing to update, one to send", func(t *testing.T) {
		source := crowd(10_000, name)
		_, changed, err := status.Application{}.Update(now, source["status"].(object))
		require.NoError(t, err)
		assert.False(t, changed)
		patch, err := status.Patch(object{"metadata": source["metadata"]}, source, status.MergePatch, "T1")
		require.NoError(t, err)
		assert.Len(t, patch["status"].(object)["conditions"], 1)
	})
}

// TestManyAreAsOneByOne holds the way of many to that of one.
func TestManyAreAsOneByOne(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(now.AddDate(-1, 0, 0))
	present := []metav1.Condition{
		{Type: "T3", Status: "False", Reason: "Old"}, {Status: "True", Reason: "Nameless"}, {Type: "Theirs", Status: "Maybe"},
		{Type: "T5", Status: "True", Reason: "R", LastTransitionTime: at}, {Type: "T3", Status: "True", Reason: "New", LastTransitionTime: at},
		{Type: "Theirs", Status: "True"},
	}
	source := &[]metav1.Condition{}
	for i := range 30 {
		*source = append(*source, metav1.Condition{Type: fmt.Sprintf("T%d", i), Status: "True", Reason: "R", Message: fmt.Sprint(i % 2)})
	}
	alone := kinds(t, present...)
	for name, obj := range kinds(t, present...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := alone[name]
			require.True(t, status.Conditions(obj).Merge(now, status.Conditions(source)))
			for _, c := range *source {
				require.True(t, status.Conditions(one).Merge(now, status.Conditions(source), c.Type))
			}
			if accessor, ok := obj.(*typed); ok {
				accessor.sets = one.(*typed).sets
			}
			assert.Equal(t, one, obj)
		})
	}
	t.Run("structs", func(t *testing.T) {
		t.Parallel()
		one, many := &plainObject{}, &plainObject{}
		one.Status.Conditions, many.Status.Conditions = append(one.Status.Conditions, present...), append(many.Status.Conditions, present...)
		require.True(t, status.Conditions(many).Merge(now, status.Conditions(source)))
		for _, c := range *source {
			require.True(t, status.Conditions(one).Merge(now, status.Conditions(source), c.Type))
		}
		assert.Equal(t, one, many)
	})
	t.Run("a time that is none, and nothing is merged", func(t *testing.T) {
		t.Parallel()
		obj := object{}
		conditions := status.Conditions(obj)
		require.False(t, conditions.Merge(time.Time{}, status.Conditions(source)))
		require.ErrorIs(t, conditions.Err(), status.ErrNoTime)
		assert.Empty(t, obj)
	})
}
